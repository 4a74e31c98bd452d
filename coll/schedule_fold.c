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
               const struct pcoll_fold *fold, uint32_t rank)
{
	const uint32_t all = fold->power;

	if (fold->twin != UINT32_MAX)
		pcoll_add_trade(schedule, work, rank, fold->twin, schedule->tags, 0,
		                fold->has_number ? 0 : all, 0, fold->has_number ? all : 0);
}
