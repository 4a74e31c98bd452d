#include "bootstrap/engine/pboot_card.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A host is lost that was silent for so many of its heartbeats. */
enum { PERIODS = 5 };

#define NO_AGENT "-"

size_t
pboot_card_write(const struct pboot_card *card, char text[PBOOT_CARD_ROOM])
{
	const int len = snprintf(text, PBOOT_CARD_ROOM,
	    "%d %s %d %d %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %s %s %s",
	    card->version, card->release, (int)card->pid, card->messages, card->host_id,
	    card->program, card->limit_ns, card->name,
	    *card->agent ? card->agent : NO_AGENT, card->host);

	return (size_t)len;
}

static bool
id_read(const char *text, uint64_t *id_out)
{
	return strlen(text) == 16 && sscanf(text, "%16" SCNx64, id_out) == 1;
}

static bool
name_is_whole(const char *name)
{
	return strspn(name, "0123456789abcdef") == PBOOT_NAME_BYTES - 1;
}

/* Reads what follows version and release.  Returns false if that is not the rest of a card. */
static bool
card_read_rest(const char *text, struct pboot_card *card)
{
	char host_id[17], program[17], limit[17], name[PBOOT_NAME_BYTES], agent[PBOOT_NAME_BYTES];
	int pid, end = 0;

	if (sscanf(text, " %9d %11d %16[0-9a-f] %16[0-9a-f] %16[0-9a-f] %32[0-9a-f] %32s %64s%n",
	           &pid, &card->messages, host_id, program, limit, name, agent, card->host,
	           &end) != 8 ||
	    text[end] != '\0' || pid <= 0 || !name_is_whole(name) ||
	    (strcmp(agent, NO_AGENT) != 0 && !name_is_whole(agent)) ||
	    !id_read(host_id, &card->host_id) || !id_read(program, &card->program) ||
	    !id_read(limit, &card->limit_ns))
		return false;
	card->pid = pid;
	memcpy(card->name, name, sizeof name);
	if (strcmp(agent, NO_AGENT) != 0)
		memcpy(card->agent, agent, sizeof agent);
	return true;
}

bool
pboot_card_read(const char *text, size_t len_bytes, struct pboot_card *card_out)
{
	struct pboot_card card = { .version = -1 };
	char copy[PBOOT_CARD_ROOM];
	int end = 0;

	if (len_bytes >= sizeof copy || memchr(text, '\0', len_bytes))
		return false;
	memcpy(copy, text, len_bytes);
	copy[len_bytes] = '\0';
	if (sscanf(copy, "%9d %31s%n", &card.version, card.release, &end) != 2)
		return false;
	if (card.version == PBOOT_WIRE_VERSION && !card_read_rest(copy + end, &card))
		return false;
	*card_out = card;
	return true;
}

uint32_t
pboot_card_hosts(const struct pboot_card *cards, uint32_t size, uint32_t *host_of_out)
{
	uint32_t count = 0, rank, before;

	for (rank = 0; rank < size; rank++) {
		/* The rank before is often of the same host: then the search would be long. */
		if (rank > 0 && cards[rank].host_id == cards[rank - 1].host_id) {
			host_of_out[rank] = host_of_out[rank - 1];
			continue;
		}
		for (before = 0; cards[before].host_id != cards[rank].host_id; before++)
			;
		host_of_out[rank] = before == rank ? count++ : host_of_out[before];
	}
	return count;
}

uint64_t
pboot_card_period_ns(const struct pboot_card *cards, uint32_t size)
{
	uint64_t least = UINT64_MAX;
	uint32_t rank;

	for (rank = 0; rank < size; rank++)
		if (cards[rank].limit_ns < least)
			least = cards[rank].limit_ns;
	return least / PERIODS;
}
