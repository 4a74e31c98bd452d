/* What a client may not do ends the job with a message, in time, and never silently. */
#include "tests/lib/pt_spawn.h"

enum { REQ_ANY = 128, UNREGISTERED = 222 };

static void
req_any(gex_Token_t token)
{
	(void)token;
}

static void
serve_for_ever(void)
{
	for (;;)
		PT_OK(gasnet_AMPoll());
}

/* One segment over client memory per rank; a transfer to a peer's comes with a later release. */
static void
foreign_client_memory(void)
{
	static char memory[8192];
	gex_Segment_t segment;
	gex_TM_t tm = pt.tm;

	PT_OK(gex_Segment_Create(&segment, pt.client, memory, sizeof(memory), GEX_MK_HOST, 0));
	PT_OK(gex_EP_BindSegment(pt.ep, segment, 0));
	PT_OK(gex_EP_PublishBoundSegment(tm, &pt.ep, 1, 0));
	pt_barrier();
	if (pt.rank == 0)
		PT_OK(gex_RMA_PutBlockingVal(tm, pt.size - 1, memory, 1, 8, 0));
	serve_for_ever();
}

static void
go_wrong(const char *which)
{
	gex_Rank_t last = pt.size - 1;
	char *base = pt.peers ? pt.peers[last].owner : NULL;

	if (!strcmp(which, "unregistered")) {
		if (pt.rank == 0)
			PT_OK(gex_AM_RequestShort0(pt.tm, last, UNREGISTERED, 0));
		serve_for_ever();
	}
	if (!strcmp(which, "notify_twice")) {
		gasnet_barrier_notify(0, 0);
		gasnet_barrier_notify(0, 0);
		serve_for_ever();
	}
	if (!strcmp(which, "wait_alone")) {
		gasnet_barrier_wait(0, 0);
		serve_for_ever();
	}
	if (!strcmp(which, "put_outside")) {
		if (pt.rank == 0)
			PT_OK(gex_RMA_PutBlockingVal(
				pt.tm, last, base + pt.peers[last].size_bytes - 3, 1, 8, 0));
		serve_for_ever();
	}
	if (!strcmp(which, "get_outside")) {
		char block[64];

		if (pt.rank == 0)
			PT_OK(gex_RMA_GetBlocking(pt.tm, block, last, base - 1, 64, 0));
		serve_for_ever();
	}
	PT_FAIL("no case %s", which);
}

static void
job(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_ANY, req_any, PT_REQ_SHORT, 0) };
	const char *which = argv[1];

	if (!strcmp(which, "client_memory")) {
		pt_init(&argc, &argv, 0);
		foreign_client_memory();
	}
	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	go_wrong(which);
}

int
main(int argc, char **argv)
{
	static const char *const cases[] = { "unregistered", "notify_twice", "wait_alone",
		                             "put_outside",  "get_outside",  "client_memory" };
	static const char *const settings[] = { "GASNET_BACKTRACE=0", NULL };
	const char *ranks = getenv("GASNET_PSHM_NODES");
	struct pt_outcome out;

	pt_prepare(argv);
	if (argc > 1) {
		job(argc, argv);
		return 0;
	}
	for (size_t i = 0; i < PT_COUNT(cases); i++) {
		if (!strcmp(cases[i], "client_memory") && (!ranks || strtoul(ranks, NULL, 10) < 2))
			continue; /* needs a peer */
		pt_phase(cases[i]);
		pt_spawn("/proc/self/exe", cases[i], settings, 4000, &out);
		if (out.status == 0 || out.status == 124 || out.status == 1 + 76)
			PT_FAIL("case %s ended with %d; it said:\n%s", cases[i], out.status,
			        out.text);
		/* a message of the library, not of this harness */
		if (out.text_bytes < 20 || strstr(out.text, "FAIL"))
			PT_FAIL("case %s said nothing of use:\n%s", cases[i], out.text);
	}
	return 0;
}
