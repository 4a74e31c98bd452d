/*
 * There are two ways; the number of ranks decides.
 *
 * Few ranks: each has a line.  It writes the phase that it has entered there, and reads the lines
 * of all others.  A line has a word for each parity of phase, since a peer can be one phase ahead.
 * A rank that finds all lines complete wakes the sleeping ranks.  Of the last two that enter, at
 * least one finds the other's word and does so, since each wrote its word, and then looked behind a
 * fence (G8); its next look, in a test or a wait, may come much later.
 *
 * Many ranks: one word counts the ranks that have entered, and combines their names.  The last one
 * sets it back to zero, writes to another word which phase is complete, and wakes the sleeping
 * ranks.  Where ranks have a CPU each and are in several groups, each group has such a word first,
 * and its last rank counts the group in, so that fewer CPUs ask for one line.
 *
 * Waking takes a system call for each sleeper.  The last one makes all of them, from the lowest
 * rank on, and a rank that slept helps it when it finds the phase complete: it wakes the ranks
 * below it in a tree.  Who is awake already costs nothing more.
 *
 * Pairs:  G1 (count_in) -> G1                 what a rank wrote before it entered, to the last one
 *         G2 (phase_count_in) -> G3           the same of all, and the counts back at zero, to the
 *                                             others
 *         G4 (pcoll_shm_barrier_enter) -> G5    what a rank wrote before it entered, to each
 *         G8 (phase_looks_behind_fence)         of two that enter, one sees the other
 * Sleep:  D4 (smp-conduit/sysvnet/sysvnet_sleep.c), woken by wake_host; for a team, by
 *        wake_peer, and psi_wake_own for members of the same process.
 */
#include "coll/pcoll_barrier_shared.h"
#include "coll/groups.h"

#include "runtime/segment/reach.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/fence.h"

#include <stdlib.h>

static uint64_t
flag_word_of(struct pcoll_names names, uint64_t tag)
{
	return pcoll_names_word(names) | tag << PCOLL_NAMES_BITS;
}

static _Atomic uint64_t *
rank_flag_of(const struct pcoll_shm_barrier *shm_barrier, uint32_t rank, uint64_t phase)
{
	return &shm_barrier->area->flags[rank].entered[phase & 1];
}

bool
pcoll_shm_barrier_is_available(void)
{
	return psi.host_places == psi.boot.size && !psi.networked &&
	       !psi_way_is_masked(PSI_WAY_BARRIER);
}

static uint32_t
place_of(const struct pcoll_shm_barrier *shm_barrier, uint32_t rank)
{
	return shm_barrier->tm && shm_barrier->tm->places ? shm_barrier->tm->places[rank] : rank;
}

/* Returns how often the calling thread has slept. */
static uint64_t
sleeps_of_thread(void)
{
	return psi_block()->count[PSI_COUNT_SLEEPS];
}

/* Wakes the ranks below this one in the tree, in which rank r has the ranks from r * WIDTH + 1
 * on. */
static void
barrier_help_wake(const struct pcoll_shm_barrier *shm_barrier)
{
	enum { WIDTH = 4 };
	const uint64_t first = (uint64_t)shm_barrier->rank * WIDTH + 1;

	for (uint64_t rank = first; rank < first + WIDTH && rank < shm_barrier->size; rank++) {
		const uint32_t place = place_of(shm_barrier, (uint32_t)rank);

		if (psi_jobrank_of(place) != psi.boot.rank)
			psi.ops->wake_peer(psi.ep->port, place);
	}
}

/* Wakes the sleeping members. */
static void
barrier_wake(const struct pcoll_shm_barrier *shm_barrier)
{
	gex_TM_t tm = shm_barrier->tm;

	if (!tm) {
		psi.ops->wake_host(psi.ep->port);
		return;
	}
	for (uint32_t rank = 0; rank < tm->size; rank++)
		if (psi_jobrank_of(tm->places[rank]) != psi.boot.rank)
			psi.ops->wake_peer(psi.ep->port, tm->places[rank]);
	psi_wake_own();
}

