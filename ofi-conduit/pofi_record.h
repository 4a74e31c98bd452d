/*
 * Records: what the handler of a Long gets travels behind the payload, in the same write.
 *
 * Each process has a ring of records for each other one, which that one writes.  A write has two
 * parts, payload and record, and its completion data names the record's place in the ring.  A
 * record has the bytes of a message without payload.  Every message tells its receiver how many of
 * its records have been taken; while a ring is full, Longs go as halves (pofi_long.c).
 *
 * The sender fills the places in turn, and a place is free once as many have been taken.  That
 * wants writes that arrive in order (FI_ORDER_WAW).  A record goes with the last piece of its
 * payload.
 */
#ifndef POFI_RECORD_H
#define POFI_RECORD_H

#include "ofi-conduit/pofi_look.h"

enum {
	POFI_RECORDS = 32,              /* of a ring */
	POFI_RECORD_BYTES = POFI_MOST_RECORD,
	POFI_IS_RECORD = 1,             /* of completion data, with PROCESS and PLACE */
	POFI_RECORD_PLACE_SHIFT = 16,
	POFI_RECORD_PROCESS_SHIFT = 40,
};

/* Makes the rings of this process and their name, or none: others then send it none.  The endpoint
 * is enabled. */
void pofi_records_open(struct psi_conduit *conduit);
/* The endpoint is closed before this. */
void pofi_records_close(struct psi_conduit *conduit);
/* What another process calls its rings. */
void pofi_records_learn(struct psi_conduit *conduit, uint32_t process,
                        struct psi_segment_name name);

/* The caller holds the guard during all of these. */

/* May a Long to a process have a record?  Not while another one's waits for the last piece of its
 * payload, since records arrive in the order of their places. */
bool pofi_record_has_room(const struct psi_conduit *conduit, uint32_t process);
/* Where the next record to that process goes, and its completion data. */
struct psi_remote pofi_record_next(const struct psi_conduit *conduit, uint32_t process,
                                   uint64_t *data_out);
/* It has been sent; a process tells how many it has taken. */
void pofi_record_sent(struct psi_conduit *conduit, uint32_t process);
void pofi_records_read(struct psi_conduit *conduit, uint32_t process, uint16_t count);
/* A write with a record has arrived: its bytes, or NULL if that is no peer's. */
char *pofi_record_take(struct psi_conduit *conduit, uint64_t data);

#endif
