/*
 * Transfers by messages, for memory that is not mapped here (extended-ref/pref_rma.c).  The owner of the
 * memory makes the copy; large transfers go in pieces.
 */
#ifndef PSI_REFERENCE_H
#define PSI_REFERENCE_H

#include "runtime/op/op.h"

enum psi_ref_kind { PSI_REF_PUT, PSI_REF_GET, PSI_REF_FILL };

struct psi_ref {
	enum psi_ref_kind kind;
	unsigned char fill;             /* the byte of PSI_REF_FILL */
	gex_EP_t ep;
	uint32_t place;
	char *there, *here;             /* the peer's memory and ours; what is left of both */
	size_t left_bytes;              /* more than 0 */
	uint64_t part;                  /* done when all is in place */
	uint64_t read;                  /* done when ours has been read; 0: nobody asks */
	void *own;                      /* freed when ours has been read; or NULL */
	struct psi_ref *next;           /* among those that wait for room */
};

/* Starts it: what there is room for is sent, the rest by later polls.  False if `immediate' and nothing
 * could be sent; then no part is done.  Not in handlers. */
bool psi_ref_start(const struct psi_ref *ref, bool immediate);

/* Sends a Long whose payload cannot be written from here.  As psi_am_inject; one that IMMEDIATE lets begin
 * may wait for room for its further pieces. */
int psi_ref_send_long(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags);
void psi_ref_register_long(gex_EP_t ep);

/* For each endpoint that receives messages, and once for the process; during init. */
void psi_ref_register(gex_EP_t ep);
void psi_ref_open(void);

#endif
