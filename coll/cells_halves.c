/*
 * Gather and scatter of a large block between two members, copied by both at once: the reader lets
 * the kernel read the front of it, while the giver lets the kernel write the rest into the reader's
 * dst.  Whoever of the two copies its own block as well has the smaller part.
 *
 * The reader offers the rest, in its shared memory, before it looks for the cell.  One word settles
 * who takes it, so a giver that does not look holds nobody up: the reader then reads that as well.
 *
 * Pairs:  V11 (pcoll_cells_halves_offer) -> V12 (pcoll_cells_halves_help)
 *                                                        where the rest goes, and may be written
 *         V13 (pcoll_cells_halves_help) -> V14 (rest_look)       the rest, before the call ends
 * Wakes:  who has written the rest wakes its reader (cells_step).
 */
#include "coll/cells_piece.h"

#include "runtime/process/endpoint.h"
#include "runtime/segment/reach.h"
#include "runtime/segment/vm.h"

#include "gasnet_tools_time.h"

/* The word of an offer: the phase that it is of, counted from 1, above who has the rest.  Only an
 * offer that is open changes by more than one member. */
enum { REST_OPEN, REST_GIVERS, REST_WRITTEN, REST_READERS, REST_BITS = 2 };

/* Longer blocks go by rooms: the kernel copies the parts in one call each, and nothing else is
 * looked at meanwhile. */
enum { HALVES_MOST_BYTES = 256 << 10 };

/* Parts of 16 that the reader copies; a copy of the own block takes a third of the kernel's. */
enum { SIXTEENTHS = 16, READER_COPIES_OWN = 5, GIVER_COPIES_OWN = 11, FRONT_MULTIPLE = 4096 };

static const struct peer *
other_of(const struct pcoll_cells *cells)
{
	return &cells->peers[1 - cells->rank];
}

bool
pcoll_cells_are_halved(const struct pcoll_cells *cells, const struct cells_op *op)
{
	const struct pcoll_cells_kind *kind = op->kind;
	const size_t len_bytes = op->call->len_bytes;

	return cells->size == 2 && kind->root.fills != kind->others.fills &&
	       kind->src_blocks != kind->dst_blocks && len_bytes >= CELLS_DIRECT_KERNEL_BYTES &&
	       len_bytes <= HALVES_MOST_BYTES && !pcoll_call_has_lists(op->call) &&
	       !other_of(cells)->is_here;
}

/* In a scatter; in a gather the reader does. */
static bool
giver_copies_own(const struct cells_op *op)
{
	return op->kind->src_blocks;
}

static uint64_t
mark_of(const struct cells_op *op)
{
	return (op->first + op->call->in_all + 1) << REST_BITS;
}

/* -- the reader -------------------------------------------------------------------------------- */

static size_t
front_bytes(const struct cells_op *op)
{
	const unsigned parts = giver_copies_own(op) ? GIVER_COPIES_OWN : READER_COPIES_OWN;

	return op->call->len_bytes * parts / SIXTEENTHS / FRONT_MULTIPLE * FRONT_MULTIPLE;
}

void
pcoll_cells_halves_offer(struct pcoll_cells *cells, struct cells_op *op)
{
	struct psi_cells *own = cells->own;

	op->has_offered = true;
	if (!own->card.pid)
		own->card = psi_vm_card_make();
	own->rest_at = front_bytes(op);
	own->rest_dst = (uintptr_t)dst_block(op, 1 - cells->rank) + own->rest_at;
	atomic_store_explicit(&own->rest, mark_of(op) | REST_OPEN,
	                      memory_order_release); /* V11: release, to V12 in
	                                              * pcoll_cells_halves_help */
}

