/*
 * Reductions by cells: each member fills with a piece of its vector, and the root, or each member,
 * combines those of all.  They are combined from the highest rank down, so that the order is that
 * of the ranks and the bits are the same on all members.
 */
#include "coll/cells_list.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

/* The own cell has what src had, which dst may have overwritten. */
static void
reduce_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
            const unsigned char *cell)
{
	const struct pcoll_reduction *reduction = &call->reduction;
	char *out = (char *)call->dst + piece.at;

	if (from == call->tm->size - 1)
		psi_copy(out, cell, piece.len_bytes);
	else
		reduction->combine(cell, out, piece.len_bytes / reduction->elem_bytes,
		                   reduction->cdata);
}

const struct pcoll_cells_kind pcoll_cells_reduce_to_one = {
	.operation = PCOLL_REDUCE_TO_ONE,
	.root = { true, PCOLL_READS_ALL_DOWN }, .others = { true, PCOLL_READS_NONE },
	.fill = pcoll_cells_fill_src, .read = reduce_read,
};

const struct pcoll_cells_kind pcoll_cells_reduce_to_all = {
	.operation = PCOLL_REDUCE_TO_ALL,
	.root = { true, PCOLL_READS_ALL_DOWN }, .others = { true, PCOLL_READS_ALL_DOWN },
	.fill = pcoll_cells_fill_src, .read = reduce_read, .split = pcoll_cells_reduce_split,
};
