/*
 * Sets: semaphores that have the same slots and the same generation on all members of a team, so
 * each member names those of all without asking.
 *
 * Members propose the first range that is free with them; what is not free with all is proposed
 * again further on, until all propose the same.
 */
#include "runtime/signal/sem.h"

#include "runtime/team/team_rules.h"
#include "runtime/team/team.h"

#include <stdlib.h>
#include <string.h>

struct pst_sem_set_s {
	gex_TM_t tm;
	gex_Rank_t size;
	struct psi_sem_table *table;
	size_t count;
	uint32_t first;         /* slot */
	uint64_t upper;         /* of the keys: live << PSI_SEM_SLOT_BITS */
};

/* -- ranges ---------------------------------------------------------------------------------- */

static bool
slot_is_taken(const struct psi_sem_table *table, uint32_t slot)
{
	slot -= PSI_SEM_SET_SLOTS;
	return table->set_slots[slot / 64] >> slot % 64 & 1;
}

static void
set_mark(struct psi_sem_table *table, uint32_t first, size_t count, bool taken)
{
	for (uint32_t slot = first - PSI_SEM_SET_SLOTS; count--; slot++) {
		const uint64_t bit = (uint64_t)1 << slot % 64;

		if (taken)
			table->set_slots[slot / 64] |= bit;
		else
			table->set_slots[slot / 64] &= ~bit;
	}
}

/* First slot, at or behind `from', of a range that is free; PSI_SEM_SLOTS if there is none. */
static uint32_t
set_free_range(const struct psi_sem_table *table, uint32_t from, size_t count)
{
	size_t have = 0;

	if (!count)
		return from;
	for (uint32_t slot = from; slot < PSI_SEM_SLOTS; slot++) {
		have = slot_is_taken(table, slot) ? 0 : have + 1;
		if (have == count)
			return slot + 1 - (uint32_t)count;
	}
	return PSI_SEM_SLOTS;
}

/* -- agreement ------------------------------------------------------------------------------- */

/* A member's proposal.  The largest of each word is used. */
enum { CODE, FIRST, MINUS_FIRST, GENERATION, WORDS };

static void
set_agree(gex_TM_t tm, uint64_t words[WORDS], const char *call)
{
	const gex_Rank_t size = gex_TM_QuerySize(tm);
	uint64_t (*all)[WORDS] = calloc(size, sizeof *all);

	if (!all)
		psi_fatal("%s: no memory for the answers of %u ranks", call, size);
	psi_team_gather(tm, words, sizeof *all, all, call);
	for (gex_Rank_t rank = 0; rank < size; rank++)
		for (unsigned i = 0; i < WORDS; i++)
			if (all[rank][i] > words[i])
				words[i] = all[rank][i];
	free(all);
}

static uint32_t
set_generation_for(const struct psi_sem_table *table, uint32_t first, size_t count)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++) {
		const struct pst_sem_s *sem = psi_sem_of_slot(table, first + (uint32_t)i);

		if (sem && sem->generation > most)
			most = sem->generation;
	}
	return psi_sem_next_generation(most);
}

/* Proposes a range from a slot on, taken for now. */
static void
set_propose(struct psi_sem_table *table, uint32_t from, size_t count, uint64_t words[WORDS])
{
	uint32_t first;

	memset(words, 0, WORDS * sizeof *words);
	if (!table) {
		words[CODE] = GASNET_ERR_RESOURCE;
		return;
	}
	psi_spinlock_lock(&table->lock);
	first = set_free_range(table, from, count);
	if (first == PSI_SEM_SLOTS || !psi_sem_make_handles(table, first, count)) {
		words[CODE] = GASNET_ERR_RESOURCE;
	} else {
		set_mark(table, first, count, true);
		words[FIRST] = first;
		words[MINUS_FIRST] = UINT64_MAX - first;
		words[GENERATION] = set_generation_for(table, first, count);
	}
	psi_spinlock_unlock(&table->lock);
}

static void
set_withdraw(struct psi_sem_table *table, const uint64_t mine[WORDS], size_t count)
{
	if (mine[CODE])
		return;
	psi_spinlock_lock(&table->lock);
	set_mark(table, (uint32_t)mine[FIRST], count, false);
	psi_spinlock_unlock(&table->lock);
}

