/*
 * latency: one operation at a time.  For messages, half of the way there and
 * back; for put, get and barrier the whole call.
 */
#include "perf_commands.h"
#include "perf_message.h"
#include "perf_plan.h"

static double
latency_batch_short(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		perf_short(point->bytes);
	return (perf_now_ns() - start) / 2;
}

static double
latency_batch_medium(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		perf_medium(point->bytes);
	return (perf_now_ns() - start) / 2;
}

static double
latency_batch_long(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		perf_long(point->bytes);
	return (perf_now_ns() - start) / 2;
}

static double
latency_batch_put(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	char *there = perf_inbox(perf_peer), *here = perf_outbox();
	unsigned i;

	for (i = 0; i < count; i++)
		gex_RMA_PutBlocking(perf_tm, perf_peer, there, here, point->bytes, 0);
	return perf_now_ns() - start;
}

static double
latency_batch_get(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	char *there = perf_inbox(perf_peer), *here = perf_outbox();
	unsigned i;

	for (i = 0; i < count; i++)
		gex_RMA_GetBlocking(perf_tm, here, perf_peer, there, point->bytes, 0);
	return perf_now_ns() - start;
}

static void
follow_barriers(unsigned count, size_t bytes)
{
	(void)bytes;
	perf_job_barriers(count);
}

const struct perf_module perf_latency_module = { .order = PERF_BARRIERS,
	                                         .follow = follow_barriers };

/* One more before the clock starts, in which the order reaches all. */
static double
latency_batch_barrier(const struct perf_point *point, unsigned count)
{
	double start;

	(void)point;
	perf_job_order(PERF_BARRIERS, count + 1, 0);
	perf_job_barriers(1);
	start = perf_now_ns();
	perf_job_barriers(count);
	return perf_now_ns() - start;
}

static const struct perf_kind kinds[] = {
	{ "short", latency_batch_short, NULL, 0 },
	{ "medium", latency_batch_medium, perf_most_medium, 1 },
	{ "long", latency_batch_long, perf_most_long, 1 },
	{ "put", latency_batch_put, NULL, 1 },
	{ "get", latency_batch_get, NULL, 1 },
	{ "barrier", latency_batch_barrier, NULL, 0 },
	{ 0 },
};

static const size_t sizes[] = { 8, 64, 512, 4096, 32768, 262144, 1048576, 0 };

int
perf_latency(const struct perf_options *options)
{
	static const struct perf_style style = { "ns", 1, NULL, NULL };

	perf_plan_run("latency", kinds, sizes, &style, options);
	return 0;
}
