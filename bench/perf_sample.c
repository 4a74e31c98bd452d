/*
 * Batches, and what to say of them: the least value, which the machine reaches
 * undisturbed, and the middle one, which it gives as a rule.
 */
#include "perf.h"

#include <stdlib.h>
#include <time.h>

enum { LEAST_SAMPLES = 5, MOST_SAMPLES = 4096, MOST_PER_BATCH = 1 << 24 };

static double sample_ns[MOST_SAMPLES];

double
perf_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Samples of `count' operations.  Whenever a batch ends too early for the clock,
 * however late that shows, the count doubles and all begins anew; so a
 * disturbance at the beginning does no harm, and the first tries warm things up.
 */
static unsigned
collect(const struct perf_point *point, perf_batch_fn *batch, double secs, double batch_ns)
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
	n = collect(point, batch, secs, batch_ns);
	qsort(sample_ns, n, sizeof *sample_ns, ascending);
	point->samples = n;
	point->min_ns = sample_ns[0];
	point->median_ns =
		n % 2 == 1 ? sample_ns[n / 2] : (sample_ns[n / 2 - 1] + sample_ns[n / 2]) / 2;
}
