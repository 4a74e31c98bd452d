/*
 * Cost: each member sends and receives n - 1 blocks; it begins with the rank above its own.
 * Wins: large blocks: nothing is sent twice.
 */
#include "coll/algorithms.h"

static void
gather_all_start(struct pcoll_op *op)
{
	pcoll_direct_all(op, 0);
}

const struct pcoll_algorithm pcoll_gather_all_direct = {
	.operation = PCOLL_GATHER_ALL, .name = "direct", .summary = "each sends its block to each",
	.scratch_bytes = pcoll_direct_bytes, .start = gather_all_start, .step = pcoll_direct_step,
};
