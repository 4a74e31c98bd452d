/*
 * Waiters that yield on a CPU have their turns in the order of their ranks (turns.c).
 */
#ifndef PSI_TURNS_H
#define PSI_TURNS_H

#include "runtime/process/thread.h"

/* Ranks of a CPU.  Two have no order; with more than eight, a turn that comes too early costs more
 * than the order gains. */
enum { PSI_TURNS_LEAST = 3, PSI_TURNS_MOST = 8 };

/* A thread takes its position at most once in an epoch of 8 ms. */
enum { PSI_TURNS_EPOCH_NS_LOG = 23 };

/* PST_TURNS=0, or the kernel does not do it; nobody knows yet; some thread of this host came to its
 * position. */
enum psi_turns_state { PSI_TURNS_OFF, PSI_TURNS_TRIED, PSI_TURNS_ORDERED };
extern _Atomic uint32_t psi_turns_state;

static inline bool
psi_turns_have_state(enum psi_turns_state least, uint32_t ranks_per_cpu)
{
	return ranks_per_cpu >= PSI_TURNS_LEAST && ranks_per_cpu <= PSI_TURNS_MOST &&
	       !psi.networked &&
	       atomic_load_explicit(&psi_turns_state, memory_order_relaxed) >= least;
}

/* True if turns have an order.  The rank that has a turn is then likely the next one that receives
 * something, so all waiters yield, and none sleeps at once. */
static inline bool
psi_turns_are_ordered(uint32_t ranks_per_cpu)
{
	return psi_turns_have_state(PSI_TURNS_ORDERED, ranks_per_cpu);
}

/* Reads PST_TURNS.  Called once, by job_open. */
void psi_turns_open(void);

/* Yields.  The calling thread is on that CPU; negative: that is not known.  Any thread that may
 * call the library. */
void psi_turns_yield(int cpu);

/* The thread has a turn on the CPU: notes that.  Returns true if it is to take its position. */
bool psi_turns_note(struct psi_thread *thread, uint32_t cpu);

#endif
