/*
 * Barriers in phases: two of the job, plain and named, and one of each team whose members share
 * memory.  Any number of phases may be started; a member enters them one after the other.  Phases
 * count from 1.  A phase is passed in shared memory (pcoll_barrier_shared.h).  Where the job has
 * none, it is passed by an operation of the engine.
 *
 * Barriers of other teams are operations of the engine, and are not here.  With PST_CHECK neither
 * is the job's plain one where it goes by messages: phases have numbers of their own, so their
 * notes would not tell of members that make another call.
 */
#ifndef PCOLL_BARRIER_H
#define PCOLL_BARRIER_H

#include "coll/operation.h"
#include "coll/pcoll_names.h"

#include "runtime/process/module.h"

struct pcoll_barrier;

/* Is the plain barrier of the job passed in shared memory? */
bool pcoll_barrier_of_job_is_shared(void);

/* The job's barriers, and the ends of teams; opened by start-up. */
extern const struct psi_module pcoll_barrier_module;

/* The next phase of the plain barrier of the job, or of a team that shares memory. */
gex_Event_t pcoll_barrier_start(gex_TM_t tm, enum pcoll_api api);

/* Does a rule of the user's take barriers of such a team from shared memory? */
bool pcoll_barrier_is_for_messages(uint32_t size);

/* The named barrier of the job.  One phase at a time is started. */
struct pcoll_barrier *pcoll_barrier_named(void);
/* Starts the next phase; returns its number. */
uint64_t pcoll_barrier_begin(struct pcoll_barrier *barrier, struct pcoll_names names);
/* Have all entered that phase?  Advances the barrier.  `object' is a struct pcoll_barrier. */
bool pcoll_barrier_is_over(const void *object, uint64_t phase);
/* The combined names of the phase that was finished last. */
struct pcoll_names pcoll_barrier_result(const struct pcoll_barrier *barrier);

#endif
