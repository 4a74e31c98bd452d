/* Which hosts a job uses, and how many ranks each gets: for this way to start, and for tools that
 * tell an engine of others. */
#include "bootstrap/launcher.h"
#include "bootstrap/ssh/pboot_ssh_hosts.h"

#include <stdio.h>
#include <stdlib.h>

/* How many hosts the job uses of those that are there; 0 with one line. */
static uint32_t
hosts_choose(const struct pboot_ssh_hosts *hosts, uint32_t asked, uint32_t size, char *why_out)
{
	if (asked > hosts->count) {
		snprintf(why_out, PBOOT_SSH_WHY_BYTES, "-N %u: there are %u hosts; name more",
		    asked, hosts->count);
		return 0;
	}
	if (asked > size) {
		snprintf(why_out, PBOOT_SSH_WHY_BYTES,
		    "-N %u: the job has %u ranks, and each host must have one", asked, size);
		return 0;
	}
	if (asked == 0)
		asked = hosts->count < size ? hosts->count : size;
	return asked;
}

/* The names change hands; those of hosts that are not used are freed. */
static bool
places_take(struct pboot_places *places, struct pboot_ssh_hosts *hosts, uint32_t count,
    uint32_t size)
{
	uint32_t i;

	places->ranks = calloc(count, sizeof *places->ranks);
	if (!places->ranks)
		return false;
	while (hosts->count > count)
		free(hosts->names[--hosts->count]);
	places->names = hosts->names;
	places->count = count;
	for (i = 0; i < count; i++)
		places->ranks[i] = pboot_ssh_place(size, count, i, &(uint32_t){ 0 });
	*hosts = (struct pboot_ssh_hosts) { 0 };
	return true;
}

bool
pboot_launcher_place(const char *names, uint32_t host_count, uint32_t size,
    struct pboot_places *places_out, char why_out[PBOOT_LAUNCHER_WHY_BYTES])
{
	struct pboot_ssh_hosts hosts;
	bool placed = false;

	_Static_assert((int)PBOOT_LAUNCHER_WHY_BYTES == (int)PBOOT_SSH_WHY_BYTES, "one line");
	*places_out = (struct pboot_places) { 0 };
	if (pboot_ssh_hosts_find(&hosts, names, why_out)) {
		host_count = hosts_choose(&hosts, host_count, size, why_out);
		placed = host_count > 0 && places_take(places_out, &hosts, host_count, size);
		if (host_count > 0 && !placed)
			snprintf(why_out, PBOOT_SSH_WHY_BYTES, "no memory for %u hosts",
			    host_count);
	}
	pboot_ssh_hosts_free(&hosts);
	return placed;
}

bool
pboot_launcher_hosts_are_named(void)
{
	return pboot_ssh_hosts_variable() != NULL;
}

void
pboot_launcher_places_free(struct pboot_places *places)
{
	while (places->count > 0)
		free(places->names[--places->count]);
	free(places->names);
	free(places->ranks);
	*places = (struct pboot_places) { 0 };
}
