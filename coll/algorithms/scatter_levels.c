/*
 * The root sends to the member that leads a neighbourhood its blocks as one message, which passes
 * them on.  The root leads its own.
 *
 * Source: T. Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide
 * area systems", 1999.
 * Cost: a step over the network, in which the root sends a message to each other neighbourhood,
 * and one in memory; a block is sent at most twice.
 * Wins: small blocks, where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* Sends to the others of the neighbourhood, from a view of its blocks, or of all. */
static void
scatter_levels_near(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t view,
                    bool of_all)
{
	uint32_t count;
	const uint32_t *ranks = pcoll_near_ranks(shape, &count);

	for (uint32_t i = 0; i < count; i++)
		if (ranks[i] != shape->rank)
			pcoll_add_send(schedule, pcoll_at(ranks[i]), pcoll_at(schedule->tags),
			               pcoll_block(view, pcoll_at(of_all ? ranks[i] : i)),
			               pcoll_no_span());
}

static void
scatter_levels_root(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, shape);
	const uint32_t packed = pcoll_add_packed(schedule, shape);

	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++) {
		if (nbrhd == layout->nbrhd_of[shape->rank])
			continue;
		pcoll_add_pack(schedule, shape, nbrhd, src, packed);
		pcoll_add_send(schedule, pcoll_at(layout->leads[nbrhd]),
		               pcoll_at(schedule->tags + 1),
		               pcoll_span_of_nbrhd(shape, nbrhd, src, packed), pcoll_no_span());
	}
	scatter_levels_near(schedule, shape, src, true);
	if (!shape->in_place)
		pcoll_add_copy(schedule,
		               pcoll_vector(schedule, PCOLL_DST, shape),
		               pcoll_block(src, pcoll_at(shape->rank)));
}

static void
scatter_levels_lead(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	uint32_t count, packed;

	(void)pcoll_near_ranks(shape, &count);
	packed = pcoll_view_tmp(schedule, count, shape->len_bytes);
	pcoll_add_receive(schedule, pcoll_at(shape->root), pcoll_at(schedule->tags + 1),
	                  pcoll_span(packed, pcoll_at(0), count), pcoll_no_span());
	pcoll_add_round(schedule);
	scatter_levels_near(schedule, shape, packed, false);
	pcoll_add_copy(schedule,
	               pcoll_vector(schedule, PCOLL_DST, shape),
	               pcoll_block(packed, pcoll_at(shape->layout->place[shape->rank])));
}

static void
scatter_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t lead = pcoll_near_lead(shape);

	if (shape->rank == shape->root)
		scatter_levels_root(schedule, shape);
	else if (shape->rank == lead)
		scatter_levels_lead(schedule, shape);
	else
		pcoll_add_receive(schedule, pcoll_at(lead), pcoll_at(schedule->tags),
		                  pcoll_vector(schedule, PCOLL_DST, shape),
		                  pcoll_no_span());
	schedule->tags += 2;
}

const struct pcoll_builder pcoll_build_scatter_levels = {
	.operation = PCOLL_SCATTER, .name = "levels",
	.summary = "a rank of each host gets all of its host's blocks, and passes them on",
	.has_levels = true, .build = scatter_levels_build,
};
