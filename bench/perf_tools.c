/*
 * tools: locks, atomics, clock and thread keys of gasnet_tools.h, each beside the plain form of the
 * same. The two take turns, batch by batch, so that what disturbs the machine disturbs both.
 */
#include "perf_commands.h"
#include "perf_report.h"
#include "perf_tools_pairs.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 4096, ROUNDS_MIN = 15, BATCH_NS = 20000, COUNT_MAX = 1 << 20 };

struct sides {
	double ns[2][ROUNDS_MAX], ratio[ROUNDS_MAX];
	unsigned rounds;
};

static struct sides sides;

static double
batch(const struct perf_pair *pair, int side, unsigned count)
{
	double start = perf_now_ns();

	pair->side[side](count);
	return (perf_now_ns() - start) / count;
}

/* Calls in a batch that is long enough for the clock; warms things up, too. */
static unsigned
enough(const struct perf_pair *pair)
{
	unsigned count = 64;

	while (count < COUNT_MAX && batch(pair, 0, count) * count < BATCH_NS)
		count *= 2;
	return count;
}

static void
pair_measure(const struct perf_pair *pair, double secs)
{
	unsigned count = enough(pair), n = 0;
	double end = perf_now_ns() + secs * 1e9;

	while (n < ROUNDS_MIN || (n < ROUNDS_MAX && perf_now_ns() < end)) {
		int first = n % 2;

		sides.ns[first][n] = batch(pair, first, count);
		sides.ns[!first][n] = batch(pair, !first, count);
		sides.ratio[n] = sides.ns[0][n] / sides.ns[1][n];
		n++;
	}
	sides.rounds = n;
}

static double pair_ratio;

static double
ratio_of(const struct perf_point *point)
{
	(void)point;
	return pair_ratio;
}

/* Two lines: ours, and the plain form under the same name with a + before it. */
static void
pair_report(const struct perf_pair *pair)
{
	char plain[32];
	struct perf_point point = { .bench = "tools", .kind = pair->name, .ranks = 1 };

	pair_ratio = perf_median(sides.ratio, sides.rounds);
	perf_summarise(&point, sides.ns[0], sides.rounds);
	perf_report_add(&point);
	snprintf(plain, sizeof plain, "+%s", pair->name);
	point.kind = plain;
	pair_ratio = 1;
	perf_summarise(&point, sides.ns[1], sides.rounds);
	perf_report_add(&point);
}

int
perf_tools(const struct perf_options *options)
{
	static const struct perf_style style = { "ns", 1, "ratio", ratio_of };
	const struct perf_pair *pair;
	unsigned figures = 0;

	for (pair = perf_tools_pairs; pair->name != NULL; pair++)
		figures += 2 * (unsigned)perf_options_want(options, pair->group);
	perf_report_begin("tools", &style, options, figures);
	for (pair = perf_tools_pairs; pair->name != NULL; pair++) {
		if (!perf_options_want(options, pair->group))
			continue;
		perf_report_now(pair->name, 0);
		pair_measure(pair, options->secs);
		pair_report(pair);
	}
	perf_report_end();
	return 0;
}
