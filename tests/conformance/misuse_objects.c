/* Start, segments, endpoints, teams, transfers, events and barriers that are used as they may not
 * be. */
#include <gasnet.h>
#include <gasnet_mk.h>

#include <limits.h>

#include "tests/lib/pt_misuse.h"

static char memory[8192];
static uint64_t word;

/* -- start ----------------------------------------------------------------------------------- */

static void
init_again(void)
{
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;

	PT_CHECK(gex_Client_Init(&client, &ep, &tm, "TWICE", NULL, NULL, 0) != GASNET_OK);
}

static void both_inits(void) { PT_CHECK(gasnet_init(NULL, NULL) != GASNET_OK); }

static void
init_flags(void)
{
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;

	PT_EQ(gex_Client_Init(&client, &ep, &tm, "FLAGS", NULL, NULL, 1u << 30),
	      GASNET_ERR_BAD_ARG);
}

static void
init_outputs(void)
{
	PT_EQ(gex_Client_Init(NULL, NULL, NULL, "OUTPUTS", NULL, NULL, 0), GASNET_ERR_BAD_ARG);
}

static void too_early(void) { (void)gasnet_AMPoll(); }
static void rank_early(void) { PT_LE(gex_System_QueryJobRank(), 0); }

static void
before_attach(void)
{
	PT_OK(gasnet_init(NULL, NULL));
	(void)gasnet_AMRequestShort0(0, 128);
}

static void
attach_again(void)
{
	gex_Segment_t segment;

	PT_CHECK(gex_Segment_Attach(&segment, pt.tm, GASNET_PAGESIZE) != GASNET_OK);
}

static void
attach_size(void)
{
	gex_Segment_t segment;

	pt_init(NULL, NULL, 0);
	PT_EQ(gex_Segment_Attach(&segment, pt.tm, GASNET_PAGESIZE + 1), GASNET_ERR_BAD_ARG);
}

static void
legacy_size(void)
{
	PT_OK(gasnet_init(NULL, NULL));
	PT_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE + 1, 0), GASNET_ERR_BAD_ARG);
}