/* Who has the rest: if nobody had it, the reader from now on. */
static unsigned
rest_look(struct pcoll_cells *cells)
{
	uint64_t rest = atomic_load_explicit(&cells->own->rest,
	                                     memory_order_acquire); /* V14: acquire, from V13 in
	                                                             * pcoll_cells_halves_help */

	if (rest % (1 << REST_BITS) != REST_OPEN)
		return rest % (1 << REST_BITS);
	return atomic_compare_exchange_strong_explicit(&cells->own->rest, &rest,
	                                               rest - REST_OPEN + REST_READERS,
	                                               memory_order_relaxed,
	                                               memory_order_relaxed)
	               ? REST_READERS : REST_GIVERS;
}

bool
pcoll_cells_halves_withdraw(struct pcoll_cells *cells)
{
	return rest_look(cells) != REST_GIVERS;
}

enum pcoll_halves
pcoll_cells_halves_read(struct pcoll_cells *cells, struct cells_op *op, uintptr_t src)
{
	const struct peer *giver = other_of(cells);
	const gex_Rank_t rank = psi_jobrank_of(giver->place);
	const size_t front = cells->own->rest_at;
	const char *from = (const char *)src +
	                   (op->kind->src_blocks ? cells->rank * op->call->len_bytes : 0);
	char *to = dst_block(op, 1 - cells->rank);

	if (!op->front_is_read) {
		const uint64_t start = gasnett_ticks_now();

		if (!psi_vm_probe(rank, &giver->cells->card) ||
		    !psi_vm_read(rank, to, from, front))
			return PCOLL_HALVES_REFUSED;
		op->front_is_read = true;
		if (!giver_copies_own(op))
			pcoll_cells_kernel_judge(cells, op, gasnett_ticks_now() - start, front);
	}
	switch (rest_look(cells)) {
	case REST_GIVERS:
		return PCOLL_HALVES_WAIT;
	case REST_WRITTEN:
		return PCOLL_HALVES_READ;
	default:
		return psi_vm_read(rank, to + front, from + front, op->call->len_bytes - front)
		               ? PCOLL_HALVES_READ : PCOLL_HALVES_REFUSED;
	}
}

/* -- the giver --------------------------------------------------------------------------------- */

uint64_t
pcoll_cells_halves_phase(const struct pcoll_cells *cells)
{
	return (atomic_load_explicit(&other_of(cells)->cells->rest, memory_order_relaxed) >>
	        REST_BITS) - 1;
}

bool
pcoll_cells_halves_help(struct pcoll_cells *cells, struct cells_op *op)
{
	const struct peer *reader = other_of(cells);
	const gex_Rank_t rank = psi_jobrank_of(reader->place);
	struct psi_cells *theirs = reader->cells;
	uint64_t rest = atomic_load_explicit(&theirs->rest,
	                                     memory_order_acquire); /* V12: acquire, from V11 in
	                                                             * pcoll_cells_halves_offer */
	const size_t front = theirs->rest_at;
	const uint64_t start = gasnett_ticks_now();
	bool written;

	if (rest != (mark_of(op) | REST_OPEN) || !psi_vm_probe(rank, &theirs->card) ||
	    !atomic_compare_exchange_strong_explicit(&theirs->rest, &rest,
	                                             mark_of(op) | REST_GIVERS,
	                                             memory_order_relaxed, memory_order_relaxed))
		return false;
	written = psi_vm_write(rank, (void *)(uintptr_t)theirs->rest_dst,
	                       src_block(op, 1 - cells->rank) + front,
	                       op->call->len_bytes - front);
	atomic_store_explicit(&theirs->rest, mark_of(op) | (written ? REST_WRITTEN : REST_READERS),
	                      memory_order_release); /* V13: release, to V14 in rest_look */
	op->has_helped = written;
	if (giver_copies_own(op))
		pcoll_cells_kernel_judge(cells, op, gasnett_ticks_now() - start,
		                         op->call->len_bytes - front);
	return true;
}

/* A giver that copies its own block can judge only what it has copied. */
void
pcoll_cells_halves_end(struct pcoll_cells *cells, const struct cells_op *op)
{
	if (giver_copies_own(op) && !op->has_helped)
		pcoll_cells_kernel_judge(cells, op, UINT32_MAX, op->call->len_bytes);
}
