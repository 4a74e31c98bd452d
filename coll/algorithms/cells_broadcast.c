/* Broadcast by cells: the root fills, all others read. */
#include "coll/algorithms.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static uint64_t
broadcast_phases(const struct pcoll_call *call)
{
	return pcoll_pieces(call->len_bytes, PSI_CELL_ROOM_BYTES);
}

static size_t
broadcast_cell_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return pcoll_piece_bytes(call->len_bytes, PSI_CELL_ROOM_BYTES, phase);
}

static bool
broadcast_fills(const struct pcoll_call *call, gex_Rank_t rank)
{
	return rank == call->root;
}

static enum pcoll_cells_reads
broadcast_reads(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return PCOLL_READS_ROOT;
}

static void
broadcast_begin(const struct pcoll_call *call)
{
	if (call->tm->rank == call->root && call->dst != call->src)
		psi_copy(call->dst, call->src, call->len_bytes);
}

static void
broadcast_fill(const struct pcoll_call *call, uint64_t phase, unsigned char *cell,
               struct psi_distance *distance)
{
	pcoll_cells_copy(distance, cell, (const char *)call->src + phase * PSI_CELL_ROOM_BYTES,
	                 broadcast_cell_bytes(call, phase));
}

static void
broadcast_read(const struct pcoll_call *call, uint64_t phase, gex_Rank_t from,
               const unsigned char *cell)
{
	(void)from;
	psi_copy((char *)call->dst + phase * PSI_CELL_ROOM_BYTES, cell,
	         broadcast_cell_bytes(call, phase));
}

const struct pcoll_cells_kind pcoll_cells_broadcast = {
	.operation = PCOLL_BROADCAST, .name = "cells",
	.summary = "the root copies to shared memory, each member from it",
	.phases = broadcast_phases, .cell_bytes = broadcast_cell_bytes, .fills = broadcast_fills,
	.reads = broadcast_reads, .begin = broadcast_begin, .fill = broadcast_fill,
	.read = broadcast_read,
};
