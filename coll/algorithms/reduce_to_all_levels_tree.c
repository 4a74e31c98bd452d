/*
 * A reduction up the tree of broadcast_levels.c to rank 0, then a broadcast down it, each
 * piece by piece.
 *
 * Source: T. Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide
 * area systems", 1999.
 * Cost: 2 log_k of a neighbourhood's members steps in memory, 2 log_k of the neighbourhoods over
 * the network; pieces follow each other over both.
 * Wins: vectors of some pieces, which by levels wait for each other between memory and network.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
reduce_to_all_levels_tree_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_shape to_one = *shape;
	struct pcoll_kin kin;

	to_one.root = 0;
	pcoll_kin_levels(&to_one, &kin);
	pcoll_add_reduce(schedule, &to_one, &kin);
	pcoll_add_round(schedule);
	pcoll_add_down(schedule, shape, &kin, PCOLL_DST);
}

const struct pcoll_builder pcoll_build_reduce_to_all_levels_tree = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "levels_tree",
	.summary = "up a k-nomial tree of each host's ranks and one of hosts, and down again",
	.has_radix = true, .has_pieces = true, .has_levels = true, .reorders = true,
	.build = reduce_to_all_levels_tree_build,
};
