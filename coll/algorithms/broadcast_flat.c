/*
 * Cost: one step of latency; the root sends n - 1 times the bytes.
 * Wins: very few members.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
broadcast_flat_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const bool is_root = shape->rank == shape->root;
	const uint32_t own = pcoll_view_vector(schedule, is_root ? PCOLL_SRC : PCOLL_DST, shape);
	const struct pcoll_index tag = pcoll_at(schedule->tags++);

	if (!is_root) {
		pcoll_add_receive(schedule, pcoll_at(shape->root), tag,
		                  pcoll_block(own, pcoll_at(0)), pcoll_no_span());
		return;
	}
	pcoll_loop_begin(schedule, shape->size - 1);
	pcoll_add_send(schedule, pcoll_around((shape->root + 1) % shape->size, 1, shape->size), tag,
	               pcoll_block(own, pcoll_at(0)), pcoll_no_span());
	pcoll_loop_end(schedule);
	if (!shape->in_place)
		pcoll_add_own_copy(schedule, shape);
}

const struct pcoll_builder pcoll_build_broadcast_flat = {
	.operation = PCOLL_BROADCAST, .name = "flat", .summary = "the root sends to each",
	.build = broadcast_flat_build,
};
