/* A program that uses inlines of several kinds: a put, a value, a message and a wait. */
#define _GNU_SOURCE 1
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLER = 128, SEGMENT_BYTES = 1 << 16 };

static volatile int received;

static void
check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rank %u: %s\n", (unsigned)gex_System_QueryJobRank(), what);
	exit(1);
}

static void
on_request(gex_Token_t token, gex_AM_Arg_t arg)
{
	(void)token;
	check(arg == 7, "the argument of a message arrives");
	received++;
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		{ HANDLER, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1,
		  NULL, "request" },
	};
	static char from[100], to[100];
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	gex_Segment_t segment;
	gex_Rank_t peer;
	void *there;

	check(gex_Client_Init(&client, &ep, &tm, "ABI", &argc, &argv, 0) == 0, "init");
	check(gex_EP_RegisterHandlers(ep, table, 1) == 0, "handlers");
	check(gex_Segment_Attach(&segment, tm, SEGMENT_BYTES) == 0, "attach");
	peer = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);
	check(gex_Segment_QueryBound(tm, peer, &there, NULL, NULL) == 0, "the peer's segment");
	memset(from, 'p', sizeof from);
	check(gex_RMA_PutBlocking(tm, peer, there, from, sizeof from, 0) == 0, "a put");
	check(gex_RMA_GetBlocking(tm, to, peer, there, sizeof to, 0) == 0, "a get");
	check(memcmp(from, to, sizeof to) == 0, "a get reads what the put wrote");
	check(gex_AM_RequestShort1(tm, peer, HANDLER, 0, 7) == 0, "a message");
	GASNET_BLOCKUNTIL(received);
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	gasnet_exit(0);
	return 1;
}
