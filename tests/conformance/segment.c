/*
 * The attached segment: sizes that differ, errors that change nothing, every
 * page usable by its owner and by the others, and all queries about it.
 */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { PAGE = GASNET_PAGESIZE };

/* Different everywhere: 1, 4, 9, ... pages, and a large one at the last rank. */
static size_t
size_of(gex_Rank_t rank)
{
	size_t pages = ((size_t)rank % 8 + 1) * ((size_t)rank % 8 + 1);

	if (pt.size > 1 && rank == pt.size - 1)
		pages += pt_scale(256, 4096);
	return pages * PAGE;
}

static void
before_attach(void)
{
	uintptr_t bytes = 99;
	void *owner = &bytes, *local = &bytes;

	PT_CHECK(gex_EP_QuerySegment(pt.ep) == GEX_SEGMENT_INVALID);
	PT_CHECK(gex_EP_QueryBoundSegmentNB(pt.tm, pt.rank, &owner, &local, &bytes, 0) ==
	         GEX_EVENT_INVALID);
	PT_EQ(bytes, 0);
	bytes = 99;
	PT_CHECK(gex_EP_QueryBoundSegmentNB(pt.tm, pt.rank, NULL, NULL, &bytes,
	                                    GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
	PT_EQ(bytes, 0);
	bytes = 99;
	PT_CHECK(gex_Segment_QueryBound(pt.tm, pt.rank, &owner, &local, &bytes) != 0);
	PT_EQ(bytes, 99);
}

/* Sizes that cannot be had: an error everywhere, and nothing has changed. */
static void
bad_sizes(void)
{
	uintptr_t max = gasnet_getMaxLocalSegmentSize();
	const uintptr_t sizes[] = { 0,
		                    1,
		                    PAGE - 1,
		                    PAGE + 1,
		                    3 * PAGE / 2,
		                    max + PAGE,
		                    max + 1,
		                    ~(uintptr_t)0,
		                    ~(uintptr_t)(PAGE - 1) };
	gex_Segment_t mark = (gex_Segment_t)(uintptr_t)&max, segment = mark;

	gex_System_SetVerboseErrors(0);
	for (size_t i = 0; i < PT_COUNT(sizes); i++) {
		int result = gex_Segment_Attach(&segment, pt.tm, sizes[i]);

		PT_CHECK(result == GASNET_ERR_BAD_ARG || result == GASNET_ERR_RESOURCE);
		PT_CHECK(segment == mark);
		PT_CHECK(gex_EP_QuerySegment(pt.ep) == GEX_SEGMENT_INVALID);
		PT_EQ(gasnet_getMaxLocalSegmentSize(), max);
		pt_barrier();
	}
	gex_System_SetVerboseErrors(1);
}

static void
one_query(gex_TM_t tm, gex_Rank_t rank, const struct pt_peer *want)
{
	void *owner = NULL, *local = NULL;
	uintptr_t bytes = 0;
	gex_Event_t event = gex_EP_QueryBoundSegmentNB(tm, rank, &owner, &local, &bytes, 0);

	PT_CHECK(event != GEX_EVENT_NO_OP);
	gex_Event_Wait(event);
	PT_PTR(owner, want->owner);
	PT_PTR(local, want->local);
	PT_EQ(bytes, size_of(rank));
	owner = local = NULL;
	bytes = 0;
	PT_EQ(gex_Segment_QueryBound(tm, rank, &owner, &local, &bytes), 0);
	PT_PTR(owner, want->owner);
	PT_EQ(bytes, size_of(rank));
	owner = NULL;
	event = gex_EP_QueryBoundSegmentNB(tm, rank, &owner, NULL, NULL, GEX_FLAG_IMMEDIATE);
	PT_CHECK(event == GEX_EVENT_INVALID || event == GEX_EVENT_NO_OP);
	if (rank == pt.rank)
		PT_CHECK(event == GEX_EVENT_INVALID);
	if (event == GEX_EVENT_INVALID)
		PT_PTR(owner, want->owner);
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, NULL, NULL, NULL, 0));
}

