/*
 * Direct cells: in place of what src holds, a cell says where src is, and the others read it there,
 * so that a large payload is copied once.  They read by loads where src is in a segment that they
 * have mapped or in their own process, else by the kernel (process_vm_readv).  The call of the
 * member whose src it is ends when all have read.
 *
 * Who only gives has direct cells where src is mapped and so long that one copy is quicker than two
 * which overlap.  In a gather or a scatter of two members whose src is not mapped both may copy
 * (cells_halves.c).
 *
 * A member that cannot read there refuses the phase, and the member whose cell it is then fills its
 * room as well, and no direct cells from the next operation on.
 */
#include "coll/cells_piece.h"

#include "runtime/process/endpoint.h"
#include "runtime/segment/reach.h"
#include "runtime/segment/vm.h"

#include <stdlib.h>

/* What is copied at once, where there is so much. */
enum { BYTES_AT_ONCE = 1024 << 10 };

/* -- filling ----------------------------------------------------------------------------------- */

bool
pcoll_cells_src_is_mapped(const struct pcoll_cells *cells, const struct cells_op *op)
{
	const struct pst_peer *own = &psi.peers[cells->peers[cells->rank].place];
	const size_t len_bytes =
		op->call->len_bytes * (op->kind->src_blocks ? cells->size : 1);

	return cells->all_here || (cells->all_near && len_bytes <= own->size_bytes &&
	                           (uintptr_t)op->call->src - own->base <=
	                                   own->size_bytes - len_bytes);
}

/* Each member waits for the others anyway. */
static bool
all_wait(const struct pcoll_cells_kind *kind)
{
	return kind->others.reads == PCOLL_READS_OTHERS ||
	       kind->others.reads == PCOLL_READS_ALL_DOWN;
}

/* Is a block that the others read by loads to be read in src? */
static bool
mapped_is_worth_it(const struct pcoll_cells *cells, const struct cells_op *op)
{
	const size_t least = cells->size == 2 ? op->kind->mapped_least_of_two
	                                      : op->kind->mapped_least;

	return all_wait(op->kind) || (least && op->call->len_bytes >= least);
}

/* Called once for each operation: pcoll_cells_kernel_choose counts its calls. */
bool
pcoll_cells_fills_direct(struct pcoll_cells *cells, const struct cells_op *op)
{
	if (op->call->len_bytes < CELLS_DIRECT_BYTES || cells->is_refused ||
	    psi_way_is_masked(PSI_WAY_GET) || !src_stays(cells, op))
		return false;
	if (pcoll_cells_src_is_mapped(cells, op))
		return mapped_is_worth_it(cells, op);
	return (all_wait(op->kind) || op->is_one_way) && pcoll_cells_kernel_choose(cells, op);
}

void
pcoll_cells_fill_direct(struct pcoll_cells *cells, const struct cells_op *op)
{
	struct psi_cell_line *line = &cells->own->line[cells->filled % PSI_CELLS];

	if (!cells->all_here)
		pcoll_cells_card_show(cells);
	line->direct.src = (uintptr_t)op->call->src;
	line->direct.gap_ticks = op->gap_ticks;
	atomic_store_explicit(&line->direct.copied, 0, memory_order_relaxed);
}

/* -- reading ----------------------------------------------------------------------------------- */

/* What is read in this phase: all of src can be, so pieces are read together, and none in the
 * phases that follow.  Operands are not, since those of members with rooms come piece by piece. */
static struct cells_piece
piece_at_once(const struct cells_op *op, uint64_t phase)
{
	const size_t most = op->piece_bytes;
	const size_t together = BYTES_AT_ONCE > most ? BYTES_AT_ONCE / most : 1;
	struct cells_piece piece = phase_piece(op, phase);
	size_t left = op->call->len_bytes - piece.at;

	if (op->kind->combines)
		return piece;
	if ((phase - op->call->in_all) % together)
		return (struct cells_piece){ 0, 0 };
	piece.len_bytes = left < together * most ? left : together * most;
	return piece;
}

/* Memory of a peer as it is seen here; NULL: it is not. */
static const void *
peer_bytes(const struct peer *peer, uintptr_t at, size_t len_bytes)
{
	const struct pst_peer *mapped = &psi.peers[peer->place];

	if (peer->is_here)
		return (const void *)at;
	if (len_bytes <= mapped->size_bytes && at - mapped->base <= mapped->size_bytes - len_bytes)
		return (const void *)(at + mapped->offset);
	return NULL;
}

static unsigned char *
bounce_of(struct pcoll_cells *cells)
{
	if (!cells->bounce)
		cells->bounce = aligned_alloc(64, PSI_CELL_ROOM_BYTES);
	if (!cells->bounce)
		psi_fatal("no memory for collectives of a team of %u", cells->size);
	return cells->bounce;
}

/* Where that peer's block for this member begins, at its owner. */
static uintptr_t
block_at(const struct pcoll_cells *cells, const struct cells_op *op, uintptr_t src)
{
	return src + (op->kind->src_blocks ? cells->rank * op->call->len_bytes : 0);
}

/* Is it seen here?  Then its owner seldom helps: only where other blocks of its src are not. */
static bool
peer_src_is_mapped(const struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from,
                   uintptr_t src)
{
	return peer_bytes(&cells->peers[from], block_at(cells, op, src), op->call->len_bytes) !=
	       NULL;
}

