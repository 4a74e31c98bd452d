/*
 * Cost: log2 n steps of latency; each member receives and combines twice the bytes.
 * Wins: large vectors in pieces, where a chain would take too many steps.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
reduce_binary_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_binary(shape->rank, shape->size, pcoll_reduce_top(shape), &kin);
	pcoll_add_reduce(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_reduce_binary = {
	.operation = PCOLL_REDUCE_TO_ONE, .name = "binary",
	.summary = "up a binary tree, piece by piece", .has_pieces = true,
	.build = reduce_binary_build,
};
