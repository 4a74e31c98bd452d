/*
 * The member that leads a neighbourhood gathers its blocks and sends them to the root as one
 * message.  The root leads its own.
 *
 * Source: T. Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide
 * area systems", 1999.
 * Cost: a step in memory, one over the network, in which the root gets a message for each other
 * neighbourhood; a block is sent at most twice.
 * Wins: small blocks, where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* Receives from the others of the neighbourhood, into a view of its blocks, or of all. */
static void
gather_levels_near(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t view,
                   bool of_all)
{
	uint32_t count;
	const uint32_t *ranks = pcoll_near_ranks(shape, &count);

	for (uint32_t i = 0; i < count; i++)
		if (ranks[i] != shape->rank)
			pcoll_add_receive(schedule, pcoll_at(ranks[i]), pcoll_at(schedule->tags),
			                  pcoll_block(view, pcoll_at(of_all ? ranks[i] : i)),
			                  pcoll_no_span());
}

static void
gather_levels_root(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);
	const uint32_t packed = pcoll_add_packed(schedule, shape);

	gather_levels_near(schedule, shape, dst, true);
	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++)
		if (nbrhd != layout->nbrhd_of[shape->rank])
			pcoll_add_receive(schedule, pcoll_at(layout->leads[nbrhd]),
			                  pcoll_at(schedule->tags + 1),
			                  pcoll_span_of_nbrhd(shape, nbrhd, dst, packed),
			                  pcoll_no_span());
	if (!shape->in_place)
		pcoll_add_copy(schedule, pcoll_block(dst, pcoll_at(shape->rank)),
		               pcoll_vector(schedule, PCOLL_SRC, shape));
	pcoll_add_round(schedule);
	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++)
		if (nbrhd != layout->nbrhd_of[shape->rank])
			pcoll_add_unpack(schedule, shape, nbrhd, dst, packed);
}

static void
gather_levels_lead(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	uint32_t count, packed;

	(void)pcoll_near_ranks(shape, &count);
	packed = pcoll_view_tmp(schedule, count, shape->len_bytes);
	gather_levels_near(schedule, shape, packed, false);
	pcoll_add_copy(schedule,
	               pcoll_block(packed, pcoll_at(shape->layout->place[shape->rank])),
	               pcoll_vector(schedule, PCOLL_SRC, shape));
	pcoll_add_round(schedule);
	pcoll_add_send(schedule, pcoll_at(shape->root), pcoll_at(schedule->tags + 1),
	               pcoll_span(packed, pcoll_at(0), count), pcoll_no_span());
}

static void
gather_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t lead = pcoll_near_lead(shape);

	if (shape->rank == shape->root)
		gather_levels_root(schedule, shape);
	else if (shape->rank == lead)
		gather_levels_lead(schedule, shape);
	else
		pcoll_add_send(schedule, pcoll_at(lead), pcoll_at(schedule->tags),
		               pcoll_vector(schedule, PCOLL_SRC, shape),
		               pcoll_no_span());
	schedule->tags += 2;
}

const struct pcoll_builder pcoll_build_gather_levels = {
	.operation = PCOLL_GATHER, .name = "levels",
	.summary = "a rank of each host gathers, and sends all of its host's blocks",
	.has_levels = true, .build = gather_levels_build,
};
