/*
 * Calls and bytes of the inline transfers.  One word counts both by one addition, for puts and for
 * gets.
 *
 * The word is calls + (bytes << PSI_RMA_MOVED_SHIFT), modulo 2^64, and is never set back.  So its
 * lower bits are the lower bits of the number of calls.  The bits above, less the carry of the
 * calls, are the lower bits of the number of bytes.  The library records both numbers in full at
 * each 256th call, which enters it; the upper bits follow from that record.  A reader may find the
 * word older or newer than the record.  Its answer is exact as long as less than 2^15 calls and
 * 2^47 bytes lie between the two.
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
