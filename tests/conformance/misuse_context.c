/*
 * Calls that may not be made in restricted context: every one of them in a handler, with a
 * handler-safe lock held, and between Prepare and Commit.
 */
#include <gasnet.h>
#include <gasnet_ratomic.h>
#include <gasnet_coll.h>

#include "tests/lib/pt_misuse.h"

enum { REQ_CALLS = 128, REQ_SHORT };

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
/* Of a NULL event there is nothing to test: these are not done. */
static gex_Event_t event = GEX_EVENT_NO_OP, events[2] = { GEX_EVENT_NO_OP };
static uint64_t word;

static void req_short(gex_Token_t token) { (void)token; }

static void r_short(void) { (void)gex_AM_RequestShort0(pt.tm, 0, REQ_SHORT, 0); }
static void
r_medium(void)
{
	(void)gex_AM_RequestMedium0(pt.tm, 0, REQ_SHORT, &word, 8, GEX_EVENT_NOW, 0);
}
static void
r_long(void)
{
	(void)gex_AM_RequestLong0(pt.tm, 0, REQ_SHORT, &word, 8, pt.base, GEX_EVENT_NOW, 0);
}
static void p_medium(void) { (void)gex_AM_PrepareRequestMedium(pt.tm, 0, NULL, 8, 8, NULL, 0, 0); }
static void
p_long(void)
{
	(void)gex_AM_PrepareRequestLong(pt.tm, 0, NULL, 8, 8, NULL, NULL, 0, 0);
}
static void do_poll(void) { (void)gasnet_AMPoll(); }
static void block_until(void) { GASNET_BLOCKUNTIL(word == 1); }
static void put(void) { (void)gex_RMA_PutBlocking(pt.tm, 0, pt.base, &word, 8, 0); }
static void get(void) { (void)gex_RMA_GetBlocking(pt.tm, &word, 0, pt.base, 8, 0); }
static void put_val(void) { (void)gex_RMA_PutBlockingVal(pt.tm, 0, pt.base, 1, 8, 0); }
static void get_val(void) { word = gex_RMA_GetBlockingVal(pt.tm, 0, pt.base, 8, 0); }
static void barrier_nb(void) { event = gex_Coll_BarrierNB(pt.tm, 0); }
static void broadcast(void) { event = gex_Coll_BroadcastNB(pt.tm, 0, &word, &word, 8, 0); }

static void
to_one(void)
{
	event = gex_Coll_ReduceToOneNB(pt.tm, 0, &word, &word, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL,
	                               NULL, 0);
}

static void
to_all(void)
{
	event = gex_Coll_ReduceToAllNB(pt.tm, &word, &word, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL,
	                               NULL, 0);
}

static void
scatter(void)
{
	gasnet_coll_scatter(GASNET_TEAM_ALL, &word, 0, &word, 8,
	                    GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC);
}

