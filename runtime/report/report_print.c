/* Prints what all ranks are doing, in rank order; ranks that do the same share a line. */
#include "runtime/report/report.h"

#include <stdlib.h>
#include <string.h>

enum { MISSING_HOSTS_NAMED = 8 };

/* A report on its way out. */
struct report {
	const struct pboot_view *view;
	struct psi_looks *looks;
	uint32_t *ranks;                /* [rank_count or more]: those that a line names */
};

/* -- the same on one line ---------------------------------------------------------------------- */

static int
entries_compare(const struct psi_looked_entry *a, const struct psi_looked_entry *b)
{
	if (a->barrier != b->barrier)
		return a->barrier < b->barrier ? -1 : 1;
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	return strcmp(a->text, b->text);
}

static int
pointers_compare(const void *a, const void *b)
{
	const struct psi_looked_entry *x = *(struct psi_looked_entry *const *)a;
	const struct psi_looked_entry *y = *(struct psi_looked_entry *const *)b;
	const int order = entries_compare(x, y);

	return order ? order : (x > y) - (x < y);
}

/* Links each entry with the next one that says the same. */
static bool
looks_link(struct psi_looks *looks)
{
	const uint32_t count = looks->entry_count;
	struct psi_looked_entry **sorted = calloc(count + 1, sizeof(struct psi_looked_entry *));

	if (!sorted)
		return false;
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = &looks->entries[i];
	qsort(sorted, count, sizeof *sorted, pointers_compare);
	for (uint32_t i = 0; i + 1 < count; i++)
		if (entries_compare(sorted[i], sorted[i + 1]) == 0)
			sorted[i]->alike = (uint32_t)(sorted[i + 1] - looks->entries);
	free(sorted);
	return true;
}

/* What the entries of a group have in common, and how long they have lasted. */
struct group {
	uint32_t members, rank_count;
	uint64_t least_ns, most_ns;
	bool or_more;
};

static struct psi_looked_entry *
group_next(const struct psi_looks *looks, const struct psi_looked_entry *entry)
{
	return entry->alike == UINT32_MAX ? NULL : &looks->entries[entry->alike];
}

/* Its ranks go to report->ranks.  The entries of a group stand in rank order. */
static struct group
group_take(const struct report *report, struct psi_looked_entry *first)
{
	struct group group = { .least_ns = UINT64_MAX };
	struct psi_looked_entry *entry;

	for (entry = first; entry; entry = group_next(report->looks, entry)) {
		entry->told = true;
		group.members++;
		if (!group.rank_count || report->ranks[group.rank_count - 1] != entry->rank)
			report->ranks[group.rank_count++] = entry->rank;
		if (!entry->timed)
			continue;
		group.or_more |= entry->or_more;
		if (entry->age_ns < group.least_ns)
			group.least_ns = entry->age_ns;
		if (entry->age_ns > group.most_ns)
			group.most_ns = entry->age_ns;
	}
	return group;
}

static void
group_add_times(const struct group *group, struct psi_text *line)
{
	if (group->most_ns - group->least_ns < 100000000)
		psi_text_add(line, ", for %.1f s", (double)group->most_ns / 1e9);
	else
		psi_text_add(line, ", for %.1f to %.1f s", (double)group->least_ns / 1e9,
		             (double)group->most_ns / 1e9);
	if (group->or_more)
		psi_text_add(line, " or more");
}

/* For whom those wait who are in this barrier. */
static void
group_add_barrier(const struct report *report, const struct psi_looked_entry *first,
                  struct psi_text *line)
{
	const struct psi_looks *looks = report->looks;
	const unsigned which = first->barrier == PSI_BARRIER_NAMED;
	const bool whole = looks->rank_count == looks->job_size;
	uint32_t count = 0;

	for (uint32_t i = 0; i < looks->rank_count; i++)
		if (looks->ranks[i].barriers[which] < first->phase)
			report->ranks[count++] = looks->ranks[i].rank;
	if (count) {
		psi_text_add(line, ", waiting for ");
		psi_text_ranks(line, report->ranks, count);
		if (!whole)
			psi_text_add(line, " of %s", looks->hosts == 1 ? "this host"
			                                               : "these hosts");
	} else {
		psi_text_add(line, whole ? ", which all ranks have entered"
		                         : ", waiting for ranks of other hosts");
	}
}

