/*
 * Which bytes of a call a phase moves, and where they lie in the buffers of this member, for the
 * files that move them: cells_fill.c, cells_read.c, cells_direct.c and cells_blocks.c; and whether
 * src keeps them, for cells_start.c and cells_direct.c.
 */
#ifndef PCOLL_CELLS_PIECE_H
#define PCOLL_CELLS_PIECE_H

#include "coll/cells_side.h"
#include "coll/combine.h"

#include "runtime/team/team.h"

#include "runtime/util/copy.h"

#include <string.h>

/* The bytes of a vector or block that one phase moves. */
struct cells_piece {
	size_t at, len_bytes;
};

/* The most that a cell holds without a room. */
static inline size_t
line_most(const struct pcoll_cells_kind *kind)
{
	return kind->names_reader ? PSI_CELL_NAMED_BYTES : PSI_CELL_MORE_BYTES;
}

/* Where a cell has so many bytes that need no room. */
static inline unsigned char *
line_contents(const struct psi_cell_line *line, size_t len_bytes)
{
	const uintptr_t at = len_bytes <= PSI_CELL_LINE_BYTES
	                             ? offsetof(struct psi_cell_line, bytes)
	                             : offsetof(struct psi_cell_line, more);

	return (unsigned char *)((uintptr_t)line + at);
}

static inline size_t
pieces_in_cell(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	return kind->src_blocks ? call->tm->size - !kind->own_piece : 1;
}

/* Between two members, half a room: the first piece is read sooner.  Where members share CPUs, each
 * piece may cost a turn (docs/performance.md, Collectives by the targets). */
enum { PIECE_OF_TWO_BYTES = PSI_CELL_ROOM_BYTES / 2 };

/* All bytes if they fit, so that small operations divide nothing.  A reduction's pieces have whole
 * elements. */
static inline size_t
piece_most(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	const size_t in_cell = pieces_in_cell(call, kind), len_bytes = call->len_bytes;
	const size_t elem_bytes = call->reduction.elem_bytes;
	size_t most;

	if (len_bytes <= PSI_CELL_ROOM_BYTES && len_bytes * in_cell <= PSI_CELL_ROOM_BYTES)
		return len_bytes;
	most = PSI_CELL_ROOM_BYTES / in_cell;
	if (call->tm->size == 2 && most > PIECE_OF_TWO_BYTES && elem_bytes <= PIECE_OF_TWO_BYTES)
		most = PIECE_OF_TWO_BYTES;
	return elem_bytes ? most / elem_bytes * elem_bytes : most;
}

/* Phases that are added for the sake of synchronisation carry nothing: each member fills its cell
 * and reads all others'.  Phases are counted from the operation's first. */
static inline bool
phase_is_sync(const struct cells_op *op, uint64_t phase)
{
	return (PSI_UNLIKELY(op->call->in_all) && phase == 0) ||
	       (PSI_UNLIKELY(op->call->out_all) && phase == op->phases - 1);
}

/* Empty where the phase carries nothing. */
static inline struct cells_piece
phase_piece(const struct cells_op *op, uint64_t phase)
{
	const size_t most = op->piece_bytes;
	const size_t at = (size_t)(phase - op->call->in_all) * most;
	const size_t left = op->call->len_bytes - at;

	if (phase_is_sync(op, phase))
		return (struct cells_piece){ 0, 0 };
	return (struct cells_piece){ at, left < most ? left : most };
}

/* What this member has for `to', and where it puts what `from' has for it. */
static inline const char *
src_block(const struct cells_op *op, gex_Rank_t to)
{
	return (const char *)op->call->src + (op->kind->src_blocks ? to * op->call->len_bytes : 0);
}

static inline char *
dst_block(const struct cells_op *op, gex_Rank_t from)
{
	return (char *)op->call->dst + (op->kind->dst_blocks ? from * op->call->len_bytes : 0);
}

