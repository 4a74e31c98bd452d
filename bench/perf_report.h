/* Results as a table or CSV, and the progress line. */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "perf_options.h"
#include "perf_sample.h"

/* How a subcommand's table looks; the CSV is the same for all. */
struct perf_style {
	const char *unit; /* of the times */
	double ns_per_unit;
	const char *rate; /* heading of one more column, or NULL */
	double (*rate_of)(const struct perf_point *point);
};

void perf_report_begin(const char *bench, const struct perf_style *style,
                       const struct perf_options *options, unsigned figures);
void perf_report_now(const char *kind, size_t bytes); /* the progress line */
void perf_report_add(const struct perf_point *point);
void perf_report_end(void);

double perf_mb_per_s(const struct perf_point *point);
double perf_m_per_s(const struct perf_point *point);

#endif
