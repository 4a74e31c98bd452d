/* Stack traces, waiting for a debugger, signals and streams, as gasnet_tools.h has them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gasnet_tools.h"
#include "runtime/report/backtrace.h"
#include "runtime/report/freeze.h"
#include "runtime/report/signal_names.h"

/* Symbols are found without the name; rank 0 until the job says which. */
void
gasnett_backtrace_init(const char *exename)
{
	(void)exename;
	psi_backtrace_open(0);
}

int
gasnett_print_backtrace(int fd)
{
	return psi_backtrace_print(fd);
}

void
gasnett_freezeForDebuggerNow(volatile int *flag, const char *flagsymname)
{
	psi_freeze_now(flag, flagsymname);
}

void
gasnett_freezeForDebuggerErr(void)
{
	psi_freeze_on_error();
}

gasnett_sighandlerfn_t
gasnett_reghandler(int sigtocatch, gasnett_sighandlerfn_t fp)
{
	gasnett_sighandlerfn_t before = signal(sigtocatch, fp);

	if (before == SIG_ERR)
		gasnett_fatalerror_nopos("gasnett_reghandler: signal %d cannot be handled: %s",
		                         sigtocatch, strerror(errno));
	return before;
}

const char *
gasnett_signame_fromval(int sig)
{
	return psi_signal_name(sig);
}

void
gasnett_killmyprocess(int exitcode)
{
	_exit(exitcode);
}

void
gasnett_flush_streams(void)
{
	fflush(NULL);
	fsync(STDOUT_FILENO);
	fsync(STDERR_FILENO);
}

/* The descriptors stay taken, so that no file opened later is written to as an output. */
void
gasnett_close_streams(void)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

	gasnett_flush_streams();
	for (fd = STDIN_FILENO; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(nowhere, fd);
	if (nowhere > STDERR_FILENO)
		close(nowhere);
}
