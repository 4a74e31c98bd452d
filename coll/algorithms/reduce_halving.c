/*
 * Members trade halves of the vector, then quarters and so on, until each has the result of a part;
 * the parts are gathered by the same pairs, in the opposite order.  The first distance is 1, so
 * that operands come in the order of ranks.
 *
 * Source: R. Rabenseifner, "Optimization of collective reduction operations", 2004.
 * Cost: 2 log2 n steps of latency; each member sends and combines about the bytes once, and the
 * root receives them twice.
 * Wins: large vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* The member of a pair that is farther from the heir sends it what it has. */
static void
halving_gather(struct pcoll_schedule *schedule, const struct pcoll_fold *fold, uint32_t heir,
               uint32_t sum)
{
	uint32_t tag = schedule->tags;

	for (uint32_t mask = fold->power / 2; mask; mask /= 2, tag++) {
		const uint32_t other = fold->number ^ mask;
		const struct pcoll_index peer = pcoll_at(pcoll_fold_rank(fold, other));
		const bool hands = (fold->number ^ heir) & mask;
		uint32_t first, blocks;

		pcoll_halving_find(fold, hands ? fold->number : other, 2 * mask, &first, &blocks);
		if (hands)
			pcoll_add_send(schedule, peer, pcoll_at(tag),
			               pcoll_span(sum, pcoll_at(first), blocks), pcoll_no_span());
		else
			pcoll_add_receive(schedule, peer, pcoll_at(tag),
			                  pcoll_span(sum, pcoll_at(first), blocks),
			                  pcoll_no_span());
		pcoll_add_round(schedule);
		if (hands)
			return;
	}
}

/* The result is with the member that has a number; the root may be its twin. */
static void
halving_hand_over(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                  const struct pcoll_fold *fold, uint32_t sum)
{
	const struct pcoll_span whole = pcoll_span(sum, pcoll_at(0), fold->power);

	if (fold->twin == shape->root)
		pcoll_add_send(schedule, pcoll_at(fold->twin), pcoll_at(schedule->tags), whole,
		               pcoll_no_span());
	else if (shape->rank == shape->root)
		pcoll_add_receive(schedule, pcoll_at(fold->twin), pcoll_at(schedule->tags), whole,
		                  pcoll_no_span());
}

static void
reduce_halving_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const bool is_root = shape->rank == shape->root;
	struct pcoll_fold fold, heir;
	struct pcoll_work work = { .in_src = !is_root || !shape->in_place,
	                           .ordered = shape->ordered };

	pcoll_fold_find(shape->rank, shape->size, &fold);
	pcoll_fold_find(shape->root, shape->size, &heir);
	work.src = pcoll_view_parts(schedule, PCOLL_SRC, fold.power, shape->elem_bytes,
	                            shape->len_bytes);
	work.tmp = pcoll_view_tmp_parts(schedule, fold.power, shape);
	work.sum = is_root ? pcoll_view_parts(schedule, PCOLL_DST, fold.power, shape->elem_bytes,
	                                      shape->len_bytes)
	                   : pcoll_view_tmp_parts(schedule, fold.power, shape);
	pcoll_add_pair(schedule, &work, &fold, shape->rank, fold.power);
	if (fold.has_number)
		pcoll_add_halving(schedule, &fold, shape->rank, &work);
	schedule->tags += fold.steps;
	if (work.in_src && fold.has_number)
		pcoll_add_copy(schedule, pcoll_span(work.sum, pcoll_at(0), fold.power),
		               pcoll_span(work.src, pcoll_at(0), fold.power));
	if (fold.has_number)
		halving_gather(schedule, &fold, heir.number, work.sum);
	schedule->tags += fold.steps;
	if (!heir.has_number)
		halving_hand_over(schedule, shape, &fold, work.sum);
	schedule->tags++;
}

const struct pcoll_builder pcoll_build_reduce_halving = {
	.operation = PCOLL_REDUCE_TO_ONE, .name = "halving",
	.summary = "members trade halves of the vector, then gather the parts",
	.build = reduce_halving_build,
};
