/*
 * Calls with lists of lengths, by cells.  A member knows the lengths of the blocks that it has and
 * of those that it wants, and not all of the others'.  So such a call takes one phase, whatever the
 * lengths.  A cell has all blocks of its member, one behind the other.  Where there is one for each
 * reader, a table of their ends follows.
 *
 * What does not fit into a room goes by messages, and the cell says so.  These are the *remainder*:
 * an operation of the engine with the number of the call.  In a gather, the root and those members
 * make it whose cells say so; in the other operations every reader of such a cell, and its owner,
 * which are all members.  It begins with no meeting: cells bound how far members are apart.
 */
#include "coll/cells_piece.h"
#include "coll/differ.h"

#include <stdlib.h>

/* A bit of the length of all blocks: they go by messages. */
#define BY_MESSAGES ((uint64_t)1 << 63)

/* The end of a block in a room. */
typedef uint16_t block_end;
_Static_assert(PSI_CELL_ROOM_BYTES <= UINT16_MAX, "it is the end of any block");

/* A block of this member, in one of its buffers; `at' may be any if there are no bytes. */
struct block {
	char *at;
	size_t len_bytes;
};

static size_t
listed_at(const struct pcoll_counts *list, gex_Rank_t rank)
{
	size_t at = 0;

	if (list->displs)
		return list->displs[rank];
	for (gex_Rank_t before = 0; before < rank; before++)
		at += pcoll_counts_bytes(list, before);
	return at;
}

static struct block
block_listed(const struct pcoll_counts *list, const void *buffer, gex_Rank_t rank)
{
	return (struct block){ (char *)((uintptr_t)buffer + listed_at(list, rank)),
		               pcoll_counts_bytes(list, rank) };
}

/* What this member has for `to'. */
static size_t
given_to_bytes(const struct cells_op *op, gex_Rank_t to)
{
	return op->kind->src_blocks ? pcoll_counts_bytes(&op->call->src_counts, to)
	                            : op->call->len_bytes;
}

/* What it has for itself. */
static struct block
block_of_own(const struct pcoll_cells *cells, const struct cells_op *op)
{
	const struct pcoll_call *call = op->call;

	return op->kind->src_blocks
	               ? block_listed(&call->src_counts, call->src, cells->rank)
	               : (struct block){ (char *)(uintptr_t)call->src, call->len_bytes };
}

/* Where it puts what `from' has for it. */
static struct block
block_wanted(const struct cells_op *op, gex_Rank_t from)
{
	const struct pcoll_call *call = op->call;

	return op->kind->dst_blocks ? block_listed(&call->dst_counts, call->dst, from)
	                            : (struct block){ (char *)call->dst, call->len_bytes };
}

static bool
cell_has(const struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t to)
{
	return to != cells->rank || op->kind->own_piece || !op->kind->src_blocks;
}

/* -- cells ------------------------------------------------------------------------------------- */

static gex_Rank_t
blocks_in_cell(const struct pcoll_cells *cells, const struct cells_op *op)
{
	return op->kind->src_blocks ? cells->size : 1;
}

/* Where the table is, behind so many bytes. */
static size_t
table_at(size_t all_bytes)
{
	return (all_bytes + sizeof(block_end) - 1) / sizeof(block_end) * sizeof(block_end);
}

static size_t
cell_bytes(const struct pcoll_cells *cells, const struct cells_op *op, size_t all_bytes)
{
	return table_at(all_bytes) +
	       (op->kind->src_blocks ? cells->size * sizeof(block_end) : 0);
}

/* The length of all blocks, and whether they do not fit. */
static uint64_t
given_bytes(const struct pcoll_cells *cells, const struct cells_op *op)
{
	uint64_t all_bytes = 0;
	bool fit = true;

	for (gex_Rank_t to = 0; to < blocks_in_cell(cells, op); to++) {
		const size_t len_bytes =
			cell_has(cells, op, to) ? given_to_bytes(op, to) : 0;

		fit = fit && len_bytes <= PSI_CELL_ROOM_BYTES;
		all_bytes += len_bytes;
	}
	fit = fit && cell_bytes(cells, op, all_bytes) <= PSI_CELL_ROOM_BYTES;
	return fit ? all_bytes : (all_bytes & (BY_MESSAGES - 1)) | BY_MESSAGES;
}

