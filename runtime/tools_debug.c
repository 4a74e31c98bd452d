/* Stack traces and waiting for a debugger, as gasnet_tools.h has them. */
#include "gasnet_tools.h"
#include "runtime/backtrace.h"
#include "runtime/freeze.h"

static int
print_if_wanted(int fd)
{
	return psi_backtrace_wanted() ? psi_backtrace_print(fd) : 0;
}

/* Programs may put a function of their own here. */
int (*gasnett_print_backtrace_ifenabled)(int fd) = print_if_wanted;

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
