/*
 * Which memory of a peer an operation reaches by loads and stores of this process.  Where it does not,
 * since the memory is not mapped here or PST_TEST_CONDUIT_MASK says so, the reference takes over.
 */
#ifndef PSI_REACH_H
#define PSI_REACH_H

#include "runtime/process/process.h"

/* Kinds of native operations, in the order of the words of PST_TEST_CONDUIT_MASK. */
enum psi_way {
	PSI_WAY_PUT = 1 << 0,
	PSI_WAY_GET = 1 << 1,
	PSI_WAY_ATOMIC = 1 << 2,
	PSI_WAY_LONG = 1 << 3,
	PSI_WAY_BARRIER = 1 << 4,
	PSI_WAY_SIGNAL = 1 << 5,        /* posts, and signals of words */
};

/* Those that are masked; constant after init. */
extern unsigned psi_ways_masked;

static inline bool psi_way_is_masked(enum psi_way way) { return psi_ways_masked & way; }

/* Reads the setting; during init, before the table of the inlines opens. */
void psi_reach_open(void);

void *psi_reach_unmapped(uint32_t place, const void *addr, size_t nbytes, const char *call);

/* The address here of memory of a peer, this process included, or NULL where the reference must be
 * used.  Ends the job if the bytes, at least one, do not lie in the peer's bound segment. */
static inline void *
psi_reach(enum psi_way way, uint32_t place, const void *addr, size_t nbytes, const char *call)
{
	const struct pst_peer *peer = &psi.peers[place];
	uintptr_t at = (uintptr_t)addr;
	void *here = PSI_LIKELY(nbytes <= peer->size_bytes && at - peer->base <= peer->size_bytes - nbytes)
		? (void *)(at + peer->offset) : psi_reach_unmapped(place, addr, nbytes, call);

	return PSI_UNLIKELY(psi_ways_masked & way) ? NULL : here;
}

#endif
