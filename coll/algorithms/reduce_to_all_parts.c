/*
 * Several members of each neighbourhood lead, as many as the smallest one has, each for a part of
 * the vector: they reduce it within their neighbourhood, then among those that lead for the same
 * part, by doubling or halving, and tell the others.
 *
 * Source: R. Rabenseifner, "Optimization of collective reduction operations", 2004, for the parts.
 * Cost: two steps in memory, in which a member sends the vector twice; over the network, the steps
 * of doubling or halving with a part.
 * Wins: large vectors, which one member alone combines and sends too slowly.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

#include <stdlib.h>

struct parts {
	const struct pcoll_shape *shape;
	const uint32_t *ranks;          /* of the neighbourhood */
	uint32_t members, place;
	uint32_t count;                 /* parts */
	uint32_t dst;                   /* its view, in parts */
};

/* Those that lead keep an operand of each member of their neighbourhood. */
static bool
parts_serve(const struct pcoll_shape *shape)
{
	return shape->layout->most <= 2 * shape->layout->least;
}

/* A member sends each part to the member that leads for it, which combines all that it gets. */
static void
parts_reduce_near(struct pcoll_schedule *schedule, const struct parts *parts)
{
	const struct pcoll_shape *shape = parts->shape;
	const struct pcoll_index tag = pcoll_at(schedule->tags);
	const struct pcoll_span own = pcoll_block(parts->dst, pcoll_at(parts->place));
	const bool leads = parts->place < parts->count;
	const uint32_t src = pcoll_view_parts(schedule, PCOLL_SRC, parts->count, shape->elem_bytes,
	                                      shape->len_bytes);
	const size_t elems = shape->len_bytes / shape->elem_bytes;
	const uint32_t come = pcoll_view_tmp(
		schedule, parts->members,
		leads ? (elems + parts->count - 1) / parts->count * shape->elem_bytes : 0);

	for (uint32_t i = 0; i < parts->members; i++) {
		if (i == parts->place)
			continue;
		if (i < parts->count)
			pcoll_add_send(schedule, pcoll_at(parts->ranks[i]), tag,
			               pcoll_block(src, pcoll_at(i)), pcoll_no_span());
		if (leads)
			pcoll_add_receive(schedule, pcoll_at(parts->ranks[i]), tag,
			                  pcoll_block(come, pcoll_at(i)), own);
	}
	if (leads && !shape->in_place)
		pcoll_add_copy(schedule, own, pcoll_block(src, pcoll_at(parts->place)));
	pcoll_add_round(schedule);
	for (uint32_t i = 0; leads && i < parts->members; i++)
		if (i != parts->place)
			pcoll_add_combine(schedule, pcoll_block(come, pcoll_at(i)), own,
			                  pcoll_no_span());
}

/* Among those that lead for this part. */
static void
parts_reduce_far(struct pcoll_schedule *schedule, const struct parts *parts)
{
	const struct pcoll_layout *layout = parts->shape->layout;
	const size_t at = pcoll_view_offset(schedule, parts->dst, parts->place);
	struct pcoll_shape far = pcoll_shape_far(parts->shape);
	uint32_t *ranks = malloc(layout->nbrhds * sizeof *ranks);

	if (!ranks) {
		schedule->lacks_memory = true;
		return;
	}
	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++)
		ranks[nbrhd] = layout->ranks[layout->start[nbrhd] + parts->place];
	far.len_bytes = pcoll_view_offset(schedule, parts->dst, parts->place + 1) - at;
	pcoll_stage_begin(schedule, (struct pcoll_group){
		.ranks = ranks, .from_dst = true, .dst_bytes = at });
	pcoll_add_reduce_far(schedule, &far);
	free(ranks);
}

static void
parts_tell(struct pcoll_schedule *schedule, const struct parts *parts)
{
	const struct pcoll_index tag = pcoll_at(schedule->tags++);

	for (uint32_t i = 0; i < parts->members; i++) {
		if (i == parts->place)
			continue;
		if (parts->place < parts->count)
			pcoll_add_send(schedule, pcoll_at(parts->ranks[i]), tag,
			               pcoll_block(parts->dst, pcoll_at(parts->place)),
			               pcoll_no_span());
		if (i < parts->count)
			pcoll_add_receive(schedule, pcoll_at(parts->ranks[i]), tag,
			                  pcoll_block(parts->dst, pcoll_at(i)), pcoll_no_span());
	}
}

static void
reduce_to_all_parts_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct parts parts = { .shape = shape, .place = shape->layout->place[shape->rank],
		               .count = shape->layout->least };

	parts.ranks = pcoll_near_ranks(shape, &parts.members);
	parts.dst = pcoll_view_parts(schedule, PCOLL_DST, parts.count, shape->elem_bytes,
	                             shape->len_bytes);
	parts_reduce_near(schedule, &parts);
	pcoll_stage_end(schedule);
	if (parts.place < parts.count)
		parts_reduce_far(schedule, &parts);
	pcoll_stage_end(schedule);
	parts_tell(schedule, &parts);
}

const struct pcoll_builder pcoll_build_reduce_to_all_parts = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "parts",
	.summary = "as by levels; several ranks of each host lead, each for a part",
	.has_levels = true, .reorders = true, .serves = parts_serve,
	.build = reduce_to_all_parts_build,
};