static void
group_add_pid(const struct report *report, uint32_t rank, struct psi_text *line)
{
	const struct psi_looks *looks = report->looks;

	for (uint32_t i = 0; i < looks->rank_count; i++) {
		const struct psi_looked_rank *its = &looks->ranks[i];

		if (its->rank != rank)
			continue;
		psi_text_add(line, looks->hosts > 1 ? " (pid %d on %s)" : " (pid %d)",
		             (int)its->pid, report->view->packs[its->host].host);
		return;
	}
}

static void
group_print(const struct report *report, struct psi_looked_entry *first)
{
	const struct group group = group_take(report, first);
	struct psi_text line = { .len = 0 };

	psi_text_ranks(&line, report->ranks, group.rank_count);
	if (group.members > group.rank_count)
		psi_text_add(&line, " (%u threads)", group.members);
	else if (group.members == 1)
		group_add_pid(report, first->rank, &line);
	psi_text_add(&line, ": %s", first->text);
	if (first->barrier != PSI_NO_BARRIER)
		group_add_barrier(report, first, &line);
	if (group.least_ns != UINT64_MAX)
		group_add_times(&group, &line);
	report->view->say("  %s", line.at);
}

/* -- the report -------------------------------------------------------------------------------- */

static void
report_print_queues(const struct report *report)
{
	const struct psi_looks *looks = report->looks;

	for (uint32_t i = 0; i < looks->line_count; i++)
		report->view->say("  %s", looks->lines[i].text);
	if (looks->any_queues && looks->network)
		report->view->say("  messages on their way by conduit %s are not seen here",
		                  looks->network);
	else if (looks->any_queues && looks->line_count == 0)
		report->view->say("  no message is on its way: all queues are empty");
}

static void
report_print_missing(const struct pboot_view *view)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < view->pack_count; i++)
		if (view->packs[i].missing && missing++ < MISSING_HOSTS_NAMED)
			view->say("  what the ranks on %s do is not known: %s",
			          view->packs[i].host, view->packs[i].missing);
	if (missing > MISSING_HOSTS_NAMED)
		view->say("  the same holds for %u more hosts", missing - MISSING_HOSTS_NAMED);
}

static void
report_print_head(const struct report *report)
{
	const struct pboot_view *view = report->view;
	const struct psi_looks *looks = report->looks;
	const char *s = looks->rank_count == 1 ? "" : "s";

	if (looks->hosts == 1)
		view->say("what the %u rank%s on %s do (%s):", looks->rank_count, s,
		          view->packs[looks->ranks[0].host].host, view->why);
	else
		view->say("what the %u rank%s on %u hosts do (%s):", looks->rank_count, s,
		          looks->hosts, view->why);
}

static void
report_print_looks(const struct report *report)
{
	struct psi_looks *looks = report->looks;

	report_print_head(report);
	for (uint32_t i = 0; i < looks->entry_count; i++)
		if (!looks->entries[i].told)
			group_print(report, &looks->entries[i]);
	report_print_queues(report);
}

void __attribute__((cold))
psi_report_print(const struct pboot_view *view)
{
	struct psi_looks looks;
	struct report report = { .view = view, .looks = &looks };
	uint32_t room;

	if (!psi_looks_open(view->packs, view->pack_count, &looks)) {
		view->say("no memory for a report of what ranks do (%s)", view->why);
		return;
	}
	room = looks.rank_count > looks.entry_count ? looks.rank_count : looks.entry_count;
	report.ranks = calloc((size_t)room + 1, sizeof *report.ranks);
	if (report.ranks && looks.rank_count && looks_link(&looks))
		report_print_looks(&report);
	else
		view->say("no report of what ranks do (%s)", view->why);
	report_print_missing(view);
	free(report.ranks);
	psi_looks_close(&looks);
}
