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

/* The masked kinds; constant after init. */
extern unsigned psi_ways_masked;

/* PST_TEST_COLL_PHASE and PST_TEST_COLL_GROUP; constant after init. */
extern uint64_t psi_first_phase;
extern uint32_t psi_group_members;

static inline bool psi_way_is_masked(enum psi_way way) { return psi_ways_masked & way; }

enum psi_road { PSI_BY_OPERATION, PSI_BY_KERNEL, PSI_BY_MEMORY };

/* Reads the setting; during init, before the table of the inlines opens. */
void psi_reach_open(void);

/* Chooses the road to the segment of a place, which psi.known describes, and maps the segment if
 * that is the choice.  One call of this and the next at a time. */
void psi_reach_choose(uint32_t place);
/* The segment is gone: unmaps it, and operations take the road PSI_BY_OPERATION. */
void psi_reach_lose(uint32_t place);

/* The road that was chosen, or PSI_BY_OPERATION if that kind of operation is masked. */
enum psi_road psi_reach_road(enum psi_way way, uint32_t place);

/* Copy on the road PSI_BY_KERNEL.  False: not all bytes were copied.  The caller then uses an
 * operation, and so do all later transfers to that place. */
bool psi_reach_write(uint32_t place, void *dest, const void *src, size_t len_bytes);
bool psi_reach_read(uint32_t place, void *dest, const void *src, size_t len_bytes);
/* The same of many pieces; returns how many bytes were copied, 0 for false. */
size_t psi_reach_move(uint32_t place, enum psi_vm_direction direction,
                      const struct psi_vm_pieces *pieces);

/* The cold part of psi_reach, for memory outside of what is mapped.  Memory of this process's own
 * segment is reached at its address, published or not; other memory of the peer's segment gives
 * NULL; anything else ends the job. */
void *psi_reach_unmapped(uint32_t place, const void *addr, size_t nbytes, const char *call);

/* The address here of memory of a peer (or of this process); NULL if it is not reached by loads and
 * stores.  nbytes is at least 1.  Ends the job if the bytes do not lie in the peer's bound
 * segment. */
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

/* The conduit's name of that memory: key and offset. */
struct psi_remote psi_reach_remote(uint32_t place, const void *addr);
/* The owner's side: the address of an offset in the segment of its endpoint. */
void *psi_reach_owned(gex_EP_t ep, uint64_t offset);

#endif
