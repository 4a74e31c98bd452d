/*
 * A gather or a scatter of a large block between two members, which both copy at once: the reader
 * lets the kernel read the front of it, while the giver lets the kernel write the rest into the
 * reader's dst.
 *
 * The reader offers the rest, in its shared memory, before it looks for the cell.  A word says
 * which of the two copies it.  If the giver does not look, the reader reads the rest as well.
 *
 * Pairs:  V11 (pcoll_cells_halves_offer) -> V12 (pcoll_cells_halves_help)
 *                                                        where the rest goes, and may be written
 *         V13 (pcoll_cells_halves_help) -> V14 (rest_look)       the rest, before the call ends
 * Wakes:  the giver, when it has written the rest, wakes the reader (cells_step).
 */
#include "coll/cells_piece.h"

#include "runtime/process/endpoint.h"
#include "runtime/segment/reach.h"
#include "runtime/segment/vm.h"

#include "gasnet_tools_time.h"

/* The word of an offer has the number of its phase, counted from 1, and in its lowest bits the
 * state of the rest.  Each member may change REST_OPEN; only the giver changes REST_GIVERS. */
enum { REST_OPEN, REST_GIVERS, REST_WRITTEN, REST_READERS, REST_BITS = 2 };

/* Parts of 16 that the reader copies.  The root copies its own block too, and gets the smaller
 * part: it reads in a gather, and gives in a scatter. */
enum {
	SIXTEENTHS = 16,
	READERS_SIXTEENTHS_GATHER = 5,
	READERS_SIXTEENTHS_SCATTER = 10,
	FRONT_MULTIPLE = 4096,
};

static const struct peer *
other_of(const struct pcoll_cells *cells)
{
	return &cells->peers[1 - cells->rank];
}

static uint64_t
mark_of(const struct cells_op *op)
{
	return (op->first + op->call->in_all + 1) << REST_BITS;
}

/* -- the reader -------------------------------------------------------------------------------- */

void
pcoll_cells_halves_offer(struct pcoll_cells *cells, struct cells_op *op)
{
	const size_t sixteenths = op->kind->dst_blocks
		                          ? READERS_SIXTEENTHS_GATHER
		                          : READERS_SIXTEENTHS_SCATTER;
	struct psi_cells *own = cells->own;

	op->has_offered = true;
	op->front_is_read = false;
	pcoll_cells_card_show(cells);
	own->rest_at =
		op->call->len_bytes * sixteenths / SIXTEENTHS / FRONT_MULTIPLE * FRONT_MULTIPLE;
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

/* The longer of both parts counts, and not the waiting: rooms have none in their time either. */
enum pcoll_halves
pcoll_cells_halves_read(struct pcoll_cells *cells, struct cells_op *op, uintptr_t src)
{
	const struct peer *giver = other_of(cells);
	const gex_Rank_t rank = psi_jobrank_of(giver->place);
	const size_t len_bytes = op->call->len_bytes, front = cells->own->rest_at;
	const char *from =
		(const char *)src + (op->kind->src_blocks ? cells->rank * len_bytes : 0);
	char *to = dst_block(op, 1 - cells->rank);
	uint64_t start;
	unsigned rest;

	if (!op->front_is_read) {
		start = gasnett_ticks_now();
		if (!psi_vm_probe(rank, &giver->cells->card) ||
		    !psi_vm_read(rank, to, from, front))
			return PCOLL_HALVES_REFUSED;
		op->front_is_read = true;
		op->read_ticks = gasnett_ticks_now() - start;
	}
	rest = rest_look(cells);
	if (rest == REST_GIVERS)
		return PCOLL_HALVES_WAIT;
	if (rest == REST_WRITTEN) {
		if (op->read_ticks < cells->own->rest_ticks)
			op->read_ticks = cells->own->rest_ticks;
	} else {
		start = gasnett_ticks_now();
		if (!psi_vm_read(rank, to + front, from + front, len_bytes - front))
			return PCOLL_HALVES_REFUSED;
		op->read_ticks += gasnett_ticks_now() - start;
	}
	return PCOLL_HALVES_READ;
}

/* -- the giver --------------------------------------------------------------------------------- */

uint64_t
pcoll_cells_halves_phase(const struct pcoll_cells *cells)
{
	return (atomic_load_explicit(&other_of(cells)->cells->rest, memory_order_relaxed) >>
	        REST_BITS) - 1;
}

bool
pcoll_cells_halves_help(struct pcoll_cells *cells, const struct cells_op *op)
{
	const struct peer *reader = other_of(cells);
	const gex_Rank_t rank = psi_jobrank_of(reader->place);
	struct psi_cells *theirs = reader->cells;
	uint64_t rest = atomic_load_explicit(&theirs->rest,
	                                     memory_order_acquire); /* V12: acquire, from V11 in
	                                                             * pcoll_cells_halves_offer */
	uint64_t start;
	size_t at, len_bytes;
	bool written;

	if (rest != (mark_of(op) | REST_OPEN) || !psi_vm_probe(rank, &theirs->card) ||
	    !atomic_compare_exchange_strong_explicit(&theirs->rest, &rest,
	                                             mark_of(op) | REST_GIVERS,
	                                             memory_order_relaxed, memory_order_relaxed))
		return false;
	at = theirs->rest_at;
	len_bytes = op->call->len_bytes - at;
	start = gasnett_ticks_now();
	written = psi_vm_write(rank, (void *)(uintptr_t)theirs->rest_dst,
	                       src_block(op, 1 - cells->rank) + at, len_bytes);
	theirs->rest_ticks = gasnett_ticks_now() - start;
	atomic_store_explicit(&theirs->rest, mark_of(op) | (written ? REST_WRITTEN : REST_READERS),
	                      memory_order_release); /* V13: release, to V14 in rest_look */
	return true;
}
