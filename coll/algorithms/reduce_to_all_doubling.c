/*
 * Members trade all that they have with one at distance 1, then 2, 4 and so on.  Both members of a
 * pair combine the same two operands in the same order, asked for or not, so all get the same bits:
 * the larger of a number and NaN depends on which comes first.
 *
 * Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", 2005.
 * Cost: log2 n steps of latency, two more where n is no power of two; each member sends and
 * combines log2 n times the bytes.
 * Wins: small vectors.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
reduce_to_all_doubling_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_work work;
	struct pcoll_fold fold;

	pcoll_fold_find(shape->rank, shape->size, &fold);
	pcoll_work_to_all(schedule, shape, 1, &work);
	work.ordered = true;
	pcoll_add_pair(schedule, &work, &fold, shape->rank, 1);
	for (uint32_t mask = 1; mask < fold.power; mask *= 2, schedule->tags++)
		if (fold.has_number)
			pcoll_add_trade(schedule, &work, shape->rank,
			                pcoll_fold_rank(&fold, fold.number ^ mask), schedule->tags,
			                0, 1, 0, 1);
	pcoll_add_result(schedule, &work, &fold, 1);
}

const struct pcoll_builder pcoll_build_reduce_to_all_doubling = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "doubling",
	.summary = "members trade whole vectors at growing distances",
	.build = reduce_to_all_doubling_build,
};
