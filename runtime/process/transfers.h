/*
 * Transfers to memory that is not mapped here, one table of operations.  extended-ref fills it by messages
 * (extended-ref/pref_table.c).
 */
#ifndef PSI_TRANSFERS_H
#define PSI_TRANSFERS_H

#include "gasnetex.h"

#include <stdbool.h>

struct psi_am;
struct psi_atomic;
struct psi_signalled;
struct psi_target;
struct psi_vis;

struct psi_transfer_ops {
	/* Sends a Long whose payload cannot be written from here.  As psi_am_inject; one that IMMEDIATE
	 * lets begin may wait for room for its further pieces. */
	int (*send_long)(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags);
	/* A transfer of many pieces.  Returns what the call returns; with finish, that is when all is
	 * done, whatever the form. */
	gex_Event_t (*vis)(const struct psi_vis *vis, bool finish);
	/* By the owner of the memory.  As gex_AD_OpNB. */
	gex_Event_t (*atomic)(const struct psi_atomic *op, struct psi_target target);
	/* As psi_signal_behind, where the signal goes by message. */
	gex_Event_t (*signal_behind)(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf);
	/* Payload and signal of a contiguous transfer, at least one byte that is not reached here. */
	gex_Event_t (*put_signal)(const struct psi_signalled *s, void *dst, const void *src,
	                          size_t nbytes);
	gex_Event_t (*get_signal)(const struct psi_signalled *s, void *dst, const void *src,
	                          size_t nbytes);
};

#endif
