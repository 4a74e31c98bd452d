/* What programs of any release do: put, get, values, fills, messages, locks, BLOCKUNTIL and barriers; where the
 * headers have them, atomics and reductions. */
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

#if PSI_INLINE_ABI >= 3
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>

/* A word of the peer's that no other rank uses; codes that inlines look at, and codes of variables. */
static void
atomics(gex_TM_t tm, gex_Rank_t peer, void *word)
{
	const gex_OP_t ops = GEX_OP_SET | GEX_OP_FADD | GEX_OP_FMAX | GEX_OP_DEC | GEX_OP_FXOR | GEX_OP_FCAS | GEX_OP_GET;
	volatile gex_OP_t fetch_add = GEX_OP_FADD, fetch_max = GEX_OP_FMAX, decrement = GEX_OP_DEC;
	uint64_t was = 0;
	gex_AD_t ad;

	gex_AD_Create(&ad, tm, GEX_DT_U64, ops, 0);
	check(gex_AD_QueryOps(ad) == ops, "a domain's operations are those that were asked for");
	for (int i = 0; i < 300; i++) {
		gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, peer, word, GEX_OP_SET, 40, 0, 0));
		gex_Event_Wait(gex_AD_OpNB_U64(ad, &was, peer, word, GEX_OP_FADD, 2, 0, 0));
		check(was == 40, "a fetching addition");
		gex_Event_Wait(gex_AD_OpNB_U64(ad, &was, peer, word, fetch_add, 3, 0, 0));
		check(was == 42, "a fetching addition, of a variable");
		gex_Event_Wait(gex_AD_OpNB_U64(ad, &was, peer, word, fetch_max, 50, 0, 0));
		check(was == 45, "a fetching maximum, of a variable");
		gex_AD_OpNBI_U64(ad, NULL, peer, word, decrement, 0, 0, 0);
		gex_NBI_Wait(GEX_EC_RMW, 0);
		gex_Event_Wait(gex_AD_OpNB_U64(ad, &was, peer, word, GEX_OP_FXOR, 7, 0, 0));
		check(was == 49, "an exclusive or");
		gex_Event_Wait(gex_AD_OpNB_U64(ad, &was, peer, word, GEX_OP_FCAS, 49 ^ 7, 9, 0));
		gex_Event_Wait(gex_AD_OpNB_U64(ad, &was, peer, word, GEX_OP_GET, 0, 0, 0));
		check(was == 9, "a compare and swap");
	}
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	gex_AD_Destroy(ad);
}

static void
take_right(const void *left, void *out, size_t count, const void *cdata)
{
	(void)left, (void)out, (void)count, (void)cdata;
}

static void
reductions(gex_TM_t tm)
{
	const uint32_t size = gex_TM_QuerySize(tm), mine = gex_TM_QueryRank(tm) + 1;
	uint32_t sum = 0, least = 0, last = 0;
	char text[64];

	gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &sum, &mine, GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL, NULL, 0));
	check(sum == size * (size + 1) / 2, "a sum");
	gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &least, &mine, GEX_DT_U32, 4, 1, GEX_OP_MIN, NULL, NULL, 0));
	check(least == 1, "a minimum");
	gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &last, &mine, GEX_DT_USER, 4, 1, GEX_OP_USER_NC, take_right, NULL, 0));
	check(last == size, "an operation of the program's");
	gasnett_format_op(text, GEX_OP_ADD | GEX_OP_FCAS);
	check(strcmp(text, "GEX_OP_ADD|GEX_OP_FCAS") == 0, "the names of operations");
}
#else
static void atomics(gex_TM_t tm, gex_Rank_t peer, void *word) { (void)tm, (void)peer, (void)word; }
static void reductions(gex_TM_t tm) { (void)tm; }
#endif

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
	atomics(tm, peer, (char *)there + 2 * BYTES);
	reductions(tm);
	gasnet_barrier_notify(3, 0);
	check(gasnet_barrier_wait(3, 0) == 0, "a named barrier");
	gasnet_exit(0);
	return 1;
}
