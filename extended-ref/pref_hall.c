/*
 * Two ways, by the number of ranks.
 *
 * Few: each has a line in which it writes the phase it entered, and reads the lines of all others.  A
 * line has a word for each parity of phase, since a peer can be one phase ahead.  Who finds all there
 * rings those who sleep; of two that both go to sleep one does, since each wrote its word, then
 * announced its sleep, then looked at the other's word.
 *
 * Many: one word counts who has entered and gathers their names.  The last one to enter sets it to zero
 * again, says in another word which phase is complete, and rings those who sleep.
 *
 * Pairs:  G1 (count_in) -> G1           what a rank wrote before it entered, to the last one
 *         G2 (count_in) -> G3           the same of all, and the count back at zero, to the others
 *         G4 (pref_hall_enter) -> G5    what a rank wrote before it entered, to each
 * Sleep:  D4 (smp-conduit/psmp_sleep.c), rung by ring_host.
 */
#include "extended-ref/pref_hall.h"

#include "runtime/reach.h"

/* As many lines are read as fast as one word is written in turn. */
enum { FEW_RANKS = 4 };

enum { NAMED_BIT = 32, MISMATCH_BIT = 33, TAG_BIT = 48 };

static uint64_t
word_of(struct pref_names names, uint64_t tag)
{
	return (uint32_t)names.id | (uint64_t)names.named << NAMED_BIT |
	       (uint64_t)names.mismatch << MISMATCH_BIT | tag << TAG_BIT;
}

static struct pref_names
names_of(uint64_t word)
{
	return (struct pref_names){
		.id = (int32_t)(uint32_t)word,
		.named = word >> NAMED_BIT & 1,
		.mismatch = word >> MISMATCH_BIT & 1,
	};
}

/* A phase by its lower bits: what is found there is of this phase or of the one two before. */
static bool
is_of(uint64_t word, uint64_t phase)
{
	return word >> TAG_BIT == (uint16_t)phase;
}

static _Atomic uint64_t *
flag_of(const struct pref_hall *hall, uint32_t rank, uint64_t phase)
{
	return &psi_shared_rank(psi.shared, psi.boot.size, rank)->halls[hall->sequence].entered[phase & 1];
}

bool
pref_hall_is_there(void)
{
	return psi.conduit_job.host_places == psi.boot.size && !psi_way_is_masked(PSI_WAY_BARRIER);
}

/* -- many -------------------------------------------------------------------------------------- */

static void
count_in(struct pref_hall *hall, uint64_t phase, struct pref_names names)
{
	struct psi_hall *shared = &psi.shared->halls[hall->sequence];
	uint64_t before = atomic_load_explicit(&shared->arrived, memory_order_relaxed), after;
	uint64_t count;

	do {
		count = (before >> TAG_BIT) + 1;
		after = word_of(pref_names_combine(names_of(before), names), count);
	} while (!atomic_compare_exchange_weak_explicit(&shared->arrived, &before,
	                                                count == psi.boot.size ? 0 : after,
	                                                memory_order_acq_rel, /* G1 */
	                                                memory_order_relaxed));
	if (count < psi.boot.size)
		return;
	atomic_store_explicit(&shared->complete, word_of(names_of(after), phase & UINT16_MAX),
	                      memory_order_release); /* G2 */
	psi.ops->ring_host(psi.ep->port);
}

static bool
is_told(const struct pref_hall *hall, uint64_t phase, struct pref_names *names_out)
{
	const uint64_t word = atomic_load_explicit(&psi.shared->halls[hall->sequence].complete,
	                                           memory_order_acquire); /* G3 */

	*names_out = names_of(word);
	return is_of(word, phase);
}

/* -- few --------------------------------------------------------------------------------------- */

static bool
sees_all(struct pref_hall *hall, uint64_t phase, struct pref_names *names_out)
{
	for (; hall->seen < psi.boot.size; hall->seen++) {
		const uint64_t word = atomic_load_explicit(flag_of(hall, hall->seen, phase),
		                                           memory_order_acquire); /* G5 */

		if (!is_of(word, phase))
			return false;
		hall->gathered = pref_names_combine(hall->gathered, names_of(word));
	}
	*names_out = hall->gathered;
	psi.ops->ring_host(psi.ep->port);
	return true;
}

/* ---------------------------------------------------------------------------------------------- */

void
pref_hall_enter(struct pref_hall *hall, uint64_t phase, struct pref_names names)
{
	if (psi.boot.size > FEW_RANKS) {
		count_in(hall, phase, names);
		return;
	}
	hall->seen = 0;
	hall->gathered = names;
	atomic_store_explicit(flag_of(hall, psi.boot.rank, phase),
	                      word_of(names, phase & UINT16_MAX), memory_order_release); /* G4 */
}

bool
pref_hall_complete(struct pref_hall *hall, uint64_t phase, struct pref_names *names_out)
{
	return psi.boot.size > FEW_RANKS ? is_told(hall, phase, names_out)
	                                 : sees_all(hall, phase, names_out);
}
