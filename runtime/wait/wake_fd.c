#include "runtime/wait/wake_fd.h"

#include "bootstrap/bootstrap.h"
#include "runtime/process/process.h"
#include "runtime/util/limit_hint.h"
#include "runtime/util/log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* [host_places]: 1 + the descriptor, or 0.  Made by psi_wake_fd, before a peer can sleep. */
static _Atomic int *known;

static void
tell_lack(uint32_t host_index, int error)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&told))
		psi_log("no descriptor to wake rank %u by: %s%s; it wakes later by itself",
		        psi.host_ranks[host_index], strerror(error), psi_limit_hint(error));
}

/* Returns the descriptor of that process; -1: there is none.  If two threads ask at once, one of
 * them closes the descriptor that it got, and uses the other's. */
static int
fd_of(uint32_t host_index)
{
	int seen = atomic_load_explicit(&known[host_index], memory_order_relaxed), fd;

	if (seen)
		return seen - 1;
	fd = pboot_wake_fd(host_index);
	if (fd < 0) {
		tell_lack(host_index, -fd);
		return -1;
	}
	if (atomic_compare_exchange_strong_explicit(&known[host_index], &seen, fd + 1,
	                                            memory_order_relaxed, memory_order_relaxed))
		return fd;
	close(fd);
	return seen - 1;
}

int
psi_wake_fd(void)
{
	if (!known)
		known = calloc(psi.host_places, sizeof *known);
	return known ? fd_of(psi.host_index[psi.boot.rank]) : -1;
}

/* A write that finds the counter full changes nothing: the descriptor is readable. */
void
psi_wake_asleep(uint32_t host_index)
{
	const uint64_t one = 1;
	const int fd = known ? fd_of(host_index) : -1;

	if (fd >= 0 && write(fd, &one, sizeof one) < 0)
		return;
}
