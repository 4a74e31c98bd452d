/*
 * gasnet_tools_trace.h: hooks of traces and statistics. This library writes
 * neither as the client's calls ask for it: counters are always on, see
 * penstock.h. The macros are statements or values that cost nothing; formats
 * and arguments are checked by the compiler and not evaluated.
 */
#ifndef GASNET_TOOLS_TRACE_H
#define GASNET_TOOLS_TRACE_H

#include "gasnet_ex_port.h"
#include "gasnet_tools_annotate.h"

PSI_BEGIN_DECLS

/* Never called. Programs take its address, so the name is fixed. */
PSI_INLINE void _gasnett_trace_printf_noop(const char *format, ...) PSI_PRINTF_FORMAT(1, 2);
PSI_INLINE void
_gasnett_trace_printf_noop(const char *format, ...)
{
	(void)format;
}

PSI_END_DECLS

#define PSI_TRACE_TEXT(...)                                     \
	do {                                                    \
		if (0)                                          \
			_gasnett_trace_printf_noop(__VA_ARGS__); \
	} while (0)

#define GASNETT_TRACE_ENABLED           0
#define GASNETT_TRACE_GETMASK()         ""
#define GASNETT_STATS_GETMASK()         ""
#define GASNETT_TRACE_SETMASK(mask)     GASNETT_UNUSED_ARGS1(mask)
#define GASNETT_STATS_SETMASK(mask)     GASNETT_UNUSED_ARGS1(mask)
#define GASNETT_TRACE_PRINTF(...)       PSI_TRACE_TEXT(__VA_ARGS__)
#define GASNETT_TRACE_PRINTF_FORCE(...) PSI_TRACE_TEXT(__VA_ARGS__)
#define GASNETT_STATS_PRINTF(...)       PSI_TRACE_TEXT(__VA_ARGS__)
#define GASNETT_STATS_PRINTF_FORCE(...) PSI_TRACE_TEXT(__VA_ARGS__)
#define GASNETT_STATS_DUMP(reset)       GASNETT_UNUSED_ARGS1(reset)
#define GASNETT_STATS_INIT(callback)    GASNETT_UNUSED_ARGS1(callback)

#define GASNETT_TRACE_SETSOURCELINE(file, line)   GASNETT_UNUSED_ARGS2(file, line)
#define GASNETT_TRACE_GETSOURCELINE(pfile, pline) ((void)(*(pfile) = "", *(pline) = 0))
#define GASNETT_TRACE_FREEZESOURCELINE()          ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE()        ((void)0)
#define GASNETT_TRACE_GET_TRACELOCAL()            (0)
#define GASNETT_TRACE_SET_TRACELOCAL(value)       GASNETT_UNUSED_ARGS1(value)

#endif