void
pcoll_cells_blocks_fill(struct pcoll_cells *cells, struct cells_op *op)
{
	struct psi_cell_line *line = &cells->own->line[cells->filled % PSI_CELLS];
	const uint64_t all_bytes = given_bytes(cells, op);
	const size_t *displs = op->kind->src_blocks ? op->call->src_counts.displs : NULL;
	unsigned char *cell = line->listed.bytes;
	block_end end = 0, *table;
	size_t packed = 0;

	line->listed.all_bytes = all_bytes;
	if (all_bytes & BY_MESSAGES) {
		op->has_remainder = true;
		return;
	}
	if (cell_bytes(cells, op, all_bytes) > sizeof line->listed.bytes)
		cell = pcoll_cells_room(cells, cells->rank, cells->filled);
	table = (block_end *)(void *)(cell + table_at(all_bytes));
	for (gex_Rank_t to = 0; to < blocks_in_cell(cells, op); to++) {
		const size_t len_bytes = given_to_bytes(op, to);
		const size_t at = displs ? displs[to] : packed;

		if (cell_has(cells, op, to) && len_bytes) {
			piece_give(cells, cell + end, (const char *)op->call->src + at, len_bytes);
			end = (block_end)(end + len_bytes);
		}
		packed += len_bytes;
		if (op->kind->src_blocks)
			table[to] = end;
	}
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Puts the block of `from' on the list of those that the root of a gather takes by messages. */
static void
remainder_list_add(const struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from)
{
	const struct block wanted = block_wanted(op, from);

	if (!op->remainder_list)
		op->remainder_list = calloc((size_t)2 * cells->size, sizeof *op->remainder_list);
	if (!op->remainder_list)
		psi_fatal("no memory for collectives of a team of %u", cells->size);
	op->remainder_list[from] = wanted.len_bytes;
	op->remainder_list[cells->size + from] = (size_t)(wanted.at - (char *)op->call->dst);
}

static void
block_take(const struct cells_op *op, struct block wanted, const unsigned char *bytes)
{
	if (piece_is_combined(op))
		pcoll_combine(&op->call->reduction, bytes, wanted.at, wanted.at, wanted.len_bytes);
	else
		piece_copy(wanted.at, bytes, wanted.len_bytes);
}

void
pcoll_cells_block_read(struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from)
{
	const struct psi_cell_line *line = cells_line_read(cells, from);
	const uint64_t all_bytes = line->listed.all_bytes;
	const bool fits = !(all_bytes & BY_MESSAGES);
	const struct block wanted = block_wanted(op, from);
	const unsigned char *cell = line->listed.bytes;
	const block_end *table;
	size_t begin = 0, end = all_bytes & ~BY_MESSAGES;

	if (fits && cell_bytes(cells, op, all_bytes) > sizeof line->listed.bytes)
		cell = pcoll_cells_room(cells, from, cells->taken);
	if (fits && op->kind->src_blocks) {
		table = (const block_end *)(const void *)(cell + table_at(all_bytes));
		begin = cells->rank ? table[cells->rank - 1] : 0;
		end = table[cells->rank];
	}
	if (PSI_UNLIKELY(end - begin != wanted.len_bytes && (fits || !op->kind->src_blocks)))
		pcoll_lengths_differ(op->call->what, op->number, from, end - begin, cells->rank,
		                     wanted.len_bytes);
	op->has_remainder = op->has_remainder || !fits;
	if (fits && wanted.len_bytes)
		block_take(op, wanted, cell + begin);
	if (!fits && op->call->what.operation == PCOLL_GATHER)
		remainder_list_add(cells, op, from);
}

void
pcoll_cells_block_copy_own(const struct pcoll_cells *cells, const struct cells_op *op)
{
	const struct block from = block_of_own(cells, op), to = block_wanted(op, cells->rank);

	if (from.len_bytes && from.at != to.at)
		psi_copy(to.at, from.at, from.len_bytes);
}

/* -- the remainder ----------------------------------------------------------------------------- */

/* Meetings that the client asks for are phases of the cells. */
static void
remainder_start(struct pcoll_cells *cells, struct cells_op *op)
{
	struct pcoll_call remainder;

	pcoll_call_copy(&remainder, op->call);
	remainder.in_all = remainder.out_all = false;
	remainder.is_remainder = true;
	remainder.remainder_of = op->number;
	if (op->remainder_list) {
		remainder_list_add(cells, op, cells->rank);     /* its own is in each gather */
		remainder.dst_counts = (struct pcoll_counts){ op->remainder_list,
			                                 op->remainder_list + cells->size, 1 };
	}
	pcoll_op_start(&remainder, &op->remainder, &op->remainder_use);
	free(op->remainder_list);
	op->remainder_list = NULL;
}

bool
pcoll_cells_remainder_is_over(struct pcoll_cells *cells, struct cells_op *op)
{
	if (PSI_LIKELY(!op->has_remainder))
		return true;
	if (!op->remainder)
		remainder_start(cells, op);
	return pcoll_op_is_finished(op->remainder, op->remainder_use);
}
