/*
 * A reduction up a k-nomial tree to rank 0, then a broadcast down the same tree, each piece by
 * piece.
 *
 * Cost: 2 log_k n steps of latency; a member sends the bytes up once, and down k - 1 times for each
 * level.
 * Wins: where few messages count more than few steps, as on CPUs that several members share.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
reduce_to_all_tree_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_shape to_one = *shape;
	struct pcoll_kin kin;

	to_one.root = 0;
	pcoll_kin_knomial(shape->rank, shape->size, 0, shape->radix, &kin);
	pcoll_add_reduce(schedule, &to_one, &kin);
	pcoll_add_round(schedule);
	pcoll_add_down(schedule, shape, &kin, PCOLL_DST);
}

const struct pcoll_builder pcoll_build_reduce_to_all_tree = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "tree",
	.summary = "up a k-nomial tree and down again", .has_radix = true, .has_pieces = true,
	.build = reduce_to_all_tree_build,
};