/* False: the kernel does not read there. */
static bool
piece_read(struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from,
           struct cells_piece piece, uintptr_t src)
{
	const struct peer *peer = &cells->peers[from];
	const uintptr_t at = block_at(cells, op, src) + piece.at;
	const void *bytes = peer_bytes(peer, at, piece.len_bytes);
	const gex_Rank_t rank = psi_jobrank_of(peer->place);
	/* between two members dst may be src, which holds the own operand */
	const bool bounces =
		piece_is_combined(op) || (op->kind->combines && cells->size == 2);
	void *to;

	if (bytes) {
		op->by_loads = true;
		piece_take(op, from, piece, bytes);
		return true;
	}
	if (!psi_vm_probe(rank, &peer->cells->card))
		return false;
	to = bounces ? (void *)bounce_of(cells) : dst_block(op, from) + piece.at;
	if (!psi_vm_read(rank, to, (const void *)at, piece.len_bytes))
		return false;
	if (bounces)
		piece_take(op, from, piece, to);
	else
		op->first_operand = to;         /* of a reduction: it is in dst already */
	return true;
}

bool
pcoll_cells_read_direct(struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from)
{
	const uint64_t phase = cells->taken - op->first, mark = cells->taken + 1;
	struct peer *peer = &cells->peers[from];
	const struct psi_cell_line *line = cells_line_read(cells, from);
	_Atomic uint64_t *refused = &cells->peers[cells->rank].cells->refused;
	const unsigned char *room;
	struct cells_piece piece;
	uint64_t copied;

	if (op->has_offered && peer_src_is_mapped(cells, op, from, line->direct.src)) {
		if (!pcoll_cells_halves_withdraw(cells))
			return false;
		op->has_offered = false;
	}
	if (!peer->is_out_of_reach && op->has_offered && phase == op->call->in_all) {
		const enum pcoll_halves halves =
			pcoll_cells_halves_read(cells, op, line->direct.src);

		if (halves != PCOLL_HALVES_REFUSED)
			return halves == PCOLL_HALVES_READ;
		peer->is_out_of_reach = true;
	}
	if (!peer->is_out_of_reach) {
		piece = piece_at_once(op, phase);
		if (!piece.len_bytes || piece_read(cells, op, from, piece, line->direct.src))
			return true;
		peer->is_out_of_reach = true;
	}
	if (op->has_offered && !pcoll_cells_halves_withdraw(cells))
		return false;
	copied = atomic_load_explicit(&line->direct.copied,
	                              memory_order_acquire); /* V8: acquire, from V7 in
	                                                      * phase_copy */
	if (copied == mark) {
		piece = phase_piece(op, phase);
		room = pcoll_cells_room(cells, from, cells->taken);
		piece_take(op, from, piece, piece_in_cell(cells, op, from, piece, room));
		return true;
	}
	if (atomic_load_explicit(refused, memory_order_relaxed) != mark) {
		atomic_store_explicit(refused, mark, memory_order_relaxed);
		cells->has_refused = true;
	}
	return false;
}

/* -- what others refuse, or have not read ------------------------------------------------------ */

static const struct cells_op *
op_of_phase(const struct pcoll_cells *cells, uint64_t phase)
{
	const struct cells_op *op = cells->oldest;

	while (op && phase - op->first >= op->phases)
		op = op->next;
	return op;
}

/* Fills the room of a direct cell, once.  False: the cell is not filled yet. */
static bool
phase_copy(struct pcoll_cells *cells, uint64_t phase)
{
	struct psi_cell_line *line =
		&cells->peers[cells->rank].cells->line[phase % PSI_CELLS];
	const struct cells_op *op;

	if (phase >= cells->filled)
		return false;
	op = op_of_phase(cells, phase);
	if (!op || !op->is_direct || phase_is_sync(op, phase - op->first) ||
	    atomic_load_explicit(&line->direct.copied, memory_order_relaxed) == phase + 1)
		return true;
	pieces_fill(cells, op, phase_piece(op, phase - op->first),
	            pcoll_cells_room(cells, cells->rank, phase));
	cells->is_refused = true;
	atomic_store_explicit(&line->direct.copied, phase + 1,
	                      memory_order_release); /* V7: release, to V8 in
	                                              * pcoll_cells_read_direct */
	return true;
}

/* True: something has been copied. */
static bool
offer_answer(struct pcoll_cells *cells)
{
	const uint64_t phase = cells->size == 2 ? pcoll_cells_halves_phase(cells) : UINT64_MAX;
	const struct cells_op *op;

	if (phase >= cells->filled)
		return false;
	op = op_of_phase(cells, phase);
	return op && op->is_direct && op->is_one_way && pcoll_cells_halves_help(cells, op);
}

bool
pcoll_cells_answer(struct pcoll_cells *cells)
{
	bool changed = offer_answer(cells);

	for (gex_Rank_t rank = 0; rank < cells->size; rank++) {
		struct peer *peer = &cells->peers[rank];
		const uint64_t mark =
			atomic_load_explicit(&peer->cells->refused, memory_order_relaxed);

		if (rank == cells->rank || mark == peer->answered || !phase_copy(cells, mark - 1))
			continue;
		peer->answered = mark;
		changed = true;
	}
	return changed;
}
