/* gex_Coll_BarrierNB: nobody leaves early, many are open at once, and it orders memory. */
#include "tests/lib/pt.h"

enum { REQ_ENTER = 128 };
enum { OPEN = 40 };

static PT_OWN pt_count entered; /* rank 0 counts who announced the current round */

static void
req_enter(gex_Token_t token)
{
	(void)token;
	PT_INC(entered);
}

/* Whoever leaves round n finds that all announced it before they initiated it. */
static void
nobody_early(unsigned long rounds)
{
	for (unsigned long round = 1; round <= rounds; round++) {
		pt_word_put(0, 4 * pt.rank, (uint32_t)round);
		if (pt.rank == round % pt.size && round % 8 == 0)
			pt_sleep_ms(1);
		if (round % 2)
			gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
		else
			gex_Coll_BarrierBlocking(pt.tm, 0);
		for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
			const uint32_t seen = pt_word_get(0, 4 * rank);

			PT_LE(round, seen);
			PT_LE(seen, round + 1); /* nobody is two ahead */
		}
	}
}

/* The k-th call of each belongs together, in whatever order they are synced. */
static void
many_open(void)
{
	struct pt_rng rng = pt_rng_make(pt.rank);
	gex_Event_t events[OPEN];

	pt_barrier();
	for (int i = 0; i < OPEN; i++)
		events[i] = gex_Coll_BarrierNB(pt.tm, 0);
	for (int left = OPEN; left > 0; left--) {
		int pick = (int)pt_rand_below(&rng, (uint64_t)left);

		gex_Event_Wait(events[pick]);
		events[pick] = events[left - 1];
	}
	PT_CHECK(1);
}

/* Of two open barriers the later one may be seen done first; then the earlier one needs nobody's
 * call any more. */
static void
in_order(void)
{
	gex_Event_t first, second;

	pt_barrier();
	first = gex_Coll_BarrierNB(pt.tm, 0);
	if (pt.rank == pt.size - 1)
		pt_sleep_ms(2);
	second = gex_Coll_BarrierNB(pt.tm, 0);
	gex_Event_Wait(second);
	gex_Event_Wait(first);
}

/* A message sent before the barrier is not held up by it. */
static void
messages_meanwhile(void)
{
	gex_Event_t event;

	pt_barrier();
	event = gex_Coll_BarrierNB(pt.tm, 0);
	PT_OK(gex_AM_RequestShort0(pt.tm, 0, REQ_ENTER, 0));
	if (pt.rank == 0)
		GASNET_BLOCKUNTIL(PT_GET(entered) == (int)pt.size);
	gex_Event_Wait(event);
	PT_SET(entered, 0);
	pt_barrier();
}

/* Stores before the barrier are loads after it, through the mapping as well. */
static void
orders_memory(unsigned long rounds)
{
	gex_Rank_t next = (pt.rank + 1) % pt.size;
	uint32_t *own = (uint32_t *)(void *)(pt.base + 8192);
	uint32_t *other = (uint32_t *)(void *)(pt.peers[next].local + 8192);

	for (uint32_t round = 1; round <= rounds; round++) {
		for (int i = 0; i < 64; i++)
			own[i] = round * 1000 + (uint32_t)i;
		pt_barrier();
		for (int i = 0; pt.peers[next].local && i < 64; i++)
			PT_EQ(other[i], round * 1000 + (uint32_t)i);
		pt_barrier();
	}
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_ENTER, req_enter, PT_REQ_SHORT, 0) };

	pt_start(&argc, &argv, table, 1, 16384);
	nobody_early(pt_scale(60, 500));
	for (unsigned long round = 0; round < pt_scale(3, 15); round++) {
		many_open();
		in_order();
		messages_meanwhile();
	}
	orders_memory(pt_scale(30, 150));
	pt_finish();
}
