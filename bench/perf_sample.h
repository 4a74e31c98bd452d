/* Figures, and the batches that they are made of. */
#ifndef PERF_SAMPLE_H
#define PERF_SAMPLE_H

#include <stddef.h>

/* One figure; times are nanoseconds per operation. */
struct perf_point {
	const char *bench, *kind;
	size_t bytes;
	unsigned ranks;
	unsigned samples;
	double min_ns, median_ns;
};

double perf_now_ns(void); /* by the ticks of gasnet_tools.h */

/*
 * Does `count' operations and returns the nanoseconds they took.  Called with
 * growing counts until a batch is long enough for the clock, then with that count
 * until the time for the figure is over.
 */
typedef double perf_batch_fn(const struct perf_point *point, unsigned count);

/* The middle value; sorts them. */
double perf_median(double *values, unsigned n);

/* Fills in samples, min_ns and median_ns; sorts the values. */
void perf_summarise(struct perf_point *point, double *values_ns, unsigned n);

/* The same from batches. */
void perf_sample(struct perf_point *point, perf_batch_fn *batch, double secs, double batch_ns);

#endif
