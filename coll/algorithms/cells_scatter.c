/* Scatter by cells: the root fills with a piece of each block, each member reads its own. */
#include "coll/algorithms.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

/* Of a block, in one phase.  The cell has none for the root. */
static size_t
piece_most(const struct pcoll_call *call)
{
	return PSI_CELL_ROOM_BYTES / (call->tm->size - 1);
}

static size_t
piece_index(const struct pcoll_call *call, gex_Rank_t to)
{
	return to - (to > call->root);
}

static uint64_t
scatter_phases(const struct pcoll_call *call)
{
	return piece_most(call) ? pcoll_pieces(call->len_bytes, piece_most(call)) : 0;
}

static size_t
piece_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return pcoll_piece_bytes(call->len_bytes, piece_most(call), phase);
}

static size_t
scatter_cell_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return piece_bytes(call, phase) * (call->tm->size - 1);
}

static bool
scatter_fills(const struct pcoll_call *call, gex_Rank_t rank)
{
	return rank == call->root;
}

static enum pcoll_cells_reads
scatter_reads(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return PCOLL_READS_ROOT;
}

static const char *
block_of(const struct pcoll_call *call, gex_Rank_t to)
{
	return (const char *)call->src + to * call->len_bytes;
}

static void
scatter_begin(const struct pcoll_call *call)
{
	if (call->tm->rank == call->root && block_of(call, call->root) != call->dst)
		psi_copy(call->dst, block_of(call, call->root), call->len_bytes);
}

static void
scatter_fill(const struct pcoll_call *call, uint64_t phase, unsigned char *cell,
             struct psi_distance *distance)
{
	const size_t len_bytes = piece_bytes(call, phase);

	for (gex_Rank_t to = 0; to < call->tm->size; to++)
		if (to != call->root)
			pcoll_cells_copy(distance, cell + piece_index(call, to) * len_bytes,
			         block_of(call, to) + phase * piece_most(call), len_bytes);
}

static void
scatter_read(const struct pcoll_call *call, uint64_t phase, gex_Rank_t from,
             const unsigned char *cell)
{
	const size_t len_bytes = piece_bytes(call, phase);

	(void)from;
	psi_copy((char *)call->dst + phase * piece_most(call),
	         cell + piece_index(call, call->tm->rank) * len_bytes, len_bytes);
}

const struct pcoll_cells_kind pcoll_cells_scatter = {
	.operation = PCOLL_SCATTER, .name = "cells",
	.summary = "the root copies to shared memory, each member its block from it",
	.phases = scatter_phases, .cell_bytes = scatter_cell_bytes, .fills = scatter_fills,
	.reads = scatter_reads, .begin = scatter_begin, .fill = scatter_fill,
	.read = scatter_read,
};
