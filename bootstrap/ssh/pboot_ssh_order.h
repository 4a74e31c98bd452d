/* What an agent is told to start: texts one after the other, each with its NUL.  Pure. */
#ifndef PBOOT_SSH_ORDER_H
#define PBOOT_SSH_ORDER_H

#include "bootstrap/ssh/pboot_ssh_frame.h"
#include "bootstrap/ssh/pboot_ssh_inherit.h"

enum { PBOOT_SSH_ORDER_MAX = 8 << 20 };

struct pboot_ssh_order {
	struct pboot_ssh_ranks ranks;	/* of this host */
	uint32_t size;		/* of the job */
	int64_t stdin_rank;	/* -1: none */
	bool bind_cores;
	struct pboot_ssh_inherit inherit;
	const char *directory, *program;
	char **argv, **variables;	/* malloced arrays that end with NULL */
};

/* Writes the order into malloced bytes; NULL: no memory. */
uint8_t *pboot_ssh_order_write(const struct pboot_ssh_order *order, size_t *len_out);

/* Reads it; its texts lie in the bytes.  False: that is no order. */
bool pboot_ssh_order_read(uint8_t *bytes, size_t len_bytes, struct pboot_ssh_order *order_out);
void pboot_ssh_order_free(struct pboot_ssh_order *order);

#endif
