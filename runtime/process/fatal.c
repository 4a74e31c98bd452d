/* Errors that no caller can handle. */
#include "runtime/process/process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic pid_t failing;           /* the thread whose error ends this process */

/* One error is told; what other threads find meanwhile mostly follows from it. */
static void
fatal_let_one_speak(void)
{
	pid_t self = gettid(), nobody = 0;

	if (atomic_compare_exchange_strong(&failing, &nobody, self))
		return;
	while (nobody != self)
		pause();
}

void
psi_fatal(const char *format, ...)
{
	char text[PBOOT_CAUSE_MAX];
	va_list args;
	bool printed;

	fatal_let_one_speak();
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	printed = psi_log_last(text);
	if (psi.boot.size)
		pboot_note_cause(text, printed);
	if (psi.error_told)
		psi.error_told();
	abort();        /* its handler prints the stack or waits for a debugger, if asked to */
}

int
psi_refuse(int code, const char *call, const char *why)
{
	if (gex_System_GetVerboseErrors())
		psi_log("%s: %s (%s)", call, why, gasnet_ErrorName(code));
	return code;
}

bool
psi_is_forked_child(void)
{
	return psi.pid && getpid() != psi.pid;
}

void
psi_need_init(const char *call)
{
	if (PSI_LIKELY(psi.open))
		return;
	if (psi_is_forked_child())
		psi_fatal("%s: called in a child that the program forked, which is no rank; only "
		          "the process that called gex_Client_Init or gasnet_init is", call);
	psi_fatal("%s: called before gex_Client_Init or gasnet_init; make that the first call",
	          call);
}

void
psi_invalid(const char *call, const char *constant)
{
	psi_need_init(call);
	psi_fatal("%s: called with %s; pass one that the library gave", call, constant);
}
