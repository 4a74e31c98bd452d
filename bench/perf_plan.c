/*
 * A subcommand that measures kinds of operations by size: the figures are counted
 * first, for the progress line, then measured.
 */
#include "perf_plan.h"
#include "perf_job.h"
#include "perf_place.h"

enum {
	PERF_BATCH_NS = 250 * 1000,          /* many times the cost of an order */
	PERF_CROWDED_BATCH_NS = 5000 * 1000, /* some time slices */
};

struct plan {
	const char *bench;
	const struct perf_options *options;
	const size_t *sizes; /* up to a 0 */
	int measure;         /* 0: only count the figures */
	unsigned figures;
};

/* Measures and reports one figure; rank 0. */
static void
figure_measure(const struct perf_options *options, const char *bench, const char *kind,
               size_t bytes, perf_batch_fn *batch)
{
	struct perf_point point = {
		.bench = bench,
		.kind = kind,
		.bytes = bytes,
		.ranks = (unsigned)perf_ranks,
	};
	int crowded = (int)perf_ranks > perf_place.cpus;

	perf_report_now(kind, bytes);
	perf_sample(&point, batch, options->secs, crowded ? PERF_CROWDED_BATCH_NS : PERF_BATCH_NS);
	perf_report_add(&point);
}

static void
one_figure(struct plan *plan, const struct perf_kind *kind, size_t bytes)
{
	plan->figures++;
	if (plan->measure)
		figure_measure(plan->options, plan->bench, kind->name, bytes, kind->batch);
}

static void
one_kind(struct plan *plan, const struct perf_kind *kind)
{
	const size_t *size;

	if (!perf_options_want(plan->options, kind->name))
		return;
	if (!kind->sized) {
		one_figure(plan, kind, 0);
		return;
	}
	for (size = plan->sizes; *size > 0; size++)
		if (kind->most == NULL || *size <= kind->most())
			one_figure(plan, kind, *size);
}

static void
all_kinds(struct plan *plan, const struct perf_kind *kinds)
{
	plan->figures = 0;
	for (; kinds->name != NULL; kinds++)
		one_kind(plan, kinds);
}

void
perf_plan_run(const char *bench, const struct perf_kind *kinds, const size_t *sizes,
              const struct perf_style *style, const struct perf_options *options)
{
	struct plan plan = { .bench = bench, .options = options, .sizes = sizes };

	if (options->sizes[0] > 0)
		plan.sizes = options->sizes;
	all_kinds(&plan, kinds);
	perf_report_begin(bench, style, options, plan.figures);
	plan.measure = 1;
	all_kinds(&plan, kinds);
	perf_report_end();
}
