/*
 * Cost: each member sends and receives n - 1 blocks; it begins with the rank above its own.
 * Wins: large blocks: nothing is sent twice.
 */
#include "coll/algorithms.h"

static void
start(struct pcoll_op *op)
{
	const struct pcoll_call *call = &op->call;
	const gex_Rank_t size = call->tm->size, rank = call->tm->rank;

	pcoll_direct_start(op);
	for (gex_Rank_t i = 0; i < size; i++) {
		const gex_Rank_t to = (rank + i) % size, from = (rank + size - i) % size;

		pcoll_direct_send(op, to, call->src);
		pcoll_direct_receive(op, from, (char *)call->dst + from * call->len_bytes);
	}
}

const struct pcoll_algorithm pcoll_gather_all_direct = {
	.operation = PCOLL_GATHER_ALL, .name = "direct", .summary = "each sends its block to each",
	.scratch_bytes = pcoll_direct_bytes, .start = start, .step = pcoll_direct_step,
};
