/*
 * Collectives of ranks that are threads: several members of a team in one process call at the same
 * time, each with its own addresses, and every thread polls for all.  Where members share memory no
 * message is sent.
 *
 * Argument `many': 32 ranks.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

#include <penstock.h>
#include <stdbool.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { OPEN = 8, MANY = 32, TEAMS = 40 };

static pt_count runs, entered;
static bool many;

static int
count_here(gex_Rank_t process)
{
	if (many)
		return MANY / (int)pt.size;
	return 1 + (int)(process % 3) + (pt.size == 1 ? 3 : 0);
}

struct call {
	gex_Event_t events[4];
	uint32_t word, sum, most, text;
};

static void
start(struct call *call, gex_TM_t tm, uint32_t i)
{
	const gex_Rank_t me = gex_TM_QueryRank(tm), root = i % gex_TM_QuerySize(tm);

	call->word = 3 * me + i;
	call->sum = call->most = 0;
	call->text = me == root ? 1000 + i : 0;
	call->events[0] = gex_Coll_ReduceToAllNB(tm, &call->sum, &call->word, GEX_DT_U32, 4, 1,
	                                         GEX_OP_ADD, NULL, NULL, 0);
	call->events[1] = gex_Coll_BarrierNB(tm, 0);
	call->events[2] = gex_Coll_BroadcastNB(tm, root, &call->text, &call->text, 4, 0);
	call->events[3] = gex_Coll_ReduceToOneNB(tm, root, &call->most, &call->word, GEX_DT_U32, 4,
	                                         1, GEX_OP_MAX, NULL, NULL, 0);
}

static void
finish(struct call *call, gex_TM_t tm, uint32_t i)
{
	const gex_Rank_t size = gex_TM_QuerySize(tm), root = i % size;

	gex_Event_WaitAll(call->events, PT_COUNT(call->events), 0);
	PT_EQ(call->sum, 3 * (size * (size - 1) / 2) + size * i);
	PT_EQ(call->text, 1000 + i);
	PT_EQ(call->most, gex_TM_QueryRank(tm) == root ? 3 * (size - 1) + i : 0);
}

/* Large enough for several messages each. */
static void
long_vectors(gex_TM_t tm)
{
	const size_t count = 30000;
	const gex_Rank_t size = gex_TM_QuerySize(tm);
	uint64_t *words = (uint64_t *)malloc(count * sizeof *words);

	PT_CHECK(words != NULL);
	for (size_t i = 0; i < count; i++)
		words[i] = gex_TM_QueryRank(tm) + i;
	gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, words, words, GEX_DT_U64, 8, count, GEX_OP_ADD,
	                                      NULL, NULL, 0));
	for (size_t i = 0; i < count; i += 7)
		PT_EQ(words[i], (uint64_t)size * (size - 1) / 2 + size * i);
	free(words);
}

/* Whoever leaves a barrier finds that all of its process had come. */
static void
barriers(gex_TM_t tm)
{
	for (int i = 1; i <= 100; i++) {
		PT_INC(entered);
		gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
		PT_LE(i * count_here(pt.rank), PT_GET(entered));
	}
}

static void
rounds(gex_TM_t tm, unsigned count)
{
	struct call calls[OPEN];

	for (unsigned round = 0; round < count; round++) {
		for (uint32_t i = 0; i < OPEN; i++)
			start(&calls[i], tm, i + round);
		for (uint32_t i = OPEN; i-- > 0; )
			finish(&calls[i], tm, i + round);
	}
}

/* -- without messages -------------------------------------------------------------------------- */

static bool
is_first_here(gex_TM_t tm)
{
	return gex_TM_TranslateJobrankToRank(tm, pt.rank) == gex_TM_QueryRank(tm);
}

static void
barrier(gex_TM_t tm)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static bool
is_by_messages(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		if (!pt_on_this_host(rank))
			return true;
	return getenv("PST_TEST_CONDUIT_MASK") || strcmp(getenv("PST_CHECK"), "0") != 0;
}

static void
no_messages(gex_TM_t tm)
{
	const bool counts = is_first_here(tm) && !is_by_messages();
	uint64_t before = 0;

	barrier(tm);
	if (counts)
		before = pt_counter(pt.rank, "received_internal");
	barrier(tm);
	rounds(tm, 2);
	barrier(tm);
	if (counts)
		PT_EQ(pt_counter(pt.rank, "received_internal"), before);
	barrier(tm);
}

/* -- asleep ------------------------------------------------------------------------------------ */

/* Nobody looks again unless another wakes it. */
static void
asleep(gex_TM_t tm)
{
	barrier(tm);
	if (is_first_here(tm))
		PT_OK(gasnet_set_waitmode(GASNET_WAIT_BLOCK));
	rounds(tm, (unsigned)pt_scale(2, 5));
	barrier(tm);
	if (is_first_here(tm))
		PT_OK(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK));
}

/* -- teams ------------------------------------------------------------------------------------- */

/* More than an endpoint has cells for; calls are under way on all of them.  When they are gone, the
 * next has cells again. */
static void
many_teams(gex_TM_t tm)
{
	const int me = (int)gex_TM_QueryRank(tm);
	struct call calls[TEAMS];
	gex_TM_t teams[TEAMS], last;

	for (int i = 0; i < TEAMS; i++) {
		teams[i] = pt_split(tm, i % 3 ? 0 : me % 2, me * (i % 2 ? 1 : -1));
		start(&calls[i], teams[i], (uint32_t)i);
	}
	for (int i = TEAMS; i-- > 0; ) {
		finish(&calls[i], teams[i], (uint32_t)i);
		gex_TM_Destroy(teams[i], NULL, i % 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
	}
	barrier(tm);
	last = pt_split(tm, 0, -me);
	no_messages(last);
	gex_TM_Destroy(last, NULL, 0);
}

static int
body(gex_TM_t tm, void *arg)
{
	(void)arg;
	barriers(tm);
	rounds(tm, (unsigned)pt_scale(5, many ? 5 : 20));
	no_messages(tm);
	asleep(tm);
	long_vectors(tm);
	many_teams(tm);
	PT_INC(runs);
	return 0;
}

int
main(int argc, char **argv)
{
	setenv("PST_CHECK", "0", 0); /* in a debug build too */
	pt_start(&argc, &argv, NULL, 0, 0);
	many = argc > 1 && strcmp(argv[1], "many") == 0;
	PT_OK(pst_threads_run(pt.tm, count_here(pt.rank), 4096, NULL, 0, body, NULL, 0));
	PT_EQ(PT_GET(runs), count_here(pt.rank));
	pt_barrier();
	pt_finish();
}
