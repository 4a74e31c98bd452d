/*
 * Atomic domains: the object, and one operation on its way to the processor, to the reference or to
 * a device.
 *
 * All operations of a domain are made by one of two mechanisms.  One is the processor's atomics of
 * gasnet_ex_atomic.h on the target's memory: by the initiator, where the target is mapped here,
 * else by the owner for whoever asks it (extended-ref/pref_atomic.c).  Both use the same
 * instructions on the same physical word, so an operation made in one way is atomic with one made
 * in the other.
 *
 * The other is the network's device, where that adds and swaps words of 64 bits.  Its operations
 * need nothing of the target's processor, and are not atomic with those of processors.  So it is
 * taken where no two members share memory, and where the domain has no operation but those; then it
 * makes those on a rank's own memory too, which take longer by it.  GEX_FLAG_AD_FAVOR_MY_RANK and
 * MY_NBRHD say that these matter: such a domain is the processor's.
 */
#ifndef PSI_ATOMIC_H
#define PSI_ATOMIC_H

#include "gasnet_ratomic.h"

#include <stdbool.h>

struct psi_domain {
	struct gex_AD_s inlines;        /* what clients' code reads; comes first */
	gex_TM_t tm;
	gex_DT_t dt;
	gex_OP_t ops;
	gex_Flags_t flags;
	bool by_device;
	void *cdata;
	bool destroyed;                 /* seen only where psi.checks is set */
	struct psi_domain *next;        /* in the list of all, under its lock */
};

/* An operation as the library sees it. */
struct psi_atomic {
	const char *call;               /* its name */
	struct psi_domain *domain;
	void *result;                   /* of the type's width; written if the operation fetches */
	void *target;                   /* at its owner */
	uint64_t operand1, operand2;    /* bits, widened */
	gex_Rank_t rank;
	gex_OP_t op;
	gex_Flags_t flags;
	unsigned type;                  /* place of its bit in GEX_DT_ */
	bool implicit;
};

/* The domain behind a handle; ends the job if there is none. */
struct psi_domain *psi_domain_live(gex_AD_t ad, const char *call);
/* A child that the client forks may use no domain. */
void psi_domains_close(void);
/* "GEX_DT_I32"; "an unknown type" */
const char *psi_domain_type_name(gex_DT_t dt);

/* Makes the operation on memory that is mapped here.  Returns the old value, widened. */
uint64_t psi_atomic_apply(unsigned type, void *there, gex_OP_t op, uint64_t operand1,
                          uint64_t operand2, gex_Flags_t flags);
/* Writes the old value to the initiator's result, if the operation fetches. */
void psi_atomic_answer(unsigned type, gex_OP_t op, void *result, uint64_t before);

#endif
