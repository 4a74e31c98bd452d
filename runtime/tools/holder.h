/* What mutexes and reader-writer locks share: which thread holds one, and calls that must not
 * fail. */
#ifndef PSI_TOOLS_HOLDER_H
#define PSI_TOOLS_HOLDER_H

#include <stdint.h>
#include <string.h>

#include "gasnet_tools.h"

/* Never 0, and of one living thread only; the same for all calls of one source file. */
static inline uint64_t
psi_this_thread(void)
{
	static __thread char mine;

	return (uint64_t)(uintptr_t)&mine;
}

/*
 * A thread asks only whether it is the holder itself: it wrote that word last then, so no order is
 * needed.
 */
static inline void
psi_holder_set(uint64_t *holder, uint64_t thread)
{
	__atomic_store_n(holder, thread, __ATOMIC_RELAXED);
}

static inline uint64_t
psi_holder(const uint64_t *holder)
{
	return __atomic_load_n(holder, __ATOMIC_RELAXED);
}

/* Ends the process if the pthread call failed. */
static inline void
psi_lock_must(int error, const char *call, const char *where)
{
	if (error)
		gasnett_fatalerror_nopos("%s: %s: %s", where, call, strerror(error));
}

#endif
