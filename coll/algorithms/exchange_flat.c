/*
 * Cost: one step of latency, and n - 1 messages one after the other at each member.
 * Wins: large blocks, which go once; as many are under way as the engine lets.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
exchange_flat_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const struct pcoll_index above = pcoll_around(pcoll_rank_at(1, size, rank), 1, size);
	const struct pcoll_index below = pcoll_around(pcoll_place_of(rank, size, 1), -1, size);
	const struct pcoll_index tag = pcoll_at(schedule->tags++);
	const uint32_t src = pcoll_add_exchange_source(schedule, shape);
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);

	pcoll_loop_begin(schedule, size - 1);
	pcoll_add_send(schedule, above, tag, pcoll_block(src, above), pcoll_no_span());
	pcoll_add_receive(schedule, below, tag, pcoll_block(dst, below), pcoll_no_span());
	pcoll_loop_end(schedule);
	if (!shape->in_place)
		pcoll_add_copy(schedule, pcoll_block(dst, pcoll_at(rank)),
		               pcoll_block(src, pcoll_at(rank)));
}

const struct pcoll_builder pcoll_build_exchange_flat = {
	.operation = PCOLL_EXCHANGE, .name = "flat",
	.summary = "each sends to each, from the next one on",
	.serves_lists = true, .build = exchange_flat_build,
};
