/*
 * Calls that may not be made in restricted context: every one of them in a handler, with a handler-safe
 * lock held, and between Prepare and Commit.
 */
#include <gasnet.h>
#include <gasnet_ratomic.h>
#include <gasnet_coll.h>

#include "tests/lib/pt_misuse.h"

enum { REQ_CALLS = 128, REQ_SHORT };

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static gex_Event_t event, events[2];
static uint64_t word;

static void req_short(gex_Token_t token) { (void)token; }

static void r_short(void) { (void)gex_AM_RequestShort0(pt.tm, 0, REQ_SHORT, 0); }
static void r_medium(void) { (void)gex_AM_RequestMedium0(pt.tm, 0, REQ_SHORT, &word, 8, GEX_EVENT_NOW, 0); }
static void r_long(void) { (void)gex_AM_RequestLong0(pt.tm, 0, REQ_SHORT, &word, 8, pt.base, GEX_EVENT_NOW, 0); }
static void p_medium(void) { (void)gex_AM_PrepareRequestMedium(pt.tm, 0, NULL, 8, 8, NULL, 0, 0); }
static void p_long(void) { (void)gex_AM_PrepareRequestLong(pt.tm, 0, NULL, 8, 8, NULL, NULL, 0, 0); }
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
	event = gex_Coll_ReduceToOneNB(pt.tm, 0, &word, &word, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
}

static void
to_all(void)
{
	event = gex_Coll_ReduceToAllNB(pt.tm, &word, &word, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
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
static void indexed(void) { PT_OK(gex_VIS_IndexedGetBlocking(pt.tm, 0, NULL, 0, 0, 0, NULL, 0, 0)); }
static void strided(void) { PT_OK(gex_VIS_StridedPutNBI(pt.tm, 0, 0, NULL, 0, NULL, 0, NULL, 0, 0)); }
static void peer_handler(void) { gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0); }
static void nbi_wait(void) { gex_NBI_Wait(GEX_EC_ALL, 0); }
static void do_register(void) { (void)gex_EP_RegisterHandlers(pt.ep, NULL, 0); }
static void create_ep(void) { gex_EP_t ep; (void)gex_EP_Create(&ep, pt.client, GEX_EP_CAPABILITY_ALL, 0); }
static void attach(void) { gex_Segment_t segment; (void)gex_Segment_Attach(&segment, pt.tm, GASNET_PAGESIZE); }
static void legacy_attach(void) { (void)gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0); }
static void destroy(void) { gex_Segment_Destroy(pt.segment, 0); }
static void bind(void) { (void)gex_EP_BindSegment(pt.ep, pt.segment, 0); }
static void publish(void) { (void)gex_EP_PublishBoundSegment(pt.tm, &pt.ep, 1, 0); }
static void bound(void) { uintptr_t size; (void)gex_Segment_QueryBound(pt.tm, 0, NULL, NULL, &size); }
static void bound_nb(void) { (void)gex_EP_QueryBoundSegmentNB(pt.tm, 0, NULL, NULL, NULL, 0); }
static void to_jobrank(void) { (void)gex_TM_TranslateRankToJobrank(pt.tm, 0); }
static void to_rank(void) { (void)gex_TM_TranslateJobrankToRank(pt.tm, 0); }
static void to_ep(void) { (void)gex_TM_TranslateRankToEP(pt.tm, 0, 0); }
static void segment_info(void) { gasnet_seginfo_t info; (void)gasnet_getSegmentInfo(&info, 1); }
static void node_info(void) { gasnet_nodeinfo_t info; (void)gasnet_getNodeInfo(&info, 1); }

static void atomic_nb(void) { event = gex_AD_OpNB_U64(NULL, &word, 0, pt.base, GEX_OP_FINC, 0, 0, 0); }
static void atomic_nbi(void) { (void)gex_AD_OpNBI_U64(NULL, &word, 0, pt.base, GEX_OP_FINC, 0, 0, 0); }
static void make_domain(void) { gex_AD_t ad; gex_AD_Create(&ad, pt.tm, GEX_DT_U64, GEX_OP_FINC, 0); }
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

