/*
 * In a round with distance d a member has the sum of the d operands up to its own, and gets that of
 * the d before them.
 *
 * Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986.
 * Cost: log2 n steps of latency; each member sends log2 n times the bytes.
 * Wins: small vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
scan_doubling_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t rank = shape->rank;
	const struct pcoll_span sum =
		pcoll_vector(schedule, PCOLL_DST, shape);
	const struct pcoll_span come =
		pcoll_block(pcoll_view_tmp(schedule, 1, shape->len_bytes), pcoll_at(0));

	if (!shape->in_place)
		pcoll_add_own_copy(schedule, shape);
	for (uint64_t step = 1; step < shape->size; step *= 2) {
		const uint32_t away = (uint32_t)step;

		pcoll_add_shift(schedule, shape, away, sum, come);
		if (rank >= away)
			pcoll_add_combine(schedule, come, sum, pcoll_no_span());
	}
}

const struct pcoll_builder pcoll_build_scan_doubling = {
	.operation = PCOLL_SCAN, .name = "doubling", .summary = "sums of 1, 2, 4 ... operands",
	.build = scan_doubling_build,
};
