/*
 * Cost: n - 1 + p steps of a piece each, for p pieces; each member sends the bytes once.
 * Wins: large payloads on few members: nobody sends more than it receives.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
broadcast_chain_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_chain(shape->rank, shape->size, shape->root, &kin);
	pcoll_add_broadcast(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_broadcast_chain = {
	.operation = PCOLL_BROADCAST, .name = "chain",
	.summary = "from each to the next, piece by piece", .has_pieces = true,
	.build = broadcast_chain_build,
};
