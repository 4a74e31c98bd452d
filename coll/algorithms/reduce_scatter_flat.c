/*
 * Each member sends each other its operand of that one's block, and combines what it gets, from the
 * highest rank down.
 *
 * Cost: one step of latency; each member sends its operands once, and needs memory for n blocks.
 * Wins: small blocks.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* Views: operands for this member, by rank; its own stands apart; and the result. */
struct flat {
	struct pcoll_schedule *schedule;
	uint32_t operands, dst;
	struct pcoll_span own;
};

/* Operands of ranks first, first - 1, ... */
static void
flat_combine_down(const struct flat *flat, uint32_t first, uint32_t count)
{
	pcoll_loop_begin(flat->schedule, count);
	pcoll_add_combine(flat->schedule, pcoll_block(flat->operands, pcoll_from(first, -1)),
	                  pcoll_block(flat->dst, pcoll_at(0)), pcoll_no_span());
	pcoll_loop_end(flat->schedule);
}

static void
flat_combine(const struct flat *flat, uint32_t rank, uint32_t size)
{
	const struct pcoll_span dst = pcoll_block(flat->dst, pcoll_at(0));
	const uint32_t last = size - 1;

	if (rank == last) {
		pcoll_add_copy(flat->schedule, dst, flat->own);
	} else {
		pcoll_add_copy(flat->schedule, dst, pcoll_block(flat->operands, pcoll_at(last)));
		flat_combine_down(flat, last - 1, last - 1 - rank);
		pcoll_add_combine(flat->schedule, flat->own, dst, pcoll_no_span());
	}
	flat_combine_down(flat, rank - 1, rank);
}

/* In place the result is where the own operand was. */
static struct pcoll_span
flat_find_own(const struct flat *flat, const struct pcoll_shape *shape, uint32_t src)
{
	const struct pcoll_span own = pcoll_block(src, pcoll_at(shape->rank));
	const struct pcoll_span kept = pcoll_block(flat->operands, pcoll_at(shape->rank));

	if (!shape->in_place)
		return own;
	pcoll_add_copy(flat->schedule, kept, own);
	return kept;
}

static void
reduce_scatter_flat_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const struct pcoll_index above = pcoll_around(pcoll_rank_at(1, size, rank), 1, size);
	const struct pcoll_index below = pcoll_around(pcoll_place_of(rank, size, 1), -1, size);
	const struct pcoll_index tag = pcoll_at(schedule->tags++);
	const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, shape);
	struct flat flat = {
		.schedule = schedule, .dst = pcoll_view_vector(schedule, PCOLL_DST, shape),
		.operands = pcoll_view_tmp(schedule, size, shape->len_bytes),
	};

	flat.own = flat_find_own(&flat, shape, src);
	pcoll_loop_begin(schedule, size - 1);
	pcoll_add_send(schedule, above, tag, pcoll_block(src, above), pcoll_no_span());
	pcoll_add_receive(schedule, below, tag, pcoll_block(flat.operands, below),
	                  pcoll_no_span());
	pcoll_loop_end(schedule);
	pcoll_add_round(schedule);
	flat_combine(&flat, rank, size);
}

const struct pcoll_builder pcoll_build_reduce_scatter_flat = {
	.operation = PCOLL_REDUCE_SCATTER, .name = "flat",
	.summary = "each sends each the operand of its block", .serves_lists = true,
	.build = reduce_scatter_flat_build,
};
