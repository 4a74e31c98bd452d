/*
 * Results for people (a table, a line as soon as it is known) or for programs
 * (CSV), and a progress line on stderr, which shows only where somebody looks.
 */
#include "perf_report.h"
#include "perf_job.h"
#include "perf_place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *bench;
	const struct perf_style *style;
	const struct perf_options *options;
	unsigned figures, done;
	const char *place; /* as the heading has it */
	unsigned elsewhere; /* figures after which ranks 0 and 1 were placed otherwise */
	int tty; /* the progress line is rewritten in place */
} report;

static const char *
place_text(char *text, size_t bytes)
{
	if (strcmp(perf_place.word, "crowded") == 0 || strcmp(perf_place.word, "self") == 0 ||
	    strcmp(perf_place.word, "unknown") == 0)
		snprintf(text, bytes, "%s", perf_place.word);
	else
		snprintf(text, bytes, "%s (ranks 0 and 1 on CPUs %d and %d%s)", perf_place.word,
		         perf_place.cpu[0], perf_place.cpu[1],
		         perf_place.pinned ? "" : ", not pinned");
	return text;
}

static void
print_heading(void)
{
	char place[96], min[24], median[24];

	if (perf_ranks > 0)
		printf("%s: %u ranks, %d CPUs, placement: %s\n", report.bench, (unsigned)perf_ranks,
		       perf_place.cpus, place_text(place, sizeof place));
	else
		printf("%s:\n", report.bench);
	snprintf(min, sizeof min, "min %s", report.style->unit);
	snprintf(median, sizeof median, "median %s", report.style->unit);
	printf("%-10s %9s %6s %12s %12s %8s", "kind", "bytes", "ranks", min, median, "samples");
	printf(report.style->rate != NULL ? " %10s\n" : "\n", report.style->rate);
}

void
perf_report_begin(const char *bench, const struct perf_style *style,
                  const struct perf_options *options, unsigned figures)
{
	report.bench = bench;
	report.style = style;
	report.options = options;
	report.figures = figures;
	report.done = 0;
	report.place = perf_place.word;
	report.elsewhere = 0;
	report.tty = isatty(STDERR_FILENO);
	if (options->csv)
		printf("bench,kind,bytes,ranks,placement,pinned,samples,min_ns,median_ns\n");
	else
		print_heading();
	fflush(stdout);
}

void
perf_report_now(const char *kind, size_t bytes)
{
	if (!report.tty && !report.options->progress)
		return;
	fprintf(stderr, "%spenstock-perf: %s %s %zu (%u of %u)%s", report.tty ? "\r\033[K" : "",
	        report.bench, kind, bytes, report.done + 1, report.figures, report.tty ? "" : "\n");
	fflush(stderr);
}

static void
clear_progress(void)
{
	if (report.tty)
		fprintf(stderr, "\r\033[K");
}

void
perf_report_add(const struct perf_point *point)
{
	double unit = report.style->ns_per_unit;

	clear_progress();
	perf_place_again();
	report.done++;
	report.elsewhere += strcmp(report.place, perf_place.word) != 0;
	if (report.options->csv) {
		printf("%s,%s,%zu,%u,%s,%s,%u,%.2f,%.2f\n", point->bench, point->kind, point->bytes,
		       point->ranks, perf_place.word, perf_place.pinned ? "yes" : "no",
		       point->samples, point->min_ns, point->median_ns);
	} else {
		printf("%-10s %9zu %6u %12.2f %12.2f %8u", point->kind, point->bytes, point->ranks,
		       point->min_ns / unit, point->median_ns / unit, point->samples);
		if (report.style->rate != NULL)
			printf(" %10.2f", report.style->rate_of(point));
		printf("\n");
	}
	fflush(stdout);
}

void
perf_report_end(void)
{
	clear_progress();
	if (report.elsewhere > 0 && !report.options->csv)
		printf("ranks 0 and 1 had moved after %u of %u figures; --bind core of "
		       "penstock-run keeps them\n",
		       report.elsewhere, report.done);
}

double
perf_mb_per_s(const struct perf_point *point)
{
	return (double)point->bytes / point->median_ns * 1e3;
}

double
perf_m_per_s(const struct perf_point *point)
{
	return 1e3 / point->median_ns;
}
