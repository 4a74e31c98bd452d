#include "offload/count.h"

#include "offload/offload.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"
#include "runtime/team/team.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	enum psi_counter counter;
} rows[] = {
#define ROW(id, name, counter, help) { name, PSI_COUNT_##counter },
	POFF_COUNT_LIST(ROW)
#undef ROW
};

void
poff_count_add(struct poff_team *team, enum poff_count which, uint64_t amount)
{
	team->count[which] += amount;
	psi_count_add(psi_block()->count, rows[which].counter, amount);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* Appends the text in one piece, since all ranks write to the file. */
static void
stats_append(const char *text, size_t len_bytes)
{
	const char *name = psi_setting_text(psi_setting_named("PST_OFFLOAD_STATSFILE"));
	const int file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

	if (file < 0 || write(file, text, len_bytes) != (ssize_t)len_bytes)
		psi_log("offload: PST_OFFLOAD_STATSFILE: %s cannot be written: %s",
		        name, strerror(errno));
	if (file >= 0)
		close(file);
}

/* Calls `print' with a stream, if there is a file. */
static void
stats_write(void (*print)(FILE *out, const void *of), const void *of)
{
	char *text = NULL;
	size_t len_bytes = 0;
	FILE *out;

	if (!psi_setting_given(psi_setting_named("PST_OFFLOAD_STATSFILE")))
		return;
	out = open_memstream(&text, &len_bytes);
	if (!out)
		return;
	print(out, of);
	if (fclose(out) == 0 && len_bytes)
		stats_append(text, len_bytes);
	free(text);
}

/* Texts of providers must not break the columns. */
static const char *
note_plain(const char *why, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", why ? why : "");
	for (char *at = text; *at; at++)
		if (*at == ',' || *at == '\n')
			*at = ';';
	return text;
}

/* Why, where the counter has a reason. */
static const char *
count_note(const struct poff_team *team, enum poff_count which)
{
	switch (which) {
	case POFF_COUNT_QUERY: return team->query_why;
	case POFF_COUNT_NO_TREE:
	case POFF_COUNT_JOINS_REFUSED:
	case POFF_COUNT_FAILURES:
	case POFF_COUNT_FAILED: return team->why;
	default: return NULL;
	}
}

static void
team_print(FILE *out, const void *of)
{
	const struct poff_team *team = of;
	char note[POFF_WHY_BYTES];

	for (unsigned i = 0; i < POFF_COUNTS; i++)
		if (team->count[i])
			fprintf(out, "%s,%llu,%u,%u,%s,%llu,%s\n", team->device->provider->name,
			        (unsigned long long)team->channel.team, team->channel.members,
			        psi.boot.rank, rows[i].name, (unsigned long long)team->count[i],
			        note_plain(count_note(team, (enum poff_count)i), note,
			                   sizeof note));
}

void
poff_stats_team(const struct poff_team *team)
{
	stats_write(team_print, team);
}

static void
device_print(FILE *out, const void *of)
{
	enum { MOST = 64 };
	const struct poff_device *device = of;
	pst_off_counter_t counters[MOST];
	const size_t count = device->provider->calls.counters
	                             ? device->provider->calls.counters(device->dev, counters, MOST)
	                             : 0;
	char note[POFF_WHY_BYTES];

	if (device->breaches)
		fprintf(out, "%s,device,1,%u,breaches,%u,%s\n", device->provider->name,
		        psi.boot.rank, device->breaches,
		        note_plain(device->breach, note, sizeof note));
	for (size_t i = 0; i < count && i < MOST; i++)
		fprintf(out, "%s,device,1,%u,%s,%llu,\n", device->provider->name, psi.boot.rank,
		        counters[i].name, (unsigned long long)counters[i].value);
}

void
poff_stats_device(const struct poff_device *device)
{
	if (device->dev)
		stats_write(device_print, device);
}
