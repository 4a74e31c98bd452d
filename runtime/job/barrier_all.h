/* All ranks meet, in calls of the runtime that all make. */
#ifndef PSI_BARRIER_ALL_H
#define PSI_BARRIER_ALL_H

#include "runtime/process/process.h"

#include "gasnet_ex_event.h"

/* Runs the barrier that coll has handed down. */
static inline void
psi_barrier_all(void)
{
	gex_Event_Wait(psi.barrier(psi.tm, 0));
}

#endif
