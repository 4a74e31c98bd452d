/*
 * A member does not know which member sends to it.  So each first sends its rank to its target.
 *
 * Cost: two steps of latency; each member sends its bytes once.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
permute_direct_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_index target = pcoll_at(shape->target);
	const struct pcoll_index hello = pcoll_at(schedule->tags);
	const struct pcoll_index bytes = pcoll_at(schedule->tags + 1);
	uint32_t src, dst;

	schedule->tags += 2;
	schedule->hello_tag = hello.at + 1;
	if (shape->target == shape->rank) {
		pcoll_add_own_copy(schedule, shape);
		return;
	}
	src = pcoll_view_vector(schedule, PCOLL_SRC, shape);
	dst = pcoll_view_vector(schedule, PCOLL_DST, shape);
	pcoll_add_notify(schedule, target, hello);
	pcoll_add_meet(schedule, hello);
	pcoll_add_round(schedule);
	pcoll_add_send(schedule, target, bytes, pcoll_block(src, pcoll_at(0)), pcoll_no_span());
	pcoll_add_receive(schedule, pcoll_at(PCOLL_FOUND), bytes, pcoll_block(dst, pcoll_at(0)),
	                  pcoll_no_span());
}

const struct pcoll_builder pcoll_build_permute_direct = {
	.operation = PCOLL_PERMUTE, .name = "direct",
	.summary = "each tells its target who it is, then sends", .build = permute_direct_build,
};
