/*
 * Cost: the root receives n - 1 blocks, one from each.
 * Wins: nothing is sent twice.  Scratch memory: about 236 bytes for each member of the team.
 */
#include "coll/algorithms.h"

#include "runtime/team/team.h"

static void
gather_start(struct pcoll_op *op)
{
	const struct pcoll_call *call = &op->call;
	const gex_Rank_t size = call->tm->size, rank = call->tm->rank;

	pcoll_direct_start(op);
	pcoll_direct_send(op, call->root, call->src);
	for (gex_Rank_t i = 0; rank == call->root && i < size; i++)
		pcoll_direct_receive(op, i, (char *)call->dst + i * call->len_bytes);
}

const struct pcoll_algorithm pcoll_gather_direct = {
	.operation = PCOLL_GATHER, .name = "direct", .summary = "each sends its block to the root",
	.scratch_bytes = pcoll_direct_bytes, .start = gather_start, .step = pcoll_direct_step,
};
