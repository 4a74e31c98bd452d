/*
 * Collectives of all kinds under way at once, among active messages and barriers, synced in
 * different orders; in PAR by several threads.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

enum { REQ_HELLO = 128 };
enum { OPEN = 24, WORDS = 50 };

static PT_OWN pt_count hellos;

static void
req_hello(gex_Token_t token)
{
	(void)token;
	PT_INC(hellos);
}

struct call {
	gex_Event_t event;
	unsigned kind;
	gex_Rank_t root;
	uint32_t words[WORDS], result[WORDS];
	size_t count;
};

static void
start(struct call *call, struct pt_rng *same)
{
	call->kind = (unsigned)pt_rand_below(same, 4);
	call->root = (gex_Rank_t)pt_rand_below(same, pt.size);
	call->count = 1 + (size_t)pt_rand_below(same, WORDS);
	for (size_t i = 0; i < call->count; i++) {
		call->words[i] = (uint32_t)(pt.rank * 7 + i);
		call->result[i] = 0;
	}
	switch (call->kind) {
	case 0:
		call->event = gex_Coll_BarrierNB(pt.tm, 0);
		break;
	case 1:
		call->event = gex_Coll_BroadcastNB(pt.tm, call->root, call->result, call->words,
		                                   call->count * 4, 0);
		break;
	case 2:
		call->event = gex_Coll_ReduceToOneNB(pt.tm, call->root, call->result, call->words,
		                                     GEX_DT_U32, 4, call->count, GEX_OP_ADD, NULL,
		                                     NULL, 0);
		break;
	default:
		call->event = gex_Coll_ReduceToAllNB(pt.tm, call->result, call->words, GEX_DT_U32,
		                                     4, call->count, GEX_OP_MAX, NULL, NULL, 0);
		break;
	}
}

static void
check(const struct call *call)
{
	const uint32_t n = pt.size;

	for (size_t i = 0; i < call->count; i++) {
		const uint32_t k = (uint32_t)i;

		if (call->kind == 1)
			PT_EQ(call->result[i], call->root * 7 + k);
		else if (call->kind == 2)
			PT_EQ(call->result[i],
			      pt.rank == call->root ? 7 * (n * (n - 1) / 2) + n * k : 0);
		else if (call->kind == 3)
			PT_EQ(call->result[i], (n - 1) * 7 + k);
	}
}

static void
round_of(unsigned round)
{
	struct call calls[OPEN];
	struct pt_rng same = pt_rng_make(round), rng = pt_rng_make(round * 1000 + pt.rank + 7);
	int at[OPEN];

	for (int i = 0; i < OPEN; i++) {
		at[i] = i;
		start(&calls[i], &same);
		if (pt_rand_below(&rng, 3) == 0)
			gasnet_AMPoll();
		PT_OK(gex_AM_RequestShort0(pt.tm, (gex_Rank_t)pt_rand_below(&rng, pt.size),
		                           REQ_HELLO, 0));
	}
	for (int left = OPEN; left > 0; left--) {
		const int pick = (int)pt_rand_below(&rng, (uint64_t)left);

		gex_Event_Wait(calls[at[pick]].event);
		check(&calls[at[pick]]);
		at[pick] = at[left - 1];
	}
}

/* A member that does nothing but poll serves the others, and is not held up by them. */
static void
poll_only(void)
{
	uint64_t mine = pt.rank, sum = 0, total = 0;
	gex_Event_t first, second;

	first = gex_Coll_ReduceToAllNB(pt.tm, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL,
	                               0);
	second = gex_Coll_ReduceToAllNB(pt.tm, &total, &mine, GEX_DT_U64, 8, 1, GEX_OP_MAX, NULL,
	                                NULL, 0);
	while (gex_Event_Test(second) != GASNET_OK)
		gasnet_AMPoll();
	PT_EQ(total, pt.size - 1);
	gex_Event_Wait(first);
	PT_EQ(sum, (uint64_t)pt.size * (pt.size - 1) / 2);
}

#ifdef GASNET_PAR
enum { THREADS = 4 };

/* One thread starts them, in order; each syncs some, so most end in another thread's poll. */
static struct call shared[THREADS * 6];

static void
sync_some(unsigned index, void *arg)
{
	(void)arg;
	for (unsigned i = index; i < PT_COUNT(shared); i += THREADS) {
		gex_Event_Wait(shared[i].event);
		check(&shared[i]);
	}
}

static void
threads(unsigned round)
{
	struct pt_rng same = pt_rng_make(round + 500);

	for (unsigned i = 0; i < PT_COUNT(shared); i++)
		start(&shared[i], &same);
	pt_threads(THREADS, sync_some, NULL);
}
#else
static void
threads(unsigned round)
{
	(void)round;
}
#endif

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_HELLO, req_hello, PT_REQ_SHORT, 0) };

	pt_start(&argc, &argv, table, 1, 4096);
	for (unsigned round = 0; round < pt_scale(4, 20); round++) {
		round_of(round);
		poll_only();
		if (!pt_is_thread())
			threads(round);
	}
	pt_finish();
}
