/* Fatal errors, and the position of a call as text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gasnet_tools.h"
#include "runtime/report/freeze.h"
#include "runtime/tools/fatal.h"
#include "runtime/util/log.h"

enum { TEXT_BYTES = 1000, POSITION_BYTES = 200 };

void (*psi_fatal_end)(const char *text) = NULL;

static _Noreturn void
fatal_end(const char *text)
{
	if (psi_fatal_end)
		psi_fatal_end(text);
	psi_log_last(text);
	gasnett_print_backtrace_ifenabled(STDERR_FILENO);
	psi_freeze_on_error();
	abort();
}

void
gasnett_fatalerror_nopos(const char *msg, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, msg);
	vsnprintf(text, sizeof text, msg, args);
	va_end(args);
	fatal_end(text);
}

void
psi_fatalerror_at(const char *function, const char *file, int line, const char *msg, ...)
{
	char text[TEXT_BYTES];
	size_t len;
	va_list args;

	va_start(args, msg);
	vsnprintf(text, sizeof text - POSITION_BYTES, msg, args);
	va_end(args);
	len = strlen(text);
	snprintf(text + len, sizeof text - len, " (%s at %s:%d)", function, file, line);
	fatal_end(text);
}

void
psi_assumed_wrongly(const char *what, const char *file, int line)
{
	gasnett_fatalerror_nopos("%s:%d: this was assumed and does not hold: %s", file, line, what);
}

void
psi_lock_failed(const char *call, int error)
{
	gasnett_fatalerror_nopos("%s: %s", call, strerror(error));
}

char *
psi_current_loc(const char *function, const char *file, int line)
{
	char *text;

	if (asprintf(&text, "%s at %s:%d", function, file, line) < 0)
		gasnett_fatalerror_nopos("gasnett_current_loc: no memory");
	return text;
}
