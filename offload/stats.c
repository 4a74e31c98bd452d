#include "offload/introspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATS = 512, COLUMNS = 7 };

struct stats {
	unsigned count;
	struct poff_stat at[STATS];
};

static struct poff_stat *
stat_of(struct stats *stats, const char *provider, const char *counter, bool of_device)
{
	struct poff_stat *stat;

	for (unsigned i = 0; i < stats->count; i++) {
		stat = &stats->at[i];
		if (strcmp(stat->provider, provider) == 0 && stat->of_device == of_device &&
		    strcmp(stat->counter, counter) == 0)
			return stat;
	}
	if (stats->count == STATS)
		return NULL;
	stat = &stats->at[stats->count++];
	snprintf(stat->provider, sizeof stat->provider, "%s", provider);
	snprintf(stat->counter, sizeof stat->counter, "%s", counter);
	stat->of_device = of_device;
	return stat;
}

/* provider,team,members,rank,counter,value,note */
static bool
line_add(struct stats *stats, char *line)
{
	char *column[COLUMNS], *end;
	struct poff_stat *stat;
	uint64_t value;

	line[strcspn(line, "\n")] = '\0';
	for (unsigned i = 0; i < COLUMNS; i++) {
		column[i] = strsep(&line, ",");
		if (!column[i])
			return false;
	}
	value = strtoull(column[5], &end, 10);
	if (*end || !*column[5] || line)
		return false;
	stat = stat_of(stats, column[0], column[4], strcmp(column[1], "device") == 0);
	if (!stat)
		return false;
	stat->teams++;
	stat->value += value;
	if (!stat->note[0])
		snprintf(stat->note, sizeof stat->note, "%s", column[6]);
	return true;
}

static const char *
stats_read(struct stats *stats, FILE *in)
{
	char line[1024];

	while (fgets(line, sizeof line, in))
		if (!line_add(stats, line))
			return "it has a line that PST_OFFLOAD_STATSFILE does not write";
	return ferror(in) ? "it cannot be read" : NULL;
}

const char *
poff_stats(const char *file, void (*tell)(const struct poff_stat *stat, void *arg), void *arg)
{
	FILE *in = fopen(file, "re");
	struct stats *stats = calloc(1, sizeof *stats);
	const char *wrong;

	if (!in || !stats) {
		wrong = in ? "no memory" : strerror(errno);
	} else {
		wrong = stats_read(stats, in);
		for (unsigned i = 0; !wrong && i < stats->count; i++)
			tell(&stats->at[i], arg);
	}
	free(stats);
	if (in)
		fclose(in);
	return wrong;
}