static inline bool
ranges_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
	return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/* Does src stay as it is until all have read it, although this member writes its dst? */
static inline bool
src_stays(const struct pcoll_cells *cells, const struct cells_op *op)
{
	const struct pcoll_cells_kind *kind = op->kind;
	const size_t len_bytes = op->call->len_bytes;
	const bool only_gives = op->role.reads == PCOLL_READS_NONE;

	if (only_gives && !op->role.copies_own)
		return true;    /* it has no dst */
	if (src_block(op, cells->rank) == dst_block(op, cells->rank) &&
	    (only_gives || (kind->dst_blocks && !kind->src_blocks)))
		return true;    /* in place: nothing comes to its own block */
	return !ranges_overlap(op->call->src, len_bytes * (kind->src_blocks ? cells->size : 1),
	                       op->call->dst, len_bytes * (kind->dst_blocks ? cells->size : 1));
}

/* Is the operand that is read now combined with those before it? */
static inline bool
piece_is_combined(const struct cells_op *op)
{
	return op->kind->combines && op->reads > 0;
}

/* Most pieces are one word. */
static inline void
piece_copy(void *to, const void *from, size_t len_bytes)
{
	if (PSI_LIKELY(len_bytes == sizeof(uint64_t)))
		memcpy(to, from, sizeof(uint64_t));
	else
		psi_copy(to, from, len_bytes);
}

/* The first operand is of the highest rank of those that are read.  It stays where it is until the
 * second is read.  That of a call in lines is copied at once: a record may be moved before the
 * second is read (plain_keep), and the own line leaves this CPU's cache when others read it. */
static inline void
operand_take(struct cells_op *op, struct cells_piece piece, const void *bytes, void *out)
{
	if (op->reads)
		pcoll_combine(&op->call->reduction, bytes,
		              op->reads == 1 && op->keeps_first ? op->first_operand : out, out,
		              piece.len_bytes);
	else if (op->keeps_first && !op->first_is_only)
		op->first_operand = bytes;
	else if (bytes != out)
		piece_copy(out, bytes, piece.len_bytes);
}

/* Puts a piece of `from' where it goes. */
static inline void
piece_take(struct cells_op *op, gex_Rank_t from, struct cells_piece piece, const void *bytes)
{
	char *out = dst_block(op, from) + piece.at;

	if (op->kind->combines)
		operand_take(op, piece, bytes, out);
	else
		piece_copy(out, bytes, piece.len_bytes);
}

/* Copies what others will read to a cell's line or room. */
static inline void
piece_give(struct pcoll_cells *cells, unsigned char *cell, const void *from, size_t len_bytes)
{
	if (PSI_LIKELY(len_bytes <= PSI_CELL_LINE_BYTES))
		piece_copy(cell, from, len_bytes);
	else
		psi_distance_copy(&cells->distance, psi_copy_owning, psi_copy_far, cell, from,
		                  len_bytes);
}

/* Fills a cell's line or room with the pieces of this member. */
static inline void
pieces_fill(struct pcoll_cells *cells, const struct cells_op *op, struct cells_piece piece,
            unsigned char *cell)
{
	const gex_Rank_t last = op->kind->src_blocks ? cells->size - 1 : 0;

	for (gex_Rank_t to = 0; to <= last; to++) {
		if (op->kind->src_blocks && to == cells->rank && !op->kind->own_piece)
			continue;
		piece_give(cells, cell, src_block(op, to) + piece.at, piece.len_bytes);
		cell += piece.len_bytes;
	}
}

/* The piece for this member in a cell of another, or of its own. */
static inline const unsigned char *
piece_in_cell(const struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from,
              struct cells_piece piece, const unsigned char *cell)
{
	const gex_Rank_t rank = cells->rank;

	if (!op->kind->src_blocks)
		return cell;
	return cell + (op->kind->own_piece ? rank : rank - (rank > from)) * piece.len_bytes;
}

#endif
