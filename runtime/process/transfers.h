/*
 * Transfers to memory that is not mapped here, one table of operations.  extended-ref fills it by messages
 * (extended-ref/pref_table.c).
 */
#ifndef PSI_TRANSFERS_H
#define PSI_TRANSFERS_H

#include "gasnetex.h"

#include <stdbool.h>

struct psi_signalled;

struct psi_transfer_ops {
	/* As psi_signal_behind, where the signal goes by message. */
	gex_Event_t (*signal_behind)(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf);
	/* Payload and signal of a contiguous transfer, at least one byte that is not reached here. */
	gex_Event_t (*put_signal)(const struct psi_signalled *s, void *dst, const void *src,
	                          size_t nbytes);
	gex_Event_t (*get_signal)(const struct psi_signalled *s, void *dst, const void *src,
	                          size_t nbytes);
};

#endif
