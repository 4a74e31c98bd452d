/*
 * The member that leads a neighbourhood gets the operands of all its members and combines them.
 * Those that lead send each other what they have for the other's members, combine what they get,
 * and give each member its block.
 *
 * Source: T. Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide
 * area systems", 1999, for the levels.
 * Cost: a step in memory, one over the network, in which each that leads sends a message to each
 * other, and one in memory; memory for all operands of a neighbourhood.
 * Wins: small blocks, where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_device.h"
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* Of a member that leads.  Views: sums of the neighbourhood's operands, a block for each member of
 * the team; those packed; and from each neighbourhood blocks for the members of this one. */
struct lead {
	struct pcoll_schedule *schedule;
	const struct pcoll_shape *shape;
	const uint32_t *ranks;          /* of the neighbourhood; this member is the first */
	uint32_t count, nbrhd;
	uint32_t sums, packed, parts;
};

/* Sums are of operands in the order of ranks, and then of neighbourhoods. */
static bool
reduce_scatter_levels_serves(const struct pcoll_shape *shape)
{
	return !shape->ordered || pcoll_shape_is_in_runs(shape);
}

/* What neighbourhood `from' has for the members of this one. */
static struct pcoll_span
parts_from(const struct lead *lead, uint32_t from)
{
	return pcoll_span(lead->parts, pcoll_at(from * lead->count), lead->count);
}

static void
lead_sum_near(const struct lead *lead)
{
	struct pcoll_schedule *schedule = lead->schedule;
	const uint32_t size = lead->shape->size, last = lead->count - 1;
	const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, lead->shape);
	const uint32_t come =
		pcoll_view_tmp(schedule, lead->count, size * lead->shape->len_bytes);
	const struct pcoll_span own = pcoll_span(src, pcoll_at(0), size);
	const struct pcoll_span sums = pcoll_span(lead->sums, pcoll_at(0), size);

	for (uint32_t i = 1; i <= last; i++)
		pcoll_add_receive(schedule, pcoll_at(lead->ranks[i]), pcoll_at(schedule->tags),
		                  pcoll_block(come, pcoll_at(i)), pcoll_no_span());
	pcoll_add_round(schedule);
	pcoll_add_copy(schedule, sums, last ? pcoll_block(come, pcoll_at(last)) : own);
	for (uint32_t i = last; i-- > 1; )
		pcoll_add_combine(schedule, pcoll_block(come, pcoll_at(i)), sums, pcoll_no_span());
	if (last)
		pcoll_add_combine(schedule, own, sums, pcoll_no_span());
}

/* The result is where the parts of the last neighbourhood were. */
static void
lead_sum_far(const struct lead *lead)
{
	struct pcoll_schedule *schedule = lead->schedule;
	const struct pcoll_layout *layout = lead->shape->layout;
	const uint32_t last = layout->nbrhds - 1;
	const struct pcoll_index tag = pcoll_at(schedule->tags + 1);

	for (uint32_t nbrhd = 0; nbrhd <= last; nbrhd++) {
		const struct pcoll_index peer = pcoll_at(layout->leads[nbrhd]);
		const struct pcoll_span there =
			pcoll_span_of_nbrhd(lead->shape, nbrhd, lead->sums, lead->packed);

		pcoll_add_pack(schedule, lead->shape, nbrhd, lead->sums, lead->packed);
		if (nbrhd == lead->nbrhd) {
			pcoll_add_copy(schedule, parts_from(lead, nbrhd), there);
			continue;
		}
		pcoll_add_send(schedule, peer, tag, there, pcoll_no_span());
		pcoll_add_receive(schedule, peer, tag, parts_from(lead, nbrhd), pcoll_no_span());
	}
	pcoll_add_round(schedule);
	for (uint32_t nbrhd = last; nbrhd-- > 0; )
		pcoll_add_combine(schedule, parts_from(lead, nbrhd), parts_from(lead, last),
		                  pcoll_no_span());
}

static void
lead_tell(const struct lead *lead)
{
	struct pcoll_schedule *schedule = lead->schedule;
	const uint32_t first = (lead->shape->layout->nbrhds - 1) * lead->count;

	for (uint32_t i = 1; i < lead->count; i++)
		pcoll_add_send(schedule, pcoll_at(lead->ranks[i]), pcoll_at(schedule->tags + 2),
		               pcoll_block(lead->parts, pcoll_at(first + i)), pcoll_no_span());
	pcoll_add_copy(schedule, pcoll_vector(schedule, PCOLL_DST, lead->shape),
	               pcoll_block(lead->parts, pcoll_at(first)));
}

/* Where a device does it, the sums of all ranks are in the order of neighbourhoods. */
static void
lead_stage(const struct lead *lead, bool by_device)
{
	const struct pcoll_layout *layout = lead->shape->layout;
	const struct pcoll_device_step step = {
		.line = PCOLL_LINE_LEADERS, .does = PCOLL_DEVICE_REDUCES_SCATTER,
		.root = layout->leads[0],
		.from = pcoll_span(lead->sums, pcoll_at(0), lead->shape->size),
		.to = parts_from(lead, layout->nbrhds - 1),
	};

	if (by_device)
		pcoll_device_stage_begin(lead->schedule, &step);
	lead_sum_far(lead);
	if (by_device)
		pcoll_device_stage_end(lead->schedule, &step, true);
}

static void
lead_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, bool by_device)
{
	struct lead lead = { .schedule = schedule, .shape = shape,
		             .nbrhd = shape->layout->nbrhd_of[shape->rank] };

	lead.ranks = pcoll_near_ranks(shape, &lead.count);
	lead.sums = pcoll_view_tmp(schedule, shape->size, shape->len_bytes);
	lead.packed = pcoll_add_packed(schedule, shape);
	lead.parts = pcoll_view_tmp(schedule, shape->layout->nbrhds * lead.count,
	                            shape->len_bytes);
	lead_sum_near(&lead);
	lead_stage(&lead, by_device);
	lead_tell(&lead);
}

void
pcoll_add_reduce_scatter_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                                bool by_device)
{
	const uint32_t lead = shape->layout->leads[shape->layout->nbrhd_of[shape->rank]];

	if (shape->rank == lead) {
		lead_build(schedule, shape, by_device);
	} else {
		const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, shape);

		pcoll_add_send(schedule, pcoll_at(lead), pcoll_at(schedule->tags),
		               pcoll_span(src, pcoll_at(0), shape->size), pcoll_no_span());
		pcoll_add_round(schedule); /* in place, the result is a part of what is sent */
		pcoll_add_receive(schedule, pcoll_at(lead), pcoll_at(schedule->tags + 2),
		                  pcoll_vector(schedule, PCOLL_DST, shape), pcoll_no_span());
	}
	schedule->tags += 3;
}

static void
reduce_scatter_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	pcoll_add_reduce_scatter_levels(schedule, shape, false);
}

const struct pcoll_builder pcoll_build_reduce_scatter_levels = {
	.operation = PCOLL_REDUCE_SCATTER, .name = "levels",
	.summary = "a rank of each host combines, and exchanges sums with those of other hosts",
	.has_levels = true, .serves = reduce_scatter_levels_serves,
	.build = reduce_scatter_levels_build,
};
