/*
 * A barrier, by dissemination.  In a round with distance d, a member tells those d, 2 d, ... above
 * it, radix - 1 of them, and hears from as many below it, modulo the size; then d grows radix
 * times.
 *
 * Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", 1988.
 */
#include "coll/schedule_parts.h"

void
pcoll_add_barrier(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const uint32_t radix = shape->radix ? shape->radix : 2;

	for (uint64_t distance = 1; distance < size; distance *= radix) {
		for (uint64_t i = 1; i < radix && i * distance < size; i++) {
			const uint32_t away = (uint32_t)(i * distance);
			const uint32_t above = pcoll_rank_at(rank, size, away);
			const uint32_t below = pcoll_place_of(rank, size, away);
			const struct pcoll_index tag = pcoll_at(schedule->tags++);

			pcoll_add_notify(schedule, pcoll_at(above), tag);
			pcoll_add_await(schedule, pcoll_at(below), tag);
		}
		pcoll_add_round(schedule);
	}
}

/* -- two levels ------------------------------------------------------------------------------- */

void
pcoll_add_barrier_up(struct pcoll_schedule *schedule, const struct pcoll_kin *kin)
{
	for (uint32_t i = 0; i < kin->children; i++)
		pcoll_add_await(schedule, pcoll_at(kin->child[i]), pcoll_at(schedule->tags));
	pcoll_add_round(schedule);
	if (!kin->is_root)
		pcoll_add_notify(schedule, pcoll_at(kin->parent), pcoll_at(schedule->tags));
}

void
pcoll_add_barrier_down(struct pcoll_schedule *schedule, const struct pcoll_kin *kin)
{
	if (!kin->is_root)
		pcoll_add_await(schedule, pcoll_at(kin->parent), pcoll_at(schedule->tags));
	pcoll_add_round(schedule);
	for (uint32_t i = kin->children; i-- > 0; )
		pcoll_add_notify(schedule, pcoll_at(kin->child[i]), pcoll_at(schedule->tags));
}

void
pcoll_add_barrier_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_shape near = pcoll_shape_near(shape), far = pcoll_shape_far(shape);
	struct pcoll_kin kin;

	pcoll_kin_knomial(near.rank, near.size, 0, near.radix, &kin);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_barrier_up(schedule, &kin);
	pcoll_stage_end(schedule);
	pcoll_stage_far_begin(schedule, shape);
	if (kin.is_root)
		pcoll_add_barrier(schedule, &far);
	pcoll_stage_end(schedule);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_barrier_down(schedule, &kin);
	pcoll_stage_end(schedule);
}

void
pcoll_add_meeting(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	if (shape->layout && pcoll_layout_has_levels(shape->layout))
		pcoll_add_barrier_levels(schedule, shape);
	else
		pcoll_add_barrier(schedule, shape);
}
