/*
 * A barrier of all ranks of one host, or of a team, in memory they share.  A rank enters phase
 * after phase, each once, and the next when it has found the one before complete.  Phases count
 * from 1.
 */
#ifndef PCOLL_BARRIER_SHARED_H
#define PCOLL_BARRIER_SHARED_H

#include "runtime/psi.h"

/* What is known of a phase's names; combining is idempotent, so hearing twice does no harm. */
struct pcoll_names {
	bool mismatch, named;
	int32_t id;
};

static inline struct pcoll_names
pcoll_names_combine(struct pcoll_names a, struct pcoll_names b)
{
	struct pcoll_names both = { .mismatch = a.mismatch || b.mismatch,
		                    .named = a.named || b.named };

	both.id = a.named ? a.id : b.id;
	if (a.named && b.named && a.id != b.id)
		both.mismatch = true;
	return both;
}

/* A rank's side of one sequence of phases. */
struct pcoll_hall {
	struct psi_hall *words;
	gex_TM_t tm;                    /* NULL: the job's */
	uint32_t size, rank;
	uint32_t seen;                  /* by flags: of the ranks below it, in this phase */
	struct pcoll_names gathered;
};

/* Do all ranks of the job share memory, and is that not masked? */
bool pcoll_hall_is_there(void);
void pcoll_hall_enter(struct pcoll_hall *hall, uint64_t phase, struct pcoll_names names);
/* Has everybody entered?  Then what they gathered. */
bool pcoll_hall_complete(struct pcoll_hall *hall, uint64_t phase, struct pcoll_names *names_out);
/* Has anybody entered?  Asked by a rank that has not, and found the phase before complete. */
bool pcoll_hall_is_entered(const struct pcoll_hall *hall, uint64_t phase);

/* The job's barriers, and those of teams; opened by start-up. */
extern const struct psi_part pcoll_barrier_part;

/* The next phase of the unnamed barrier of the primordial team. */
gex_Event_t pcoll_barrier_start(void);
/* The next barrier of a team whose group has a hall. */
gex_Event_t pcoll_gate_start(gex_TM_t tm);

/* pcoll_barrier_team.c, for pcoll_barrier_job.c.  The member's end, when all are over: ends the job
 * if another has entered one more. */
void pcoll_gates_open(void);
void pcoll_gate_close(gex_TM_t tm, const char *call);

/* pcoll_barrier_lend.c */
extern const struct psi_hall_lender pcoll_hall_lender;
/* A member will not look at its team's hall again; once for each. */
void pcoll_hall_leave(struct psi_hall *hall);

#endif
