/*
 * Operations that do not commute take the tree of rank 0, which hands the result on to the root.
 *
 * Source: folklore; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", 2005.
 * Cost: log_k n steps of latency; the root receives and combines (k - 1) log_k n times the bytes.
 * Wins: small vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
reduce_knomial_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_knomial(shape->rank, shape->size, pcoll_reduce_top(shape), shape->radix,
	                  &kin);
	pcoll_add_reduce(schedule, shape, &kin);
}

const struct pcoll_builder pcoll_build_reduce_knomial = {
	.operation = PCOLL_REDUCE_TO_ONE, .name = "knomial", .summary = "up a k-nomial tree",
	.has_radix = true, .has_pieces = true, .build = reduce_knomial_build,
};
