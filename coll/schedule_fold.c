/* What algorithms of halving and doubling have in common. */
#include "coll/schedule_parts.h"

void
pcoll_fold_find(uint32_t rank, uint32_t size, struct pcoll_fold *fold_out)
{
	uint32_t power = 1, steps = 0;

	for (; power <= size / 2; power *= 2)
		steps++;
	*fold_out = (struct pcoll_fold){
		.power = power, .steps = steps, .pairs = size - power, .has_number = true,
		.number = rank - (size - power), .twin = UINT32_MAX,
	};
	if (rank >= 2 * fold_out->pairs)
		return;
	fold_out->has_number = rank % 2 == 0;
	fold_out->number = rank / 2;
	fold_out->twin = rank ^ 1;
}

uint32_t
pcoll_fold_rank(const struct pcoll_fold *fold, uint32_t number)
{
	return number < fold->pairs ? 2 * number : number + fold->pairs;
}

/* Where a peer's blocks are received, and how they are combined with the member's own. */
static void
trade_combine(struct pcoll_schedule *schedule, const struct pcoll_work *work, bool is_above,
              struct pcoll_index first, uint32_t blocks)
{
	const struct pcoll_span src = pcoll_span(work->src, first, blocks);
	const struct pcoll_span sum = pcoll_span(work->sum, first, blocks);
	const struct pcoll_span tmp = pcoll_span(work->tmp, first, blocks);

	if (work->in_src && (is_above || !work->ordered)) {
		pcoll_add_combine(schedule, src, sum, pcoll_no_span());
		return;
	}
	if (work->in_src)
		pcoll_add_copy(schedule, sum, src);
	if (!is_above || !work->ordered) {
		pcoll_add_combine(schedule, tmp, sum, pcoll_no_span());
		return;
	}
	pcoll_add_combine(schedule, sum, tmp, pcoll_no_span());
	pcoll_add_copy(schedule, sum, tmp);
}

void
pcoll_add_trade(struct pcoll_schedule *schedule, struct pcoll_work *work, uint32_t rank,
                uint32_t peer, uint32_t tag, uint32_t send_first, uint32_t send_blocks,
                uint32_t keep_first, uint32_t keep_blocks)
{
	const bool is_above = peer > rank;
	const uint32_t operand = work->in_src ? work->src : work->sum;
	const uint32_t room = work->in_src && (is_above || !work->ordered) ? work->sum : work->tmp;

	if (send_blocks)
		pcoll_add_send(schedule, pcoll_at(peer), pcoll_at(tag),
		               pcoll_span(operand, pcoll_at(send_first), send_blocks),
		               pcoll_no_span());
	if (keep_blocks)
		pcoll_add_receive(schedule, pcoll_at(peer), pcoll_at(tag),
		                  pcoll_span(room, pcoll_at(keep_first), keep_blocks),
		                  pcoll_no_span());
	pcoll_add_round(schedule);
	if (keep_blocks)
		trade_combine(schedule, work, is_above, pcoll_at(keep_first), keep_blocks);
	work->in_src = false;
}

void
pcoll_add_pair(struct pcoll_schedule *schedule, struct pcoll_work *work,
               const struct pcoll_fold *fold, uint32_t rank, uint32_t blocks)
{
	if (fold->twin != UINT32_MAX)
		pcoll_add_trade(schedule, work, rank, fold->twin, schedule->tags, 0,
		                fold->has_number ? 0 : blocks, 0, fold->has_number ? blocks : 0);
	schedule->tags++;
}

/* -- results that all get ---------------------------------------------------------------------- */

void
pcoll_work_to_all(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t parts,
                  struct pcoll_work *work_out)
{
	*work_out = (struct pcoll_work){
		.src = pcoll_view_parts(schedule, PCOLL_SRC, parts, shape->elem_bytes,
		                        shape->len_bytes),
		.sum = pcoll_view_parts(schedule, PCOLL_DST, parts, shape->elem_bytes,
		                        shape->len_bytes),
		.tmp = pcoll_view_tmp_parts(schedule, parts, shape),
		.in_src = !shape->in_place, .ordered = shape->ordered,
	};
}

void
pcoll_add_result(struct pcoll_schedule *schedule, const struct pcoll_work *work,
                 const struct pcoll_fold *fold, uint32_t blocks)
{
	const struct pcoll_span sum = pcoll_span(work->sum, pcoll_at(0), blocks);
	const struct pcoll_index twin = pcoll_at(fold->twin), tag = pcoll_at(schedule->tags++);

	if (!fold->has_number)
		pcoll_add_receive(schedule, twin, tag, sum, pcoll_no_span());
	else if (work->in_src)
		pcoll_add_copy(schedule, sum, pcoll_span(work->src, pcoll_at(0), blocks));
	else if (fold->twin != UINT32_MAX)
		pcoll_add_send(schedule, twin, tag, sum, pcoll_no_span());
}

/* -- halving ----------------------------------------------------------------------------------- */

void
pcoll_halving_find(const struct pcoll_fold *fold, uint32_t number, uint32_t below,
                   uint32_t *first_out, uint32_t *blocks_out)
{
	uint32_t first = 0, blocks = fold->power;

	for (uint32_t mask = 1; mask < below; mask *= 2) {
		blocks /= 2;
		if (number & mask)
			first += blocks;
	}
	*first_out = first;
	*blocks_out = blocks;
}

void
pcoll_add_halving(struct pcoll_schedule *schedule, const struct pcoll_fold *fold, uint32_t rank,
                  struct pcoll_work *work)
{
	uint32_t tag = schedule->tags;

	for (uint32_t mask = 1; mask < fold->power; mask *= 2) {
		const uint32_t peer = fold->number ^ mask;
		uint32_t send, keep, blocks;

		pcoll_halving_find(fold, peer, 2 * mask, &send, &blocks);
		pcoll_halving_find(fold, fold->number, 2 * mask, &keep, &blocks);
		pcoll_add_trade(schedule, work, rank, pcoll_fold_rank(fold, peer), tag++, send,
		                blocks, keep, blocks);
	}
}

void
pcoll_add_shift(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t away,
                struct pcoll_span from, struct pcoll_span to)
{
	const uint32_t rank = shape->rank;
	const struct pcoll_index tag = pcoll_at(schedule->tags++);

	if ((uint64_t)rank + away < shape->size)
		pcoll_add_send(schedule, pcoll_at(rank + away), tag, from, pcoll_no_span());
	if (rank >= away)
		pcoll_add_receive(schedule, pcoll_at(rank - away), tag, to, pcoll_no_span());
	pcoll_add_round(schedule);
}

void
pcoll_add_sums_before(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                      struct pcoll_span sum, struct pcoll_span come, struct pcoll_span before)
{
	for (uint64_t step = 1; step < shape->size; step *= 2) {
		const uint32_t away = (uint32_t)step;

		pcoll_add_shift(schedule, shape, away, sum, come);
		if (shape->rank < away)
			continue;
		pcoll_add_combine(schedule, come, sum, pcoll_no_span());
		if (away == 1)
			pcoll_add_copy(schedule, before, come);
		else
			pcoll_add_combine(schedule, come, before, pcoll_no_span());
	}
}
