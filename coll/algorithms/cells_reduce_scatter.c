/*
 * A reduction whose blocks are scattered, by cells: each member fills with a piece of its operands
 * of each block, its own included, and combines those of its block from the highest rank down.
 */
#include "coll/cells_list.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static void
reduce_scatter_fill(const struct pcoll_call *call, struct pcoll_piece piece, unsigned char *cell,
                    struct psi_distance *distance)
{
	const char *at = (const char *)call->src + piece.at;

	for (gex_Rank_t to = 0; to < call->tm->size; to++)
		pcoll_cells_copy(distance, cell + to * piece.len_bytes, at + to * call->len_bytes,
		                 piece.len_bytes);
}

/* The own operand is in the own cell, since dst may have overwritten it. */
static void
reduce_scatter_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
                    const unsigned char *cell)
{
	const struct pcoll_reduction *reduction = &call->reduction;
	const unsigned char *operand = cell + call->tm->rank * piece.len_bytes;
	char *out = (char *)call->dst + piece.at;

	if (from == call->tm->size - 1)
		psi_copy(out, operand, piece.len_bytes);
	else
		reduction->combine(operand, out, piece.len_bytes / reduction->elem_bytes,
		                   reduction->cdata);
}

const struct pcoll_cells_kind pcoll_cells_reduce_scatter = {
	.operation = PCOLL_REDUCE_SCATTER, .for_each = true, .for_own = true,
	.root = { true, PCOLL_READS_ALL_DOWN }, .others = { true, PCOLL_READS_ALL_DOWN },
	.fill = reduce_scatter_fill, .read = reduce_scatter_read,
};
