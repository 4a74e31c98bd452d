/*
 * A k-nomial tree of the neighbourhoods, whose members that lead have under them k-nomial trees of
 * their own.  The root leads its own neighbourhood.
 *
 * Source: T. Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide
 * area systems", 1999.
 * Cost: log_k of the neighbourhoods steps over the network, then log_k of their members in memory.
 * Wins: where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
broadcast_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_levels(shape, &kin);
	pcoll_add_broadcast(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_broadcast_levels = {
	.operation = PCOLL_BROADCAST, .name = "levels",
	.summary = "down a k-nomial tree of hosts, then one of each host's ranks",
	.has_radix = true, .has_pieces = true, .has_levels = true, .build = broadcast_levels_build,
};
