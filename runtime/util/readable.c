#include "runtime/util/readable.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel reads the set before it refuses what is to be done with it. */
bool
psi_is_readable(uintptr_t at)
{
	const uintptr_t word = at & ~(uintptr_t)7;
	const int saved = errno;
	bool readable;

	if (!word)
		return false;
	readable = syscall(SYS_rt_sigprocmask, ~0u, word, NULL, (size_t)8) == 0 || errno != EFAULT;
	errno = saved;
	return readable;
}
