/*
 * What the inlines have put and got: calls and bytes, counted by one addition to one word each.
 *
 * The word is calls + (bytes << PSI_RMA_MOVED_SHIFT), modulo 2^64, and never set back, so its lower
 * bits are those of the number of calls, and what is above them, less what the calls carried there,
 * those of the number of bytes.  The upper bits of both follow from what they were a moment ago,
 * which the library notes at each 256th call, the one that comes to it.  A reader may find the word
 * older or newer than the note; as long as less than 2^15 calls and 2^47 bytes lie between the two,
 * its answer is exact.
 */
#ifndef PSI_MOVED_H
#define PSI_MOVED_H

#include "gasnet_ex_rma.h"

#include <stdint.h>

struct psi_moved_sum {
	uint64_t calls, bytes;
};

/* Indexed by PSI_RMA_COUNT_PUTS and GETS.  Only its own thread writes. */
struct psi_moved {
	uint64_t inlined[PSI_RMA_MOVED_KINDS];
	struct psi_moved_sum noted[PSI_RMA_MOVED_KINDS];
};

/* The counts of one moment within the call.  Any thread of any process may call it. */
struct psi_moved_sum psi_moved_read(const struct psi_moved *moved, unsigned which);

/* To be called at least every 2^14 calls, by the thread that counts there. */
void psi_moved_note(struct psi_moved *moved, unsigned which);

#endif