static void notify(void) { gasnet_barrier_notify(0, 0); }
static void wait_named(void) { (void)gasnet_barrier_wait(0, 0); }
static void try_named(void) { (void)gasnet_barrier_try(0, 0); }
static void result(void) { int id; (void)gasnet_barrier_result(&id); }
static void test(void) { (void)gex_Event_Test(event); }
static void wait(void) { gex_Event_Wait(event); }
static void test_some(void) { (void)gex_Event_TestSome(events, 2, 0); }
static void test_all(void) { (void)gex_Event_TestAll(events, 2, 0); }
static void wait_some(void) { gex_Event_WaitSome(events, 2, 0); }
static void wait_all(void) { gex_Event_WaitAll(events, 2, 0); }
static void leaf(void) { (void)gex_Event_QueryLeaf(event, GEX_EC_LC); }
static void nbi_test(void) { (void)gex_NBI_Test(GEX_EC_ALL, 0); }
static void vector(void) { PT_OK(gex_VIS_VectorPutBlocking(pt.tm, 0, 0, NULL, 0, NULL, 0)); }
static void
indexed(void)
{
	PT_OK(gex_VIS_IndexedGetBlocking(pt.tm, 0, NULL, 0, 0, 0, NULL, 0, 0));
}
static void
strided(void)
{
	PT_OK(gex_VIS_StridedPutNBI(pt.tm, 0, 0, NULL, 0, NULL, 0, NULL, 0, 0));
}
static void peer_handler(void) { gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0); }
static void nbi_wait(void) { gex_NBI_Wait(GEX_EC_ALL, 0); }
static void do_register(void) { (void)gex_EP_RegisterHandlers(pt.ep, NULL, 0); }
static void
create_ep(void)
{
	gex_EP_t ep;
	(void)gex_EP_Create(&ep, pt.client, GEX_EP_CAPABILITY_ALL, 0);
}
static void
attach(void)
{
	gex_Segment_t segment;
	(void)gex_Segment_Attach(&segment, pt.tm, GASNET_PAGESIZE);
}
static void legacy_attach(void) { (void)gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0); }
static void destroy(void) { gex_Segment_Destroy(pt.segment, 0); }
static void bind(void) { (void)gex_EP_BindSegment(pt.ep, pt.segment, 0); }
static void publish(void) { (void)gex_EP_PublishBoundSegment(pt.tm, &pt.ep, 1, 0); }
static void
bound(void)
{
	uintptr_t size;
	(void)gex_Segment_QueryBound(pt.tm, 0, NULL, NULL, &size);
}
static void bound_nb(void) { (void)gex_EP_QueryBoundSegmentNB(pt.tm, 0, NULL, NULL, NULL, 0); }
static void to_jobrank(void) { (void)gex_TM_TranslateRankToJobrank(pt.tm, 0); }
static void to_rank(void) { (void)gex_TM_TranslateJobrankToRank(pt.tm, 0); }
static void to_ep(void) { (void)gex_TM_TranslateRankToEP(pt.tm, 0, 0); }
static void segment_info(void) { gasnet_seginfo_t info; (void)gasnet_getSegmentInfo(&info, 1); }
static void node_info(void) { gasnet_nodeinfo_t info; (void)gasnet_getNodeInfo(&info, 1); }

static void
atomic_nb(void)
{
	event = gex_AD_OpNB_U64(NULL, &word, 0, pt.base, GEX_OP_FINC, 0, 0, 0);
}
static void
atomic_nbi(void)
{
	(void)gex_AD_OpNBI_U64(NULL, &word, 0, pt.base, GEX_OP_FINC, 0, 0, 0);
}
static void
make_domain(void)
{
	gex_AD_t ad;
	gex_AD_Create(&ad, pt.tm, GEX_DT_U64, GEX_OP_FINC, 0);
}
static void end_domain(void) { gex_AD_Destroy(GEX_AD_INVALID); }

static void
create(void)
{
	gex_Segment_t segment;

	(void)gex_Segment_Create(&segment, pt.client, &word, sizeof(word), GEX_MK_HOST, 0);
}

static void
progress_threads(void)
{
	const gex_ProgressThreadInfo_t *info;
	unsigned count;

	(void)gex_System_QueryProgressThreads(pt.client, &count, &info, 0);
}

