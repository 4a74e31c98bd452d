/*
 * strided: the bytes of a two-dimensional section, put and got in runs of a length
 * that is the kind's name, each as far from the next as it is long, on both sides;
 * and a memcpy of as many beside it.
 */
#include "perf_commands.h"
#include "perf_plan.h"

#include <gasnet_vis.h>
#include <string.h>

static size_t
most_bytes(void)
{
	return PERF_MAX_BYTES / 2;
}

static double
strided_batch_copy(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++) {
		memcpy(perf_inbox(perf_rank), perf_outbox(), point->bytes);
		__asm__ __volatile__("" ::: "memory");
	}
	return perf_now_ns() - start;
}

static double
strided_batch_put(const struct perf_point *point, unsigned count, size_t run)
{
	const size_t runs[] = { point->bytes / run };
	const ptrdiff_t strides[] = { (ptrdiff_t)(2 * run) };
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		gex_VIS_StridedPutBlocking(perf_tm, perf_peer, perf_inbox(perf_peer), strides,
		                           perf_outbox(), strides, run, runs, 1, 0);
	return perf_now_ns() - start;
}

static double
strided_batch_get(const struct perf_point *point, unsigned count, size_t run)
{
	const size_t runs[] = { point->bytes / run };
	const ptrdiff_t strides[] = { (ptrdiff_t)(2 * run) };
	double start = perf_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		gex_VIS_StridedGetBlocking(perf_tm, perf_outbox(), strides, perf_peer,
		                           perf_inbox(perf_peer), strides, run, runs, 1, 0);
	return perf_now_ns() - start;
}

#define RUN(name, run)                                                                    \
	static double put_##name(const struct perf_point *point, unsigned count)          \
	{                                                                                 \
		return strided_batch_put(point, count, run);                              \
	}                                                                                 \
	static double get_##name(const struct perf_point *point, unsigned count)          \
	{                                                                                 \
		return strided_batch_get(point, count, run);                              \
	}
RUN(8, 8)
RUN(64, 64)
RUN(1k, 1024)

static const struct perf_kind kinds[] = {
	{ "copy", strided_batch_copy, most_bytes, 1 },
	{ "put8", put_8, most_bytes, 1 },
	{ "put64", put_64, most_bytes, 1 },
	{ "put1k", put_1k, most_bytes, 1 },
	{ "get8", get_8, most_bytes, 1 },
	{ "get64", get_64, most_bytes, 1 },
	{ "get1k", get_1k, most_bytes, 1 },
	{ 0 },
};

static const size_t sizes[] = { 65536, 0 };

int
perf_strided(const struct perf_options *options)
{
	static const struct perf_style style = { "us", 1e3, "MB/s", perf_mb_per_s };

	perf_plan_run("strided", kinds, sizes, &style, options);
	return 0;
}