static void
legacy_table(void)
{
	PT_OK(gasnet_init(NULL, NULL));
	PT_EQ(gasnet_attach(NULL, 1, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
}

static void
legacy_long_table(void)
{
	gasnet_handlerentry_t entry = { 0, legacy_table };

	PT_OK(gasnet_init(NULL, NULL));
	PT_EQ(gasnet_attach(&entry, INT_MAX, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
}

static void no_node_info(void) { PT_EQ(gasnet_getNodeInfo(NULL, 5), GASNET_ERR_BAD_ARG); }
static void no_segment_info(void) { PT_EQ(gasnet_getSegmentInfo(NULL, 5), GASNET_ERR_BAD_ARG); }
static void no_published(void) { (void)gex_EP_PublishBoundSegment(pt.tm, NULL, 2, 0); }
static void legacy_count(void) { (void)gasnet_AMRequestShort(0, 128, 2, 7); }

/* -- objects --------------------------------------------------------------------------------- */

static gex_Segment_t
client_segment(void)
{
	gex_Segment_t segment;

	PT_OK(gex_Segment_Create(&segment, pt.client, memory, sizeof(memory), GEX_MK_HOST, 0));
	return segment;
}

static void no_segment(void) { PT_CHECK(gex_Segment_QueryAddr(GEX_SEGMENT_INVALID)); }
static void no_client(void) { PT_CHECK(gex_Client_QueryName(GEX_CLIENT_INVALID)); }
static void no_endpoint(void) { PT_LE(gex_EP_QueryIndex(GEX_EP_INVALID), 0); }
static void no_team(void) { PT_LE(gex_TM_QueryRank(GEX_TM_INVALID), 0); }
static void pair_rank(void) { PT_LE(gex_TM_QueryRank(gex_TM_Pair(pt.ep, 0)), 0); }
static void pair_barrier(void) { gex_Coll_BarrierBlocking(gex_TM_Pair(pt.ep, 0), 0); }
static void translate_outside(void) { PT_LE(gex_TM_TranslateRankToJobrank(pt.tm, 1), 0); }
static void destroy_none(void) { gex_Segment_Destroy(GEX_SEGMENT_INVALID, 0); }
static void destroy_attached(void) { gex_Segment_Destroy(pt.segment, 0); }
static void destroy_flag(void) { gex_Segment_Destroy(client_segment(), 1); }

static void
destroy_twice(void)
{
	gex_Segment_t segment = client_segment();

	gex_Segment_Destroy(segment, 0);
	gex_Segment_Destroy(segment, 0);
}

static void
create_empty(void)
{
	gex_Segment_t segment;

	PT_EQ(gex_Segment_Create(&segment, pt.client, memory, 0, GEX_MK_HOST, 0),
	      GASNET_ERR_BAD_ARG);
}

static void
create_unmapped(void)
{
	gex_Segment_t segment;

	PT_EQ(gex_Segment_Create(&segment, pt.client, (void *)4096, 4096, GEX_MK_HOST, 0),
	      GASNET_ERR_BAD_ARG);
}

static void
bind_again(void)
{
	PT_EQ(gex_EP_BindSegment(pt.ep, client_segment(), 0), GASNET_ERR_BAD_ARG);
}

static void no_kind(void) { PT_PTR(gex_MK_QueryCData(GEX_MK_INVALID), NULL); }
static void foreign_kind(void) { gex_MK_Destroy((gex_MK_t)(void *)&word, 0); }

static void
device_kind(void)
{
	gex_MK_Create_args_t args = { .gex_class = GEX_MK_CLASS_CUDA_UVA };
	gex_MK_t kind;

	PT_EQ(gex_MK_Create(&kind, pt.client, &args, 0), GASNET_ERR_BAD_ARG);
}

static void
too_many_endpoints(void)
{
	gex_EP_t ep;

	for (unsigned i = 1; i < GASNET_MAXEPS; i++)
		PT_OK(gex_EP_Create(&ep, pt.client, GEX_EP_CAPABILITY_ALL, 0));
	PT_EQ(gex_EP_Create(&ep, pt.client, GEX_EP_CAPABILITY_ALL, 0), GASNET_ERR_RESOURCE);
}

/* -- transfers ------------------------------------------------------------------------------- */

static void put_at(char *dest) { PT_OK(gex_RMA_PutBlocking(pt.tm, 1, dest, &word, 8, 0)); }
static void put_outside(void) { put_at(pt.peers[1].owner + pt.peers[1].size_bytes - 3); }
static void
get_outside(void)
{
	PT_OK(gex_RMA_GetBlocking(pt.tm, &word, 1, pt.peers[1].owner - 1, 8, 0));
}
static void put_rank(void) { PT_OK(gex_RMA_PutBlocking(pt.tm, 9, pt.base, &word, 8, 0)); }
static void put_flag(void) { PT_OK(gex_RMA_PutBlocking(pt.tm, 0, pt.base, &word, 8, 1u << 30)); }
static void put_null(void) { PT_OK(gex_RMA_PutBlocking(pt.tm, 0, pt.base, NULL, 8, 0)); }
/* An address that was never one of memory, as the program has it by mistake. */
static void *
wild(uintptr_t bits)
{
	volatile uintptr_t kept = bits;

	return (void *)kept;
}

static void
put_wild(void)
{
	PT_OK(gex_RMA_PutBlocking(pt.tm, 0, pt.base, wild(0x10), 64, 0));
}

static void
get_constant(void)
{
	static const uint64_t constant = 1;

	PT_OK(gex_RMA_GetBlocking(pt.tm, wild((uintptr_t)&constant), 0, pt.base, 8, 0));
}

static void
medium_wild(void)
{
	PT_OK(gex_AM_RequestMedium0(pt.tm, 1, 200, wild(UINT64_C(0xdeadbeefdeadbeef)), 8,
	                            GEX_EVENT_NOW, 0));
}

static void value_size(void) { PT_OK(gex_RMA_PutBlockingVal(pt.tm, 0, pt.base, 1, 9, 0)); }

/* -- events and barriers --------------------------------------------------------------------- */

static void event_no_op(void) { gex_Event_Wait(GEX_EVENT_NO_OP); }
static void
leaf_of_two(void)
{
	(void)gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_GET | GEX_EC_PUT);
}
static void nbi_category(void) { gex_NBI_Wait(1u << 30, 0); }
static void no_events(void) { gex_Event_WaitAll(NULL, 3, 0); }
static void event_flag(void) { gex_Event_WaitAll(NULL, 0, 1); }
static void wait_alone(void) { (void)gasnet_barrier_wait(0, 0); }
static void try_alone(void) { (void)gasnet_barrier_try(0, 0); }
static void barrier_flag(void) { gasnet_barrier_notify(0, 64); }
static void team_flag(void) { gex_Coll_BarrierBlocking(pt.tm, 1); }

static void
event_twice(void)
{
	gex_Event_t event;

	pt_start(NULL, NULL, NULL, 0, GASNET_PAGESIZE);
	while (pt.rank && !pt_word_get(pt.rank, 0))
		pt_sleep_ms(1);
	event = gex_Coll_BarrierNB(pt.tm, 0); /* of rank 0, not over before the other knows of it */
	if (!pt.rank)
		pt_word_put(1, 0, 1);
	gex_Event_Wait(event);
	gex_Event_Wait(event);
}

static void
notify_twice(void)
{
	gasnet_barrier_notify(0, 0);
	gasnet_barrier_notify(0, 0);
}

#define INIT   "gex_Client_Init: "
#define NO_SEGMENT \
	"called with GEX_SEGMENT_INVALID; an endpoint has a segment after gex_Segment_Attach " \
	"or gex_EP_BindSegment"
#define GIVEN  "; pass one that the library gave"
#define BOUNDS "do not lie in the segment of rank 1, which is * bytes at 0x*; " \
	"gex_EP_QueryBoundSegmentNB tells its bounds"

static const struct pt_misuse cases[] = {
	{ "too_early", PT_ALWAYS, 1, too_early, "a call before init",
	  "gasnet_AMPoll: called before gex_Client_Init or gasnet_init; make that the first call",
	  1 },
	{ "rank_early", PT_ALWAYS, 1, rank_early, "the rank asked before init",
	  "gex_System_QueryJobRank: called before gex_Client_Init or gasnet_init; make that the "
	  "first call",
	  1 },
	{ "init_again", PT_REFUSED, 1, init_again, "a second init",
	  INIT "the job is open; a process opens it once, by gex_Client_Init or by gasnet_init",
	  0 },
	{ "both_inits", PT_REFUSED, 1, both_inits, "both kinds of init",
	  "gasnet_init: the job is open; a process opens it once, by gex_Client_Init or by "
	  "gasnet_init",
	  0 },
	{ "init_flags", PT_REFUSED, 1, init_flags, "unknown flags at init",
	  INIT "flags must be 0 or some of GEX_FLAG_USES_GASNET1 and GEX_FLAG_DEFER_THREADS", 1 },
	{ "init_outputs", PT_REFUSED, 1, init_outputs, "init without a place for its results",
	  INIT "client_p, ep_p and tm_p must not be NULL", 1 },
	{ "before_attach", PT_CHECKED, 1, before_attach,
	  "a message between gasnet_init and "
	  "gasnet_attach",
	  "gex_AM_RequestShort: called between gasnet_init and gasnet_attach; attach first", 1 },
	{ "attach_again", PT_REFUSED, 1, attach_again, "a second attach",
	  "gex_Segment_Attach: the endpoint has a segment already", 0 },
	{ "attach_size", PT_REFUSED, 1, attach_size, "a segment of part of a page",
	  "gex_Segment_Attach: the size must be a non-zero multiple of GASNET_PAGESIZE", 1 },
	{ "legacy_size", PT_REFUSED, 1, legacy_size, "the same by gasnet_attach",
	  "gasnet_attach: segsize must be a multiple of GASNET_PAGESIZE, and "
	  "gasnet_getMaxLocalSegmentSize() at most",
	  1 },
	{ "legacy_table", PT_REFUSED, 1, legacy_table,
	  "gasnet_attach without the table it speaks "
	  "of",
	  "gasnet_attach: the table has no entries; pass NULL and 0 for none", 1 },
	{ "legacy_long_table", PT_REFUSED, 1, legacy_long_table,
	  "gasnet_attach with more handlers "
	  "than there are indices",
	  "gasnet_attach: the table has more entries than there are "
	  "indices, from 128 to 255; let some share one and an argument",
	  1 },
	{ "no_node_info", PT_REFUSED, 1, no_node_info,
	  "a question about nodes without room for "
	  "the answer",
	  "gasnet_getNodeInfo: nodeinfo_table is NULL; pass an array of numentries", 0 },
	{ "no_segment_info", PT_REFUSED, 1, no_segment_info, "the same about segments",
	  "gasnet_getSegmentInfo: seginfo_table is NULL; pass an array of numentries", 0 },
	{ "no_published", PT_ALWAYS, 1, no_published,
	  "endpoints to publish without the list of "
	  "them",
	  "gex_EP_PublishBoundSegment: eps is NULL, but should have 2 entries; pass the list", 0 },
	{ "legacy_count", PT_ALWAYS, 1, legacy_count, "a count of arguments that is not theirs",
	  "gasnet_AMRequestShort: the count says 2 arguments, but 1 are given; the count stands "
	  "before the arguments",
	  0 },
	{ "no_segment", PT_ALWAYS, 1, no_segment, "a question about no segment",
	  "gex_Segment_QueryAddr: " NO_SEGMENT, 0 },
	{ "no_client", PT_ALWAYS, 1, no_client, "a question about no client",
	  "gex_Client_QueryName: called with GEX_CLIENT_INVALID" GIVEN, 0 },
	{ "no_endpoint", PT_ALWAYS, 1, no_endpoint, "a question about no endpoint",
	  "gex_EP_QueryIndex: called with GEX_EP_INVALID" GIVEN, 0 },
	{ "no_team", PT_ALWAYS, 1, no_team, "a question about no team",
	  "gex_TM_QueryRank: called with GEX_TM_INVALID" GIVEN, 0 },
	{ "pair_rank", PT_ALWAYS, 1, pair_rank, "a pair of endpoints where a team is wanted",
	  "gex_TM_QueryRank: called with a pair of endpoints; pass a team", 0 },
	{ "pair_barrier", PT_ALWAYS, 1, pair_barrier, "a barrier over a pair",
	  "gex_Coll_BarrierNB: called with a pair of endpoints; pass a team", 0 },
	{ "translate_outside", PT_ALWAYS, 1, translate_outside, "a rank that is not in the team",
	  "gex_TM_TranslateRankToJobrank: rank 1 does not exist, the team has 1; count from 0", 0 },
	{ "destroy_none", PT_ALWAYS, 1, destroy_none, "no segment destroyed",
	  "gex_Segment_Destroy: " NO_SEGMENT, 0 },
	{ "destroy_attached", PT_ALWAYS, 1, destroy_attached, "the attached segment destroyed",
	  "gex_Segment_Destroy: a segment from gex_Segment_Attach lives as long as the job; leave "
	  "it",
	  0 },
	{ "destroy_flag", PT_ALWAYS, 1, destroy_flag, "flags where there are none",
	  "gex_Segment_Destroy: flags are 0x1, and this call has none; pass 0", 0 },
	{ "destroy_twice", PT_CHECKED, 1, destroy_twice, "a segment destroyed twice",
	  "gex_Segment_Destroy: the segment was destroyed before; destroy it when nothing uses it "
	  "any more",
	  0 },
	{ "create_empty", PT_REFUSED, 1, create_empty, "a segment of no bytes",
	  "gex_Segment_Create: the length must not be 0", 0 },
	{ "create_unmapped", PT_REFUSED, 1, create_unmapped,
	  "a segment over memory that is not "
	  "mapped",
	  "gex_Segment_Create: the client's memory is not mapped in this process; map it first",
	  0 },
	{ "bind_again", PT_REFUSED, 1, bind_again, "a second segment bound",
	  "gex_EP_BindSegment: the endpoint has a segment already", 0 },
	{ "no_kind", PT_ALWAYS, 1, no_kind, "a question about no memory kind",
	  "gex_MK_QueryCData: called with GEX_MK_INVALID" GIVEN, 0 },
	{ "foreign_kind", PT_ALWAYS, 1, foreign_kind, "something else than a memory kind",
	  "gex_MK_Destroy: 0x* is no memory kind; pass GEX_MK_HOST, or what gex_MK_Create wrote",
	  0 },
	{ "device_kind", PT_REFUSED, 1, device_kind, "a memory kind of devices",
	  "gex_MK_Create: GEX_MK_CLASS_CUDA_UVA is not available: no conduit of this library "
	  "reaches the memory of devices; use GEX_MK_HOST",
	  0 },
	{ "too_many_endpoints", PT_REFUSED, 1, too_many_endpoints,
	  "more endpoints than "
	  "`GASNET_MAXEPS`",
	  "gex_EP_Create: a process has GASNET_MAXEPS endpoints at most, and memory for the queues "
	  "of each",
	  0 },
	{ "put_outside", PT_ALWAYS, 2, put_outside, "a put to outside the segment",
	  "gex_RMA_PutBlocking: 8 bytes at 0x* " BOUNDS, 0 },
	{ "get_outside", PT_ALWAYS, 2, get_outside, "a get from outside the segment",
	  "gex_RMA_GetBlocking: 8 bytes at 0x* " BOUNDS, 0 },
	{ "put_rank", PT_ALWAYS, 1, put_rank, "a put to a rank that is not there",
	  "gex_RMA_PutBlocking: rank 9 does not exist, the team has 1; count from 0", 0 },
	{ "put_flag", PT_ALWAYS, 1, put_flag, "unknown flags on a put",
	  "gex_RMA_PutBlocking: flags 0x40000000 have no meaning in this call, which takes those "
	  "of 0x*; leave them out",
	  0 },
	{ "put_null", PT_CHECKED, 1, put_null, "a put from address NULL",
	  "gex_RMA_PutBlocking: 8 bytes from address NULL; pass the address of the data", 0 },
	{ "put_wild", PT_FAULT, 1, put_wild, "a put from memory that is not there",
	  "ended by SIGSEGV (11) at address 0x*, in the 64 bytes at 0x10 given to "
	  "gex_RMA_PutBlocking; check address and length",
	  0 },
	{ "get_constant", PT_FAULT, 1, get_constant, "a get into memory that may not be written",
	  "ended by SIGSEGV (11) at address 0x*, in the 8 bytes at 0x* given to "
	  "gex_RMA_GetBlocking; check address and length",
	  0 },
	{ "medium_wild", PT_FAULT, 2, medium_wild, "a message from an address that is none",
	  "ended by SIGSEGV (11) *in the 8 bytes at 0xdeadbeefdeadbeef given to "
	  "gex_AM_RequestMedium; check address and length",
	  0 },
	{ "value_size", PT_ALWAYS, 1, value_size, "a value of more than 8 bytes",
	  "gex_RMA_PutBlockingVal or GetBlockingVal: a value of 9 bytes; it has 1 to 8", 0 },
	{ "event_no_op", PT_ALWAYS, 1, event_no_op, "a wait for `GEX_EVENT_NO_OP`",
	  "gex_Event_Wait: the event is GEX_EVENT_NO_OP, which says that nothing was started; try "
	  "that call again",
	  0 },
	{ "no_events", PT_ALWAYS, 1, no_events, "a wait for events without the list of them",
	  "gex_Event_WaitAll: pevent is NULL, but should have 3 entries; pass the list", 0 },
	{ "event_twice", PT_ALWAYS, 2, event_twice, "an event synchronised twice",
	  "gex_Event_Wait: the event was synchronised before; an event that is done may be "
	  "another's, set the variable to GEX_EVENT_INVALID",
	  1 },
	{ "leaf_of_two", PT_ALWAYS, 1, leaf_of_two, "a leaf of two categories",
	  "gex_Event_QueryLeaf: the category is 0x*; pass exactly one of GEX_EC_*", 0 },
	{ "nbi_category", PT_ALWAYS, 1, nbi_category, "a category that is none",
	  "gex_NBI_Wait: categories 0x40000000 do not exist; pass some of GEX_EC_*, or GEX_EC_ALL",
	  0 },
	{ "event_flag", PT_ALWAYS, 1, event_flag, "flags on a wait",
	  "gex_Event_WaitAll: flags are 0x1, and this call has none; pass 0", 0 },
	{ "wait_alone", PT_ALWAYS, 1, wait_alone, "a wait at a barrier that was not notified",
	  "gasnet_barrier_wait: called without gasnet_barrier_notify before it; notify first", 0 },
	{ "try_alone", PT_ALWAYS, 1, try_alone, "a try at a barrier that was not notified",
	  "gasnet_barrier_try: called without gasnet_barrier_notify before it; notify first", 0 },
	{ "notify_twice", PT_ALWAYS, 1, notify_twice, "a barrier notified twice",
	  "gasnet_barrier_notify: called twice; call gasnet_barrier_wait, or try until it "
	  "succeeds, between",
	  0 },
	{ "barrier_flag", PT_ALWAYS, 1, barrier_flag, "unknown flags at a barrier",
	  "gasnet_barrier_notify: flags 0x40 have no meaning in this call, which takes those of "
	  "0x7; leave them out",
	  0 },
	{ "team_flag", PT_ALWAYS, 1, team_flag, "flags at a team's barrier",
	  "gex_Coll_BarrierNB: flags are 0x1, and this call has none; pass 0", 0 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
