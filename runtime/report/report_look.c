/*
 * Takes a look at the ranks of a host (report.h).  The keeper takes it from memory that ranks
 * share, so their state does not matter.  In a job without a keeper the rank itself takes it.  Two
 * looks at the counts, a moment apart, show which ranks make progress.
 */
#include "runtime/report/report.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BETWEEN_LOOKS_NS = 50000000 };

/* -- what ranks share -------------------------------------------------------------------------- */

size_t
psi_report_bytes(const struct pboot_view *view)
{
	return psi_shared_bytes(view->size, GASNET_MAXEPS - 1);
}

/* The part of the control arena that ranks have made; NULL if they have not made it yet. */
const struct psi_host_shared *
psi_report_map(const struct pboot_view *view)
{
	const size_t len_bytes = psi_report_bytes(view);
	const struct psi_host_shared *shared = view->map_first(len_bytes);
	uint64_t magic;

	if (!shared)
		return NULL;
	magic = atomic_load_explicit(
		&shared->magic, memory_order_acquire); /* J2: acquire, from J1 in describe_shared */
	if (magic == PSI_SHARED_MAGIC && shared->abi == PSI_SHARED_ABI &&
	    shared->size == view->size)
		return shared;
	view->unmap(shared, len_bytes);
	return NULL;
}

static void
look_at_counts(struct psi_report *report)
{
	const struct timespec pause = { 0, BETWEEN_LOOKS_NS };

	for (uint32_t i = 0; i < report->view->size; i++)
		report->progress[i] = psi_report_progress(report, i);
	nanosleep(&pause, NULL);
}

/* -- as bytes ---------------------------------------------------------------------------------- */

static void
look_put_head(FILE *out, const struct psi_report *report, uint32_t entry_count, bool queues_seen)
{
	struct psi_look_head head = {
		.magic = PSI_LOOK_MAGIC,
		.job_size = report->shared ? report->shared->job_size : report->view->size,
		.rank_count = report->view->size,
		.entry_count = entry_count,
		.queues_seen = queues_seen,
	};

	if (report->shared)
		memcpy(head.network, report->shared->network, sizeof head.network);
	fwrite(&head, sizeof head, 1, out);
}

static void
look_put_ranks(FILE *out, const struct psi_report *report)
{
	for (uint32_t i = 0; i < report->view->size; i++) {
		struct psi_look_rank rank = {
			.rank = report->view->ranks[i].rank,
			.pid = (int32_t)report->view->ranks[i].pid,
		};

		if (report->shared) {
			rank.barriers[0] = psi_report_count(report, i, PSI_COUNT_BARRIERS);
			rank.barriers[1] = psi_report_count(report, i, PSI_COUNT_BARRIERS_NAMED);
		}
		fwrite(&rank, sizeof rank, 1, out);
	}
}

static void
look_put_entry(FILE *out, const struct psi_report *report, const struct psi_report_entry *from)
{
	const struct psi_look_entry entry = {
		.phase = from->phase,
		.age_ns = from->since_ns ? psi_now_ns() - from->since_ns : 0,
		.rank = report->view->ranks[from->host_index].rank,
		.or_more = from->or_more,
		.timed = from->since_ns != 0,
		.barrier = from->barrier,
		.text_bytes = (uint32_t)from->text.len + 1,
	};

	fwrite(&entry, sizeof entry, 1, out);
	fwrite(from->text.at, entry.text_bytes, 1, out);
}

static void
look_put_line(void *context, uint32_t rank, const char *text)
{
	const struct psi_look_line line = { rank, (uint32_t)strlen(text) + 1 };
	FILE *out = (FILE *)context;

	fwrite(&line, sizeof line, 1, out);
	fwrite(text, line.text_bytes, 1, out);
}

/* Lines of queues are behind the entries, but the head tells whether there are any. */
static void
look_put(FILE *out, const struct psi_report *report, const struct psi_report_entries *entries)
{
	char *lines = NULL;
	size_t len_bytes = 0;
	FILE *queues = open_memstream(&lines, &len_bytes);
	bool seen = queues && report->shared && psi_report_queues(report, look_put_line, queues);

	if (queues && fclose(queues) != 0)
		seen = false;
	look_put_head(out, report, entries->count, seen);
	look_put_ranks(out, report);
	for (uint32_t i = 0; i < entries->count; i++)
		look_put_entry(out, report, &entries->at[i]);
	if (seen && len_bytes)
		fwrite(lines, len_bytes, 1, out);
	free(lines);
}

struct pboot_pack
psi_report_look(const struct pboot_view *view)
{
	struct psi_report report = { .view = view,
		                     .progress = calloc(view->size, sizeof(uint64_t)) };
	struct psi_report_entries entries = { 0 };
	struct pboot_pack pack = { .bytes = NULL };
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, &pack.len_bytes);

	if (report.progress && out) {
		report.shared = psi_report_map(view);
		if (report.shared)
			look_at_counts(&report);
		for (uint32_t i = 0; i < view->size; i++)
			psi_report_rank(&report, i, &entries);
		look_put(out, &report, &entries);
		if (report.shared)
			view->unmap(report.shared, psi_report_bytes(view));
	}
	pack.complete = out && !ferror(out);
	if ((out && fclose(out) != 0) || !report.progress || !pack.complete) {
		free(bytes);
		bytes = NULL;
	}
	pack.bytes = (unsigned char *)bytes;
	pack.complete = bytes != NULL;
	free(entries.at);
	free(report.progress);
	return pack;
}
