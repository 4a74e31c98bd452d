/*
 * bandwidth: bytes from rank 0 to its peer, as a stream of Longs or as puts one
 * after the other; and back, as gets.
 */
#include "perf_commands.h"
#include "perf_message.h"
#include "perf_plan.h"

static double
bandwidth_batch_long(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();

	perf_stream_long(perf_peer, count, point->bytes);
	return perf_now_ns() - start;
}

static double
bandwidth_batch_put(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		gex_RMA_PutBlocking(perf_tm, perf_peer, perf_inbox(perf_peer), perf_outbox(),
		                    point->bytes, 0);
	return perf_now_ns() - start;
}

static double
bandwidth_batch_get(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		gex_RMA_GetBlocking(perf_tm, perf_outbox(), perf_peer, perf_inbox(perf_peer),
		                    point->bytes, 0);
	return perf_now_ns() - start;
}

static const struct perf_kind kinds[] = {
	{ "long", bandwidth_batch_long, perf_most_long, 1 },
	{ "put", bandwidth_batch_put, NULL, 1 },
	{ "get", bandwidth_batch_get, NULL, 1 },
	{ 0 },
};

static const size_t sizes[] = { 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 0 };

int
perf_bandwidth(const struct perf_options *options)
{
	static const struct perf_style style = { "us", 1e3, "MB/s", perf_mb_per_s };

	perf_plan_run("bandwidth", kinds, sizes, &style, options);
	return 0;
}
