/*
 * Prints what all ranks of a host are doing, in rank order; ranks that do the same share a line.
 * The keeper prints it from memory that ranks share, so their state does not matter.  In a job
 * without a keeper the rank itself prints it.  Two looks a moment apart show which ranks make
 * progress.
 */
#include "runtime/report/report.h"
#include "runtime/process/process.h"
#include "runtime/report/reports.h"
#include "runtime/segment/shmem.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BETWEEN_LOOKS_NS = 50000000 };

/* -- the same on one line -------------------------------------------------------------------- */

struct group {
	const struct psi_report_entries *entries;
	const struct psi_report_entry *first;
};

static bool
times_is_of_group(const struct psi_report_entry *entry, const struct psi_report_entry *first)
{
	return entry->text.len == first->text.len && strcmp(entry->text.at, first->text.at) == 0;
}

/* Entries stand in rank order. */
static bool
rank_in_group(const void *context, uint32_t host_index)
{
	const struct group *group = context;

	for (uint32_t i = 0; i < group->entries->count; i++)
		if (group->entries->at[i].host_index == host_index &&
		    times_is_of_group(&group->entries->at[i], group->first))
			return true;
	return false;
}

static void
group_add_times(const struct psi_report_entries *entries, const struct psi_report_entry *first,
                uint64_t now, struct psi_text *line)
{
	uint64_t least = UINT64_MAX, most = 0;
	bool or_more = false;

	if (!first->since_ns)
		return;
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct psi_report_entry *entry = &entries->at[i];
		const uint64_t length = now - entry->since_ns;

		if (!times_is_of_group(entry, first) || !entry->since_ns)
			continue;
		or_more |= entry->or_more;
		least = length < least ? length : least;
		most = length > most ? length : most;
	}
	if (most - least < 100000000)
		psi_text_add(line, ", for %.1f s", (double)most / 1e9);
	else
		psi_text_add(line, ", for %.1f to %.1f s", (double)least / 1e9, (double)most / 1e9);
	if (or_more)
		psi_text_add(line, " or more");
}

static void
print_group(const struct psi_report *report, const struct psi_report_entries *entries,
            struct psi_report_entry *first)
{
	const struct group group = { entries, first };
	struct psi_text line = { .len = 0 };
	uint32_t members = 0, ranks = 0;

	for (uint32_t i = 0; i < entries->count; i++) {
		struct psi_report_entry *entry = &entries->at[i];

		if (!times_is_of_group(entry, first))
			continue;
		entry->told = true;
		members++;
	}
	psi_text_ranks(&line, report->view, rank_in_group, &group);
	for (uint32_t i = 0; i < report->view->size; i++)
		ranks += rank_in_group(&group, i);
	if (members > ranks)
		psi_text_add(&line, " (%u threads)", members);
	else if (members == 1)
		psi_text_add(&line, " (pid %d)", (int)report->view->ranks[first->host_index].pid);
	psi_text_add(&line, ": %s", first->text.at);
	group_add_times(entries, first, psi_now_ns(), &line);
	report->view->say("  %s", line.at);
}

static void
print_ranks(const struct psi_report *report)
{
	struct psi_report_entries entries = { 0 };

	for (uint32_t i = 0; i < report->view->size; i++)
		psi_report_rank(report, i, &entries);
	for (uint32_t i = 0; i < entries.count; i++)
		if (!entries.at[i].told)
			print_group(report, &entries, &entries.at[i]);
	free(entries.at);
}

/* -- the report ------------------------------------------------------------------------------ */

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
report_look_first(struct psi_report *report)
{
	const struct timespec pause = { 0, BETWEEN_LOOKS_NS };

	for (uint32_t i = 0; i < report->view->size; i++)
		report->progress[i] = psi_report_progress(report, i);
	nanosleep(&pause, NULL);
}

static void __attribute__((cold))
report_ranks(const struct pboot_view *view)
{
	struct psi_report report = { .view = view,
		                     .progress = calloc(view->size, sizeof(uint64_t)) };

	if (!report.progress)
		return;
	report.shared = psi_report_map(view);
	if (report.shared)
		report_look_first(&report);
	view->say("what the %u rank%s on %s do (%s):", view->size, view->size == 1 ? "" : "s",
	          view->host, view->why);
	print_ranks(&report);
	if (report.shared) {
		psi_report_queues(&report);
		view->unmap(report.shared, psi_report_bytes(view));
	}
	free(report.progress);
}

void
psi_reports_open(void)
{
	static const struct pboot_hooks hooks = {
		.report = report_ranks,
		.pack = psi_report_counters_pack,
		.ended = psi_report_counters,
	};

	pboot_hooks_set(&hooks);
	psi_hang_tell_alone = psi_report_alone;
}

/* -- without a keeper ------------------------------------------------------------------------ */

static const void *
report_map_own(uint64_t key, size_t len_bytes)
{
	uint64_t made;
	size_t len = 0;
	void *base;

	for (unsigned i = 0; (base = psi_host_memory_made(i, &made, &len)) != NULL; i++)
		if (made == key)
			return len_bytes <= len ? base : NULL;
	return NULL;
}

static const void *
report_map_own_first(size_t len_bytes)
{
	uint64_t key;
	size_t len;
	void *base = psi_host_memory_made(0, &key, &len);

	return base && len_bytes <= len ? base : NULL;
}

static const void *
report_map_own_of(uint32_t index, uint64_t key, size_t len_bytes)
{
	return pboot_range_map(1 + index, key, len_bytes);
}

/* The mappings that this process has anyway stay.  A second view of a further endpoint's queues
 * stays too, since a report is printed twice at most. */
static void
report_unmap_own(const void *base, size_t len_bytes)
{
	(void)base, (void)len_bytes;
}

/* Flushes the program's output, then prints. */
static bool
report_print_own(const char *what, const char *name, const char *text, size_t len_bytes)
{
	if (strcmp(name, "stdout") == 0)
		fflush(stdout);
	return pboot_print(what, name, text, len_bytes);
}

/* The report of a job of one rank. */
static struct pboot_view
report_view_self(struct pboot_rank_view *rank_out, const char *why)
{
	*rank_out = (struct pboot_rank_view){ .pid = psi.pid, .joined = true };
	return (struct pboot_view){
		.size = 1,
		.host = psi.host,
		.why = why,
		.ranks = rank_out,
		.say = psi_log,
		.print = report_print_own,
		.map = report_map_own,
		.map_first = report_map_own_first,
		.map_of = report_map_own_of,
		.unmap = report_unmap_own,
	};
}

void
psi_report_alone(uint64_t waited_ns, bool quiet)
{
	static _Atomic int printed[2];
	struct pboot_rank_view rank;
	struct pboot_view view;
	char why[PBOOT_WHY_BYTES];

	if (atomic_exchange_explicit(&printed[quiet], 1, memory_order_relaxed))
		return;
	snprintf(why, sizeof why, "this rank has waited for %.3g s%s, see PST_HANG_REPORT",
	         (double)waited_ns / 1e9, quiet ? "" : PBOOT_WHY_BUSY);
	view = report_view_self(&rank, why);
	report_ranks(&view);
}

void
psi_report_alone_ended(void)
{
	struct pboot_rank_view rank;
	struct pboot_view view;

	if (pboot_death_signal() || !psi.open)
		return;
	view = report_view_self(&rank, "");
	psi_report_counters(&view);
}
