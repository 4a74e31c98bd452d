/*
 * Transfers by messages, for memory that is not mapped here (extended-ref/pref_rma.c).  The owner
 * of the memory makes the copy; large transfers go in pieces.
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

#endif
