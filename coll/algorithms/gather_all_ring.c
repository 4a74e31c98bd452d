/*
 * Each member passes to the next one what it got from the one before.
 *
 * Cost: n - 1 steps of latency; each member sends and receives the result once.
 * Wins: large blocks: all links carry the same at the same time.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
gather_all_ring_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const uint32_t below = pcoll_place_of(rank, size, 1);
	const struct pcoll_index tag = pcoll_from(schedule->tags, 1);
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);
	const uint32_t src = pcoll_view_vector(schedule, PCOLL_SRC, shape);

	if (!shape->in_place)
		pcoll_add_copy(schedule, pcoll_block(dst, pcoll_at(rank)),
		               pcoll_block(src, pcoll_at(0)));
	pcoll_loop_begin(schedule, size - 1);
	pcoll_add_send(schedule, pcoll_at(pcoll_rank_at(1, size, rank)), tag,
	               pcoll_block(dst, pcoll_around(rank, -1, size)), pcoll_no_span());
	pcoll_add_receive(schedule, pcoll_at(below), tag,
	                  pcoll_block(dst, pcoll_around(below, -1, size)), pcoll_no_span());
	pcoll_add_round(schedule);
	pcoll_loop_end(schedule);
	schedule->tags += size;
}

const struct pcoll_builder pcoll_build_gather_all_ring = {
	.operation = PCOLL_GATHER_ALL, .name = "ring", .summary = "blocks go around a ring",
	.serves_lists = true, .build = gather_all_ring_build,
};
