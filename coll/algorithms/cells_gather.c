/* Gather by cells: each member fills with its block, and the root, or each member, reads all. */
#include "coll/cells_list.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static char *
block_of(const struct pcoll_call *call, gex_Rank_t from)
{
	return (char *)call->dst + from * call->len_bytes;
}

static void
gather_all_begin(const struct pcoll_call *call)
{
	char *own = block_of(call, call->tm->rank);

	if (own != call->src)
		psi_copy(own, call->src, call->len_bytes);
}

static void
gather_begin(const struct pcoll_call *call)
{
	if (call->tm->rank == call->root)
		gather_all_begin(call);
}

static void
gather_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
            const unsigned char *cell)
{
	psi_copy(block_of(call, from) + piece.at, cell, piece.len_bytes);
}

const struct pcoll_cells_kind pcoll_cells_gather = {
	.operation = PCOLL_GATHER,
	.root = { false, PCOLL_READS_OTHERS }, .others = { true, PCOLL_READS_NONE },
	.begin = gather_begin, .fill = pcoll_cells_fill_src, .read = gather_read,
};

const struct pcoll_cells_kind pcoll_cells_gather_all = {
	.operation = PCOLL_GATHER_ALL,
	.root = { true, PCOLL_READS_OTHERS }, .others = { true, PCOLL_READS_OTHERS },
	.begin = gather_all_begin, .fill = pcoll_cells_fill_src, .read = gather_read,
};