/* Value forms are told as the plain calls, a wait by its place. */
static const struct pt_misuse_call calls[] = {
	{ "gex_AM_RequestShort", r_short, NULL },
	{ "gex_AM_RequestMedium", r_medium, NULL },
	{ "gex_AM_RequestLong", r_long, NULL },
	{ "gex_AM_PrepareRequestMedium", p_medium, NULL },
	{ "gex_AM_PrepareRequestLong", p_long, NULL },
	{ "gasnet_AMPoll", do_poll, NULL },
	{ "GASNET_BLOCKUNTIL", block_until, "misuse_context.c:*" },
	{ "gex_RMA_PutBlocking", put, NULL },
	{ "gex_RMA_GetBlocking", get, NULL },
	{ "gex_RMA_PutBlockingVal", put_val, "gex_RMA_PutBlocking" },
	{ "gex_RMA_GetBlockingVal", get_val, "gex_RMA_GetBlocking" },
	{ "gex_VIS_VectorPutBlocking", vector, NULL },
	{ "gex_VIS_IndexedGetBlocking", indexed, NULL },
	{ "gex_VIS_StridedPutNBI", strided, NULL },
	{ "gex_VIS_SetPeerCompletionHandler", peer_handler, NULL },
	{ "gex_Coll_BarrierNB", barrier_nb, NULL },
	{ "gex_Coll_BroadcastNB", broadcast, NULL },
	{ "gex_Coll_ReduceToOneNB", to_one, NULL },
	{ "gex_Coll_ReduceToAllNB", to_all, NULL },
	{ "gasnet_coll_scatter", scatter, NULL },
	{ "gasnet_barrier_notify", notify, NULL },
	{ "gasnet_barrier_wait", wait_named, NULL },
	{ "gasnet_barrier_try", try_named, NULL },
	{ "gasnet_barrier_result", result, NULL },
	{ "gex_Event_Test", test, NULL },
	{ "gex_Event_Wait", wait, NULL },
	{ "gex_Event_TestSome", test_some, NULL },
	{ "gex_Event_TestAll", test_all, NULL },
	{ "gex_Event_WaitSome", wait_some, NULL },
	{ "gex_Event_WaitAll", wait_all, NULL },
	{ "gex_Event_QueryLeaf", leaf, NULL },
	{ "gex_NBI_Test", nbi_test, NULL },
	{ "gex_NBI_Wait", nbi_wait, NULL },
	{ "gex_EP_RegisterHandlers", do_register, NULL },
	{ "gex_EP_Create", create_ep, NULL },
	{ "gex_AD_Create", make_domain, NULL },
	{ "gex_AD_Destroy", end_domain, NULL },
	{ "gex_AD_OpNB_U64", atomic_nb, NULL },
	{ "gex_AD_OpNBI_U64", atomic_nbi, NULL },
	{ "gex_EP_BindSegment", bind, NULL },
	{ "gex_EP_PublishBoundSegment", publish, NULL },
	{ "gex_EP_QueryBoundSegmentNB", bound_nb, NULL },
	{ "gex_Segment_Attach", attach, NULL },
	{ "gex_Segment_Create", create, NULL },
	{ "gex_Segment_Destroy", destroy, NULL },
	{ "gex_Segment_QueryBound", bound, NULL },
	{ "gasnet_attach", legacy_attach, NULL },
	{ "gasnet_getSegmentInfo", segment_info, NULL },
	{ "gasnet_getNodeInfo", node_info, NULL },
	{ "gex_TM_TranslateRankToJobrank", to_jobrank, NULL },
	{ "gex_TM_TranslateJobrankToRank", to_rank, NULL },
	{ "gex_TM_TranslateRankToEP", to_ep, NULL },
	{ "gex_System_QueryProgressThreads", progress_threads, NULL },
};

static void
req_calls(gex_Token_t token)
{
	(void)token;
	pt_misuse_call();
}

static void in_handler(void) { pt_misuse_ask(REQ_CALLS); }

static void
with_lock(void)
{
	gex_HSL_Lock(&lock);
	pt_misuse_call();
}

static void
prepared(void)
{
	(void)gex_AM_PrepareRequestMedium(pt.tm, 0, NULL, 8, 8, NULL, 0, 0);
	pt_misuse_call();
}

static const struct pt_misuse contexts[] = {
	{ "handler", PT_CHECKED, 1, in_handler, "a call of the list below in a handler",
	  ": called in handler 128 (req_calls); a handler may only reply and lock, so let another "
	  "thread do the rest", 0 },
	{ "lock", PT_LOCKS, 1, with_lock, "the same with a handler-safe lock held",
	  ": called while this thread holds 1 handler-safe lock; unlock first", 0 },
	{ "prepare", PT_CHECKED, 1, prepared, "the same between Prepare and Commit",
	  ": called between Prepare and Commit of a request; commit or cancel it first", 0 },
};

static gex_AM_Entry_t handlers[] = {
	PT_HANDLER(REQ_CALLS, req_calls, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0),
};
const struct pt_misuse_set pt_misuse_acts = {
	.cases = contexts, .count = PT_COUNT(contexts),
	.handlers = handlers, .handler_count = PT_COUNT(handlers),
	.calls = calls, .call_count = PT_COUNT(calls),
};
