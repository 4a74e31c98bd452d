/*
 * Members trade halves of the vector, then quarters and so on, until each has the result of a part;
 * then they trade results the same way back.
 *
 * Source: R. Rabenseifner, "Optimization of collective reduction operations", 2004.
 * Cost: 2 log2 n steps of latency, two more where n is no power of two; each member sends about
 * twice the bytes, and combines them once.
 * Wins: large vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
halving_back(struct pcoll_schedule *schedule, const struct pcoll_fold *fold, uint32_t sum)
{
	uint32_t tag = schedule->tags;

	for (uint32_t mask = fold->power / 2; mask; mask /= 2, tag++) {
		const uint32_t other = fold->number ^ mask;
		const struct pcoll_index peer = pcoll_at(pcoll_fold_rank(fold, other));
		uint32_t own, others, blocks;

		pcoll_halving_find(fold, fold->number, 2 * mask, &own, &blocks);
		pcoll_halving_find(fold, other, 2 * mask, &others, &blocks);
		pcoll_add_send(schedule, peer, pcoll_at(tag),
		               pcoll_span(sum, pcoll_at(own), blocks), pcoll_no_span());
		pcoll_add_receive(schedule, peer, pcoll_at(tag),
		                  pcoll_span(sum, pcoll_at(others), blocks), pcoll_no_span());
		pcoll_add_round(schedule);
	}
}

static void
reduce_to_all_halving_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_work work;
	struct pcoll_fold fold;

	pcoll_fold_find(shape->rank, shape->size, &fold);
	pcoll_work_to_all(schedule, shape, fold.power, &work);
	pcoll_add_pair(schedule, &work, &fold, shape->rank, fold.power);
	if (fold.has_number)
		pcoll_add_halving(schedule, &fold, shape->rank, &work);
	schedule->tags += fold.steps;
	if (fold.has_number)
		halving_back(schedule, &fold, work.sum);
	schedule->tags += fold.steps;
	pcoll_add_result(schedule, &work, &fold, fold.power);
}

const struct pcoll_builder pcoll_build_reduce_to_all_halving = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "halving",
	.summary = "members trade halves of the vector, then results",
	.build = reduce_to_all_halving_build,
};
