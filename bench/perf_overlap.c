/*
 * overlap: a collective that is under way while its callers compute, and poll between the steps of
 * their computation.  The computation takes as long as the collective takes alone.  Three parts
 * take turns in each batch: the collective alone, the computation alone, with its polls, and both.
 * The figure is the time of both; the overlap is the part of the collective's time that is hidden:
 *
 *     (alone + computation - both) / alone
 *
 * What the caller's own CPU does for the collective cannot be hidden.
 */
#include "perf_blocks.h"
#include "perf_commands.h"
#include "perf_plan.h"
#include "perf_sample.h"

#include <penstock.h>

#include <string.h>

enum { OVERLAPS = 4096, CHOICE_ROUNDS = 3, LEAST_CALLS = 32 };

/* An order's bits: bytes, kind, part, and above them the steps of the computation. */
enum { KIND_SHIFT = 24, PART_SHIFT = 28, STEPS_SHIFT = 32 };

enum part { ALONE, COMPUTATION, BOTH, PARTS };

static struct perf_blocks blocks;

/* -- all ranks --------------------------------------------------------------------------------- */

static gex_Event_t
allreduce_start(size_t bytes)
{
	return pst_allreduce_nb(perf_tm, blocks.target, blocks.source, GEX_DT_DBL, sizeof(double),
	                        bytes / sizeof(double), GEX_OP_ADD, NULL, NULL, 0);
}

static gex_Event_t
gather_all_start(size_t bytes)
{
	return pst_gather_all_nb(perf_tm, blocks.target, blocks.source, bytes, 0);
}

static gex_Event_t
exchange_start(size_t bytes)
{
	return pst_exchange_nb(perf_tm, blocks.target, blocks.source, bytes, 0);
}

static const struct collective {
	const char *name;
	gex_Event_t (*start)(size_t bytes);
} collectives[] = {
	{ "allreduce", allreduce_start },
	{ "gather_all", gather_all_start },
	{ "exchange", exchange_start },
};

/* Some 100 ns. */
static void
step_compute(void)
{
	static volatile uint64_t seed = 1;
	uint64_t x = seed;

	for (int i = 0; i < 64; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	seed = x;
}

static void
steps_compute(size_t steps)
{
	while (steps-- > 0) {
		step_compute();
		gasnet_AMPoll();
	}
}

static void
part_call(const struct collective *collective, enum part part, size_t bytes, size_t steps)
{
	gex_Event_t event = GEX_EVENT_INVALID;

	if (part != COMPUTATION)
		event = collective->start(bytes);
	if (part != ALONE)
		steps_compute(steps);
	gex_Event_Wait(event);
}

/* Returns the time of the rank that took longest.  Two calls come before: a rank that begins later
 * than another makes that one wait, and the first of them both; after a call beside a computation
 * they are together.  The last collective keeps the next order away from ranks that still obey this
 * one. */
static double
overlaps_time(unsigned count, size_t order)
{
	const size_t bytes = order & ((1u << KIND_SHIFT) - 1), steps = order >> STEPS_SHIFT;
	const struct collective *collective = &collectives[order >> KIND_SHIFT & 15];
	const enum part part = order >> PART_SHIFT & 15;
	double start, own, longest;

	part_call(collective, ALONE, bytes, steps);
	part_call(collective, part, bytes, steps);
	start = perf_now_ns();
	for (unsigned i = 0; i < count; i++)
		part_call(collective, part, bytes, steps);
	own = perf_now_ns() - start;
	pst_allreduce(perf_tm, &longest, &own, GEX_DT_DBL, sizeof own, 1, GEX_OP_MAX, NULL, NULL,
	              0);
	return longest;
}

static void
overlaps_run(unsigned count, size_t order)
{
	(void)overlaps_time(count, order);
}

static void
overlap_open(void)
{
	blocks = perf_blocks_open();
}

static void
overlap_close(void)
{
	perf_blocks_close(blocks);
}

const struct perf_module perf_overlap_module = {
	.open = overlap_open, .close = overlap_close, .order = PERF_OVERLAPS,
	.follow = overlaps_run,
};

/* -- rank 0 ------------------------------------------------------------------------------------ */

static struct {
	const char *kind;               /* of the figure */
	size_t bytes;
	unsigned count;                 /* of the batches that are kept */
	size_t steps;                   /* of the computation beside it */
	double percent[OVERLAPS];
	unsigned n;
} kept;

/* The time of `count' calls.  Where these are few, more are timed: a rank that begins later than
 * another would count as a long collective. */
static double
part_time(const struct perf_point *point, enum part part, unsigned count)
{
	const unsigned calls = count < LEAST_CALLS ? LEAST_CALLS : count;
	size_t kind = 0, order;

	while (strcmp(collectives[kind].name, point->kind) != 0)
		kind++;
	order = kept.steps << STEPS_SHIFT | (size_t)part << PART_SHIFT | kind << KIND_SHIFT |
	        point->bytes;
	perf_job_order(PERF_OVERLAPS, calls, order);
	return overlaps_time(calls, order) * count / calls;
}

static double
part_least_time(const struct perf_point *point, enum part part, unsigned count)
{
	double least = part_time(point, part, count);

	for (unsigned i = 1; i < CHOICE_ROUNDS; i++) {
		const double time = part_time(point, part, count);

		least = time < least ? time : least;
	}
	return least;
}

/* As many steps as take as long as the collective alone.  A few steps take longer each than many,
 * so the number is found in rounds. */
static void
steps_choose(const struct perf_point *point, unsigned count)
{
	double alone;

	kept.kind = point->kind;
	kept.bytes = point->bytes;
	kept.count = count;
	kept.n = 0;
	kept.steps = 16;
	alone = part_least_time(point, ALONE, count);
	for (unsigned round = 0; round < CHOICE_ROUNDS; round++) {
		const double computation = part_least_time(point, COMPUTATION, count);

		kept.steps = (size_t)((double)kept.steps * alone / computation + 0.5);
		if (kept.steps == 0)
			kept.steps = 1;
	}
}

static double
batch_overlap(const struct perf_point *point, unsigned count)
{
	double times[PARTS];

	if (point->kind != kept.kind || point->bytes != kept.bytes || count != kept.count)
		steps_choose(point, count);
	for (enum part part = ALONE; part < PARTS; part++)
		times[part] = part_time(point, part, count);
	if (kept.n < OVERLAPS)
		kept.percent[kept.n++] = 100 * (times[ALONE] + times[COMPUTATION] - times[BOTH]) /
		                         times[ALONE];
	return times[BOTH];
}

static double
overlap_percent(const struct perf_point *point)
{
	(void)point;
	return perf_median(kept.percent, kept.n);
}

int
perf_overlap(const struct perf_options *options)
{
	static const struct perf_style style = { "us", 1000, "overlap %", overlap_percent };
	static const size_t sizes[] = { 8, 1 << 10, 64 << 10, 0 };
	static const struct perf_kind kinds[] = {
		{ "allreduce", batch_overlap, NULL, 1 },
		{ "gather_all", batch_overlap, perf_block_most, 1 },
		{ "exchange", batch_overlap, perf_block_most, 1 },
		{ 0 },
	};

	perf_plan_run("overlap", kinds, sizes, &style, options);
	return 0;
}
