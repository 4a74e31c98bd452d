/* Non-blocking transfers, their events and access regions that are used as they may not be. */
#include <gasnet.h>

#include "tests/lib/pt_misuse.h"

static uint64_t word;

static gex_Event_t
put_with(gex_Event_t *lc_opt)
{
	return gex_RMA_PutNB(pt.tm, 0, pt.base, &word, 8, lc_opt, 0);
}

static void put_group(void) { gex_Event_Wait(put_with(GEX_EVENT_GROUP)); }
static void put_no_lc(void) { gex_Event_Wait(put_with(NULL)); }

static void
implicit_address(void)
{
	gex_Event_t event;

	PT_OK(gex_RMA_PutNBI(pt.tm, 0, pt.base, &word, 8, &event, 0));
}

static void
outside(void)
{
	gex_Event_Wait(gex_RMA_GetNB(pt.tm, &word, 0, pt.base + pt.segment_bytes - 7, 8, 0));
}

static void
nothing_known(void)
{
	pt_init(NULL, NULL, GEX_FLAG_USES_GASNET1);
	gasnet_memset(0, &word, 0, 8);
}

static void
overlapping(void)
{
	PT_OK(gex_RMA_PutNBI(pt.tm, 0, pt.base + 4, pt.base, 8, GEX_EVENT_NOW, 0));
}

static void
region_in_region(void)
{
	gex_NBI_BeginAccessRegion(0);
	gex_NBI_BeginAccessRegion(0);
}

static void end_alone(void) { gex_Event_Wait(gex_NBI_EndAccessRegion(0)); }

static void
wait_in_region(void)
{
	gex_NBI_BeginAccessRegion(0);
	gex_NBI_Wait(GEX_EC_PUT, 0);
}

static void *
end_region(void *unused)
{
	gex_Event_Wait(gex_NBI_EndAccessRegion(0));
	return unused;
}

static void
end_elsewhere(void)
{
	gex_NBI_BeginAccessRegion(0);
	pt_misuse_in_thread(end_region, NULL);
}

/* By messages, so that there is an event. */
static gex_Event_t
slow_get(void)
{
	gex_Event_t event = gex_RMA_GetNB(pt.tm, &word, 1, pt.peers[1].owner, 8, 0);

	PT_CHECK(event != GEX_EVENT_INVALID);
	return event;
}

static void
masked(void)
{
	setenv("PST_TEST_CONDUIT_MASK", "put,get", 1);
	pt_start(NULL, NULL, NULL, 0, 8 << 20);
	if (pt.rank != 0) {
		pt_barrier();
		exit(0);
	}
}

static void
event_again(void)
{
	gex_Event_t event, others[8];

	masked();
	event = slow_get();
	gex_Event_Wait(event);
	for (int i = 0; i < 8; i++)
		others[i] = slow_get();
	(void)gex_Event_Test(event);
	gex_Event_WaitAll(others, 8, 0);
}

static void
leaf_of_leaf(void)
{
	gex_Event_t leaf, event;

	masked();
	/* more than there is room for */
	event = gex_RMA_PutNB(pt.tm, 1, pt.peers[1].owner, pt.base, pt.segment_bytes, &leaf, 0);
	PT_CHECK(event != GEX_EVENT_INVALID && leaf != GEX_EVENT_INVALID);
	(void)gex_Event_QueryLeaf(leaf, GEX_EC_LC);
}

static void
event_left(void)
{
	masked();
	PT_CHECK(slow_get() != GEX_EVENT_INVALID);
}

static void region_left(void) { gex_NBI_BeginAccessRegion(0); }

#define BOUNDS "do not lie in the segment of rank 0, which is * bytes at 0x*; " \
	"gex_EP_QueryBoundSegmentNB tells its bounds"

static const struct pt_misuse cases[] = {
	{ "put_group", PT_ALWAYS, 1, put_group, "`GEX_EVENT_GROUP` for an explicit put",
	  "gex_RMA_PutNB: lc_opt is GEX_EVENT_GROUP, which this call does not allow; pass "
	  "GEX_EVENT_NOW, GEX_EVENT_DEFER or the address of an event",
	  0 },
	{ "put_no_lc", PT_ALWAYS, 1, put_no_lc, "a put that does not say what of its source",
	  "gex_RMA_PutNB: lc_opt is NULL, which this call does not allow; pass GEX_EVENT_NOW, "
	  "GEX_EVENT_DEFER or the address of an event",
	  0 },
	{ "implicit_address", PT_ALWAYS, 1, implicit_address, "an event for an implicit put",
	  "gex_RMA_PutNBI: lc_opt is an address, which this call does not allow; pass "
	  "GEX_EVENT_NOW, GEX_EVENT_DEFER or GEX_EVENT_GROUP",
	  0 },
	{ "outside", PT_ALWAYS, 1, outside, "a get past the segment's end",
	  "gex_RMA_GetNB: 8 bytes at 0x* " BOUNDS, 0 },
	{ "nothing_known", PT_ALWAYS, 1, nothing_known, "memory set where no segment is known",
	  "gasnet_memset: rank 0 has no segment that is known here; attach or publish one first",
	  1 },
	{ "overlapping", PT_CHECKED, 1, overlapping, "a source that overlaps the destination",
	  "gex_RMA_PutNBI: source and destination, 8 bytes each, overlap; copy the data elsewhere "
	  "first",
	  0 },
	{ "region_in_region", PT_ALWAYS, 1, region_in_region,
	  "an access region in an access "
	  "region",
	  "gex_NBI_BeginAccessRegion: called in an access region; regions do not nest, end the "
	  "first",
	  0 },
	{ "end_alone", PT_ALWAYS, 1, end_alone, "the end of a region that was not begun",
	  "gex_NBI_EndAccessRegion: no access region is open in this thread; begin one, and end it "
	  "in the same thread",
	  0 },
	{ "end_elsewhere", PT_ALWAYS, 1, end_elsewhere, "a region ended by another thread",
	  "gex_NBI_EndAccessRegion: no access region is open in this thread; begin one, and end it "
	  "in the same thread",
	  0 },
	{ "wait_in_region", PT_ALWAYS, 1, wait_in_region,
	  "a wait for implicit operations in a "
	  "region",
	  "gex_NBI_Wait: called in an access region; end the region and synchronise its event", 0 },
	{ "event_again", PT_CHECKED, 2, event_again,
	  "an event used again while others are under "
	  "way",
	  "gex_Event_Test: the event was synchronised before; an event that is done may be "
	  "another's, set the variable to GEX_EVENT_INVALID",
	  1 },
	{ "leaf_of_leaf", PT_ALWAYS, 2, leaf_of_leaf, "a leaf of a leaf",
	  "gex_Event_QueryLeaf: the event is a leaf itself; pass the root event of its operation",
	  1 },
	{ "event_left", PT_TOLD, 2, event_left, "an event that nobody synchronises",
	  "gasnet_exit: 1 event has not been synchronised; wait for each root event, or test it "
	  "until it is done",
	  1 },
	{ "region_left", PT_TOLD, 1, region_left, "a region that is not ended",
	  "gasnet_exit: an access region is open in this thread; end it, and synchronise its "
	  "event",
	  0 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
