/* All rules: the settings, the user's file, and the library's own. */
#include "coll/tuning.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings_tables.h"

#include "runtime/util/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- settings ---------------------------------------------------------------------------------- */

#define FORCED(NAME, op)                                                                   \
	{ .name = "PST_COLL_" NAME, .kind = PSI_SETTING_TEXT,                              \
	  .help = "algorithm of each " op " by messages that it can do, with parameters "  \
	          "behind colons: radix, then bytes of a piece" }

static const struct psi_setting rows[] = {
	{ .name = "PST_COLL_TUNING", .kind = PSI_SETTING_TEXT,
	  .help = "file with rules by which algorithms of collectives by messages are chosen, one "
	          "on a line: operation, bytes, ranks, hosts, mode, algorithm, parameters; "
	          "share/penstock/tuning.txt has the library's own" },
	FORCED("BARRIER", "barrier"),
	FORCED("BROADCAST", "broadcast"),
	FORCED("REDUCE", "reduction to one rank"),
	FORCED("REDUCE_TO_ALL", "reduction to all ranks"),
	FORCED("SCATTER", "scatter"),
	FORCED("GATHER", "gather"),
	FORCED("GATHER_ALL", "gather to all ranks"),
	FORCED("EXCHANGE", "exchange"),
	FORCED("PERMUTE", "permutation"),
	FORCED("REDUCE_SCATTER", "reduction whose blocks are scattered"),
	FORCED("SCAN", "scan"),
	FORCED("EXSCAN", "exclusive scan"),
};

const struct psi_setting_table psi_settings_coll = PSI_SETTING_TABLE("Collectives", rows);

static struct {
	struct pcoll_rule *rule;
	size_t count, users, room;
} tuning;

/* -- all rules --------------------------------------------------------------------------------- */

/* Of tuning.txt, without comments. */
static const char *const own_lines[] = {
#include "coll/tuning_rows.h"
};

static void
rule_add(const struct pcoll_rule *rule)
{
	if (tuning.count == tuning.room) {
		const size_t room = tuning.room ? 2 * tuning.room : 16;
		struct pcoll_rule *rules = realloc(tuning.rule, room * sizeof *rules);

		if (!rules)
			psi_fatal("no memory for %zu rules of collectives", room);
		tuning.rule = rules;
		tuning.room = room;
	}
	tuning.rule[tuning.count++] = *rule;
}

const struct pcoll_rule *
pcoll_tuning_rule(size_t number)
{
	return number < tuning.count ? &tuning.rule[number] : NULL;
}

bool
pcoll_tuning_is_users(size_t number)
{
	return number < tuning.users;
}

static void
own_add(void)
{
	for (size_t i = 0; i < sizeof own_lines / sizeof own_lines[0]; i++) {
		struct pcoll_rule rule;

		if (pcoll_rule_read(own_lines[i], &rule))
			abort();
		rule_add(&rule);
	}
}

/* Reads up to the end of the line.  What does not fit is a comment's, or wrong all the same. */
static bool
line_read(FILE *file, char line_out[1024])
{
	char rest[1024];
	const char *last = line_out;

	if (!fgets(line_out, 1024, file))
		return false;
	while (!strchr(last, '\n') && fgets(rest, sizeof rest, file))
		last = rest;
	return true;
}

/* One line for one that is wrong; the others count.  False: the file cannot be read. */
static bool
file_read(FILE *file, const char *path)
{
	char line[1024];

	for (unsigned number = 1; line_read(file, line); number++) {
		struct pcoll_rule rule = { .builder = NULL };
		const char *wrong = pcoll_rule_read(line, &rule);

		if (wrong && psi_settings_warns())
			psi_log("%s:%u: %s; the line is left out", path, number, wrong);
		if (!wrong && rule.builder)
			rule_add(&rule);
	}
	return !ferror(file);
}

static void
file_open(void)
{
	const char *path = psi_setting_text(&rows[0]);
	FILE *file;

	if (!path)
		return;
	file = fopen(path, "r");
	if (!file || !file_read(file, path))
		psi_settings_refuse(rows[0].name, path, "a file that can be read");
	fclose(file);
}

void
pcoll_tuning_open(void)
{
	tuning.count = 0;
	for (unsigned operation = 0; operation < PCOLL_OPERATIONS; operation++) {
		const struct psi_setting *row = &rows[1 + operation];
		const char *text = psi_setting_text(row);
		char accepts[PCOLL_FORCED_BYTES];
		struct pcoll_rule rule;

		if (!text)
			continue;
		if (pcoll_rule_read_forced((enum pcoll_operation)operation, text, &rule))
			psi_settings_refuse(row->name, text,
			                    pcoll_rule_forced_accepts(
						    (enum pcoll_operation)operation, accepts));
		rule_add(&rule);
	}
	file_open();
	tuning.users = tuning.count;
	own_add();
}
