/*
 * In a round with distance d a member has the blocks of the d members from itself on; it receives
 * those of the next d, and sends its own to the member d below.  At the end blocks are put in the
 * order of ranks.
 *
 * Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for
 * all-to-all communications in multiport message-passing systems", 1997.
 * Cost: log2 n steps of latency; each member sends and receives the result once, and copies it
 * once more.
 * Wins: small blocks.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* Block i of `run' is that of the member i above. */
static void
gather_all_bruck_order(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                       uint32_t run)
{
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);
	const uint32_t rank = shape->rank, to_last = shape->size - rank;

	pcoll_add_copy(schedule, pcoll_span(dst, pcoll_at(rank), to_last),
	               pcoll_span(run, pcoll_at(0), to_last));
	if (rank)
		pcoll_add_copy(schedule, pcoll_span(dst, pcoll_at(0), rank),
		               pcoll_span(run, pcoll_at(to_last), rank));
}

static void
gather_all_bruck_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const uint32_t src = pcoll_view_vector(schedule, PCOLL_SRC, shape);
	const uint32_t run = pcoll_view_tmp(schedule, size, shape->len_bytes);

	pcoll_add_copy(schedule, pcoll_block(run, pcoll_at(0)), pcoll_block(src, pcoll_at(0)));
	for (uint64_t have = 1; have < size; have *= 2) {
		const uint32_t away = (uint32_t)have;
		const uint32_t blocks = away < size - away ? away : size - away;
		const struct pcoll_index tag = pcoll_at(schedule->tags++);

		pcoll_add_send(schedule, pcoll_at(pcoll_place_of(rank, size, away)), tag,
		               pcoll_span(run, pcoll_at(0), blocks), pcoll_no_span());
		pcoll_add_receive(schedule, pcoll_at(pcoll_rank_at(away, size, rank)), tag,
		                  pcoll_span(run, pcoll_at(away), blocks), pcoll_no_span());
		pcoll_add_round(schedule);
	}
	gather_all_bruck_order(schedule, shape, run);
}

const struct pcoll_builder pcoll_build_gather_all_bruck = {
	.operation = PCOLL_GATHER_ALL, .name = "bruck",
	.summary = "each round brings as many blocks as a member has",
	.build = gather_all_bruck_build,
};
