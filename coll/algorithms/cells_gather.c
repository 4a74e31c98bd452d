/* Gather by cells: each member fills with its block, the root reads all. */
#include "coll/algorithms.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static uint64_t
gather_phases(const struct pcoll_call *call)
{
	return pcoll_pieces(call->len_bytes, PSI_CELL_ROOM_BYTES);
}

static size_t
gather_cell_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return pcoll_piece_bytes(call->len_bytes, PSI_CELL_ROOM_BYTES, phase);
}

static bool
gather_fills(const struct pcoll_call *call, gex_Rank_t rank)
{
	return rank != call->root;
}

static enum pcoll_cells_reads
gather_reads(const struct pcoll_call *call, gex_Rank_t rank)
{
	return rank == call->root ? PCOLL_READS_OTHERS : PCOLL_READS_NONE;
}

static char *
block_of(const struct pcoll_call *call, gex_Rank_t from)
{
	return (char *)call->dst + from * call->len_bytes;
}

static void
gather_begin(const struct pcoll_call *call)
{
	if (call->tm->rank == call->root && block_of(call, call->root) != call->src)
		psi_copy(block_of(call, call->root), call->src, call->len_bytes);
}

static void
gather_fill(const struct pcoll_call *call, uint64_t phase, unsigned char *cell,
            struct psi_distance *distance)
{
	pcoll_cells_copy(distance, cell, (const char *)call->src + phase * PSI_CELL_ROOM_BYTES,
	                 gather_cell_bytes(call, phase));
}

static void
gather_read(const struct pcoll_call *call, uint64_t phase, gex_Rank_t from,
            const unsigned char *cell)
{
	psi_copy(block_of(call, from) + phase * PSI_CELL_ROOM_BYTES, cell,
	         gather_cell_bytes(call, phase));
}

const struct pcoll_cells_kind pcoll_cells_gather = {
	.operation = PCOLL_GATHER, .name = "cells",
	.summary = "each member copies to shared memory, the root from it",
	.phases = gather_phases, .cell_bytes = gather_cell_bytes, .fills = gather_fills,
	.reads = gather_reads, .begin = gather_begin, .fill = gather_fill, .read = gather_read,
};
