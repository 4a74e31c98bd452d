/*
 * From each member to the next, piece by piece.
 *
 * Cost: n - 1 + p steps of a piece each, for p pieces; each member sends the bytes once.
 * Wins: large vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
scan_chain_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t rank = shape->rank;
	const size_t piece_bytes = pcoll_piece_bytes(shape);
	const uint32_t dst =
		pcoll_view_pieces(schedule, PCOLL_DST, piece_bytes, shape->len_bytes);
	const struct pcoll_span come =
		pcoll_block(pcoll_view_tmp(schedule, 1, piece_bytes), pcoll_at(0));
	const uint32_t pieces = schedule->view[dst].count;
	const struct pcoll_index tag = pcoll_from(schedule->tags, 1);
	const struct pcoll_span piece = pcoll_block(dst, pcoll_from(0, 1));

	if (!shape->in_place)
		pcoll_add_own_copy(schedule, shape);
	pcoll_loop_begin(schedule, pieces);
	if (rank) {
		pcoll_add_receive(schedule, pcoll_at(rank - 1), tag, come, piece);
		pcoll_add_round(schedule);
		pcoll_add_combine(schedule, come, piece, pcoll_no_span());
	}
	if (rank + 1 < shape->size)
		pcoll_add_send(schedule, pcoll_at(rank + 1), tag, piece, pcoll_no_span());
	pcoll_loop_end(schedule);
	schedule->tags += pieces;
}

const struct pcoll_builder pcoll_build_scan_chain = {
	.operation = PCOLL_SCAN, .name = "chain",
	.summary = "from each to the next, piece by piece", .has_pieces = true,
	.build = scan_chain_build,
};
