/*
 * What one poll asks for, and what it finds; and where that waits which it does not deliver.
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
	struct pofi_inbound *pinned;    /* NULL: it lies in none */
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

/* The caller holds the guard during all of these but that of reading. */

/* Bytes have arrived in a buffer: a message, of the job or not. */
void pofi_message_arrives(struct psi_conduit *conduit, struct pofi_look *look,
                          struct pofi_inbound *inbound, char *bytes, size_t len_bytes);
/* A write with that completion data has brought a record, or no peer's. */
void pofi_record_arrives(struct psi_conduit *conduit, struct pofi_look *look, uint64_t data);
/* Reads a sound message, which is 16-aligned. */
void pofi_message_read(char *bytes, struct pofi_message *message_out);
/* Reads at most `most' completions; false if there was nothing. */
bool pofi_completions_read(struct psi_conduit *conduit, struct pofi_look *look, unsigned most);

/* -- pofi_long.c: Longs whose payload is a put ------------------------------------------------- */

/* head: the head of a Long has come, whose tail has the Long's number.  Returns true if the payload
 * is here; else keeps a copy of the head until it is.  written: the payload of that number has
 * come.  If its head is here, gives the Long to its port and returns true.  The caller holds the
 * guard. */
bool pofi_long_head(struct psi_conduit *conduit, const char *message, size_t len_bytes);
bool pofi_long_written(struct psi_conduit *conduit, uint64_t number);
void pofi_longs_free(struct psi_conduit *conduit);

/* -- pofi_kept.c: messages that wait for their port to be polled ------------------------------- */

/* A copy of a message; NULL, after one line: no memory. */
struct psi_kept *pofi_kept_new(struct psi_conduit *conduit, const char *message, size_t len_bytes);
/* Gives one to the port that it is for.  The caller holds the guard. */
void pofi_kept_add(struct psi_conduit *conduit, struct psi_kept *kept);

static inline const struct pofi_header *
pofi_header_of(const struct psi_kept *kept)
{
	return (const void *)kept->message;
}

#endif
