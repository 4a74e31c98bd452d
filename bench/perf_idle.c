/*
 * idle: what a poll costs that finds nothing, while all other ranks wait.
 */
#include "perf_commands.h"
#include "perf_plan.h"

static double
batch_poll(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();
	unsigned i;

	(void)point;
	for (i = 0; i < count; i++)
		gasnet_AMPoll();
	return perf_now_ns() - start;
}

int
perf_idle(const struct perf_options *options)
{
	static const struct perf_kind kinds[] = { { "poll", batch_poll, NULL, 0 }, { 0 } };
	static const struct perf_style style = { "ns", 1, NULL, NULL };
	static const size_t sizes[] = { 0 };

	perf_plan_run("idle", kinds, sizes, &style, options);
	return 0;
}
