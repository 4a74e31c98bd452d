/*
 * As binomial, but the tree begins at rank 0, so that vectors are combined in the order of the
 * ranks; rank 0 hands each piece of the result to the root. Cost: one step more than binomial.
 * Wins: operations that are not commutative.
 */
#include "coll/algorithms.h"

#include "runtime/team/team.h"

struct ordered {
	uint32_t piece;
	bool asked;
	size_t done_bytes;
	struct pcoll_in in;             /* the root's */
};

static size_t
ordered_head_bytes(void)
{
	enum { ALIGN = 64 };

	return (sizeof(struct ordered) + ALIGN - 1) / ALIGN * ALIGN;
}

static struct pcoll_up *
ordered_up_of(struct pcoll_op *op)
{
	return (struct pcoll_up *)(void *)((char *)op->scratch + ordered_head_bytes());
}

static size_t
ordered_scratch_bytes(const struct pcoll_call *call)
{
	return ordered_head_bytes() + pcoll_up_bytes(call, 0);
}

static void
ordered_start(struct pcoll_op *op)
{
	pcoll_up_start(op, ordered_up_of(op), 0, NULL, op->call.root);
}

/* A piece may be asked for before this member has sent its own part of it, which is then still
 * read, but not come before that. */
static bool
ordered_take_result(struct pcoll_op *op, struct ordered *ordered)
{
	const struct pcoll_call *call = &op->call;

	while (ordered->done_bytes < call->len_bytes) {
		const size_t now_bytes = pcoll_up_piece(call, ordered->done_bytes);

		if (!ordered->asked)
			ordered->asked =
				pcoll_in_ask(op, &ordered->in, 0, PCOLL_RESULT | ordered->piece,
			                     (char *)call->dst + ordered->done_bytes, now_bytes);
		if (!ordered->asked || !pcoll_in_whole(&ordered->in))
			return false;
		ordered->done_bytes += now_bytes;
		ordered->piece++;
		ordered->asked = false;
	}
	return true;
}

static bool
ordered_step(struct pcoll_op *op)
{
	const bool passed = pcoll_up_step(op, ordered_up_of(op));

	if (op->call.tm->rank == op->call.root)
		return ordered_take_result(op, op->scratch) && passed;
	return passed;
}

const struct pcoll_algorithm pcoll_reduce_to_one_ordered = {
	.operation = PCOLL_REDUCE_TO_ONE,
	.name = "ordered",
	.summary = "up a binomial tree that begins at rank 0, and from there to the root",
	.scratch_bytes = ordered_scratch_bytes,
	.start = ordered_start,
	.step = ordered_step,
};
