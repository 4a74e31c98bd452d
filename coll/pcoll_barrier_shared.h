/*
 * A barrier of all ranks of one host, or of a team, in memory they share.  A rank enters phase
 * after phase, each once, and the next when it has found the one before complete.  Phases count
 * from 1.
 */
#ifndef PCOLL_BARRIER_SHARED_H
#define PCOLL_BARRIER_SHARED_H

#include "coll/pcoll_names.h"

#include "runtime/team/team.h"

/* A rank's side of one sequence of phases. */
struct pcoll_shm_barrier {
	struct psi_barrier_area *area;
	gex_TM_t tm;                    /* NULL: the job's */
	uint32_t size, rank;
	/* Many ranks count in groups, PSI_BARRIER_FLAGS of these at most (coll/groups.h). */
	uint32_t groups, group, group_members;
	uint64_t sleeps;                /* of the calling thread, when it entered */
	uint32_t seen;                  /* with flags: all ranks below it are in this phase */
	bool fenced;                    /* ... and this one has looked behind its fence */
	uint64_t own;                   /* what this rank's flag says */
	struct pcoll_names gathered;
};

/* A member's side, area NULL: it has none.  tm NULL: the job's. */
struct pcoll_shm_barrier pcoll_shm_barrier_make(gex_TM_t tm, struct psi_barrier_area *area);

/* Do all ranks of the job share memory, and is that not masked? */
bool pcoll_shm_barrier_is_available(void);
void pcoll_shm_barrier_enter(struct pcoll_shm_barrier *shm_barrier, uint64_t phase,
                             struct pcoll_names names);
/* Have all ranks entered?  If so, returns true and the combined names. */
bool pcoll_shm_barrier_complete(struct pcoll_shm_barrier *shm_barrier, uint64_t phase,
                                struct pcoll_names *names_out);
/* A word holds the lower bits of a phase.  It is of this phase or of the phase two before, so these
 * bits suffice. */
static inline bool
pcoll_shm_barrier_word_is_of(uint64_t word, uint64_t phase)
{
	return word >> PCOLL_NAMES_BITS == (uint16_t)phase;
}

/* With many ranks: has some rank still to enter a phase that this one has entered?  Any thread may
 * look. */
static inline bool
pcoll_shm_barrier_is_awaited(const struct pcoll_shm_barrier *shm_barrier, uint64_t phase)
{
	return shm_barrier->area && shm_barrier->size > PSI_BARRIER_FLAGS &&
	       !pcoll_shm_barrier_word_is_of(atomic_load_explicit(&shm_barrier->area->complete,
	                                                          memory_order_relaxed), phase);
}

/* Has any rank entered?  The caller has not entered, and has found the phase before complete. */
bool pcoll_shm_barrier_is_entered(const struct pcoll_shm_barrier *shm_barrier, uint64_t phase);

#endif
