/*
 * The counters of all ranks at the end of a job, for people or as JSON.  Printed by the keeper of
 * the first host when no rank lives any more, or by the only rank of a job without a keeper.  A
 * keeper that cannot reach the first host's prints those of its own host.
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
	          "rank; stdout, stderr or -; set, it makes table of off; the first host of a "
	          "job of several writes for all" },
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

/* -- whose, and what they have counted --------------------------------------------------------- */

struct counted {
	uint64_t rank;
	uint64_t value[PSI_COUNTERS];
};

/* Those of whom counters are wanted, in the order of ranks. */
struct table {
	const struct pboot_view *view;
	struct counted *at;
	uint32_t count, hosts;
};

static bool
rank_is_wanted(uint64_t rank)
{
	return psi_ranks_include(psi_setting_text(&settings[3]), (uint32_t)rank);
}

static void
table_add(struct table *table, const struct counted *counted)
{
	if (rank_is_wanted(counted->rank))
		table->at[table->count++] = *counted;
}

static void
table_add_own(struct table *table, const struct psi_report *report)
{
	for (uint32_t r = 0; r < report->view->size; r++) {
		struct counted counted = { .rank = report->view->ranks[r].rank };

		for (unsigned i = 0; i < PSI_COUNTERS; i++)
			counted.value[i] = psi_report_count(report, r, (enum psi_counter)i);
		table_add(table, &counted);
	}
	table->hosts++;
}

static void
table_add_pack(struct table *table, const struct pboot_pack *pack)
{
	struct counted counted;

	if (pack->missing)
		table->view->say("the counters of the ranks on %s are left out: %s", pack->host,
		                 pack->missing);
	if (!pack->complete)
		return;
	for (size_t at = 0; at + sizeof counted <= pack->len_bytes; at += sizeof counted) {
		memcpy(&counted, pack->bytes + at, sizeof counted);
		table_add(table, &counted);
	}
	table->hosts++;
}

static int
counted_compare(const void *a, const void *b)
{
	const uint64_t x = ((const struct counted *)a)->rank;
	const uint64_t y = ((const struct counted *)b)->rank;

	return (x > y) - (x < y);
}

/* False: the ranks of this host never came to init, or there is no memory. */
static bool
table_open(struct table *table, const struct pboot_view *view)
{
	struct psi_report report = { .view = view, .shared = psi_report_map(view) };
	size_t room = view->size;

	if (!report.shared)
		return false;
	for (uint32_t i = 0; i < view->pack_count; i++)
		room += view->packs[i].len_bytes / sizeof *table->at;
	*table = (struct table){ .view = view, .at = calloc(room, sizeof *table->at) };
	if (table->at) {
		table_add_own(table, &report);
		for (uint32_t i = 0; i < view->pack_count; i++)
			table_add_pack(table, &view->packs[i]);
		qsort(table->at, table->count, sizeof *table->at, counted_compare);
	} else {
		view->say("no memory for the counters");
	}
	view->unmap(report.shared, psi_report_bytes(view));
	return table->at != NULL;
}

/* -- as a text --------------------------------------------------------------------------------- */

static void
table_print_json(FILE *out, const struct table *table)
{
	const char *separator = "[\n";

	for (uint32_t r = 0; r < table->count; r++)
		for (unsigned i = 0; i < PSI_COUNTERS; i++) {
			const struct pst_counter *counter = pst_counter_at(i);

			if (!counter_is_wanted(counter))
				continue;
			fprintf(out,
			        "%s{ \"rank\": %u, \"group\": \"%s\", \"name\": \"%s\", "
			        "\"unit\": \"%s\", \"value\": %llu }",
			        separator, (unsigned)table->at[r].rank, counter->group,
			        counter->name, counter->unit,
			        (unsigned long long)table->at[r].value[i]);
			separator = ",\n";
		}
	fputs(strcmp(separator, "[\n") == 0 ? "[]\n" : "\n]\n", out);
}

/* One counter over all ranks; nothing if none has counted. */
static void
table_print_row(FILE *out, const struct table *table, unsigned i)
{
	const struct pst_counter *counter = pst_counter_at(i);
	const struct counted *least = table->at, *most = table->at;
	uint64_t all = 0;

	for (uint32_t r = 0; r < table->count; r++) {
		const struct counted *counted = &table->at[r];

		all = psi_counter_join((enum psi_counter)i, all, counted->value[i]);
		if (counted->value[i] < least->value[i])
			least = counted;
		if (counted->value[i] > most->value[i])
			most = counted;
	}
	if (all)
		fprintf(out, "%-24s %16llu %-9s %16llu %6u %16llu %6u\n", counter->name,
		        (unsigned long long)all, counter->unit,
		        (unsigned long long)least->value[i], (unsigned)least->rank,
		        (unsigned long long)most->value[i], (unsigned)most->rank);
}

