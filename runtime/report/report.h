/*
 * A report of what ranks are doing, in two steps.  A look reads it from the shared memory of the
 * ranks of a host; it counts ranks by host index, as that memory and the view do.  The report
 * prints the looks of all hosts, and counts ranks by their number in the job.
 */
#ifndef PSI_REPORT_H
#define PSI_REPORT_H

#include "bootstrap/bootstrap.h"
#include "runtime/process/shared.h"
#include "runtime/report/look.h"
#include "runtime/util/log.h"

struct psi_report {
	const struct pboot_view *view;
	const struct psi_host_shared *shared;   /* NULL: there is none yet */
	uint64_t *progress;                     /* [view->size]: polls and messages at the first
	                                         * look */
};

enum { PSI_REPORT_LINE = 640, PSI_REPORT_RANGES = 24 };

/* A text that grows and is cut at its end. */
struct psi_text {
	size_t len;
	char at[PSI_REPORT_LINE];
};

void psi_text_add(struct psi_text *text, const char *format, ...) PSI_PRINTF(2, 3);

/* "endpoint 2 of ", or nothing for a process's first. */
void psi_text_endpoint(struct psi_text *text, unsigned index);

/* Writes "rank 3" or "ranks 0, 2-5" for these ranks of the job, which stand in order; a long text
 * ends in "and more". */
void psi_text_ranks(struct psi_text *text, const uint32_t *ranks, uint32_t count);

/* One thing that a rank does, or is; a rank with several threads has several. */
struct psi_report_entry {
	uint32_t host_index;
	bool or_more;                   /* the time is the least that it may be */
	unsigned endpoint;              /* index of that which the thread is bound to */
	uint64_t since_ns;              /* 0: no time is told */
	enum psi_report_barrier barrier; /* the report adds for whom it waits */
	uint64_t phase;                 /* of that barrier */
	struct psi_text text;
};

struct psi_report_entries {
	uint32_t count, room;
	struct psi_report_entry *at;
};

/* What ranks share, for view->unmap; NULL if they are not that far.  It is psi_report_bytes
 * long. */
const struct psi_host_shared *psi_report_map(const struct pboot_view *view);
size_t psi_report_bytes(const struct pboot_view *view);

/* report_rank.c: what a rank does, appended; its blocks' counts; a number that grows while it gets
 * on. */
void psi_report_rank(const struct psi_report *report, uint32_t host_index,
                     struct psi_report_entries *entries);
uint64_t psi_report_count(const struct psi_report *report, uint32_t host_index,
                          enum psi_counter which);
uint64_t psi_report_progress(const struct psi_report *report, uint32_t host_index);

/* report_counters.c: what PST_COUNTERS and GASNET_STATSFILE ask for.  The first host prints for all
 * hosts what theirs have packed. */
struct pboot_pack psi_report_counters_pack(const struct pboot_view *view);
void psi_report_counters(const struct pboot_view *view);

/* report_queue.c: the queues in which something is, a line for each, passed on with the job rank of
 * its receiver.  Returns false if the queues cannot be looked at. */
bool psi_report_queues(const struct psi_report *report,
                       void (*line)(void *context, uint32_t rank, const char *text),
                       void *context);

/* report_look.c: takes a look (look.h) at the ranks of a host.  It is malloced; bytes NULL: no
 * memory. */
struct pboot_pack psi_report_look(const struct pboot_view *view);

/* report_print.c: the hook `report', which prints the looks of the view's packs. */
void psi_report_print(const struct pboot_view *view);

#endif
