/* Exchange by cells: each member fills with a piece of each block, and reads from each its own. */
#include "coll/algorithms.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

/* Of a block, in one phase.  A cell has none for its own member. */
static size_t
piece_most(const struct pcoll_call *call)
{
	return PSI_CELL_ROOM_BYTES / (call->tm->size - 1);
}

/* Which of the pieces in a cell of `from' is that for `to'. */
static size_t
piece_index(gex_Rank_t from, gex_Rank_t to)
{
	return to - (to > from);
}

static uint64_t
exchange_phases(const struct pcoll_call *call)
{
	return piece_most(call) ? pcoll_pieces(call->len_bytes, piece_most(call)) : 0;
}

static size_t
piece_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return pcoll_piece_bytes(call->len_bytes, piece_most(call), phase);
}

static size_t
exchange_cell_bytes(const struct pcoll_call *call, uint64_t phase)
{
	return piece_bytes(call, phase) * (call->tm->size - 1);
}

static bool
exchange_fills(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return true;
}

static enum pcoll_cells_reads
exchange_reads(const struct pcoll_call *call, gex_Rank_t rank)
{
	(void)call, (void)rank;
	return PCOLL_READS_OTHERS;
}

static void
exchange_begin(const struct pcoll_call *call)
{
	const size_t own = call->tm->rank * call->len_bytes;

	psi_copy((char *)call->dst + own, (const char *)call->src + own, call->len_bytes);
}

static void
exchange_fill(const struct pcoll_call *call, uint64_t phase, unsigned char *cell,
              struct psi_distance *distance)
{
	const size_t len_bytes = piece_bytes(call, phase);
	const char *at = (const char *)call->src + phase * piece_most(call);
	const gex_Rank_t own = call->tm->rank;

	for (gex_Rank_t to = 0; to < call->tm->size; to++)
		if (to != own)
			pcoll_cells_copy(distance, cell + piece_index(own, to) * len_bytes,
			                 at + to * call->len_bytes, len_bytes);
}

static void
exchange_read(const struct pcoll_call *call, uint64_t phase, gex_Rank_t from,
              const unsigned char *cell)
{
	const size_t len_bytes = piece_bytes(call, phase);

	psi_copy((char *)call->dst + from * call->len_bytes + phase * piece_most(call),
	         cell + piece_index(from, call->tm->rank) * len_bytes, len_bytes);
}

const struct pcoll_cells_kind pcoll_cells_exchange = {
	.operation = PCOLL_EXCHANGE, .name = "cells",
	.summary = "each member copies to shared memory, and from it what others have for it",
	.phases = exchange_phases, .cell_bytes = exchange_cell_bytes, .fills = exchange_fills,
	.reads = exchange_reads, .begin = exchange_begin, .fill = exchange_fill,
	.read = exchange_read,
};
