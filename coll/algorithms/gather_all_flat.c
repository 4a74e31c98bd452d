/*
 * Cost: one step of latency; each member sends its block n - 1 times.
 * Wins: few members.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
gather_all_flat_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const struct pcoll_index above = pcoll_around(pcoll_rank_at(1, size, rank), 1, size);
	const struct pcoll_index below = pcoll_around(pcoll_place_of(rank, size, 1), -1, size);
	const struct pcoll_index tag = pcoll_at(schedule->tags++);
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);
	const struct pcoll_span own =
		pcoll_vector(schedule, PCOLL_SRC, shape);

	pcoll_loop_begin(schedule, size - 1);
	pcoll_add_send(schedule, above, tag, own, pcoll_no_span());
	pcoll_add_receive(schedule, below, tag, pcoll_block(dst, below), pcoll_no_span());
	pcoll_loop_end(schedule);
	if (!shape->in_place)
		pcoll_add_copy(schedule, pcoll_block(dst, pcoll_at(rank)), own);
}

const struct pcoll_builder pcoll_build_gather_all_flat = {
	.operation = PCOLL_GATHER_ALL, .name = "flat",
	.summary = "each sends its block to all others",
	.serves_lists = true, .build = gather_all_flat_build,
};