/* -- many -------------------------------------------------------------------------------------- */

/* Counts in, with names to combine.  Returns the word before. */
static uint64_t
count_in_with_names(_Atomic uint64_t *word, struct pcoll_names names)
{
	uint64_t before = atomic_load_explicit(word, memory_order_relaxed), after;

	do {
		after = flag_word_of(pcoll_names_combine(pcoll_names_of(before), names),
		                     (before >> PCOLL_NAMES_BITS) + 1);
	} while (!atomic_compare_exchange_weak_explicit(word, &before, after,
	                                                memory_order_acq_rel, /* G1 to the last */
	                                                memory_order_relaxed));
	return before;
}

/* Counts in one of `all'.  Returns whether it is the last, with the names of all; then the word is
 * back at zero, which others find behind G2.  Without names it asks for the word's line once. */
static bool
count_in(_Atomic uint64_t *word, uint32_t all, struct pcoll_names *names)
{
	const uint64_t before =
		pcoll_names_word(*names)
			? count_in_with_names(word, *names)
			: atomic_fetch_add_explicit(word, (uint64_t)1 << PCOLL_NAMES_BITS,
		                                    memory_order_acq_rel); /* G1 to the last */

	if ((before >> PCOLL_NAMES_BITS) + 1 < all)
		return false;
	*names = pcoll_names_combine(pcoll_names_of(before), *names);
	atomic_store_explicit(word, 0, memory_order_relaxed);
	return true;
}

static void
phase_count_in(struct pcoll_shm_barrier *shm_barrier, uint64_t phase, struct pcoll_names names)
{
	struct psi_barrier_area *area = shm_barrier->area;

	if (shm_barrier->groups > 1 &&
	    !count_in(&area->flags[shm_barrier->group].entered[0], shm_barrier->group_members,
	              &names))
		return;
	if (!count_in(&area->arrived,
	              shm_barrier->groups > 1 ? shm_barrier->groups : shm_barrier->size, &names))
		return;
	atomic_store_explicit(&area->complete, flag_word_of(names, phase & UINT16_MAX),
	                      memory_order_release); /* G2: release, to G3 in phase_is_told */
	barrier_wake(shm_barrier);
}

static bool
phase_is_told(const struct pcoll_shm_barrier *shm_barrier, uint64_t phase,
              struct pcoll_names *names_out)
{
	const uint64_t word = atomic_load_explicit(&shm_barrier->area->complete,
	                                           memory_order_acquire); /* G3: acquire, from G2 in
	                                                                  * phase_count_in */

	*names_out = pcoll_names_of(word);
	return pcoll_shm_barrier_word_is_of(word, phase);
}

/* -- few --------------------------------------------------------------------------------------- */

/* Goes on from the first rank that was not seen.  A word like this rank's own, as all are where no
 * rank has a name, has nothing to combine. */
static bool
phase_looks(struct pcoll_shm_barrier *shm_barrier, uint64_t phase)
{
	for (; shm_barrier->seen < shm_barrier->size; shm_barrier->seen++) {
		const uint64_t word =
			atomic_load_explicit(rank_flag_of(shm_barrier, shm_barrier->seen, phase),
		                             memory_order_acquire); /* G5: acquire, from G4 below */

		if (PSI_LIKELY(word == shm_barrier->own))
			continue;
		if (!pcoll_shm_barrier_word_is_of(word, phase))
			return false;
		shm_barrier->gathered =
			pcoll_names_combine(shm_barrier->gathered, pcoll_names_of(word));
	}
	return true;
}

/* The caller may not look again for long, so the first look that fails is repeated behind the
 * fence. */
static bool
phase_looks_behind_fence(struct pcoll_shm_barrier *shm_barrier, uint64_t phase)
{
	if (shm_barrier->fenced)
		return false;
	shm_barrier->fenced = true;
	psi_store_load_fence(); /* G8: between this rank's flag and its last look at others' */
	return phase_looks(shm_barrier, phase);
}

