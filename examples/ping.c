/*
 * ping: how long an active message takes, by kind and size.
 *
 * Rank 0 sends a request to the last rank, whose handler answers in kind; half
 * the round trip is printed, the best and the middle one of many.  The last rank
 * need do nothing but be in the library, where its handlers run: it waits in the
 * barrier.  A job of one rank sends to itself.
 */
#include <gasnetex.h>
#include <gasnet_tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_SHORT = GEX_AM_INDEX_BASE, ON_MEDIUM, ON_LONG, ON_PONG, ON_PONG_PAYLOAD };
enum { MAX_BYTES = 1 << 20, SAMPLES = 51, LEAST_TRIPS = 4, MOST_TRIPS = 64 };

static gex_TM_t tm;
static gex_Rank_t peer;
static char payload[MAX_BYTES];
static void *home, *there; /* the segments of rank 0 and of the peer */
static volatile unsigned pongs;

/* ------------------------------------------------------------- handlers --- */

static void
on_short(gex_Token_t token)
{
	gex_AM_ReplyShort0(token, ON_PONG, 0);
}

/* The source of a reply must be free again when the handler returns: hence NOW. */
static void
on_medium(gex_Token_t token, void *buf, size_t len_bytes)
{
	gex_AM_ReplyMedium0(token, ON_PONG_PAYLOAD, buf, len_bytes, GEX_EVENT_NOW, 0);
}

static void
on_long(gex_Token_t token, void *buf, size_t len_bytes)
{
	(void)buf;
	gex_AM_ReplyLong0(token, ON_PONG_PAYLOAD, payload, len_bytes, home, GEX_EVENT_NOW, 0);
}

static void
on_pong(gex_Token_t token)
{
	(void)token;
	pongs++;
}

static void
on_pong_payload(gex_Token_t token, void *buf, size_t len_bytes)
{
	(void)token;
	(void)buf;
	(void)len_bytes;
	pongs++;
}

static void
register_handlers(gex_EP_t ep)
{
	enum { ASK = GEX_FLAG_AM_REQUEST, ANSWER = GEX_FLAG_AM_REPLY };
	gex_AM_Entry_t table[] = {
		{ ON_SHORT, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | ASK, 0, NULL, "short" },
		{ ON_MEDIUM, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_MEDIUM | ASK, 0, NULL, "medium" },
		{ ON_LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | ASK, 0, NULL, "long" },
		{ ON_PONG, (gex_AM_Fn_t)on_pong, GEX_FLAG_AM_SHORT | ANSWER, 0, NULL, "pong" },
		{ ON_PONG_PAYLOAD, (gex_AM_Fn_t)on_pong_payload, GEX_FLAG_AM_MEDLONG | ANSWER, 0,
		  NULL, "pong_payload" },
	};

	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
}

/* ----------------------------------------------------------- round trips --- */

static void
ping_short(size_t len_bytes)
{
	(void)len_bytes;
	gex_AM_RequestShort0(tm, peer, ON_SHORT, 0);
}

static void
ping_medium(size_t len_bytes)
{
	gex_AM_RequestMedium0(tm, peer, ON_MEDIUM, payload, len_bytes, GEX_EVENT_NOW, 0);
}

static void
ping_long(size_t len_bytes)
{
	gex_AM_RequestLong0(tm, peer, ON_LONG, payload, len_bytes, there, GEX_EVENT_NOW, 0);
}

static double
now_us(void)
{
	return (double)gasnett_ticks_to_ns(gasnett_ticks_now()) * 1e-3;
}

static double
one_way_us(void (*ping)(size_t), size_t len_bytes, unsigned trips)
{
	double start = now_us();
	unsigned i, before = pongs;

	for (i = 1; i <= trips; i++) {
		ping(len_bytes);
		GASNET_BLOCKUNTIL(pongs - before == i);
	}
	return (now_us() - start) / trips / 2;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
print_line(const char *kind, void (*ping)(size_t), size_t len_bytes)
{
	unsigned i, trips = len_bytes > 4096 ? LEAST_TRIPS : MOST_TRIPS;
	double us[SAMPLES];

	one_way_us(ping, len_bytes, trips); /* warm */
	for (i = 0; i < SAMPLES; i++)
		us[i] = one_way_us(ping, len_bytes, trips);
	qsort(us, SAMPLES, sizeof *us, ascending);
	printf("%-8s %9zu %10.3f %10.3f\n", kind, len_bytes, us[0], us[SAMPLES / 2]);
	fflush(stdout);
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void
print_table(void)
{
	size_t len, medium, far;

	medium = least(gex_AM_MaxRequestMedium(tm, peer, GEX_EVENT_NOW, 0, 0),
	               gex_AM_MaxReplyMedium(tm, peer, GEX_EVENT_NOW, 0, 0));
	far = least(gex_AM_MaxRequestLong(tm, peer, GEX_EVENT_NOW, 0, 0),
	            gex_AM_MaxReplyLong(tm, peer, GEX_EVENT_NOW, 0, 0));
	printf("%-8s %9s %10s %10s\n", "kind", "bytes", "best us", "median us");
	print_line("short", ping_short, 0);
	for (len = 8; len <= least(medium, MAX_BYTES); len *= 8)
		print_line("medium", ping_medium, len);
	for (len = 8; len <= least(far, MAX_BYTES); len *= 8)
		print_line("long", ping_long, len);
}

int
main(int argc, char **argv)
{
	gex_Client_t client;
	gex_EP_t ep;
	gex_Segment_t segment;

	if (gex_Client_Init(&client, &ep, &tm, "PING", &argc, &argv, 0) != GASNET_OK)
		return 1;
	register_handlers(ep);
	if (gex_Segment_Attach(&segment, tm, MAX_BYTES) != GASNET_OK) {
		fprintf(stderr, "ping: no segment of %d bytes\n", MAX_BYTES);
		gasnet_exit(1);
	}
	peer = gex_TM_QuerySize(tm) - 1;
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 0, &home, NULL, NULL, 0));
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, peer, &there, NULL, NULL, 0));
	memset(payload, 1, sizeof payload);
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); /* all have their handlers and addresses */
	if (gex_TM_QueryRank(tm) == 0)
		print_table();
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	gasnet_exit(0);
	return 0;
}
