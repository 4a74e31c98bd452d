/*
 * A barrier of all ranks of one host, or of a team, in memory they share.  A rank enters phase
 * after phase, each once, and the next when it has found the one before complete.  Phases count
 * from 1.
 */
#ifndef PREF_HALL_H
#define PREF_HALL_H

#include "runtime/psi.h"

/* What is known of a phase's names; combining is idempotent, so hearing twice does no harm. */
struct pref_names {
	bool mismatch, named;
	int32_t id;
};

static inline struct pref_names
pref_names_combine(struct pref_names a, struct pref_names b)
{
	struct pref_names both = { .mismatch = a.mismatch || b.mismatch,
		                   .named = a.named || b.named };

	both.id = a.named ? a.id : b.id;
	if (a.named && b.named && a.id != b.id)
		both.mismatch = true;
	return both;
}

/* A rank's side of one sequence of phases. */
struct pref_hall {
	struct psi_hall *words;
	gex_TM_t tm;                    /* NULL: the job's */
	uint32_t size, rank;
	uint32_t seen;                  /* by flags: of the ranks below it, in this phase */
	struct pref_names gathered;
};

/* Do all ranks of the job share memory, and is that not masked? */
bool pref_hall_is_there(void);
void pref_hall_enter(struct pref_hall *hall, uint64_t phase, struct pref_names names);
/* Has everybody entered?  Then what they gathered. */
bool pref_hall_complete(struct pref_hall *hall, uint64_t phase, struct pref_names *names_out);
/* Has anybody entered?  Asked by a rank that has not, and found the phase before complete. */
bool pref_hall_is_entered(const struct pref_hall *hall, uint64_t phase);

#endif
