/*
 * Which cells a member fills, and when it may.
 */
#include "coll/cells_phase.h"

#include "gasnet_tools_time.h"

/* How many phases of the team a member has passed before it may fill: nothing may move before all
 * have called, the end be told before all has moved, or a result be sent before it is there. */
static uint64_t
phase_waits_for(const struct cells_op *op, uint64_t phase)
{
	if (op->call->out_all && phase == op->phases - 1)
		return op->first + phase;
	if (op->call->in_all && phase)
		return op->first + 1;
	return op->results & (PCOLL_CELLS_SENDS_RESULT | PCOLL_CELLS_SENDS_PARTIAL) ? op->first : 0;
}

/* Have all members, itself included, read what its own cell held PSI_CELLS phases ago? */
static bool
cell_is_free(struct pcoll_cells *cells, uint64_t phase)
{
	const uint64_t needed = phase + 1 - PSI_CELLS;
	uint32_t least = UINT32_MAX / 2;

	if (phase - cells->taken >= PSI_CELLS)
		return false;
	if (phase < cells->room_until)
		return true;
	for (gex_Rank_t rank = 0; rank < cells->size; rank++) {
		struct peer *peer = &cells->peers[rank];

		if (rank == cells->rank)
			continue;
		if (!member_taken(peer, (uint32_t)needed))
			return false;
		if (peer->taken - (uint32_t)needed < least)
			least = peer->taken - (uint32_t)needed;
	}
	cells->room_until = phase + 1 + least;
	return true;
}

unsigned char *
pcoll_cells_room(struct pcoll_cells *cells, gex_Rank_t rank, uint64_t phase)
{
	struct peer *peer = &cells->peers[rank];

	if (!peer->room)
		peer->room = rank == cells->rank ? pcoll_cells_make_room(peer->cells, peer->place)
		                                 : pcoll_cells_map_room(peer->cells, peer->place);
	return peer->room + (size_t)(phase % PSI_CELLS) * PSI_CELL_ROOM_BYTES;
}

static void
cell_publish(struct pcoll_cells *cells, const struct cells_op *op, uint64_t phase)
{
	struct psi_cell_line *line = &cells->own->line[phase % PSI_CELLS];

	line->call = op->word;
	atomic_store_explicit(&line->head,
	                      (phase + 1) << CELLS_HEAD_PHASE_AT |
	                              (op->is_direct ? CELLS_HEAD_DIRECT : 0) |
	                              (cells->taken & CELLS_HEAD_TAKEN_MASK),
	                      memory_order_release); /* V1: release, to V2; V3: to V4, both in
	                                              * cell_head */
}

static void
room_fill(struct pcoll_cells *cells, const struct cells_op *op, struct cells_piece piece,
          struct psi_cell_line *line)
{
	unsigned char *room = pcoll_cells_room(cells, cells->rank, cells->filled);
	const uint64_t start = op->pace ? gasnett_ticks_now() : 0;

	pieces_fill(cells, op, piece, room);
	if (op->pace) {
		line->room.filled_ticks = gasnett_ticks_now() - start;
		line->room.gap_ticks = op->gap_ticks;
	}
}

/* Into its lines what fits there. */
static void
cell_fill(struct pcoll_cells *cells, const struct cells_op *op, struct cells_piece piece)
{
	const size_t bytes = piece.len_bytes * op->in_cell;
	struct psi_cells *own = cells->peers[cells->rank].cells;
	struct psi_cell_line *line = &own->line[cells->filled % PSI_CELLS];

	if (op->kind->names_reader)
		line->named.reader = op->call->target;
	if (op->is_direct)
		pcoll_cells_fill_direct(cells, op);
	else if (bytes <= line_most(op->kind))
		pieces_fill(cells, op, piece, line_contents(line, bytes));
	else
		room_fill(cells, op, piece, line);
}

/* Whole, since a copy of many bytes is faster than its pieces (runtime/util/copy.h). */
void
pcoll_cells_copy_own(const struct pcoll_cells *cells, struct cells_op *op)
{
	const char *own;
	char *to;

	op->owes_own = false;
	if (PSI_UNLIKELY(pcoll_call_has_lists(op->call))) {
		pcoll_cells_block_copy_own(cells, op);
		return;
	}
	own = src_block(op, cells->rank);
	to = dst_block(op, cells->rank);
	if (own != to)
		psi_copy(to, own, op->call->len_bytes);
}

/* Before the first piece. */
static void
op_begin(struct pcoll_cells *cells, struct cells_op *op, struct pcoll_cells_role role)
{
	op->owes_own = role.copies_own;
	pcoll_cells_pace_choose(cells, op);
	op->is_direct = role.fills && cells_op_may_be_direct(op) &&
	                pcoll_cells_fills_direct(cells, op);
	cells->direct += op->is_direct;
}

/* False: it has to wait.  The own block is copied when no cell is free, or before the first phase
 * is read, when sleepers have been woken (cells_step). */
static bool
phase_fill(struct pcoll_cells *cells, struct cells_op *op)
{
	const uint64_t phase = cells->filled - op->first;
	const struct pcoll_cells_role role = phase_role(op, phase);
	const enum pcoll_attempt_end end = attempt_end(op);
	struct cells_piece piece;

	if (end == PCOLL_ATTEMPT_OPEN)
		return false;
	if (end == PCOLL_ATTEMPT_DONE)
		/* no further ahead of others than who fills */
		return cell_is_free(cells, cells->filled);
	if (cells->taken < phase_waits_for(op, phase))
		return false;
	if (role.fills && !cell_is_free(cells, cells->filled)) {
		cells_copy_own(cells, op);
		return false;
	}
	if (phase == op->call->in_all)
		op_begin(cells, op, role);
	if (role.fills) {
		piece = phase_piece(op, phase);
		if (phase_has_lists(op, phase))
			pcoll_cells_blocks_fill(cells, op);
		else if (piece.len_bytes)
			cell_fill(cells, op, piece);
		cell_publish(cells, op, cells->filled);
	}
	return true;
}

bool
pcoll_cells_fill(struct pcoll_cells *cells)
{
	const uint64_t before = cells->filled;

	while (cells->filling && phase_fill(cells, cells->filling)) {
		cells->filled++;
		if (cells->filled == cells->filling->first + cells->filling->phases)
			cells->filling = cells->filling->next;
	}
	return cells->filled != before;
}

bool
pcoll_cells_plain_fill(struct pcoll_cells *cells, struct cells_op *op)
{
	const struct cells_piece piece = { 0, op->call->len_bytes };
	unsigned char *line = line_contents(&cells->own->line[cells->filled % PSI_CELLS],
	                                    piece.len_bytes * pieces_in_cell(op->call, op->kind));

	if (op->role.fills && !cell_is_free(cells, cells->filled))
		return false;
	if (op->role.fills) {
		if (op->kind->src_blocks)
			pieces_fill(cells, op, piece, line);
		else
			piece_copy(line, op->call->src, piece.len_bytes);
		cell_publish(cells, op, cells->filled);
	}
	op->owes_own = op->role.copies_own;
	cells_copy_own(cells, op);
	cells->filled++;
	return true;
}
