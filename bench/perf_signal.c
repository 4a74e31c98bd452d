/*
 * signal: how a payload reaches the next rank's program, one way, in a ring: with its signal in one
 * operation; as a put and then a word that says so; as a put and a barrier; as a Long.  With two
 * ranks it is half of the way there and back.
 *
 * Payloads are written before sending and read on arrival, a byte per cache line, as a program
 * would.
 */
#include "perf_commands.h"
#include "perf_message.h"
#include "perf_plan.h"

#include <penstock.h>

enum way { SIGNAL, FLAG, BARRIER, LONG };
enum { WAY_SHIFT = 24 }; /* of an order's bytes, above PERF_MAX_BYTES */

static pst_sem_set_t arrivals;
static volatile unsigned longs;
static gex_EP_t endpoint;

static void
on_long(gex_Token_t token, void *buf, size_t bytes)
{
	(void)token, (void)buf, (void)bytes;
	longs++;
}

static void
signal_register(gex_EP_t ep)
{
	gex_AM_Entry_t table[] = {
		{ PERF_ON_NEXT, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "next" },
	};

	gex_EP_RegisterHandlers(ep, table, 1);
	endpoint = ep;
}

static void
signal_open(void)
{
	pst_sem_set_create(perf_tm, 1, PST_SEM_SPRODUCER | PST_SEM_SCONSUMER, &arrivals, 0);
}

static void
signal_close(void)
{
	pst_sem_set_destroy(arrivals, 0);
}

static gex_Rank_t
next_rank(void)
{
	return (perf_rank + 1) % perf_ranks;
}

static size_t
most_before_flag(void)
{
	return PERF_MAX_BYTES - sizeof(uint64_t);
}

/* The flag lies behind the payload. */
static uint64_t *
flag_of(gex_Rank_t rank)
{
	return (uint64_t *)(void *)(perf_inbox(rank) + most_before_flag());
}

static void
payload_send(enum way way, size_t bytes, uint64_t turn)
{
	const gex_Rank_t next = next_rank();
	char *there = perf_inbox(next), *here = perf_outbox();

	perf_dirty(here, bytes);
	switch (way) {
	case SIGNAL:
		pst_memput_signal(perf_tm, next, there, here, bytes,
		                  pst_sem_set_ref(arrivals, next, 0), 1);
		break;
	case FLAG:
		gex_RMA_PutBlocking(perf_tm, next, there, here, bytes, 0);
		gex_RMA_PutBlockingVal(perf_tm, next, flag_of(next), turn, sizeof turn, 0);
		break;
	case BARRIER:
		gex_RMA_PutBlocking(perf_tm, next, there, here, bytes, 0);
		break;
	case LONG:
		gex_AM_RequestLong0(perf_tm, next, PERF_ON_NEXT, here, bytes, there, GEX_EVENT_NOW,
		                    0);
		break;
	}
}

static void
payload_receive(enum way way, size_t bytes, uint64_t turn)
{
	static unsigned had;

	switch (way) {
	case SIGNAL:
		pst_sem_wait(pst_sem_set_mine(arrivals, 0), 1);
		break;
	case FLAG:
		pst_signal_wait(endpoint, flag_of(perf_rank), PST_CMP_EQ, turn);
		break;
	case BARRIER:
		perf_job_barriers(1);
		break;
	case LONG:
		had++;
		GASNET_BLOCKUNTIL(longs == had);
		break;
	}
	perf_consume(perf_inbox(perf_rank), bytes);
}

/* The way and the size in one number. */
static void
signal_go(unsigned count, size_t order)
{
	static uint64_t turn;
	const enum way way = (enum way)(order >> WAY_SHIFT);
	const size_t bytes = order & (((size_t)1 << WAY_SHIFT) - 1);

	for (; count > 0; count--) {
		turn++;
		if (perf_rank == 0 || way == BARRIER)
			payload_send(way, bytes, turn);
		payload_receive(way, bytes, turn);
		if (perf_rank != 0 && way != BARRIER)
			payload_send(way, bytes, turn);
	}
}

const struct perf_module perf_signal_module = {
	.register_handlers = signal_register, .open = signal_open, .close = signal_close,
	.order = PERF_SIGNALS, .follow = signal_go,
};

/* One more round before the clock starts, in which the order reaches all. */
static double
signal_batch_run(const struct perf_point *point, unsigned count, enum way way)
{
	const size_t order = point->bytes | (size_t)way << WAY_SHIFT;
	double start;

	perf_job_order(PERF_SIGNALS, count + 1, order);
	signal_go(1, order);
	start = perf_now_ns();
	signal_go(count, order);
	return (perf_now_ns() - start) / (way == BARRIER ? 1 : perf_ranks);
}

static double
signal_batch_signal(const struct perf_point *point, unsigned count)
{
	return signal_batch_run(point, count, SIGNAL);
}

static double
signal_batch_flag(const struct perf_point *point, unsigned count)
{
	return signal_batch_run(point, count, FLAG);
}

static double
signal_batch_barrier(const struct perf_point *point, unsigned count)
{
	return signal_batch_run(point, count, BARRIER);
}

static double
signal_batch_long(const struct perf_point *point, unsigned count)
{
	return signal_batch_run(point, count, LONG);
}

int
perf_signal(const struct perf_options *options)
{
	static const struct perf_kind kinds[] = {
		{ "signal", signal_batch_signal, NULL, 1 },
		{ "flag", signal_batch_flag, most_before_flag, 1 },
		{ "barrier", signal_batch_barrier, NULL, 1 },
		{ "long", signal_batch_long, perf_most_long, 1 },
		{ 0 },
	};
	static const struct perf_style style = { "ns", 1, NULL, NULL };
	static const size_t sizes[] = { 1, 8, 64, 512, 4096, 32768, 262144, 1048576, 0 };

	perf_plan_run("signal", kinds, sizes, &style, options);
	return 0;
}
