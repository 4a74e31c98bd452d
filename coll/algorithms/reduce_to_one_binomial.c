/*
 * Source: folklore; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", 2005.
 * Cost: ceil(log2 n) steps of latency; the root receives and combines ceil(log2 n) times the bytes.
 * Wins: small vectors.
 */
#include "coll/algorithms.h"

static size_t
reduce_to_one_scratch_bytes(const struct pcoll_call *call)
{
	return pcoll_up_bytes(call, call->root);
}

static void
reduce_to_one_start(struct pcoll_op *op)
{
	pcoll_up_start(op, op->scratch, op->call.root, op->call.dst, op->call.root);
}

static bool
reduce_to_one_step(struct pcoll_op *op)
{
	return pcoll_up_step(op, op->scratch);
}

static bool
reduce_to_one_serves(const struct pcoll_call *call)
{
	return !call->reduction.ordered || call->root == 0;
}

const struct pcoll_algorithm pcoll_reduce_to_one_binomial = {
	.operation = PCOLL_REDUCE_TO_ONE,
	.name = "binomial",
	.summary = "up a binomial tree that begins at the root",
	.serves = reduce_to_one_serves,
	.scratch_bytes = reduce_to_one_scratch_bytes,
	.start = reduce_to_one_start,
	.step = reduce_to_one_step,
};
