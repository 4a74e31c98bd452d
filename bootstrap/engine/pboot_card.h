/*
 * A card is what each rank tells all others through the engine before they can reach each other:
 * its release, its process, its program, its settings, its host, the name at which it would listen
 * if it is the lowest rank of its host, and the name at which its agent listens.
 */
#ifndef PBOOT_CARD_H
#define PBOOT_CARD_H

#include "bootstrap/share/pboot_wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PBOOT_CARD_ROOM = 320, PBOOT_CARD_HOST = 65, PBOOT_CARD_RELEASE = 32 };

struct pboot_card {
	int version;		/* PBOOT_WIRE_VERSION of the rank's library */
	char release[PBOOT_CARD_RELEASE];
	pid_t pid;
	int messages;		/* pboot_wire_file of its stderr */
	uint64_t host_id;	/* equal on ranks that can share memory */
	uint64_t program;	/* equal on ranks that run the same program; 0: may be any */
	uint64_t limit_ns;	/* its PST_HOST_LIMIT; 0: one of its settings is bad */
	char name[PBOOT_NAME_BYTES];
	char agent[PBOOT_NAME_BYTES];	/* empty: no agent has started the rank */
	char host[PBOOT_CARD_HOST];	/* for messages */
};

/* pboot_card_fill.c.  The card of this process; name and agent are left empty. */
void pboot_card_fill(struct pboot_card *card_out);

/* Writes a card as text and returns its length; text is no longer than PBOOT_CARD_ROOM, NUL
 * included. */
size_t pboot_card_write(const struct pboot_card *card, char text[PBOOT_CARD_ROOM]);

/* Returns false if the text is no card.  If the card is of another version, only version and
 * release are read. */
bool pboot_card_read(const char *text, size_t len_bytes, struct pboot_card *card_out);

/* Numbers the hosts in the order of their lowest ranks; returns how many there are. */
uint32_t pboot_card_hosts(const struct pboot_card *cards, uint32_t size, uint32_t *host_of_out);

/* How often keepers must be heard from so that the host with the least limit does not lose any. */
uint64_t pboot_card_period_ns(const struct pboot_card *cards, uint32_t size);

#endif
