/* What programs of any release do: put, get, values, fills, messages, locks, BLOCKUNTIL and barriers. */
#define _GNU_SOURCE 1
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST = 128, REPLY, BYTES = 200000, FILL_BYTES = 40 };

/* Fills were no inlines yet: the library's, whatever the header has by that name. */
#if PSI_INLINE_ABI < 4
#include <dlfcn.h>
static void
fill(uint32_t rank, void *dest, int val, size_t nbytes)
{
	void (*library_fill)(uint32_t, void *, int, size_t) =
		(void (*)(uint32_t, void *, int, size_t))dlsym(RTLD_DEFAULT, "gasnet_memset");

	library_fill(rank, dest, val, nbytes);
}
#else
#define fill gasnet_memset
#endif

static volatile int replies;
static gex_HSL_t lock = GEX_HSL_INITIALIZER;

static void
check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rank %u: %s\n", (unsigned)gex_System_QueryJobRank(), what);
	exit(1);
}

static void
on_request(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t arg)
{
	check(nbytes == 100 && ((char *)payload)[99] == 'm', "a message came whole");
	check(gex_AM_ReplyShort1(token, REPLY, 0, arg + 1) == 0, "a reply is sent");
}

static void
on_reply(gex_Token_t token, gex_AM_Arg_t arg)
{
	(void)token;
	check(arg == 7, "the reply is to the request");
	gex_HSL_Lock(&lock);
	replies++;
	gex_HSL_Unlock(&lock);
}

/* Of every size, at odd places. */
static void
transfers(gex_TM_t tm, gex_Rank_t peer, char *there)
{
	static char from[BYTES], to[BYTES];

	for (size_t n = 0; n < BYTES; n = n * 2 + 1) {
		for (size_t i = 0; i < n; i++)
			from[i] = (char)(i * 31 + n);
		memset(to, 0, n);
		check(gex_RMA_PutBlocking(tm, peer, there + 3, from, n, 0) == 0, "a put");
		check(gex_RMA_GetBlocking(tm, to, peer, there + 3, n, 0) == 0, "a get");
		check(memcmp(from, to, n) == 0, "what was put is got");
	}
	gasnet_put_val(peer, there, 0x1234567, 8);
	check(gasnet_get_val(peer, there, 4) == 0x1234567, "a value");
	fill(peer, there, 0x17e, FILL_BYTES);
	check(gasnet_get_val(peer, there + FILL_BYTES - 4, 4) == 0x7e7e7e7e, "a fill");
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		{ REQUEST, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 1, NULL, "request" },
		{ REPLY, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1, NULL, "reply" },
	};
	char text[100];
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	gex_Segment_t segment;
	gex_Rank_t peer;
	void *there;

	check(gex_Client_Init(&client, &ep, &tm, "ABI", &argc, &argv, GEX_FLAG_USES_GASNET1) == 0, "init");
	check(gex_EP_RegisterHandlers(ep, table, 2) == 0, "handlers");
	check(gex_Segment_Attach(&segment, tm, BYTES / GASNET_PAGESIZE * GASNET_PAGESIZE * 4) == 0, "attach");
	peer = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);
	check(gex_Segment_QueryBound(tm, peer, &there, NULL, NULL) == 0, "the peer's segment");
	for (int i = 0; i < 50; i++) {
		transfers(tm, peer, there);
		memset(text, 'm', sizeof text);
		check(gex_AM_RequestMedium1(tm, peer, REQUEST, text, sizeof text, GEX_EVENT_NOW, 0, 6) == 0,
		      "a request");
		GASNET_BLOCKUNTIL(replies == i + 1);
	}
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	gasnet_barrier_notify(3, 0);
	check(gasnet_barrier_wait(3, 0) == 0, "a named barrier");
	gasnet_exit(0);
	return 1;
}
