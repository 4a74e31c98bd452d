/* The subcommands, one file each: perf_<name>.c.  They do not know each other. */
#ifndef PERF_COMMANDS_H
#define PERF_COMMANDS_H

#include "perf_job.h"
#include "perf_options.h"

struct perf_command {
	const char *name, *summary;
	const char *kinds;                              /* comma separated, or NULL */
	const char *sizes;                              /* the usual ones, for the help, or NULL */
	int alone;                                      /* no job; perhaps starts some itself */
	int (*run)(const struct perf_options *options); /* on rank 0 */
};

int perf_latency(const struct perf_options *options);
int perf_bandwidth(const struct perf_options *options);
int perf_strided(const struct perf_options *options);
int perf_rate(const struct perf_options *options);
int perf_ring(const struct perf_options *options);
int perf_atomic(const struct perf_options *options);
int perf_coll(const struct perf_options *options);
int perf_overlap(const struct perf_options *options);
int perf_signal(const struct perf_options *options);
int perf_startup(const struct perf_options *options);
int perf_idle(const struct perf_options *options);
int perf_tools(const struct perf_options *options);

/* What some of them need of the job. */
extern const struct perf_module perf_latency_module, perf_rate_module, perf_ring_module,
	perf_atomic_module, perf_signal_module, perf_coll_module, perf_overlap_module;

#endif
