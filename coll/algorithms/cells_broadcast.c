/* Broadcast by cells: the root fills, all others read. */
#include "coll/cells_list.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static void
broadcast_begin(const struct pcoll_call *call)
{
	if (call->tm->rank == call->root && call->dst != call->src)
		psi_copy(call->dst, call->src, call->len_bytes);
}

static void
broadcast_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
               const unsigned char *cell)
{
	(void)from;
	psi_copy((char *)call->dst + piece.at, cell, piece.len_bytes);
}

const struct pcoll_cells_kind pcoll_cells_broadcast = {
	.operation = PCOLL_BROADCAST,
	.root = { true, PCOLL_READS_NONE }, .others = { false, PCOLL_READS_ROOT },
	.begin = broadcast_begin, .fill = pcoll_cells_fill_src, .read = broadcast_read,
};
