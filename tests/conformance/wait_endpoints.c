/*
 * PAR, transfers by messages, sleeps without a bound: waits that concern other endpoints than the
 * thread's own.  A thread alone serves an endpoint that nobody is bound to.  A thread bound to a
 * second endpoint is woken when room appears that a transfer of its lacks; and waits for transfers
 * of several endpoints poll all of them, though the thread that is bound there computes.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { REQ_NOTHING = 128, BYTES = 64, TRANSFERS = 4 };

static gex_EP_t second;
static pt_count nothings, deaf, over;

static void
req_nothing(gex_Token_t token)
{
	(void)token;
	PT_INC(nothings);
}

static gex_Rank_t
partner(void)
{
	return pt.rank ^ 1u;
}

/* From the second endpoint to the first one of the partner. */
static gex_TM_t
pair(void)
{
	return gex_TM_Pair(second, 0);
}

static char *
there(unsigned i)
{
	return pt.peers[partner()].owner + i * BYTES;
}

/* Outside the library until the flag is set. */
static void
compute_until(pt_count *flag)
{
	while (!PT_GET(*flag))
		pt_sleep_ms(1);
}

/* -- one thread, two endpoints
 * ------------------------------------------------------------------- */

/* Nobody is bound to the second one, so the thread that waits serves it too. */
static void
unbound(void)
{
	pt_phase("one thread");
	if (pt.rank % 2 == 0 && partner() < pt.size)
		GASNET_BLOCKUNTIL(PT_GET(nothings) == 1);
	pt_sleep_ms(20);        /* now the other sleeps */
	if (pt.rank % 2 != 0)
		PT_OK(gex_AM_RequestShort0(gex_TM_Pair(pt.ep, 1), partner(), REQ_NOTHING, 0));
	pt_barrier();
}

/* -- room
 * ---------------------------------------------------------------------------------------- */

/* The partner's queue is full of messages that nobody answers, so nothing but the room wakes. */
static void
put_to_the_deaf(unsigned index, void *source)
{
	int sent = 0;

	if (index != 0) {
		compute_until(&over);
		return;
	}
	pst_thread_bind(second);
	while (gex_AM_RequestShort0(pair(), partner(), REQ_NOTHING, GEX_FLAG_IMMEDIATE) ==
	       GASNET_OK)
		sent++;
	PT_CHECK(sent > 0);
	gex_Event_Wait(
		gex_RMA_PutNB(pair(), partner(), there(0), source, BYTES, GEX_EVENT_DEFER, 0));
	PT_SET(over, 1);
}

static void
room(void)
{
	static char source[BYTES];

	pt_phase("room");
	PT_SET(over, 0);
	pt_barrier();
	if (pt.rank % 2 == 0 && partner() < pt.size)
		pt_threads(2, put_to_the_deaf, source);
	else
		pt_sleep_ms(50);        /* long enough for the other to fill the queue, and to
		                         * sleep */
	pt_barrier();
}

/* -- several endpoints
 * ------------------------------------------------------------------------------ */

static void
wait_in_each_way(char *source)
{
	const pst_signal_t sig =
		pst_signal_word(PST_SIGNAL_ADD, (uint64_t *)(void *)there(TRANSFERS), 1);
	gex_Event_t events[TRANSFERS];
	unsigned left = TRANSFERS;

	for (unsigned i = 0; i < TRANSFERS; i++)
		events[i] = gex_RMA_PutNB(i % 2 ? pt.tm : pair(), partner(), there(i), source,
		                          BYTES, GEX_EVENT_DEFER, 0);
	gex_Event_WaitAll(events, TRANSFERS, 0);
	for (unsigned i = 0; i < TRANSFERS; i++)
		events[i] = gex_RMA_PutNB(i % 2 ? pair() : pt.tm, partner(), there(i), source,
		                          BYTES, GEX_EVENT_DEFER, 0);
	while (left) {
		gex_Event_WaitSome(events, TRANSFERS, 0);
		left = 0;
		for (unsigned i = 0; i < TRANSFERS; i++)
			left += events[i] != GEX_EVENT_INVALID;
	}
	for (unsigned i = 0; i < TRANSFERS; i++)
		PT_OK(gex_RMA_PutNBI(i % 2 ? pt.tm : pair(), partner(), there(i), source, BYTES,
		                     GEX_EVENT_DEFER, 0));
	gex_NBI_Wait(GEX_EC_ALL, 0);
	gex_Event_Wait(pst_put_signal_nb(pair(), partner(), there(0), source, BYTES, &sig,
	                                 GEX_EVENT_DEFER, 0));
	PT_OK(pst_put_signal(pair(), partner(), there(0), source, 0, &sig, 0));
	PT_OK(pst_put_signal_nbi(pair(), partner(), there(0), source, BYTES, &sig, GEX_EVENT_DEFER,
	                         0));
	PT_OK(pst_put_signal_nbi(pt.tm, partner(), there(0), source, BYTES, &sig, GEX_EVENT_DEFER,
	                         0));
	gex_NBI_Wait(GEX_EC_ALL, 0);
}

/* Thread 1 has the second endpoint, and does not call. */
static void
wait_beside_one_who_computes(unsigned index, void *source)
{
	if (index != 0) {
		pst_thread_bind(second);
		PT_SET(deaf, 1);
		compute_until(&over);
		return;
	}
	compute_until(&deaf);
	wait_in_each_way((char *)source);
	PT_SET(over, 1);
}

static void
several(void)
{
	static char source[BYTES];
	const uint64_t *word = (const uint64_t *)(const void *)(pt.base + TRANSFERS * BYTES);

	pt_phase("several endpoints");
	PT_SET(over, 0);
	PT_SET(deaf, 0);
	memset(pt.base, 0, pt.segment_bytes);
	pt_fill(source, BYTES, pt.rank);
	pt_barrier();
	if (partner() < pt.size)
		pt_threads(2, wait_beside_one_who_computes, source);
	pt_barrier();
	for (unsigned i = 0; i < TRANSFERS && partner() < pt.size; i++)
		PT_MEM(pt.base + i * BYTES, BYTES, partner());
	PT_EQ(pst_signal_fetch(word), partner() < pt.size ? 4 : 0);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_NOTHING, req_nothing, PT_REQ_SHORT, 0) };

	setenv("PST_SLEEP_MAX", "0", 1);
	setenv("PST_HANG_REPORT", "0", 1);
	setenv("PST_TEST_CONDUIT_MASK", "put,get,atomic,long,signal", 1);
	pt_start(&argc, &argv, table, PT_COUNT(table), 4096);
	PT_OK(gex_EP_Create(&second, pt.client, GEX_EP_CAPABILITY_ALL, 0));
	PT_OK(gex_EP_RegisterHandlers(second, table, PT_COUNT(table)));
	pt_barrier();
	unbound();
	for (unsigned long i = 0; i < pt_scale(2, 5); i++) {
		room();
		several();
	}
	pt_barrier();
	pt_finish();
}
