/* All rules: the settings, the user's file, and the library's own. */
#include "coll/tuning.h"
#include "coll/modes.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings_tables.h"

#include "runtime/util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- settings ---------------------------------------------------------------------------------- */

#define FORCED(NAME, op)                                                                   \
	{ .name = "PST_COLL_" NAME, .kind = PSI_SETTING_TEXT,                              \
	  .help = "algorithm of each " op " that it can do, by messages on one host too, "  \
	          "with parameters behind colons: radix, then bytes of a piece; cells: shared " \
	          "memory, where there is some" }

/* As the calls of the interfaces say it (tuning_rule.c). */
#define RENAMED(NAME, SETTING)                                                             \
	{ .name = "PST_COLL_" NAME, .kind = PSI_SETTING_TEXT,                              \
	  .help = "another name of PST_COLL_" SETTING ", which counts where both are given" }

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
	RENAMED("BCAST", "BROADCAST"),
	RENAMED("ALLREDUCE", "REDUCE_TO_ALL"),
	RENAMED("REDUCE_TO_ONE", "REDUCE"),
};

/* The operations that the rows of RENAMED are for. */
static const enum pcoll_operation renamed[] = {
	PCOLL_BROADCAST, PCOLL_REDUCE_TO_ALL, PCOLL_REDUCE_TO_ONE,
};

const struct psi_setting_table psi_settings_coll = PSI_SETTING_TABLE("Collectives", rows);

uint32_t pcoll_tuning_users;

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

/* -- the user's file --------------------------------------------------------------------------- */

enum { FILE_MOST_BYTES = 1 << 20 };

/* A mode that nobody knows may be that of another machine, so the rule counts. */
static void
rule_add_from(const struct pcoll_rule *rule, const char *path, unsigned number)
{
	if (rule->mode[0] && !pcoll_mode_is_known(rule->mode) && psi_settings_warns())
		psi_log("%s:%u: mode %s is none of those known (" PCOLL_MODES_KNOWN "); the line "
		        "is kept, for jobs that have it", path, number, rule->mode);
	rule_add(rule);
}

/* One line for one that is wrong; the others count. */
static void
text_read(const char *text, size_t len, const char *path)
{
	const char *const end = text + len;

	for (unsigned number = 1; text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *const line = text, *wrong;
		struct pcoll_rule rule = { .builder = NULL };

		text = newline ? newline + 1 : end;
		wrong = memchr(line, '\0', (size_t)(text - line)) ? "the line has a byte of 0"
		                                                 : pcoll_rule_read(line, &rule);
		if (wrong && psi_settings_warns())
			psi_log("%s:%u: %s; the line is left out", path, number, wrong);
		if (!wrong && (rule.builder || rule.by_cells))
			rule_add_from(&rule, path, number);
	}
}

/* Reads up to `room' bytes.  Returns how many there were, or -1. */
static ssize_t
bytes_read(int fd, char *bytes, size_t room)
{
	size_t len = 0;

	while (len < room) {
		const ssize_t got = read(fd, bytes + len, room - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	return (ssize_t)len;
}

/* Returns NULL, or why the file is refused.  One that is no file of bytes might have no end. */
static const char *
file_read(int fd, const char *path)
{
	const char *wrong = NULL;
	struct stat file;
	char *text;
	ssize_t len;

	if (fstat(fd, &file))
		return strerror(errno);
	if (!S_ISREG(file.st_mode))
		return "no regular file";
	text = malloc(FILE_MOST_BYTES + 1);
	if (!text)
		return "no memory to read it";
	len = bytes_read(fd, text, FILE_MOST_BYTES + 1);
	if (len < 0) {
		wrong = strerror(errno);
	} else if (len > FILE_MOST_BYTES) {
		wrong = "more than 1 MiB";
	} else {
		text[len] = '\0';
		text_read(text, (size_t)len, path);
	}
	free(text);
	return wrong;
}

static void
file_open(void)
{
	const char *path = psi_setting_text(&rows[0]), *wrong;
	int fd;

	if (!path)
		return;
	/* a fifo without writers does not hold the job */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	wrong = fd < 0 ? strerror(errno) : file_read(fd, path);
	if (fd >= 0)
		(void)close(fd);
	if (wrong) {
		char accepts[160];

		snprintf(accepts, sizeof accepts,
		         "a regular file of at most 1 MiB that can be read (%s)", wrong);
		psi_settings_refuse(rows[0].name, path, accepts);
	}
}

/* -- start-up ---------------------------------------------------------------------------------- */

static void
forced_add(enum pcoll_operation operation, const struct psi_setting *row)
{
	const char *text = psi_setting_text(row);
	char accepts[PCOLL_FORCED_BYTES];
	struct pcoll_rule rule;

	if (!text)
		return;
	if (pcoll_rule_read_forced(operation, text, &rule))
		psi_settings_refuse(row->name, text, pcoll_rule_forced_accepts(operation, accepts));
	rule_add(&rule);
}

void
pcoll_tuning_open(void)
{
	tuning.count = 0;
	for (unsigned operation = 0; operation < PCOLL_OPERATIONS; operation++)
		forced_add((enum pcoll_operation)operation, &rows[1 + operation]);
	for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
		forced_add(renamed[i], &rows[1 + PCOLL_OPERATIONS + i]);
	file_open();
	tuning.users = tuning.count;
	pcoll_tuning_users = 0;
	for (size_t i = 0; i < tuning.users; i++)
		pcoll_tuning_users |= (uint32_t)1 << tuning.rule[i].operation;
	own_add();
}
