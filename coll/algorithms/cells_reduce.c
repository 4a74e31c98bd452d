/*
 * Reductions by cells: each member fills with a piece of its vector, and the root, or each member,
 * combines those of all.  They are combined from the highest rank down, so that the order is that
 * of the ranks and the bits are the same on all members.
 */
#include "coll/algorithms.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

/* Of a piece: whole elements. */
static size_t
piece_most(const struct pcoll_call *call)
{
	const size_t elem_bytes = call->reduction.elem_bytes;

	return PSI_CELL_ROOM_BYTES / elem_bytes * elem_bytes;
}

static uint64_t
reduce_phases(const struct pcoll_call *call)
{
	return piece_most(call) ? pcoll_pieces(call->len_bytes, piece_most(call)) : 0;
}

static size_t
reduce_cell_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return pcoll_piece_bytes(call->len_bytes, piece_most(call), phase);
}

static bool
reduce_fills(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return true;
}

static enum pcoll_cells_reads
to_all_reads(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return PCOLL_READS_ALL_DOWN;
}

static enum pcoll_cells_reads
to_one_reads(const struct pcoll_call *call, gex_Rank_t rank)
{
	return rank == call->root ? PCOLL_READS_ALL_DOWN : PCOLL_READS_NONE;
}

static void
reduce_fill(const struct pcoll_call *call, uint64_t phase, unsigned char *cell,
            struct psi_distance *distance)
{
	pcoll_cells_copy(distance, cell, (const char *)call->src + phase * piece_most(call),
	                 reduce_cell_bytes(call, phase));
}

/* The own cell has what src had, which dst may have overwritten. */
static void
reduce_read(const struct pcoll_call *call, uint64_t phase, gex_Rank_t from,
            const unsigned char *cell)
{
	const struct pcoll_reduction *reduction = &call->reduction;
	const size_t len_bytes = reduce_cell_bytes(call, phase);
	char *out = (char *)call->dst + phase * piece_most(call);

	if (from == call->tm->size - 1)
		psi_copy(out, cell, len_bytes);
	else
		reduction->combine(cell, out, len_bytes / reduction->elem_bytes,
		                   reduction->cdata);
}

const struct pcoll_cells_kind pcoll_cells_reduce_to_one = {
	.operation = PCOLL_REDUCE_TO_ONE, .name = "cells",
	.summary = "each member copies to shared memory, the root combines what is there",
	.phases = reduce_phases, .cell_bytes = reduce_cell_bytes, .fills = reduce_fills,
	.reads = to_one_reads, .fill = reduce_fill, .read = reduce_read,
};

const struct pcoll_cells_kind pcoll_cells_reduce_to_all = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "cells",
	.summary = "each member copies to shared memory, and combines what is there",
	.phases = reduce_phases, .cell_bytes = reduce_cell_bytes, .fills = reduce_fills,
	.reads = to_all_reads, .fill = reduce_fill, .read = reduce_read,
};
