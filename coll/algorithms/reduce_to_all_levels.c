/*
 * Each neighbourhood reduces to the member that leads it, up a k-nomial tree; those that lead
 * reduce among themselves, by doubling or, where the vector is long, by halving; then each
 * broadcasts down the same tree.
 *
 * Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", 2005, for what those that lead do.
 * Cost: 2 log_k of a neighbourhood's members steps in memory; log2 of the neighbourhoods over the
 * network, or twice as many with twice the bytes.
 * Wins: where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

enum { HALVING_BYTES = 16 << 10 };

void
pcoll_add_reduce_far(struct pcoll_schedule *schedule, const struct pcoll_shape *far)
{
	if (far->len_bytes < HALVING_BYTES)
		pcoll_build_reduce_to_all_doubling.build(schedule, far);
	else
		pcoll_build_reduce_to_all_halving.build(schedule, far);
}

static void
reduce_to_all_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_shape near = pcoll_shape_near(shape), far = pcoll_shape_far(shape);
	struct pcoll_kin kin;

	pcoll_kin_knomial(near.rank, near.size, 0, near.radix, &kin);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_reduce(schedule, &near, &kin);
	pcoll_stage_end(schedule);
	pcoll_stage_far_begin(schedule, shape);
	if (kin.is_root)
		pcoll_add_reduce_far(schedule, &far);
	pcoll_stage_end(schedule);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_down(schedule, &near, &kin, PCOLL_DST);
	pcoll_stage_end(schedule);
}

const struct pcoll_builder pcoll_build_reduce_to_all_levels = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "levels",
	.summary = "hosts reduce to a rank of each, which reduce among themselves",
	.has_radix = true, .has_pieces = true, .has_levels = true, .reorders = true,
	.build = reduce_to_all_levels_build,
};
