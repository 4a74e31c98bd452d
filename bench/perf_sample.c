/*
 * Batches, and what to say of them: the least value, which the machine reaches
 * undisturbed, and the middle one, which it gives as a rule.
 */
#include "perf_sample.h"

#include <gasnet_tools.h>
#include <stdlib.h>

enum { LEAST_SAMPLES = 5, MOST_SAMPLES = 4096, MOST_PER_BATCH = 1 << 24 };

static double sample_ns[MOST_SAMPLES];

double
perf_now_ns(void)
{
	return (double)gasnett_ticks_to_ns(gasnett_ticks_now());
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
perf_median(double *values, unsigned n)
{
	qsort(values, n, sizeof *values, ascending);
	return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void
perf_summarise(struct perf_point *point, double *values_ns, unsigned n)
{
	point->samples = n;
	point->median_ns = perf_median(values_ns, n);
	point->min_ns = values_ns[0];
}

/*
 * Samples of `count' operations.  Whenever a batch ends too early for the clock,
 * however late that shows, the count doubles and all begins anew; so a
 * disturbance at the beginning does no harm, and the first tries warm things up.
 */
static unsigned
samples_collect(const struct perf_point *point, perf_batch_fn *batch, double secs, double batch_ns)
{
	double begin = perf_now_ns(), end = begin + secs * 1e9, start, result;
	unsigned n = 0, count = 1;

	for (start = begin; n < LEAST_SAMPLES || (n < MOST_SAMPLES && start < end);) {
		start = perf_now_ns();
		result = batch(point, count);
		if (perf_now_ns() - start < batch_ns && count < MOST_PER_BATCH) {
			count *= 2;
			n = 0;
		} else {
			sample_ns[n++] = result / count;
		}
	}
	return n;
}

void
perf_sample(struct perf_point *point, perf_batch_fn *batch, double secs, double batch_ns)
{
	unsigned n;

	if (batch_ns < secs * 1e9 / MOST_SAMPLES)
		batch_ns = secs * 1e9 / MOST_SAMPLES;
	n = samples_collect(point, batch, secs, batch_ns);
	perf_summarise(point, sample_ns, n);
}
