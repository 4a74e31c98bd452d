/* Events: the invalid one, arrays with gaps, real ones made by barriers, empty implicit sets. */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { REQ_GO = 128 };
enum { EVENTS = 5 };

static PT_OWN pt_count go;

static void
req_go(gex_Token_t token)
{
	(void)token;
	PT_INC(go);
}

static void
invalid_ones(void)
{
	gex_Event_t none[3] = { GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID };

	PT_OK(gex_Event_Test(GEX_EVENT_INVALID));
	gex_Event_Wait(GEX_EVENT_INVALID);
	PT_OK(gex_Event_TestSome(none, 3, 0));
	PT_OK(gex_Event_TestAll(none, 3, 0));
	gex_Event_WaitSome(none, 3, 0);
	gex_Event_WaitAll(none, 3, 0);
	PT_OK(gex_Event_TestSome(NULL, 0, 0));
	PT_OK(gex_Event_TestAll(NULL, 0, 0));
	gex_Event_WaitSome(none, 0, 0);
	gex_Event_WaitAll(none, 0, 0);
	PT_OK(gex_Event_Test(gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_LC)));
	gasnet_wait_syncnb(GASNET_INVALID_HANDLE);
	PT_OK(gasnet_try_syncnb(GASNET_INVALID_HANDLE));
	PT_OK(gasnet_try_syncnb_nopoll(GASNET_INVALID_HANDLE));
	PT_OK(gasnet_try_syncnb_all(none, 3));
	PT_OK(gasnet_try_syncnb_some(none, 3));
	PT_OK(gasnet_try_syncnb_all_nopoll(none, 3));
	PT_OK(gasnet_try_syncnb_some_nopoll(none, 3));
	gasnet_wait_syncnb_all(none, 3);
	gasnet_wait_syncnb_some(none, 3);
}

static void
empty_sets(void)
{
	static const gex_EC_t masks[] = { GEX_EC_ALL,
		                          GEX_EC_GET,
		                          GEX_EC_PUT,
		                          GEX_EC_AM,
		                          GEX_EC_LC,
		                          GEX_EC_RMW,
		                          GEX_EC_GET | GEX_EC_PUT };

	for (size_t i = 0; i < PT_COUNT(masks); i++) {
		PT_CHECK(masks[i] != 0);
		PT_OK(gex_NBI_Test(masks[i], 0));
		gex_NBI_Wait(masks[i], 0);
	}
	gasnet_wait_syncnbi_all();
	gasnet_wait_syncnbi_gets();
	gasnet_wait_syncnbi_puts();
	PT_OK(gasnet_try_syncnbi_all());
	PT_OK(gasnet_try_syncnbi_gets());
	PT_OK(gasnet_try_syncnbi_puts());
}

/* Rank 0 joins the barriers late: until then they are not done, and say so. */
static void
start_barriers(gex_Event_t *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		events[i] = gex_Coll_BarrierNB(pt.tm, 0);
		PT_CHECK(events[i] != GEX_EVENT_NO_OP);
	}
}

static void
release_rank0(void)
{
	PT_OK(gex_AM_RequestShort0(pt.tm, 0, REQ_GO, 0));
}

/* All members but rank 0 check that nothing is done yet, then let it go on. */
static void
late_barriers(void (*pending)(gex_Event_t *events, size_t count),
              void (*finish)(gex_Event_t *events, size_t count))
{
	gex_Event_t events[EVENTS];
	static PT_OWN int rounds;

	pt_barrier();
	rounds++;
	if (pt.rank == 0 && pt.size > 1)
		GASNET_BLOCKUNTIL(PT_GET(go) == rounds * (int)(pt.size - 1));
	start_barriers(events, EVENTS);
	if (pt.rank != 0) {
		for (int i = 0; i < 100; i++) {
			pending(events, EVENTS);
			PT_OK(gasnet_AMPoll());
		}
		release_rank0();
	}
	finish(events, EVENTS);
}

static void
pending_each(gex_Event_t *events, size_t count)
{
	gex_Event_t copy[EVENTS];

	memcpy(copy, events, sizeof(copy));
	for (size_t i = 0; i < count; i++) {
		PT_CHECK(events[i] != GEX_EVENT_INVALID);
		PT_EQ(gex_Event_Test(events[i]), GASNET_ERR_NOT_READY);
	}
	PT_CHECK(gex_Event_TestAll(events, count, 0) != GASNET_OK);
	PT_CHECK(gex_Event_TestSome(events, count, 0) != GASNET_OK);
	PT_EQ(gasnet_try_syncnb(events[0]), GASNET_ERR_NOT_READY);
	PT_EQ(gasnet_try_syncnb_nopoll(events[0]), GASNET_ERR_NOT_READY);
	PT_EQ(gasnet_try_syncnb_all(events, count), GASNET_ERR_NOT_READY);
	PT_EQ(gasnet_try_syncnb_all_nopoll(events, count), GASNET_ERR_NOT_READY);
	PT_EQ(gasnet_try_syncnb_some(events, count), GASNET_ERR_NOT_READY);
	PT_EQ(gasnet_try_syncnb_some_nopoll(events, count), GASNET_ERR_NOT_READY);
	PT_EQ(memcmp(copy, events, sizeof(copy)), 0); /* untouched by failing tests */
}