static void
table_print_people(FILE *out, const struct table *table)
{
	if (table->count == 1)
		fprintf(out, "counters of rank %u", (unsigned)table->at->rank);
	else
		fprintf(out, "counters of %u ranks", table->count);
	if (table->hosts == 1)
		fprintf(out, " on %s\n", table->view->host);
	else
		fprintf(out, " on %u hosts\n", table->hosts);
	fprintf(out, "%-24s %16s %-9s %16s %6s %16s %6s\n", "name", "all", "unit", "least", "rank",
	        "most", "rank");
	for (unsigned i = 0; i < PSI_COUNTERS; i++)
		if (counter_is_wanted(pst_counter_at(i)))
			table_print_row(out, table, i);
}

/* False if not all of it could be written, which has been said. */
static bool
table_print_to(const char *name, const struct table *table, enum format format)
{
	char *text = NULL;
	size_t len_bytes = 0;
	FILE *out = open_memstream(&text, &len_bytes);
	bool printed = false;

	if (out && format == JSON)
		table_print_json(out, table);
	else if (out)
		table_print_people(out, table);
	if (out && fclose(out) == 0)
		printed = table->view->print("the counters", name, text, len_bytes);
	else
		table->view->say("no memory for the text of the counters");
	free(text);
	return printed;
}

/* -- where to ---------------------------------------------------------------------------------- */

/* Each rank to a file of its own, with the rank for each % of the name. */
static bool
is_for_each(const char *name)
{
	return name && strchr(name, '%');
}

static bool
table_print_named(const char *name, const struct table *table, enum format format)
{
	char path[4096], number[12];
	size_t len = 0;

	snprintf(number, sizeof number, "%u", (unsigned)table->at->rank);
	for (; *name && len + sizeof number < sizeof path; name++) {
		if (*name == '%')
			len += (size_t)snprintf(path + len, sizeof path - len, "%s", number);
		else
			path[len++] = *name;
	}
	path[len] = '\0';
	return table_print_to(path, table, format);
}

/* If one rank's file cannot be written, the files of the other ranks are not tried. */
static void
table_print_each(const char *name, const struct table *table, enum format format)
{
	struct table one = *table;

	for (one.count = 1; one.at < table->at + table->count; one.at++)
		if (!table_print_named(name, &one, format))
			return;
}

static bool
is_file(const char *name)
{
	return strcmp(name, "stdout") != 0 && strcmp(name, "stderr") != 0;
}

/* Where the first host cannot print for this one: hosts may share a file system. */
static void
table_print_alone(const char *name, const struct table *table, enum format format)
{
	char path[4096];

	if (is_file(name) && (size_t)snprintf(path, sizeof path, "%s.%u", name,
	                                      table->view->ranks[0].rank) < sizeof path)
		name = path;
	table_print_to(name, table, format);
}

static void
table_print(const struct table *table, enum format format)
{
	const char *name = psi_setting_text(&settings[1]);

	if (!name || strcmp(name, "-") == 0)
		name = "stderr";
	if (is_for_each(name))
		table_print_each(name, table, format);
	else if (table->view->ranks[0].rank != 0)
		table_print_alone(name, table, format);
	else
		table_print_to(name, table, format);
}

/* -- the hooks --------------------------------------------------------------------------------- */

/* Ranks have refused what makes no sense. */
static enum format
counters_format(void)
{
	enum format format;

	psi_settings_speak(false);      /* rank 0 has told of settings */
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const char *text = psi_setting_value(&settings[i], NULL);

		if (text && !psi_setting_accepted(&settings[i], text))
			return OFF;
	}
	format = (enum format)psi_setting_choice(&settings[0]);
	return format == OFF && psi_setting_given(&settings[1]) ? TABLE : format;
}

struct pboot_pack
psi_report_counters_pack(const struct pboot_view *view)
{
	struct pboot_pack pack = { .bytes = NULL };
	struct table table;

	if (counters_format() == OFF || is_for_each(psi_setting_text(&settings[1])) ||
	    !table_open(&table, view))
		return pack;
	pack.bytes = (unsigned char *)table.at;
	pack.len_bytes = table.count * sizeof *table.at;
	return pack;
}

/* A job that never came to init says nothing. */
void
psi_report_counters(const struct pboot_view *view)
{
	const enum format format = counters_format();
	struct table table;

	if (format == OFF || view->is_packed || !table_open(&table, view))
		return;
	table_print(&table, format);
	free(table.at);
}
