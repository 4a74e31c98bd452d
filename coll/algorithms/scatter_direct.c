/*
 * Cost: the root sends n - 1 blocks, one to each.
 * Wins: nothing is sent twice.  Scratch memory: about 236 bytes for each member of the team.
 */
#include "coll/algorithms.h"

#include "runtime/team/team.h"

static void
scatter_start(struct pcoll_op *op)
{
	const struct pcoll_call *call = &op->call;
	const gex_Rank_t size = call->tm->size, rank = call->tm->rank;

	pcoll_direct_start(op);
	for (gex_Rank_t i = 0; rank == call->root && i < size; i++)
		pcoll_direct_send(op, i, (const char *)call->src + i * call->len_bytes);
	pcoll_direct_receive(op, call->root, call->dst);
}

const struct pcoll_algorithm pcoll_scatter_direct = {
	.operation = PCOLL_SCATTER, .name = "direct", .summary = "the root sends each its block",
	.scratch_bytes = pcoll_direct_bytes, .start = scatter_start, .step = pcoll_direct_step,
};
