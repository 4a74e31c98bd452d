/*
 * Cost: each member sends and receives n - 1 blocks; it begins with the rank above its own.
 * Wins: large blocks: nothing is sent twice.
 */
#include "coll/algorithms.h"

static void
exchange_start(struct pcoll_op *op)
{
	pcoll_direct_all(op, op->call.len_bytes);
}

const struct pcoll_algorithm pcoll_exchange_direct = {
	.operation = PCOLL_EXCHANGE, .name = "direct", .summary = "each sends each its block",
	.scratch_bytes = pcoll_direct_bytes, .start = exchange_start, .step = pcoll_direct_step,
};
