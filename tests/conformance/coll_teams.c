/*
 * Collectives over teams that were made by splitting: several teams at once, members in another
 * order, teams within teams, and teams that end as soon as their collectives have.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

enum { TEAMS = 4, OPEN = 6 };

struct use {
	gex_TM_t tm;
	gex_Rank_t root;
	uint32_t word, sum, most, text[3];
	gex_Event_t events[OPEN];
};

static uint32_t
weight(gex_Rank_t rank)
{
	return 10 * rank + 3;
}

static void
start(struct use *use, unsigned round)
{
	use->root = round % gex_TM_QuerySize(use->tm);
	use->word = weight(pt.rank);
	use->sum = use->most = 0;
	for (uint32_t i = 0; i < 3; i++)
		use->text[i] = weight(pt.rank) + i;
	use->events[0] = gex_Coll_BarrierNB(use->tm, 0);
	use->events[1] = gex_Coll_ReduceToAllNB(use->tm, &use->sum, &use->word, GEX_DT_U32, 4, 1,
	                                        GEX_OP_ADD, NULL, NULL, 0);
	use->events[2] = gex_Coll_BroadcastNB(use->tm, use->root, use->text, use->text,
	                                      sizeof use->text, 0);
	use->events[3] = gex_Coll_BarrierNB(use->tm, 0);
	use->events[4] = gex_Coll_ReduceToOneNB(use->tm, use->root, &use->most, &use->word,
	                                        GEX_DT_U32, 4, 1, GEX_OP_MAX, NULL, NULL, 0);
	use->events[5] = gex_Coll_BarrierNB(use->tm, 0);
}

static void
finish(struct use *use)
{
	const gex_Rank_t size = gex_TM_QuerySize(use->tm);
	const uint32_t first = weight(pt_rank_in(use->tm, use->root));
	uint32_t sum = 0, most = 0;

	gex_Event_WaitAll(use->events, OPEN, 0);
	for (gex_Rank_t rank = 0; rank < size; rank++) {
		const uint32_t one = weight(pt_rank_in(use->tm, rank));

		sum += one;
		most = one > most ? one : most;
	}
	PT_EQ(use->sum, sum);
	PT_EQ(use->most, gex_TM_QueryRank(use->tm) == use->root ? most : 0);
	for (uint32_t i = 0; i < 3; i++)
		PT_EQ(use->text[i], first + i);
}

/* All is under way on all teams; they are synced in another order on each rank. */
static void
at_once(struct use *uses, unsigned round)
{
	for (unsigned i = 0; i < TEAMS; i++)
		start(&uses[i], round + i);
	for (unsigned i = 0; i < TEAMS; i++)
		finish(&uses[(i + pt.rank) % TEAMS]);
}

/* The barrier of a team is its members' alone. */
static void
without_the_others(void)
{
	gex_TM_t pairs = pt_split(pt.tm, (int)(pt.rank / 2), 0);

	if (pt.rank / 2 % 2)
		pt_sleep_ms(2);
	for (unsigned i = 0; i < 1 + pt.rank / 2 * 3; i++)
		gex_Coll_BarrierBlocking(pairs, 0);
	gex_TM_Destroy(pairs, NULL, GEX_FLAG_GLOBALLY_QUIESCED);
	PT_CHECK(1);
}

/* Whoever leaves finds that all members announced the round before. */
static void
nobody_early(gex_TM_t tm, uint32_t round)
{
	const gex_Rank_t size = gex_TM_QuerySize(tm);

	for (gex_Rank_t rank = 0; rank < size; rank++)
		pt_word_put(pt_rank_in(tm, rank), 4 * (size_t)pt.rank, round);
	gex_Coll_BarrierBlocking(tm, 0);
	for (gex_Rank_t rank = 0; rank < size; rank++)
		PT_LE(round, pt_word_get(pt.rank, 4 * (size_t)pt_rank_in(tm, rank)));
}

/* Memory for barriers of a team that is gone serves the next. */
static void
one_after_the_other(void)
{
	static PT_OWN uint32_t round = 1000000;

	for (unsigned i = 0; i < pt_scale(10, 30); i++) {
		gex_TM_t tm = pt_split(pt.tm, 0, -(int)(pt.rank * i % 3));

		nobody_early(tm, ++round);
		gex_TM_Destroy(tm, NULL, 0);
	}
}

/* Whoever has started several barriers need not sync the first for the others to get through
 * all. */
static void
polls_alone(gex_TM_t tm, uint32_t round)
{
	const gex_Rank_t size = gex_TM_QuerySize(tm), me = gex_TM_QueryRank(tm);
	const gex_Rank_t lazy = pt_rank_in(tm, round % size);
	gex_Event_t events[4];

	for (size_t i = 0; i < PT_COUNT(events); i++)
		events[i] = gex_Coll_BarrierNB(tm, 0);
	if (me != round % size) {
		gex_Event_WaitAll(events, PT_COUNT(events), 0);
		pt_word_put(lazy, 4 * (size_t)pt.rank, round);
		return;
	}
	for (gex_Rank_t rank = 0; rank < size; rank++)
		while (rank != me &&
		       pt_word_get(pt.rank, 4 * (size_t)pt_rank_in(tm, rank)) != round)
			gasnet_AMPoll();
	gex_Event_WaitAll(events, PT_COUNT(events), 0);
}

int
main(int argc, char **argv)
{
	struct use uses[TEAMS];

	pt_start(&argc, &argv, NULL, 0, 4096);
	for (unsigned round = 0; round < pt_scale(3, 10); round++) {
		uses[0].tm = pt.tm;
		uses[1].tm = pt_split(pt.tm, (int)(pt.rank % 2), -(int)pt.rank);
		uses[2].tm = pt_split(uses[1].tm, (int)(pt.rank % 3), (int)(pt.rank * 7 % 5));
		uses[3].tm = pt_split(pt.tm, 0, (int)((pt.rank * 5 + round) % pt.size));
		for (unsigned i = 0; i < 4; i++)
			at_once(uses, round + i);
		for (uint32_t i = 1; i <= pt_scale(20, 60); i++)
			nobody_early(uses[3].tm, round * 100 + i);
		for (uint32_t i = 1; i <= pt_scale(5, 10); i++)
			polls_alone(uses[1].tm, 5000000 + round * 100 + i);
		for (unsigned i = 1; i < TEAMS; i++)
			gex_TM_Destroy(uses[i].tm, NULL, i % 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
		without_the_others();
		one_after_the_other();
		pt_barrier();
	}
	pt_finish();
}
