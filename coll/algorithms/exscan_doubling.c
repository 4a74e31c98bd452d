/*
 * As the scan by doubling; the result is the sum of what comes, without the own operand.
 *
 * Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986.
 * Cost: log2 n steps of latency; each member sends log2 n times the bytes.
 * Wins: small vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
exscan_doubling_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t tmp = pcoll_view_tmp(schedule, 2, shape->len_bytes);
	const struct pcoll_span sum = pcoll_block(tmp, pcoll_at(0));
	const struct pcoll_span come = pcoll_block(tmp, pcoll_at(1));
	const struct pcoll_span dst =
		pcoll_vector(schedule, PCOLL_DST, shape);

	pcoll_add_copy(schedule, sum,
	               pcoll_vector(schedule, PCOLL_SRC, shape));
	pcoll_add_sums_before(schedule, shape, sum, come, dst);
}

const struct pcoll_builder pcoll_build_exscan_doubling = {
	.operation = PCOLL_EXSCAN, .name = "doubling", .summary = "sums of 1, 2, 4 ... operands",
	.build = exscan_doubling_build,
};
