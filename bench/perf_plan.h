/* Kinds of operations by size. */
#ifndef PERF_PLAN_H
#define PERF_PLAN_H

#include "perf_report.h"

struct perf_kind {
	const char *name;
	perf_batch_fn *batch;
	size_t (*most)(void); /* NULL: any size */
	int sized;
};

/* All kinds (up to one without a name) with all sizes (up to a 0). */
void perf_plan_run(const char *bench, const struct perf_kind *kinds, const size_t *sizes,
                   const struct perf_style *style, const struct perf_options *options);

#endif
