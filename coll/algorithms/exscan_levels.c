/*
 * As the scan of two levels.  To the sum before its neighbourhood a member adds that of the members
 * of the neighbourhood that are before it.
 *
 * Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986, for each level.
 * Cost: log2 of the neighbourhoods steps over the network, 1 + log2 of a neighbourhood's members in
 * memory.
 * Wins: small vectors, where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
exscan_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_shape near = pcoll_shape_near(shape);
	const struct pcoll_span dst = pcoll_vector(schedule, PCOLL_DST, shape);
	const struct pcoll_span sum =
		pcoll_block(pcoll_view_tmp(schedule, 1, shape->len_bytes), pcoll_at(0));
	struct pcoll_span before;

	/* src may be dst, which gets the result. */
	pcoll_add_copy(schedule, sum, pcoll_vector(schedule, PCOLL_SRC, shape));
	pcoll_stage_near_begin(schedule, shape);
	pcoll_build_exscan_doubling.build(schedule, &near);
	pcoll_stage_end(schedule);
	if (near.rank)
		pcoll_add_combine(schedule, dst, sum, pcoll_no_span());
	if (!pcoll_add_before(schedule, shape, sum, &before))
		return;
	if (near.rank)
		pcoll_add_combine(schedule, before, dst, pcoll_no_span());
	else
		pcoll_add_copy(schedule, dst, before);
}

const struct pcoll_builder pcoll_build_exscan_levels = {
	.operation = PCOLL_EXSCAN, .name = "levels",
	.summary = "sums of each host's operands, then of hosts",
	.has_levels = true, .serves = pcoll_shape_is_in_runs, .build = exscan_levels_build,
};
