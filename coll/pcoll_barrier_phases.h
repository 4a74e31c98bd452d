/*
 * The phases of a barrier that this rank has started, and those that it has finished, counted from
 * 1. Both counts change under the lock of the barrier that they belong to; anybody may read them.
 *
 * Pairs:  N3 (pcoll_phases_finish) -> N4 (pcoll_phases_finished)   the result of a phase, and what
 *                                                                others wrote before they entered
 */
#ifndef PCOLL_BARRIER_PHASES_H
#define PCOLL_BARRIER_PHASES_H

#include <stdatomic.h>
#include <stdint.h>

struct pcoll_phases {
	_Atomic uint64_t started, finished;
};

static inline uint64_t
pcoll_phases_started(const struct pcoll_phases *phases)
{
	return atomic_load_explicit(&phases->started, memory_order_relaxed);
}

static inline uint64_t
pcoll_phases_finished(const struct pcoll_phases *phases)
{
	return atomic_load_explicit(&phases->finished, memory_order_acquire); /* N4 */
}

/* Under the lock: starts a phase, and returns its number. */
static inline uint64_t
pcoll_phases_start(struct pcoll_phases *phases)
{
	const uint64_t phase = pcoll_phases_started(phases) + 1;

	atomic_store_explicit(&phases->started, phase, memory_order_relaxed);
	return phase;
}

/* The phase that is to be finished next; 0: all that were started are. */
static inline uint64_t
pcoll_phases_next(const struct pcoll_phases *phases)
{
	const uint64_t done = atomic_load_explicit(&phases->finished, memory_order_relaxed);

	return done < pcoll_phases_started(phases) ? done + 1 : 0;
}

/* Under the lock. */
static inline void
pcoll_phases_finish(struct pcoll_phases *phases, uint64_t phase)
{
	atomic_store_explicit(&phases->finished, phase, memory_order_release); /* N3 */
}

#endif
