/*
 * Waiters that yield are spread over the CPUs that they may use (spread.c).
 */
#ifndef PSI_SPREAD_H
#define PSI_SPREAD_H

#include "runtime/process/thread.h"

/* Reads PST_SPREAD.  Called once, by job_open. */
void psi_spread_open(void);

/* So many yields of a thread are one look. */
enum { PSI_YIELDS_PER_SPREAD = 8 };

/* A look in an epoch: counts the calling thread at the CPU where it is, and moves it if that has
 * more than its share.  Returns true if it has moved. */
bool psi_spread_look(struct psi_thread *thread, uint32_t cpu, uint64_t epoch);

/* CPUs that share a cache are dealt out to ranks that may use the same ones: to number 0, 1, 2 and
 * so on, then from the first one again.  Moves the calling thread to the one for this number.
 * False: it is there, may not go there, or has moved a short time ago; or the ranks have different
 * CPUs, or a quota of them.  Once dealt out it is not spread any more: all have equal shares. */
bool psi_spread_deal(struct psi_thread *thread, uint32_t number);

/* The calling thread is about to yield, and is on this CPU; negative: that is not known.  Any
 * thread that may call the library. */
void psi_spread_before_yield(int cpu);

#endif
