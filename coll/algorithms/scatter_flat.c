/*
 * Cost: one step of latency, and n - 1 messages one after the other at the root.
 * Wins: large blocks, which the root sends once; few members.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
scatter_flat_root(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                  struct pcoll_index tag)
{
	const uint32_t blocks = pcoll_view_members(schedule, PCOLL_SRC, shape);
	const struct pcoll_index peer =
		pcoll_around(pcoll_rank_at(1, shape->size, shape->rank), 1, shape->size);

	pcoll_loop_begin(schedule, shape->size - 1);
	pcoll_add_send(schedule, peer, tag, pcoll_block(blocks, peer), pcoll_no_span());
	pcoll_loop_end(schedule);
	if (!shape->in_place)
		pcoll_add_copy(schedule,
		               pcoll_vector(schedule, PCOLL_DST, shape),
		               pcoll_block(blocks, pcoll_at(shape->rank)));
}

static void
scatter_flat_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_index tag = pcoll_at(schedule->tags++);
	uint32_t dst;

	if (shape->rank == shape->root) {
		scatter_flat_root(schedule, shape, tag);
		return;
	}
	dst = pcoll_view_vector(schedule, PCOLL_DST, shape);
	pcoll_add_receive(schedule, pcoll_at(shape->root), tag, pcoll_block(dst, pcoll_at(0)),
	                  pcoll_no_span());
}

const struct pcoll_builder pcoll_build_scatter_flat = {
	.operation = PCOLL_SCATTER, .name = "flat", .summary = "the root sends each its block",
	.serves_lists = true, .build = scatter_flat_build,
};