static void
queries(void)
{
	gex_TM_t pair = gex_TM_Pair(pt.ep, 0);
	gasnet_seginfo_t *infos = calloc(pt.size + 1, sizeof(*infos));
	gasnet_nodeinfo_t *nodes = calloc(pt.size + 1, sizeof(*nodes));

	PT_CHECK(infos != NULL && nodes != NULL);
	memset(&infos[pt.size], 0x55, sizeof(*infos));
	memset(&nodes[pt.size], 0x55, sizeof(*nodes));
	PT_OK(gasnet_getSegmentInfo(infos, (int)pt.size + 1));
	PT_OK(gasnet_getNodeInfo(nodes, (int)pt.size + 1));
	PT_PTR(infos[pt.size].addr, (void *)(uintptr_t)0x5555555555555555u);
	for (size_t i = 0; i < sizeof(*nodes); i++)
		PT_EQ(((unsigned char *)&nodes[pt.size])[i], 0x55);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		const struct pt_peer *peer = &pt.peers[rank];

		one_query(pt.tm, rank, peer);
		one_query(pair, rank, peer);
		PT_PTR(infos[rank].addr, peer->owner);
		PT_EQ(infos[rank].size, size_of(rank));
		PT_EQ((uintptr_t)peer->owner % PAGE, 0);
		PT_EQ(nodes[rank].host == nodes[pt.rank].host, pt_on_this_host(rank));
#if GASNET_PSHM
		if (nodes[rank].supernode == nodes[pt.rank].supernode)
			PT_PTR((void *)((uintptr_t)infos[rank].addr + nodes[rank].offset),
			       peer->local);
#endif
	}
	PT_PTR(pt.peers[pt.rank].local, pt.base);
	memset(&infos[0], 0, sizeof(*infos));
	PT_OK(gasnet_getSegmentInfo(infos, 0));
	PT_PTR(infos[0].addr, NULL);
	free(infos);
	free(nodes);
}

/* Owner writes, everybody reads; then each page is written by one of the others. */
static void
every_page(void)
{
	size_t pages = pt.segment_bytes / PAGE;
	gex_Rank_t writer = (pt.rank + 1) % pt.size, owner = (pt.rank + pt.size - 1) % pt.size;
	const struct pt_peer *peer = &pt.peers[owner];

	for (size_t page = 0; page < pages;
	     page++) { /* never touched: reads as something, writes stay */
		volatile char *at = pt.base + page * PAGE;
		char old = *at;

		*at = (char)(old + 1);
		PT_EQ(*at, (char)(old + 1));
		pt.base[page * PAGE + PAGE - 1] = (char)(page * 3 + pt.rank);
		*at = (char)(page + pt.rank);
	}
	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		size_t count = size_of(rank) / PAGE;

		for (size_t page = 0; page < count; page++) {
			char ends[2] = { 0, 0 };

			PT_OK(gex_RMA_GetBlocking(pt.tm, &ends[0], rank,
			                          pt.peers[rank].owner + page * PAGE, 1, 0));
			PT_OK(gex_RMA_GetBlocking(pt.tm, &ends[1], rank,
			                          pt.peers[rank].owner + page * PAGE + PAGE - 1, 1,
			                          0));
			PT_EQ(ends[0], (char)(page + rank));
			PT_EQ(ends[1], (char)(page * 3 + rank));
			if (pt.peers[rank].local)
				PT_EQ(pt.peers[rank].local[page * PAGE], (char)(page + rank));
		}
	}
	pt_barrier();
	for (size_t page = 0; page < peer->size_bytes / PAGE; page++) {
		char block[PAGE];

		pt_fill(block, PAGE, page * 64 + pt.rank);
		PT_OK(gex_RMA_PutBlocking(pt.tm, owner, peer->owner + page * PAGE, block, PAGE, 0));
	}
	pt_barrier();
	for (size_t page = 0; page < pages; page++)
		PT_MEM(pt.base + page * PAGE, PAGE, page * 64 + writer);
}

/* Some network pages are first touched from outside. */
static void
untouched_from_outside(void)
{
	gex_Rank_t peer = (pt.rank + 1) % pt.size;
	char *last = pt.peers[peer].owner + pt.peers[peer].size_bytes - 1;
	char byte = 'q', back = 0;

	PT_OK(gex_RMA_PutBlocking(pt.tm, peer, last, &byte, 1, 0));
	PT_OK(gex_RMA_GetBlocking(pt.tm, &back, peer, last, 1, 0));
	PT_EQ(back, 'q');
	pt_barrier();
	PT_EQ(pt.base[pt.segment_bytes - 1], 'q');
	pt_barrier();
}

int
main(int argc, char **argv)
{
	gex_Segment_t again = GEX_SEGMENT_INVALID;

	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	pt_phase("before attach");
	before_attach();
	pt_phase("sizes that cannot be had");
	bad_sizes();
	pt_phase("attach");
	pt_attach(NULL, 0, size_of(pt.rank));
	PT_EQ(pt.segment_bytes, size_of(pt.rank));
	PT_EQ(gex_Segment_QuerySize(pt.segment), size_of(pt.rank));
	pt_phase("a second attach");
	gex_System_SetVerboseErrors(0);
	PT_CHECK(gex_Segment_Attach(&again, pt.tm, PAGE) != GASNET_OK);
	PT_CHECK(again == GEX_SEGMENT_INVALID);
	gex_System_SetVerboseErrors(1);
	pt_barrier();
	pt_phase("queries");
	queries();
	pt_phase("pages");
	untouched_from_outside();
	every_page();
	pt_finish();
}