static bool
phase_sees_all(struct pcoll_shm_barrier *shm_barrier, uint64_t phase, struct pcoll_names *names_out)
{
	if (!phase_looks(shm_barrier, phase) && !phase_looks_behind_fence(shm_barrier, phase))
		return false;
	*names_out = shm_barrier->gathered;
	barrier_wake(shm_barrier);
	return true;
}

/* ---------------------------------------------------------------------------------------------- */

/* Several groups of the team make one here, where it has more than there are words for. */
static void
groups_open(struct pcoll_shm_barrier *shm_barrier)
{
	struct pcoll_groups groups = pcoll_groups_of(shm_barrier->tm);
	const uint32_t together = (groups.count + PSI_BARRIER_FLAGS - 1) / PSI_BARRIER_FLAGS;
	uint32_t end;

	shm_barrier->groups = (groups.count + together - 1) / together;
	shm_barrier->group = groups.own / together;
	end = (shm_barrier->group + 1) * together;
	end = end < groups.count ? end : groups.count;
	shm_barrier->group_members =
		groups.first[end] - groups.first[shm_barrier->group * together];
	free(groups.first);
}

struct pcoll_shm_barrier
pcoll_shm_barrier_make(gex_TM_t tm, struct psi_barrier_area *area)
{
	struct pcoll_shm_barrier shm_barrier = {
		.area = area, .tm = tm,
		.size = tm ? tm->size : psi.boot.size, .rank = tm ? tm->rank : psi.boot.rank,
	};

	if (area && shm_barrier.size > PSI_BARRIER_FLAGS)
		groups_open(&shm_barrier);
	return shm_barrier;
}

bool
pcoll_shm_barrier_is_entered(const struct pcoll_shm_barrier *shm_barrier, uint64_t phase)
{
	if (shm_barrier->size > PSI_BARRIER_FLAGS) {
		bool entered = atomic_load_explicit(&shm_barrier->area->arrived,
		                                    memory_order_relaxed) != 0;

		for (uint32_t group = 0; shm_barrier->groups > 1 && group < shm_barrier->groups;
		     group++)
			entered = entered || atomic_load_explicit(
				&shm_barrier->area->flags[group].entered[0],
				memory_order_relaxed) != 0;
		return entered;
	}
	for (uint32_t rank = 0; rank < shm_barrier->size; rank++)
		if (pcoll_shm_barrier_word_is_of(
			    atomic_load_explicit(rank_flag_of(shm_barrier, rank, phase),
		                                 memory_order_relaxed),
			    phase))
			return true;
	return false;
}

void
pcoll_shm_barrier_enter(struct pcoll_shm_barrier *shm_barrier, uint64_t phase,
                        struct pcoll_names names)
{
	psi_handed_to_process(shm_barrier->area);
	if (shm_barrier->size > PSI_BARRIER_FLAGS) {
		shm_barrier->sleeps = sleeps_of_thread();
		phase_count_in(shm_barrier, phase, names);
		return;
	}
	shm_barrier->seen = 0;
	shm_barrier->fenced = false;
	shm_barrier->gathered = names;
	shm_barrier->own = flag_word_of(names, phase & UINT16_MAX);
	atomic_store_explicit(rank_flag_of(shm_barrier, shm_barrier->rank, phase), shm_barrier->own,
	                      memory_order_release); /* G4: release, to G5 in phase_looks */
}

bool
pcoll_shm_barrier_complete(struct pcoll_shm_barrier *shm_barrier, uint64_t phase,
                           struct pcoll_names *names_out)
{
	const bool complete = shm_barrier->size > PSI_BARRIER_FLAGS
	                              ? phase_is_told(shm_barrier, phase, names_out)
	                              : phase_sees_all(shm_barrier, phase, names_out);

	if (complete && shm_barrier->size > PSI_BARRIER_FLAGS &&
	    sleeps_of_thread() != shm_barrier->sleeps)
		barrier_help_wake(shm_barrier);
	if (complete)
		psi_back_from_process(shm_barrier->area);
	return complete;
}
