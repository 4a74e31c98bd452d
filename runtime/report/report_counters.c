/*
 * The counters of all ranks of a host at the end of a job, for people or as JSON.  Printed by the
 * keeper when no rank lives any more, or by the only rank of a job without one.
 */
#include "runtime/report/report.h"

#include "penstock.h"
#include "runtime/report/backtrace.h"
#include "runtime/settings/settings_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format { OFF, TABLE, JSON };
static const char *const formats[] = { "off", "table", "json", NULL };

static const struct {
	char letter;
	const char *group;
} letters[] = {
	{ 'A', "am" },   { 'P', "put" },  { 'G', "get" },  { 'T', "atomic" }, { 'B', "barrier" },
	{ 'I', "poll" }, { 'W', "wait" }, { 'K', "wake" }, { 'Q', "queue" },
};

/* Letters that mean something elsewhere are passed over, but some are to mean something here. */
static bool
counters_mask_accepted(const char *text)
{
	bool known = strchr(text, '*') != NULL;

	for (const char *at = text; *at; at++) {
		if (*at != '*' && (*at < 'A' || *at > 'Z'))
			return false;
		for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
			known |= *at == letters[i].letter;
	}
	return known;
}

static const struct psi_setting settings[] = {
	{ .name = "PST_COUNTERS",
	  .kind = PSI_SETTING_CHOICE,
	  .default_text = "off",
	  .choices = formats,
	  .help = "print the counters of all ranks when the job ends" },
	{ .name = "GASNET_STATSFILE",
	  .kind = PSI_SETTING_TEXT,
	  .help = "where they go: a file, of each rank its own where % stands in the name for the "
	          "rank; stdout, stderr or -; set, it makes table of off; in a job of several "
	          "hosts each writes its ranks', to a file with its first rank behind the name" },
	{ .name = "GASNET_STATSMASK",
	  .kind = PSI_SETTING_TEXT,
	  .default_text = "*",
	  .check = counters_mask_accepted,
	  .accepts = "capital letters, some of APGTBIWKQ among them, or *",
	  .help = "which: A active messages, P puts, G gets, T atomics, B barriers, I polls, W "
	          "waits, K wake-ups, Q queues; * for all" },
	{ .name = "GASNET_STATSNODES",
	  .kind = PSI_SETTING_TEXT,
	  .default_text = "*",
	  .check = psi_ranks_accepted,
	  .accepts = PSI_RANKS_SYNTAX,
	  .help = "whose" },
};

const struct psi_setting_table psi_settings_counters = PSI_SETTING_TABLE("Counters", settings);

static bool
counter_is_wanted(const struct pst_counter *counter)
{
	const char *mask = psi_setting_text(&settings[2]);

	if (strchr(mask, '*'))
		return true;
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		if (strcmp(letters[i].group, counter->group) == 0)
			return strchr(mask, letters[i].letter) != NULL;
	return false;
}

/* Ranks are named by host index; ALL stands for all ranks of the host. */
enum { ALL = UINT16_MAX };

static bool
counters_of_rank_wanted(const struct psi_report *report, uint32_t host_index, uint32_t only)
{
	return (only == ALL || only == host_index) &&
	       psi_ranks_include(psi_setting_text(&settings[3]),
	                         report->view->ranks[host_index].rank);
}

static void
counters_print_json(FILE *out, const struct psi_report *report, uint32_t only)
{
	const char *separator = "[\n";

	for (uint32_t r = 0; r < report->view->size; r++) {
		const bool wanted = counters_of_rank_wanted(report, r, only);

		for (unsigned i = 0; wanted && i < PSI_COUNTERS; i++) {
			const struct pst_counter *counter = pst_counter_at(i);

			if (!counter_is_wanted(counter))
				continue;
			fprintf(out,
			        "%s{ \"rank\": %u, \"group\": \"%s\", \"name\": \"%s\", "
			        "\"unit\": \"%s\", \"value\": %llu }",
			        separator, report->view->ranks[r].rank, counter->group,
			        counter->name, counter->unit,
			        (unsigned long long)psi_report_count(report, r,
			                                             (enum psi_counter)i));
			separator = ",\n";
		}
	}
	fputs(strcmp(separator, "[\n") == 0 ? "[]\n" : "\n]\n", out);
}

