/*
 * Active messages there and back, and streams of them with a bounded window.
 *
 * Payloads are read on arrival and, except in streams, written before sending, a
 * byte per cache line, as a program would.
 */
#include "perf_message.h"
#include "perf_options.h"

enum {
	LINE = 64,
	WINDOW = 256,        /* messages under way */
	CREDIT = WINDOW / 4, /* acknowledged at once */
};

volatile unsigned perf_stream_received;

static volatile unsigned pongs, credits;
static volatile unsigned char consumed;

void
perf_dirty(char *buf, size_t bytes)
{
	static char value;
	size_t i;

	value++;
	for (i = 0; i < bytes; i += LINE)
		buf[i] = value;
}

void
perf_consume(const void *buf, size_t bytes)
{
	const unsigned char *p = buf;
	unsigned char sum = 0;
	size_t i;

	for (i = 0; i < bytes; i += LINE)
		sum = (unsigned char)(sum + p[i]);
	consumed = sum;
}

static const void *
fresh(size_t bytes)
{
	perf_dirty(perf_outbox(), bytes);
	return perf_outbox();
}

/* -------------------------------------------------------- there and back --- */

static void
on_short(gex_Token_t token)
{
	gex_AM_ReplyShort0(token, PERF_ON_PONG, 0);
}

static void
on_medium(gex_Token_t token, void *buf, size_t bytes)
{
	perf_consume(buf, bytes);
	gex_AM_ReplyMedium0(token, PERF_ON_PONG_PAYLOAD, fresh(bytes), bytes, GEX_EVENT_NOW, 0);
}

static void
on_long(gex_Token_t token, void *buf, size_t bytes)
{
	perf_consume(buf, bytes);
	gex_AM_ReplyLong0(token, PERF_ON_PONG_PAYLOAD, fresh(bytes), bytes, perf_inbox(0),
	                  GEX_EVENT_NOW, 0);
}

static void
on_pong(gex_Token_t token)
{
	(void)token;
	pongs++;
}

static void
on_pong_payload(gex_Token_t token, void *buf, size_t bytes)
{
	(void)token;
	perf_consume(buf, bytes);
	pongs++;
}

void
perf_short(size_t bytes)
{
	unsigned before = pongs;

	(void)bytes;
	gex_AM_RequestShort0(perf_tm, perf_peer, PERF_ON_SHORT, 0);
	GASNET_BLOCKUNTIL(pongs != before);
}

void
perf_medium(size_t bytes)
{
	unsigned before = pongs;

	gex_AM_RequestMedium0(perf_tm, perf_peer, PERF_ON_MEDIUM, fresh(bytes), bytes,
	                      GEX_EVENT_NOW, 0);
	GASNET_BLOCKUNTIL(pongs != before);
}