static const struct { const char *name; void (*call)(void); } calls[] = {
	{ "gex_AM_RequestShort", r_short },
	{ "gex_AM_RequestMedium", r_medium },
	{ "gex_AM_RequestLong", r_long },
	{ "gex_AM_PrepareRequestMedium", p_medium },
	{ "gex_AM_PrepareRequestLong", p_long },
	{ "gasnet_AMPoll", do_poll },
	{ "GASNET_BLOCKUNTIL", block_until },
	{ "gex_RMA_PutBlocking", put },
	{ "gex_RMA_GetBlocking", get },
	{ "gex_RMA_PutBlockingVal", put_val },
	{ "gex_RMA_GetBlockingVal", get_val },
	{ "gex_VIS_VectorPutBlocking", vector },
	{ "gex_VIS_IndexedGetBlocking", indexed },
	{ "gex_VIS_StridedPutNBI", strided },
	{ "gex_VIS_SetPeerCompletionHandler", peer_handler },
	{ "gex_Coll_BarrierNB", barrier_nb },
	{ "gex_Coll_BroadcastNB", broadcast },
	{ "gex_Coll_ReduceToOneNB", to_one },
	{ "gex_Coll_ReduceToAllNB", to_all },
	{ "gasnet_coll_scatter", scatter },
	{ "gasnet_barrier_notify", notify },
	{ "gasnet_barrier_wait", wait_named },
	{ "gasnet_barrier_try", try_named },
	{ "gasnet_barrier_result", result },
	{ "gex_Event_Test", test },
	{ "gex_Event_Wait", wait },
	{ "gex_Event_TestSome", test_some },
	{ "gex_Event_TestAll", test_all },
	{ "gex_Event_WaitSome", wait_some },
	{ "gex_Event_WaitAll", wait_all },
	{ "gex_Event_QueryLeaf", leaf },
	{ "gex_NBI_Test", nbi_test },
	{ "gex_NBI_Wait", nbi_wait },
	{ "gex_EP_RegisterHandlers", do_register },
	{ "gex_EP_Create", create_ep },
	{ "gex_AD_Create", make_domain },
	{ "gex_AD_Destroy", end_domain },
	{ "gex_AD_OpNB_U64", atomic_nb },
	{ "gex_AD_OpNBI_U64", atomic_nbi },
	{ "gex_EP_BindSegment", bind },
	{ "gex_EP_PublishBoundSegment", publish },
	{ "gex_EP_QueryBoundSegmentNB", bound_nb },
	{ "gex_Segment_Attach", attach },
	{ "gex_Segment_Create", create },
	{ "gex_Segment_Destroy", destroy },
	{ "gex_Segment_QueryBound", bound },
	{ "gasnet_attach", legacy_attach },
	{ "gasnet_getSegmentInfo", segment_info },
	{ "gasnet_getNodeInfo", node_info },
	{ "gex_TM_TranslateRankToJobrank", to_jobrank },
	{ "gex_TM_TranslateJobrankToRank", to_rank },
	{ "gex_TM_TranslateRankToEP", to_ep },
	{ "gex_System_QueryProgressThreads", progress_threads },
};

/* The call that the running case is about. */
static void (*call)(void);

static void
req_calls(gex_Token_t token)
{
	(void)token;
	call();
}

static void in_handler(void) { pt_misuse_ask(REQ_CALLS); }

static void
with_lock(void)
{
	gex_HSL_Lock(&lock);
	call();
}

static void
prepared(void)
{
	(void)gex_AM_PrepareRequestMedium(pt.tm, 0, NULL, 8, 8, NULL, 0, 0);
	call();
}

static const struct pt_misuse contexts[] = {
	{ "handler", PT_CHECKED, 1, in_handler, "a call of the list below in a handler",
	  ": called in handler 128 (req_calls); a handler may reply and lock, and tell others to do the "
	  "rest", 0 },
	{ "lock", PT_LOCKS, 1, with_lock, "the same with a handler-safe lock held",
	  ": called while this thread holds 1 handler-safe lock; unlock first", 0 },
	{ "prepare", PT_CHECKED, 1, prepared, "the same between Prepare and Commit",
	  ": called between Prepare and Commit of a request; commit or cancel it first", 0 },
};

/* The name in the message: value forms are the plain calls, a wait is named by its place. */
static const char *
told_as(const char *name)
{
	if (!strcmp(name, "gex_RMA_PutBlockingVal"))
		return "gex_RMA_PutBlocking";
	if (!strcmp(name, "gex_RMA_GetBlockingVal"))
		return "gex_RMA_GetBlocking";
	return strcmp(name, "GASNET_BLOCKUNTIL") ? name : "misuse_context.c:*";
}

/* Of a NULL event there is nothing to test: give those calls one that is not done. */
static void
job(int argc, char **argv, const struct pt_misuse *context, size_t which)
{
	gex_AM_Entry_t handlers[] = {
		PT_HANDLER(REQ_CALLS, req_calls, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0),
	};

	pt_start(&argc, &argv, handlers, PT_COUNT(handlers), 1);
	event = events[0] = GEX_EVENT_NO_OP;
	call = calls[which].call;
	context->body();
	gasnet_exit(0);
}

static void
find(int argc, char **argv)
{
	for (size_t c = 0; c < PT_COUNT(contexts); c++) {
		size_t len = strlen(contexts[c].name);

		if (strncmp(argv[1], contexts[c].name, len) || argv[1][len] != ' ')
			continue;
		for (size_t i = 0; i < PT_COUNT(calls); i++)
			if (!strcmp(argv[1] + len + 1, calls[i].name))
				job(argc, argv, &contexts[c], i);
	}
}

static void
watch(const struct pt_misuse *context, const char *name)
{
	struct pt_misuse act = *context;
	char title[80], message[300];

	snprintf(title, sizeof(title), "%s %s", context->name, name);
	snprintf(message, sizeof(message), "%s%s", told_as(name), context->message);
	act.name = title;
	act.message = message;
	pt_misuse_run(&act);
}

int
main(int argc, char **argv)
{
	const struct pt_misuse_set set = { contexts, PT_COUNT(contexts), NULL, 0 };

	if (argc > 1 && !strcmp(argv[1], "--table")) {
		(void)pt_misuse_main(argc, argv, &set);
		printf("\nThe calls:");
		for (size_t i = 0; i < PT_COUNT(calls); i++)
			printf("%s`%s`%s", i % 3 ? " " : "\n", calls[i].name, i + 1 < PT_COUNT(calls) ? "," : ".\n");
		return 0;
	}
	pt_prepare(argv);
	if (argc > 1)
		find(argc, argv);
	for (size_t c = 0; c < PT_COUNT(contexts); c++)
		for (size_t i = 0; i < PT_COUNT(calls); i++)
			watch(&contexts[c], calls[i].name);
	return 0;
}
