/*
 * Collectives of ranks that are threads: several members of a team in one process call at the same
 * time, each with its own addresses, and every thread polls for all.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

#include <penstock.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { OPEN = 8 };

static pt_count runs, entered;

static int
count_here(gex_Rank_t process)
{
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

static int
body(gex_TM_t tm, void *arg)
{
	struct call calls[OPEN];

	(void)arg;
	barriers(tm);
	for (unsigned round = 0; round < pt_scale(5, 20); round++) {
		for (uint32_t i = 0; i < OPEN; i++)
			start(&calls[i], tm, i + round);
		for (uint32_t i = OPEN; i-- > 0; )
			finish(&calls[i], tm, i + round);
	}
	long_vectors(tm);
	PT_INC(runs);
	return 0;
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 0);
	PT_OK(pst_threads_run(pt.tm, count_here(pt.rank), 4096, NULL, 0, body, NULL, 0));
	PT_EQ(PT_GET(runs), count_here(pt.rank));
	pt_barrier();
	pt_finish();
}
