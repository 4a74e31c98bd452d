/* gasnet_tools_debug.h: fatal errors, stack traces, waiting for a debugger, signals. */
#ifndef GASNET_TOOLS_DEBUG_H
#define GASNET_TOOLS_DEBUG_H

#include "gasnet_ex_port.h"
#include "gasnet_tools_annotate.h"

PSI_BEGIN_DECLS

/*
 * Prints the message as one line on stderr (the first form with the position
 * of the call), then a stack trace or waits for a debugger as settings say,
 * and aborts the process; a job ends with it. Never return.
 */
#define gasnett_fatalerror(...) \
	psi_fatalerror_at(GASNETT_CURRENT_FUNCTION, __FILE__, __LINE__, __VA_ARGS__)
PSI_API void gasnett_fatalerror_nopos(const char *msg, ...) GASNETT_NORETURN
	PSI_PRINTF_FORMAT(1, 2);
PSI_API void psi_fatalerror_at(const char *function, const char *file, int line, const char *msg,
                               ...) GASNETT_NORETURN PSI_PRINTF_FORMAT(4, 5);

/* The position as text, "function at file:line"; the caller frees it. */
#define gasnett_current_loc psi_current_loc(GASNETT_CURRENT_FUNCTION, __FILE__, __LINE__)
PSI_API char *psi_current_loc(const char *function, const char *file, int line);

/*
 * Stack traces. init may be called at the start of main with argv[0]; it
 * prepares what must not be prepared in a signal handler. print writes a
 * trace of the calling thread and returns 0, or non-zero if it cannot. Fatal
 * errors call the variable, which by default does as GASNET_BACKTRACE says.
 */
PSI_API void gasnett_backtrace_init(const char *exename);
PSI_API int gasnett_print_backtrace(int fd);
PSI_API int (*gasnett_print_backtrace_ifenabled)(int fd);

/*
 * A program may define gasnett_backtrace_user. Its name is then a value of
 * GASNET_BACKTRACE_TYPE; fnp returns non-zero to let other ways be tried;
 * threadsupport says whether it works in a program with threads.
 */
typedef struct {
	const char *name;
	int (*fnp)(int fd);
	int threadsupport;
} gasnett_backtrace_type_t;

PSI_API gasnett_backtrace_type_t gasnett_backtrace_user;

/*
 * Waits for a debugger: prints how to attach, then sleeps until *flag is
 * changed from zero. The second does so only under GASNET_FREEZE_ON_ERROR.
 */
PSI_API void gasnett_freezeForDebuggerNow(volatile int *flag, const char *flagsymname);
PSI_API void gasnett_freezeForDebuggerErr(void);

/* Signals: sets a handler, SIG_DFL or SIG_IGN, and returns what was there before. */
typedef void (*gasnett_sighandlerfn_t)(int);
PSI_API gasnett_sighandlerfn_t gasnett_reghandler(int sigtocatch, gasnett_sighandlerfn_t fp);

/* "SIGSEGV"; text of the library's, never NULL. */
PSI_API const char *gasnett_signame_fromval(int sig);

/* Ends this process at once, with that status; nothing is flushed or called. */
PSI_API void gasnett_killmyprocess(int exitcode) GASNETT_NORETURN;

/* Writes out what stdio and the kernel hold of standard output and error; close also closes
 * them. */
PSI_API void gasnett_flush_streams(void);
PSI_API void gasnett_close_streams(void);

PSI_END_DECLS

#endif