/* The range, taken on all members, and its generation; a code if there is none. */
static int
set_agree_on_range(gex_TM_t tm, struct psi_sem_table *table, size_t count, uint32_t *first_out,
                   uint32_t *generation_out, const char *call)
{
	uint64_t mine[WORDS], all[WORDS];
	uint32_t from = PSI_SEM_SET_SLOTS;

	for (;;) {
		set_propose(table, from, count, mine);
		memcpy(all, mine, sizeof all);
		set_agree(tm, all, call);
		if (!all[CODE] && all[FIRST] == UINT64_MAX - all[MINUS_FIRST])
			break;
		set_withdraw(table, mine, count);
		if (all[CODE])
			return (int)all[CODE];
		from = (uint32_t)all[FIRST];
	}
	*first_out = (uint32_t)all[FIRST];
	*generation_out = (uint32_t)all[GENERATION];
	return GASNET_OK;
}

/* -- sets ------------------------------------------------------------------------------------ */

static void
set_begin_all(pst_sem_set_t set, unsigned kind, uint32_t generation)
{
	for (size_t i = 0; i < set->count; i++)
		psi_sem_begin(psi_sem_of_slot(set->table, set->first + (uint32_t)i), kind,
		              generation, true);
	if (set->count)
		set->upper = psi_sem_key(psi_sem_of_slot(set->table, set->first)) - set->first;
}

int
pst_sem_set_create(gex_TM_t tm, size_t count, unsigned kind, pst_sem_set_t *set_out,
                   gex_Flags_t flags)
{
	const char *call = "pst_sem_set_create";
	pst_sem_set_t set;
	uint32_t generation = 0;
	int code;

	psi_need_init(call);
	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	if (!tm || psi_tm_is_pair(tm) || !set_out)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "tm must be a team, and set_out not "
		                                            "NULL");
	psi_rule_team(tm, call);
	if (!psi_sem_kind_good(kind))
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "kind must be at most one of BOOLEAN "
		                  "and INTEGER, of SPRODUCER and MPRODUCER, of SCONSUMER and "
		                  "MCONSUMER");
	set = calloc(1, sizeof *set);
	if (!set)
		psi_fatal("%s: no memory for the set", call);
	*set = (struct pst_sem_set_s){ .tm = tm, .size = gex_TM_QuerySize(tm), .count = count };
	set->table = count > PSI_SEM_SET_SLOTS ? NULL : psi_sem_table_of(gex_TM_QueryEP(tm));
	code = set_agree_on_range(tm, set->table, count, &set->first, &generation, call);
	if (code != GASNET_OK) {
		free(set);
		return psi_refuse(code, call, "there is no room for that many semaphores on every "
		                              "member");
	}
	set_begin_all(set, kind, generation);
	psi_team_hold(tm);
	psi_team_gather(tm, NULL, 0, NULL, call);       /* so that all can be posted to */
	*set_out = set;
	return GASNET_OK;
}

static void
set_check(pst_sem_set_t set, const char *call)
{
	if (PSI_UNLIKELY(!set))
		psi_fatal("%s: called with a set that is NULL; pass what pst_sem_set_create wrote",
		          call);
}

static void
set_check_index(pst_sem_set_t set, size_t index, const char *call)
{
	set_check(set, call);
	if (PSI_UNLIKELY(index >= set->count))
		psi_fatal("%s: index %zu is beyond the set, which has %zu semaphores on each "
		          "member; count from 0", call,
		          index, set->count);
}

void
pst_sem_set_destroy(pst_sem_set_t set, gex_Flags_t flags)
{
	const char *call = "pst_sem_set_destroy";

	psi_need_init(call);
	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	set_check(set, call);
	psi_team_gather(set->tm, NULL, 0, NULL, call);
	for (size_t i = 0; i < set->count; i++)
		psi_sem_check_unwaited(psi_sem_of_slot(set->table, set->first + (uint32_t)i), call);
	psi_team_release(set->tm);
	psi_spinlock_lock(&set->table->lock);
	for (size_t i = 0; i < set->count; i++)
		psi_sem_end(psi_sem_of_slot(set->table, set->first + (uint32_t)i));
	set_mark(set->table, set->first, set->count, false);
	psi_spinlock_unlock(&set->table->lock);
	free(set);
}

pst_sem_t
pst_sem_set_mine(pst_sem_set_t set, size_t index)
{
	set_check_index(set, index, "pst_sem_set_mine");
	return psi_sem_of_slot(set->table, set->first + (uint32_t)index);
}

pst_sem_ref_t
pst_sem_set_ref(pst_sem_set_t set, gex_Rank_t rank, size_t index)
{
	const char *call = "pst_sem_set_ref";

	set_check_index(set, index, call);
	return psi_sem_name(psi_sem_owner_at(psi_target_of(set->tm, rank, call).place),
	                    set->upper | (set->first + index));
}
