/*
 * Batches, and what to say of them: the least value, which the machine reaches
 * undisturbed, and the middle one, which it gives as a rule.
 */
#include "perf.h"

#include <stdlib.h>
#include <time.h>

enum { LEAST_SAMPLES = 5, MOST_SAMPLES = 4096, MOST_PER_BATCH = 1 << 24 };

double
perf_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A count whose batch lasts batch_ns at least; the tries also warm things up. */
static unsigned
fit_count(const struct perf_point *point, perf_batch_fn *batch, double batch_ns)
{
	unsigned count = 1;

	while (count < MOST_PER_BATCH && batch(point, count) < batch_ns)
		count *= 2;
	return count;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
perf_sample(struct perf_point *point, perf_batch_fn *batch, double secs, double batch_ns)
{
	static double ns[MOST_SAMPLES];
	double end = perf_now_ns() + secs * 1e9;
	unsigned n = 0, count;

	if (batch_ns < secs * 1e9 / MOST_SAMPLES)
		batch_ns = secs * 1e9 / MOST_SAMPLES;
	count = fit_count(point, batch, batch_ns);
	while (n < LEAST_SAMPLES || (n < MOST_SAMPLES && perf_now_ns() < end))
		ns[n++] = batch(point, count) / count;
	qsort(ns, n, sizeof *ns, ascending);
	point->samples = n;
	point->min_ns = ns[0];
	point->median_ns = n % 2 == 1 ? ns[n / 2] : (ns[n / 2 - 1] + ns[n / 2]) / 2;
}
