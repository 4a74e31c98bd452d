/*
 * Cost: log2 n steps of latency; each member sends twice the bytes, while it receives them.
 * Wins: large payloads in pieces, where a chain would take too many steps.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
broadcast_binary_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_binary(shape->rank, shape->size, shape->root, &kin);
	pcoll_add_broadcast(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_broadcast_binary = {
	.operation = PCOLL_BROADCAST, .name = "binary",
	.summary = "down a binary tree, piece by piece", .has_pieces = true,
	.build = broadcast_binary_build,
};
