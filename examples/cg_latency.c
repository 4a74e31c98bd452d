/*
 * What single operations cost, between rank 0 and the last rank.
 *
 * Rank 0 measures; the last rank answers from its handlers while it waits in a
 * barrier, like the rest.  For messages half the round trip counts.
 */
#include "cg.h"

#include <gasnet_tools.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 21, CALLS = 50 };

static char buffer[COMM_INBOX_BYTES];
static gex_Rank_t peer;
static volatile unsigned pongs;

/* ------------------------------------------------------------- handlers --- */

static void
on_ping_short(gex_Token_t token)
{
	gex_AM_ReplyShort0(token, ON_PONG, 0);
}

/* For Medium and Long: the payload was the way there, a Short is the way back. */
static void
on_ping_payload(gex_Token_t token, void *buf, size_t len_bytes)
{
	(void)buf;
	(void)len_bytes;
	gex_AM_ReplyShort0(token, ON_PONG, 0);
}

static void
on_pong(gex_Token_t token)
{
	(void)token;
	pongs++;
}

void
latency_register(gex_EP_t ep)
{
	enum { ASK = GEX_FLAG_AM_REQUEST };
	gex_AM_Entry_t table[] = {
		{ ON_PING_SHORT, (gex_AM_Fn_t)on_ping_short, GEX_FLAG_AM_SHORT | ASK, 0, NULL,
		  "ping_short" },
		{ ON_PING_MEDIUM, (gex_AM_Fn_t)on_ping_payload, GEX_FLAG_AM_MEDIUM | ASK, 0, NULL,
		  "ping_medium" },
		{ ON_PING_LONG, (gex_AM_Fn_t)on_ping_payload, GEX_FLAG_AM_LONG | ASK, 0, NULL,
		  "ping_long" },
		{ ON_PONG, (gex_AM_Fn_t)on_pong, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL,
		  "pong" },
	};

	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
}

/* ------------------------------------------------------------ operations --- */

static void
do_short(size_t len_bytes)
{
	unsigned before = pongs;

	(void)len_bytes;
	gex_AM_RequestShort0(comm_tm, peer, ON_PING_SHORT, 0);
	GASNET_BLOCKUNTIL(pongs != before);
}

static void
do_medium(size_t len_bytes)
{
	unsigned before = pongs;

	gex_AM_RequestMedium0(comm_tm, peer, ON_PING_MEDIUM, buffer, len_bytes, GEX_EVENT_NOW, 0);
	GASNET_BLOCKUNTIL(pongs != before);
}

static void
do_long(size_t len_bytes)
{
	unsigned before = pongs;

	gex_AM_RequestLong0(comm_tm, peer, ON_PING_LONG, buffer, len_bytes, comm_inbox(peer),
	                    GEX_EVENT_NOW, 0);
	GASNET_BLOCKUNTIL(pongs != before);
}

static void
do_put(size_t len_bytes)
{
	gex_RMA_PutBlocking(comm_tm, peer, comm_inbox(peer), buffer, len_bytes, 0);
}

static void
do_get(size_t len_bytes)
{
	gex_RMA_GetBlocking(comm_tm, buffer, peer, comm_inbox(peer), len_bytes, 0);
}

static void
do_barrier(size_t len_bytes)
{
	(void)len_bytes;
	comm_barrier();
}

/* ----------------------------------------------------------------- table --- */

static const struct line {
	const char *name;
	void (*call)(size_t);
	size_t len_bytes;
	unsigned parts; /* of the call that the figure is one of */
} lines[] = {
	{ "AM short, one way", do_short, 0, 2 },
	{ "AM medium, there and short back", do_medium, 8, 1 },
	{ "AM medium, there and short back", do_medium, 4096, 1 },
	{ "AM long, there and short back", do_long, 8, 1 },
	{ "AM long, there and short back", do_long, COMM_INBOX_BYTES, 1 },
	{ "put", do_put, 8, 1 },
	{ "put", do_put, COMM_INBOX_BYTES, 1 },
	{ "get", do_get, 8, 1 },
	{ "get", do_get, COMM_INBOX_BYTES, 1 },
};

double
now_us(void)
{
	return (double)gasnett_ticks_to_ns(gasnett_ticks_now()) * 1e-3;
}

/* The best of all samples, microseconds. */
static double
measure(void (*call)(size_t), size_t len_bytes)
{
	double best = 0;
	unsigned sample, i;

	for (sample = 0; sample < SAMPLES; sample++) {
		double start = now_us(), us;

		for (i = 0; i < CALLS; i++)
			call(len_bytes);
		us = (now_us() - start) / CALLS;
		if (sample == 0 || us < best)
			best = us;
	}
	return best;
}

static void
print_line(const struct line *line)
{
	printf("%-34s %8zu %10.3f\n", line->name, line->len_bytes,
	       measure(line->call, line->len_bytes) / line->parts);
}

void
latency_print(void)
{
	double us;
	unsigned i;

	peer = comm_ranks - 1;
	memset(buffer, 1, sizeof buffer);
	comm_barrier();
	if (comm_rank == 0) {
		printf("\n%-34s %8s %10s\n", "rank 0 and the last rank", "bytes", "best us");
		for (i = 0; i < sizeof lines / sizeof *lines; i++)
			print_line(&lines[i]);
	}
	comm_barrier();
	us = measure(do_barrier, 0);
	if (comm_rank == 0)
		printf("%-34s %8s %10.3f\n", "barrier of all ranks", "", us);
}
