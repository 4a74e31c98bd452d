/*
 * The tree of broadcast_levels.c, upwards.
 *
 * Source: T. Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide
 * area systems", 1999.
 * Cost: log_k of a neighbourhood's members steps in memory, then log_k of the neighbourhoods over
 * the network, which the vector crosses once for each but the root's.
 * Wins: where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
reduce_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_levels(shape, &kin);
	pcoll_add_reduce(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_reduce_levels = {
	.operation = PCOLL_REDUCE_TO_ONE, .name = "levels",
	.summary = "up a k-nomial tree of each host's ranks, then one of hosts", .has_radix = true,
	.has_pieces = true, .has_levels = true, .reorders = true, .build = reduce_levels_build,
};
