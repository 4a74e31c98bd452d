/*
 * rate: messages in a stream, per message.  `short' and `medium' go from rank 0
 * to its peer; `many' are Mediums from all other ranks to rank 0.
 */
#include "perf_commands.h"
#include "perf_message.h"
#include "perf_plan.h"

static double
rate_batch_short(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();

	(void)point;
	perf_stream_short(perf_peer, count);
	return perf_now_ns() - start;
}

static double
rate_batch_medium(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();

	perf_stream_medium(perf_peer, count, point->bytes);
	return perf_now_ns() - start;
}

/* Many messages per operation counted, or waking the senders would be what is measured. */
static double
rate_batch_many(const struct perf_point *point, unsigned count)
{
	enum { AT_ONCE = 256 };
	unsigned senders = (unsigned)perf_ranks - 1, before = perf_stream_received;
	double start = perf_now_ns();

	perf_job_order(PERF_STREAMS, count * AT_ONCE, point->bytes);
	GASNET_BLOCKUNTIL(perf_stream_received - before == count * AT_ONCE * senders);
	return (perf_now_ns() - start) / senders / AT_ONCE;
}

static void
follow_streams(unsigned count, size_t bytes)
{
	perf_stream_medium(0, count, bytes);
}

const struct perf_module perf_rate_module = { .order = PERF_STREAMS, .follow = follow_streams };

static size_t
most_many(void)
{
	return perf_ranks > 1 ? perf_most_medium() : 0;
}

static const struct perf_kind kinds[] = {
	{ "short", rate_batch_short, NULL, 0 },
	{ "medium", rate_batch_medium, perf_most_medium, 1 },
	{ "many", rate_batch_many, most_many, 1 },
	{ 0 },
};

static const size_t sizes[] = { 8, 64, 512, 4096, 32768, 0 };

int
perf_rate(const struct perf_options *options)
{
	static const struct perf_style style = { "ns", 1, "million/s", perf_m_per_s };

	perf_plan_run("rate", kinds, sizes, &style, options);
	return 0;
}
