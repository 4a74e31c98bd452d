/*
 * The member that leads a neighbourhood gathers its blocks.  Those that lead then go as Bruck's
 * algorithm has it, with all blocks of a neighbourhood for one, and each brings the result to its
 * own down a k-nomial tree.
 *
 * Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for
 * all-to-all communications in multiport message-passing systems", 1997.
 * Cost: log2 of the neighbourhoods steps over the network, 1 + log_k of a neighbourhood's members
 * in memory; a neighbourhood sends and receives the result once.
 * Wins: where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_device.h"
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* How many members the `count' neighbourhoods from `first' on have, modulo their number. */
static uint32_t
members_of(const struct pcoll_layout *layout, uint32_t first, uint32_t count)
{
	const uint32_t end = first + count;

	if (end <= layout->nbrhds)
		return layout->start[end] - layout->start[first];
	return layout->size - layout->start[first] + layout->start[end - layout->nbrhds];
}

/* The run of a lead has the blocks of its own neighbourhood first. */
static void
leads_gather_all(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t run)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t own = layout->nbrhd_of[shape->rank], nbrhds = layout->nbrhds;

	for (uint64_t have = 1; have < nbrhds; have *= 2) {
		const uint32_t away = (uint32_t)have;
		const uint32_t count = away < nbrhds - away ? away : nbrhds - away;
		const uint32_t from = pcoll_rank_at(away, nbrhds, own);
		const struct pcoll_index tag = pcoll_at(schedule->tags++);

		pcoll_add_send(schedule, pcoll_at(layout->leads[pcoll_place_of(own, nbrhds, away)]),
		               tag, pcoll_span(run, pcoll_at(0), members_of(layout, own, count)),
		               pcoll_no_span());
		pcoll_add_receive(schedule, pcoll_at(layout->leads[from]), tag,
		                  pcoll_span(run, pcoll_at(members_of(layout, own, away)),
		                             members_of(layout, from, count)),
		                  pcoll_no_span());
		pcoll_add_round(schedule);
	}
}

static void
run_order(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t dst,
          uint32_t run)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t own = layout->nbrhd_of[shape->rank];

	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++) {
		const uint32_t above = pcoll_place_of(nbrhd, layout->nbrhds, own);

		pcoll_add_order(schedule, shape, nbrhd, dst, run, members_of(layout, own, above));
	}
}

/* Afterwards blocks are in the order of ranks.  A device leaves them in that of neighbourhoods,
 * which is the same where it is asked (in_runs of the layout). */
static void
leads_stage(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t dst,
            uint32_t run, bool by_device)
{
	const struct pcoll_layout *layout = shape->layout;
	const struct pcoll_device_step step = {
		.line = PCOLL_LINE_LEADERS, .does = PCOLL_DEVICE_GATHERS_ALL,
		.root = layout->leads[0], .from = pcoll_span(run, pcoll_at(0), layout->most),
		.to = pcoll_span(dst, pcoll_at(0), shape->size),
	};

	if (by_device)
		pcoll_device_stage_begin(schedule, &step);
	leads_gather_all(schedule, shape, run);
	run_order(schedule, shape, dst, run);
	if (by_device)
		pcoll_device_stage_end(schedule, &step, true);
}

static void
gather_all_levels_lead(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                       uint32_t near_tag, bool by_device)
{
	uint32_t count;
	const uint32_t *ranks = pcoll_near_ranks(shape, &count);
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);
	const uint32_t run = pcoll_view_tmp(schedule, shape->size, shape->len_bytes);

	for (uint32_t i = 1; i < count; i++)
		pcoll_add_receive(schedule, pcoll_at(ranks[i]), pcoll_at(near_tag),
		                  pcoll_block(run, pcoll_at(i)), pcoll_no_span());
	pcoll_add_copy(schedule, pcoll_block(run, pcoll_at(0)),
	               pcoll_vector(schedule, PCOLL_SRC, shape));
	pcoll_add_round(schedule);
	leads_stage(schedule, shape, dst, run, by_device);
}

void
pcoll_add_gather_all_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                            bool by_device)
{
	struct pcoll_shape near = pcoll_shape_near(shape);
	const uint32_t near_tag = schedule->tags++;
	const uint32_t nbrhd = shape->layout->nbrhd_of[shape->rank];
	struct pcoll_kin kin;

	pcoll_kin_knomial(near.rank, near.size, 0, near.radix, &kin);
	near.len_bytes *= shape->size;
	near.piece_bytes = 0;
	if (kin.is_root)
		gather_all_levels_lead(schedule, shape, near_tag, by_device);
	else
		pcoll_add_send(schedule, pcoll_at(shape->layout->leads[nbrhd]), pcoll_at(near_tag),
		               pcoll_vector(schedule, PCOLL_SRC, shape),
		               pcoll_no_span());
	pcoll_stage_end(schedule);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_down(schedule, &near, &kin, PCOLL_DST);
	pcoll_stage_end(schedule);
}

static void
gather_all_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	pcoll_add_gather_all_levels(schedule, shape, false);
}

const struct pcoll_builder pcoll_build_gather_all_levels = {
	.operation = PCOLL_GATHER_ALL, .name = "levels",
	.summary = "a rank of each host gathers; these exchange, and broadcast to their hosts",
	.has_radix = true, .has_levels = true,
	.build = gather_all_levels_build,
};
