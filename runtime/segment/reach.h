/*
 * How this process reaches the memory of a peer's segment.  That is chosen here, once for each
 * segment, when it becomes known:
 *
 *     PSI_BY_MEMORY     loads and stores, where it is mapped here.  psi.peers says where; the
 *                       headers' inlines read that too.
 *     PSI_BY_KERNEL     one copy of the kernel's, where the memory is another process's own and the
 *                       kernel allows it (vm.h).
 *     PSI_BY_OPERATION  operations of the contract.  Each is the conduit's or, by messages, the
 *                       reference's, which was decided when the conduit was opened (conduits.c).
 *
 * PST_TEST_CONDUIT_MASK names kinds of operations that take the last, whatever was chosen.
 */
#ifndef PSI_REACH_H
#define PSI_REACH_H

#include "runtime/process/process.h"
#include "runtime/segment/vm.h"

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

enum psi_road { PSI_BY_OPERATION, PSI_BY_KERNEL, PSI_BY_MEMORY };

/* Reads the setting; during init, before the table of the inlines opens. */
void psi_reach_open(void);

/* Chooses for the segment of a place, as psi.known describes it, and maps it where that is the
 * choice; the segment is gone, and its mapping ends.  One call at a time. */
void psi_reach_choose(uint32_t place);
void psi_reach_lose(uint32_t place);

/* What was chosen, for operations of that kind. */
enum psi_road psi_reach_road(enum psi_way way, uint32_t place);

/* Copies on the road PSI_BY_KERNEL.  False, or 0: not all was copied; an operation has to do it,
 * and does so from now on. */
bool psi_reach_write(uint32_t place, void *dest, const void *src, size_t len_bytes);
bool psi_reach_read(uint32_t place, void *dest, const void *src, size_t len_bytes);
size_t psi_reach_move(uint32_t place, enum psi_vm_way way, const struct psi_vm_pieces *pieces);

void *psi_reach_unmapped(uint32_t place, const void *addr, size_t nbytes, const char *call);

/* The address here of memory of a peer, this process included, or NULL where its road is
 * another.  Ends the job if the bytes, at least one, do not lie in the peer's bound segment. */
static inline void *
psi_reach(enum psi_way way, uint32_t place, const void *addr, size_t nbytes, const char *call)
{
	const struct pst_peer *peer = &psi.peers[place];
	uintptr_t at = (uintptr_t)addr;
	void *here = PSI_LIKELY(nbytes <= peer->size_bytes &&
	                        at - peer->base <= peer->size_bytes - nbytes)
	                     ? (void *)(at + peer->offset)
	                     : psi_reach_unmapped(place, addr, nbytes, call);

	return PSI_UNLIKELY(psi_ways_masked & way) ? NULL : here;
}

/* Memory of a peer that psi_reach was asked for, as the conduit names it. */
struct psi_remote psi_reach_remote(uint32_t place, const void *addr);
/* The owner's side of that: the address behind an offset in the segment of its endpoint. */
void *psi_reach_owned(gex_EP_t ep, uint64_t offset);

#endif
