/*
 * What one poll asks for, and what it finds.
 */
#ifndef POFI_LOOK_H
#define POFI_LOOK_H

#include "ofi-conduit/pofi.h"

/* A message as its handler gets it. */
struct pofi_message {
	struct pofi_header header;
	int32_t args[PSI_MAX_ARGS];
	void *payload;                  /* where it arrived, or at its destination */
};

/* A message that a poll is about to deliver. */
struct pofi_taken {
	struct pofi_message message;
	struct pofi_inbound *pinned;
};

struct pofi_look {
	struct psi_port *port;          /* NULL: all messages are kept */
	unsigned networks, count;
	struct pofi_taken taken[POFI_BATCH];
	struct pofi_done done;
	bool for_others;                /* there is something that other threads may wait for */
	unsigned signal_count;
	uint64_t signals[POFI_BATCH];   /* that came with puts */
};

/* The caller holds the lock during all of these but the second. */

/* Bytes have arrived in a buffer: a message, of the job or not. */
void pofi_message_arrives(struct psi_conduit *conduit, struct pofi_look *look,
                          struct pofi_inbound *inbound, char *bytes, size_t len_bytes);
/* Reads a sound message, which is 16-aligned. */
void pofi_message_read(char *bytes, struct pofi_message *message_out);
/* Reads at most `most' completions; false if there was nothing. */
bool pofi_completions_read(struct psi_conduit *conduit, struct pofi_look *look, unsigned most);

#endif
