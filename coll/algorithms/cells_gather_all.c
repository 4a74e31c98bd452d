/* Gather to all by cells: each member fills with its block and reads the others'. */
#include "coll/algorithms.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static uint64_t
gather_all_phases(const struct pcoll_call *call)
{
	return pcoll_pieces(call->len_bytes, PSI_CELL_ROOM_BYTES);
}

static size_t
gather_all_cell_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return pcoll_piece_bytes(call->len_bytes, PSI_CELL_ROOM_BYTES, phase);
}

static bool
gather_all_fills(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return true;
}

static enum pcoll_cells_reads
gather_all_reads(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return PCOLL_READS_OTHERS;
}

static char *
block_of(const struct pcoll_call *call, gex_Rank_t from)
{
	return (char *)call->dst + from * call->len_bytes;
}

static void
gather_all_begin(const struct pcoll_call *call)
{
	if (block_of(call, call->tm->rank) != call->src)
		psi_copy(block_of(call, call->tm->rank), call->src, call->len_bytes);
}

static void
gather_all_fill(const struct pcoll_call *call, uint64_t phase, unsigned char *cell,
                struct psi_distance *distance)
{
	pcoll_cells_copy(distance, cell, (const char *)call->src + phase * PSI_CELL_ROOM_BYTES,
	                 gather_all_cell_bytes(call, phase));
}

static void
gather_all_read(const struct pcoll_call *call, uint64_t phase, gex_Rank_t from,
                const unsigned char *cell)
{
	psi_copy(block_of(call, from) + phase * PSI_CELL_ROOM_BYTES, cell,
	         gather_all_cell_bytes(call, phase));
}

const struct pcoll_cells_kind pcoll_cells_gather_all = {
	.operation = PCOLL_GATHER_ALL, .name = "cells",
	.summary = "each member copies to shared memory, and from it what others have copied",
	.phases = gather_all_phases, .cell_bytes = gather_all_cell_bytes,
	.fills = gather_all_fills, .reads = gather_all_reads, .begin = gather_all_begin,
	.fill = gather_all_fill, .read = gather_all_read,
};
