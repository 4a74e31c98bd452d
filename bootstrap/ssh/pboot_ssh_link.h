/* One end of the connection between launcher and agent: descriptors to read and to write, bytes
 * that have come and are no whole frame yet, frames for which there was no room yet.  Nothing here
 * waits. */
#ifndef PBOOT_SSH_LINK_H
#define PBOOT_SSH_LINK_H

#include "bootstrap/ssh/pboot_ssh_frame.h"

struct pboot_ssh_link {
	int in, out;		/* not blocking; -1: closed */
	uint8_t *got;		/* malloced */
	size_t got_from, got_to;
	uint8_t *due;		/* malloced */
	size_t due_from, due_to, due_room;
};

/* Makes the descriptors non-blocking and takes them over.  Returns false if memory is missing. */
bool pboot_ssh_link_open(struct pboot_ssh_link *link, int in, int out);
void pboot_ssh_link_close(struct pboot_ssh_link *link);

/* These add a frame, or text that is no frame.  A closed link drops them. */
void pboot_ssh_link_send(struct pboot_ssh_link *link, enum pboot_ssh_kind kind, uint32_t rank,
    const void *bytes, uint32_t len_bytes);
void pboot_ssh_link_send_number(struct pboot_ssh_link *link, enum pboot_ssh_kind kind,
    uint32_t rank, uint32_t number);
void pboot_ssh_link_send_text(struct pboot_ssh_link *link, const char *text, size_t len_bytes);

/* Bytes that are not written yet. */
size_t pboot_ssh_link_due(const struct pboot_ssh_link *link);

/* Writes what there is room for.  If the reader is gone, closes `out'. */
void pboot_ssh_link_flush(struct pboot_ssh_link *link);

/* Reads what is there; returns false if the other side has closed the connection. */
bool pboot_ssh_link_receive(struct pboot_ssh_link *link);

#endif
