/*
 * Members scan within their neighbourhood, by doubling.  The last ones of the neighbourhoods, which
 * have their sums, do so among themselves; each tells its own what the sum before them is.
 *
 * Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986, for each level.
 * Cost: log2 of the neighbourhoods steps over the network, 1 + log2 of a neighbourhood's members in
 * memory.
 * Wins: small vectors, where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
scan_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_shape near = pcoll_shape_near(shape);
	const struct pcoll_span dst =
		pcoll_vector(schedule, PCOLL_DST, shape);
	struct pcoll_span before;

	pcoll_stage_near_begin(schedule, shape);
	pcoll_build_scan_doubling.build(schedule, &near);
	pcoll_stage_end(schedule);
	if (pcoll_add_before(schedule, shape, dst, &before))
		pcoll_add_combine(schedule, before, dst, pcoll_no_span());
}

const struct pcoll_builder pcoll_build_scan_levels = {
	.operation = PCOLL_SCAN, .name = "levels",
	.summary = "sums of each host's operands, then of hosts",
	.has_levels = true, .serves = pcoll_shape_is_in_runs, .build = scan_levels_build,
};