/* One counter over all ranks; nothing if none has counted. */
static void
counters_print_row(FILE *out, const struct psi_report *report, uint32_t only, unsigned i)
{
	const struct pst_counter *counter = pst_counter_at(i);
	uint64_t all = 0, least = UINT64_MAX, most = 0;
	uint32_t who_least = 0, who_most = 0;

	for (uint32_t r = 0; r < report->view->size; r++) {
		const uint64_t value = psi_report_count(report, r, (enum psi_counter)i);
		const uint32_t rank = report->view->ranks[r].rank;

		if (!counters_of_rank_wanted(report, r, only))
			continue;
		all = psi_counter_join((enum psi_counter)i, all, value);
		if (value < least) {
			least = value;
			who_least = rank;
		}
		if (value > most || (value == most && r == 0)) {
			most = value;
			who_most = rank;
		}
	}
	if (all)
		fprintf(out, "%-24s %16llu %-9s %16llu %6u %16llu %6u\n", counter->name,
		        (unsigned long long)all, counter->unit, (unsigned long long)least,
		        who_least, (unsigned long long)most, who_most);
}

static void
counters_print_table(FILE *out, const struct psi_report *report, uint32_t only)
{
	if (only != ALL)
		fprintf(out, "counters of rank %u on %s\n", report->view->ranks[only].rank,
		        report->view->host);
	else
		fprintf(out, "counters of %u rank%s on %s\n", report->view->size,
		        report->view->size == 1 ? "" : "s", report->view->host);
	fprintf(out, "%-24s %16s %-9s %16s %6s %16s %6s\n", "name", "all", "unit", "least", "rank",
	        "most", "rank");
	for (unsigned i = 0; i < PSI_COUNTERS; i++)
		if (counter_is_wanted(pst_counter_at(i)))
			counters_print_row(out, report, only, i);
}

/* False if not all of it could be written, which has been said. */
static bool
counters_print_to(const char *name, const struct psi_report *report, enum format format,
                  uint32_t only)
{
	char *text = NULL;
	size_t len_bytes = 0;
	FILE *out = open_memstream(&text, &len_bytes);
	bool printed = false;

	if (out && format == JSON)
		counters_print_json(out, report, only);
	else if (out)
		counters_print_table(out, report, only);
	if (out && fclose(out) == 0)
		printed = report->view->print("the counters", name, text, len_bytes);
	else
		report->view->say("no memory for the text of the counters");
	free(text);
	return printed;
}

/* The name with the rank for each %. */
static bool
counters_print_named(const char *name, const struct psi_report *report, enum format format,
                     uint32_t only)
{
	char path[4096], number[12];
	size_t len = 0;

	snprintf(number, sizeof number, "%u", report->view->ranks[only].rank);
	for (; *name && len + sizeof number < sizeof path; name++) {
		if (*name == '%')
			len += (size_t)snprintf(path + len, sizeof path - len, "%s", number);
		else
			path[len++] = *name;
	}
	path[len] = '\0';
	return counters_print_to(path, report, format, only);
}

/* If one rank's file cannot be written, the files of the other ranks are not tried. */
static void
counters_print_each(const char *name, const struct psi_report *report, enum format format)
{
	for (uint32_t r = 0; r < report->view->size; r++)
		if (counters_of_rank_wanted(report, r, ALL) &&
		    !counters_print_named(name, report, format, r))
			return;
}

static bool
is_file(const char *name)
{
	return strcmp(name, "stdout") != 0 && strcmp(name, "stderr") != 0;
}

/* Hosts may share a file system, so the files of a job of several have different names. */
static void
counters_print_file(const char *name, const struct psi_report *report, enum format format)
{
	char path[4096];

	if (report->shared->job_size > report->view->size && is_file(name) &&
	    (size_t)snprintf(path, sizeof path, "%s.%u", name, report->view->ranks[0].rank) <
	            sizeof path)
		name = path;
	counters_print_to(name, report, format, ALL);
}

static void
counters_print_where(const struct psi_report *report, enum format format)
{
	const char *name = psi_setting_text(&settings[1]);

	if (!name || strcmp(name, "-") == 0)
		counters_print_to("stderr", report, format, ALL);
	else if (!strchr(name, '%'))
		counters_print_file(name, report, format);
	else
		counters_print_each(name, report, format);
}

/* Ranks have refused what makes no sense; a job that never came to init says nothing. */
void
psi_report_counters(const struct pboot_view *view)
{
	struct psi_report report = { .view = view };
	enum format format;

	psi_settings_speak(false);      /* rank 0 has told of settings */
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const char *text = psi_setting_value(&settings[i], NULL);

		if (text && !psi_setting_accepted(&settings[i], text))
			return;
	}
	format = (enum format)psi_setting_choice(&settings[0]);
	if (format == OFF && psi_setting_given(&settings[1]))
		format = TABLE;
	if (format == OFF || !(report.shared = psi_report_map(view)))
		return;
	counters_print_where(&report, format);
	view->unmap(report.shared, psi_report_bytes(view));
}
