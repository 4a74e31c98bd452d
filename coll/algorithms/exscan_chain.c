/*
 * From each member to the next, piece by piece.
 *
 * Cost: n - 1 + p steps of a piece each, for p pieces; each member sends the bytes once.
 * Wins: large vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* A piece's sum lies in one of two places, by its number, until it is sent.  In place, a piece of
 * dst is received where the operand was, which is copied before. */
static void
exscan_chain_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t rank = shape->rank;
	const size_t piece_bytes = pcoll_piece_bytes(shape);
	const uint32_t dst =
		pcoll_view_pieces(schedule, PCOLL_DST, piece_bytes, shape->len_bytes);
	const uint32_t src =
		pcoll_view_pieces(schedule, PCOLL_SRC, piece_bytes, shape->len_bytes);
	const uint32_t sums = pcoll_view_tmp(schedule, 2, piece_bytes);
	const uint32_t pieces = schedule->view[dst].count;
	const struct pcoll_index tag = pcoll_from(schedule->tags, 1);
	const struct pcoll_span come = pcoll_block(dst, pcoll_from(0, 1));
	const struct pcoll_span own = pcoll_block(src, pcoll_from(0, 1));
	const struct pcoll_span sum = pcoll_block(sums, pcoll_around(0, 1, 2));
	const bool is_last = rank + 1 == shape->size;

	pcoll_loop_begin(schedule, pieces);
	if (rank && !is_last)
		pcoll_add_copy(schedule, sum, own);
	if (rank) {
		pcoll_add_receive(schedule, pcoll_at(rank - 1), tag, come, pcoll_no_span());
		pcoll_add_round(schedule);
	}
	if (rank && !is_last)
		pcoll_add_combine(schedule, come, sum, pcoll_no_span());
	if (!is_last)
		pcoll_add_send(schedule, pcoll_at(rank + 1), tag, rank ? sum : own, own);
	pcoll_loop_end(schedule);
	schedule->tags += pieces;
}

const struct pcoll_builder pcoll_build_exscan_chain = {
	.operation = PCOLL_EXSCAN, .name = "chain",
	.summary = "from each to the next, piece by piece", .has_pieces = true,
	.build = exscan_chain_build,
};