/* Gaps are ignored: with one, All still waits and Some does not succeed by it. */
static void
pending_with_gaps(gex_Event_t *events, size_t count)
{
	gex_Event_t gaps[2 * EVENTS];

	for (size_t i = 0; i < count; i++) {
		gaps[2 * i] = GEX_EVENT_INVALID;
		gaps[2 * i + 1] = events[i];
	}
	PT_CHECK(gex_Event_TestSome(gaps, 2 * count, 0) != GASNET_OK);
	PT_CHECK(gex_Event_TestAll(gaps, 2 * count, 0) != GASNET_OK);
	for (size_t i = 0; i < count; i++) {
		PT_CHECK(gaps[2 * i] == GEX_EVENT_INVALID);
		PT_CHECK(gaps[2 * i + 1] == events[i]);
	}
}

static void
all_invalid(const gex_Event_t *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		PT_CHECK(events[i] == GEX_EVENT_INVALID);
}

static void
finish_wait_all(gex_Event_t *events, size_t count)
{
	gex_Event_WaitAll(events, count, 0);
	all_invalid(events, count);
}

static void
finish_test_all(gex_Event_t *events, size_t count)
{
	while (gex_Event_TestAll(events, count, 0) != GASNET_OK)
		PT_OK(gasnet_AMPoll());
	all_invalid(events, count);
}

static size_t
live(const gex_Event_t *events, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += events[i] != GEX_EVENT_INVALID;
	return found;
}

/* Each success takes at least one out, until none is left. */
static void
finish_wait_some(gex_Event_t *events, size_t count)
{
	for (size_t left = live(events, count); left; left = live(events, count)) {
		gex_Event_WaitSome(events, count, 0);
		PT_CHECK(live(events, count) < left);
	}
}

static void
finish_test_some(gex_Event_t *events, size_t count)
{
	for (size_t left = live(events, count); left; left = live(events, count)) {
		while (gex_Event_TestSome(events, count, 0) != GASNET_OK)
			PT_OK(gasnet_AMPoll());
		PT_CHECK(live(events, count) < left);
	}
}

static void
finish_backwards(gex_Event_t *events, size_t count)
{
	while (count--)
		gex_Event_Wait(events[count]);
}

static void
finish_each_test(gex_Event_t *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		while (gex_Event_Test(events[i]) != GASNET_OK)
			PT_OK(gasnet_AMPoll());
}

static void
finish_legacy(gex_Event_t *events, size_t count)
{
	/* when the last barrier is over, everyone has initiated the first */
	gasnet_wait_syncnb(events[count - 1]);
	events[count - 1] = GASNET_INVALID_HANDLE;
	PT_OK(gasnet_try_syncnb_nopoll(events[0]));
	events[0] = GASNET_INVALID_HANDLE;
	while (gasnet_try_syncnb(events[1]) != GASNET_OK)
		;
	events[1] = GASNET_INVALID_HANDLE;
	gasnet_wait_syncnb_some(events, count);
	PT_CHECK(live(events, count) < count - 3);
	gasnet_wait_syncnb_all(events, count);
	all_invalid(events, count);
}

static void
finish_legacy_all(gex_Event_t *events, size_t count)
{
	gasnet_wait_syncnb_all(events, count);
	all_invalid(events, count);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_GO, req_go, PT_REQ_SHORT, 0) };

	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	pt_attach(table, 1, 1);
	invalid_ones();
	empty_sets();
	for (unsigned long round = 0; round < pt_scale(2, 10); round++) {
		late_barriers(pending_each, finish_wait_all);
		late_barriers(pending_with_gaps, finish_test_all);
		late_barriers(pending_each, finish_wait_some);
		late_barriers(pending_each, finish_test_some);
		late_barriers(pending_with_gaps, finish_backwards);
		late_barriers(pending_each, finish_each_test);
		late_barriers(pending_each, finish_legacy);
		late_barriers(pending_each, finish_legacy_all);
	}
	invalid_ones();
	empty_sets();
	pt_finish();
}
