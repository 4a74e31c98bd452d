/*
 * Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", 1988.
 * Cost: ceil(log2 n) messages after one another, as many sent by each member.
 * Wins: the fewest rounds that messages to one member at a time allow.
 */
#include "coll/algorithms.h"

static size_t
barrier_scratch_bytes(const struct pcoll_call *call)
{
	(void)call;
	return sizeof(struct pcoll_sync);
}

static void
barrier_start(struct pcoll_op *op)
{
	struct pcoll_sync *sync = op->scratch;

	if (op->call.phase)
		sync->names = op->call.phase->names;
}

static bool
barrier_step(struct pcoll_op *op)
{
	const struct pcoll_sync *sync = op->scratch;

	if (!pcoll_sync_step(op, op->scratch, PCOLL_ENTER))
		return false;
	if (op->call.phase)
		op->call.phase->names = sync->names;
	return true;
}

const struct pcoll_algorithm pcoll_barrier_dissemination = {
	.operation = PCOLL_BARRIER,
	.name = "dissemination",
	.summary = "each tells the one 2^r above it, in log2 n rounds",
	.scratch_bytes = barrier_scratch_bytes,
	.start = barrier_start,
	.step = barrier_step,
};
