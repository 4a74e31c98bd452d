/* Errors that no caller can handle. */
#include "runtime/psi.h"

#include "runtime/signals.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
psi_fatal(const char *format, ...)
{
	char text[PBOOT_CAUSE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	psi_log("%s", text);
	if (psi.boot.size)
		pboot_note_cause(text);
	psi_signals_told();
	abort();        /* its handler prints the stack or waits for a debugger, if asked to */
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
		psi_fatal("%s: called in a child that the program forked, which is no rank; only the "
		          "process that called gex_Client_Init or gasnet_init is", call);
	psi_fatal("%s: called before gex_Client_Init or gasnet_init", call);
}

void
psi_target_bad(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	psi_need_init(call);
	if (tm == GEX_TM_INVALID)
		psi_fatal("%s: the team is GEX_TM_INVALID", call);
	if (psi_tm_is_pair(tm) && (uintptr_t)tm != 1)
		psi_fatal("%s: the pair names an endpoint that does not exist; "
		          "GASNET_MAXEPS is %d", call, GASNET_MAXEPS);
	psi_fatal("%s: rank %u of %u does not exist", call, rank,
	          psi_tm_is_pair(tm) ? psi.boot.size : tm->size);
}
