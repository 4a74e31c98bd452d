/*
 * A lock for sections of some tens of instructions, in memory of one process.  Never held while a
 * handler runs.  System calls under it: the yield of a thread that waits for it, and those by which
 * the sleeping protocol fences others or wakes them, which never block.
 */
#ifndef PSI_UTIL_SPINLOCK_H
#define PSI_UTIL_SPINLOCK_H

#include "gasnet_ex_port.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Pairs: L1 (unlock) -> L2 (lock), everything inside one section before the next. */
struct psi_spinlock {
	_Atomic unsigned char taken;
};

static inline bool
psi_spinlock_try(struct psi_spinlock *lock)
{
	return !atomic_load_explicit(&lock->taken, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&lock->taken, 1,
	                                 memory_order_acquire); /* L2: acquire, from L1 in unlock */
}

static inline void
psi_spinlock_lock(struct psi_spinlock *lock)
{
	unsigned tries = 0;

	while (!psi_spinlock_try(lock)) {
		if (++tries % 64 == 0)
			sched_yield();
		else
			psi_pause();
	}
}

static inline void
psi_spinlock_unlock(struct psi_spinlock *lock)
{
	atomic_store_explicit(&lock->taken, 0,
	                      memory_order_release); /* L1: release, to L2 in psi_spinlock_try */
}

#endif
