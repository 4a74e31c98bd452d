/*
 * Source: folklore; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
 * operations in MPICH", 2005.
 * Cost: ceil(log2 n) steps of latency; the root sends ceil(log2 n) times the bytes.
 * Wins: small payloads.  Large ones are sent on as they arrive, so the tree's depth costs latency
 * alone.
 */
#include "coll/algorithms.h"

#include "runtime/util/copy.h"

#include "runtime/team/team.h"

static size_t
broadcast_scratch_bytes(const struct pcoll_call *call)
{
	(void)call;
	return sizeof(struct pcoll_down);
}

static void
broadcast_start(struct pcoll_op *op)
{
	const struct pcoll_call *call = &op->call;
	const bool is_root = call->tm->rank == call->root;

	if (is_root && call->dst != call->src)
		psi_copy(call->dst, call->src, call->len_bytes);
	pcoll_down_start(op, op->scratch, call->root, is_root ? call->src : call->dst,
	                 call->len_bytes);
}

static bool
broadcast_step(struct pcoll_op *op)
{
	return pcoll_down_step(op, op->scratch, op->call.len_bytes);
}

const struct pcoll_algorithm pcoll_broadcast_binomial = {
	.operation = PCOLL_BROADCAST,
	.name = "binomial",
	.summary = "down a binomial tree",
	.scratch_bytes = broadcast_scratch_bytes,
	.start = broadcast_start,
	.step = broadcast_step,
};
