/*
 * Source: folklore; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", 2005.
 * Cost: log_k n steps of latency; the root sends (k - 1) log_k n times the bytes.
 * Wins: small payloads; a larger radix where a message's latency is many times its overhead.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
broadcast_knomial_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_knomial(shape->rank, shape->size, shape->root, shape->radix, &kin);
	pcoll_add_broadcast(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_broadcast_knomial = {
	.operation = PCOLL_BROADCAST, .name = "knomial", .summary = "down a k-nomial tree",
	.has_radix = true, .has_pieces = true, .build = broadcast_knomial_build,
};
