/*
 * Cost: n - 1 + p steps of a piece each, for p pieces; each member sends, receives and combines the
 * bytes once.
 * Wins: large vectors on few members.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
reduce_chain_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_chain(shape->rank, shape->size, pcoll_reduce_top(shape), &kin);
	pcoll_add_reduce(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_reduce_chain = {
	.operation = PCOLL_REDUCE_TO_ONE, .name = "chain",
	.summary = "from each to the one before it, piece by piece", .has_pieces = true,
	.build = reduce_chain_build,
};
