/*
 * Up a binomial tree to rank 0 and down the same tree; both at the same time for different pieces
 * of a vector.  All members get the same bits.  Cost: 2 ceil(log2 n) steps of latency; rank 0
 * receives and sends ceil(log2 n) times the bytes.  Wins: simplicity, and a result that does not
 * depend on who asks.
 */
#include "coll/algorithms.h"

struct both {
	_Alignas(64) struct pcoll_down down;
};

static struct pcoll_up *
reduce_to_all_up_of(struct pcoll_op *op)
{
	return (struct pcoll_up *)(void *)((struct both *)op->scratch + 1);
}

static size_t
reduce_to_all_scratch_bytes(const struct pcoll_call *call)
{
	return sizeof(struct both) + pcoll_up_bytes(call, 0);
}

static void
reduce_to_all_start(struct pcoll_op *op)
{
	struct both *both = op->scratch;

	pcoll_up_start(op, reduce_to_all_up_of(op), 0, op->call.dst, 0);
	pcoll_down_start(op, &both->down, 0, op->call.dst, op->call.len_bytes);
}

/* If source and destination are one vector, results may be written only after this member has read
 * all of it. */
static bool
reduce_to_all_step(struct pcoll_op *op)
{
	struct both *both = op->scratch;
	const bool passed = pcoll_up_step(op, reduce_to_all_up_of(op));

	if (!passed && op->call.src == op->call.dst && !both->down.tree.is_root)
		return false;
	return pcoll_down_step(op, &both->down, pcoll_up_done(reduce_to_all_up_of(op))) && passed;
}

const struct pcoll_algorithm pcoll_reduce_to_all_binomial = {
	.operation = PCOLL_REDUCE_TO_ALL,
	.name = "binomial",
	.summary = "up a binomial tree to rank 0, and down again",
	.scratch_bytes = reduce_to_all_scratch_bytes,
	.start = reduce_to_all_start,
	.step = reduce_to_all_step,
};
