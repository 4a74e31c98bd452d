/*
 * Cost: one step of latency, and n - 1 messages one after the other at the root.
 * Wins: large blocks, which the root receives once; few members.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
gather_flat_root(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                 struct pcoll_index tag)
{
	const uint32_t blocks = pcoll_view_members(schedule, PCOLL_DST, shape);
	const struct pcoll_index peer =
		pcoll_around(pcoll_rank_at(1, shape->size, shape->rank), 1, shape->size);

	pcoll_loop_begin(schedule, shape->size - 1);
	pcoll_add_receive(schedule, peer, tag, pcoll_block(blocks, peer), pcoll_no_span());
	pcoll_loop_end(schedule);
	if (!shape->in_place)
		pcoll_add_copy(schedule, pcoll_block(blocks, pcoll_at(shape->rank)),
		               pcoll_vector(schedule, PCOLL_SRC, shape));
}

static void
gather_flat_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_index tag = pcoll_at(schedule->tags++);
	uint32_t src;

	if (shape->rank == shape->root) {
		gather_flat_root(schedule, shape, tag);
		return;
	}
	src = pcoll_view_vector(schedule, PCOLL_SRC, shape);
	pcoll_add_send(schedule, pcoll_at(shape->root), tag, pcoll_block(src, pcoll_at(0)),
	               pcoll_no_span());
}

const struct pcoll_builder pcoll_build_gather_flat = {
	.operation = PCOLL_GATHER, .name = "flat", .summary = "each sends its block to the root",
	.serves_lists = true, .build = gather_flat_build,
};