void
perf_long(size_t bytes)
{
	unsigned before = pongs;

	gex_AM_RequestLong0(perf_tm, perf_peer, PERF_ON_LONG, fresh(bytes), bytes,
	                    perf_inbox(perf_peer), GEX_EVENT_NOW, 0);
	GASNET_BLOCKUNTIL(pongs != before);
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t
perf_most_medium(void)
{
	size_t most = least(gex_AM_MaxRequestMedium(perf_tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0),
	                    gex_AM_MaxReplyMedium(perf_tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0));

	return least(most, PERF_MAX_BYTES);
}

size_t
perf_most_long(void)
{
	size_t most = least(gex_AM_MaxRequestLong(perf_tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0),
	                    gex_AM_MaxReplyLong(perf_tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0));

	return least(most, PERF_MAX_BYTES);
}

/* --------------------------------------------------------------- streams --- */

/* The sender asks for an acknowledgement with every CREDIT-th message and the last. */
static void
on_stream_short(gex_Token_t token, gex_AM_Arg_t acknowledge)
{
	perf_stream_received++;
	if (acknowledge > 0)
		gex_AM_ReplyShort1(token, PERF_ON_CREDIT, 0, acknowledge);
}

static void
on_stream(gex_Token_t token, void *buf, size_t bytes, gex_AM_Arg_t acknowledge)
{
	perf_consume(buf, bytes);
	on_stream_short(token, acknowledge);
}

static void
on_credit(gex_Token_t token, gex_AM_Arg_t messages)
{
	(void)token;
	credits += (unsigned)messages;
}

/* Messages are not ordered: an acknowledgement may overtake, the window then grows a little. */
struct stream {
	unsigned count, sent, owed, begin;
};

static struct stream
stream_begin(unsigned count)
{
	struct stream stream = { .count = count, .begin = credits };

	return stream;
}

/* Waits for room; returns what the next message shall have acknowledged. */
static gex_AM_Arg_t
stream_next(struct stream *stream)
{
	unsigned ask = 0;

	if (stream->sent - (credits - stream->begin) >= WINDOW)
		GASNET_BLOCKUNTIL(stream->sent - (credits - stream->begin) < WINDOW);
	stream->sent++;
	stream->owed++;
	if (stream->owed == CREDIT || stream->sent == stream->count) {
		ask = stream->owed;
		stream->owed = 0;
	}
	return (gex_AM_Arg_t)ask;
}

static void
stream_end(const struct stream *stream)
{
	GASNET_BLOCKUNTIL(credits - stream->begin == stream->count);
}

void
perf_stream_short(gex_Rank_t rank, unsigned count)
{
	struct stream stream = stream_begin(count);

	while (stream.sent < count)
		gex_AM_RequestShort1(perf_tm, rank, PERF_ON_STREAM_SHORT, 0, stream_next(&stream));
	stream_end(&stream);
}

void
perf_stream_medium(gex_Rank_t rank, unsigned count, size_t bytes)
{
	struct stream stream = stream_begin(count);

	while (stream.sent < count)
		gex_AM_RequestMedium1(perf_tm, rank, PERF_ON_STREAM, perf_outbox(), bytes,
		                      GEX_EVENT_NOW, 0, stream_next(&stream));
	stream_end(&stream);
}

void
perf_stream_long(gex_Rank_t rank, unsigned count, size_t bytes)
{
	struct stream stream = stream_begin(count);

	while (stream.sent < count)
		gex_AM_RequestLong1(perf_tm, rank, PERF_ON_STREAM, perf_outbox(), bytes,
		                    perf_inbox(rank), GEX_EVENT_NOW, 0, stream_next(&stream));
	stream_end(&stream);
}

static void
message_register(gex_EP_t ep)
{
	enum {
		S = GEX_FLAG_AM_SHORT,
		M = GEX_FLAG_AM_MEDIUM,
		L = GEX_FLAG_AM_LONG,
		ASK = GEX_FLAG_AM_REQUEST,
		ANSWER = GEX_FLAG_AM_REPLY
	};
	gex_AM_Entry_t table[] = {
		{ PERF_ON_SHORT, (gex_AM_Fn_t)on_short, S | ASK, 0, NULL, "short" },
		{ PERF_ON_MEDIUM, (gex_AM_Fn_t)on_medium, M | ASK, 0, NULL, "medium" },
		{ PERF_ON_LONG, (gex_AM_Fn_t)on_long, L | ASK, 0, NULL, "long" },
		{ PERF_ON_PONG, (gex_AM_Fn_t)on_pong, S | ANSWER, 0, NULL, "pong" },
		{ PERF_ON_PONG_PAYLOAD, (gex_AM_Fn_t)on_pong_payload, M | L | ANSWER, 0, NULL,
		  "pong_payload" },
		{ PERF_ON_STREAM_SHORT, (gex_AM_Fn_t)on_stream_short, S | ASK, 1, NULL,
		  "stream_short" },
		{ PERF_ON_STREAM, (gex_AM_Fn_t)on_stream, M | L | ASK, 1, NULL, "stream" },
		{ PERF_ON_CREDIT, (gex_AM_Fn_t)on_credit, S | ANSWER, 1, NULL, "credit" },
	};

	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
}

const struct perf_module perf_message_module = { .register_handlers = message_register };
