/*
 * Blocks straight between members, for operations in which each pair has a block of its own: a member
 * asks all who have something for it, and sends what it is asked for.
 */
#include "coll/parts.h"

#include "runtime/util/copy.h"

struct pcoll_direct {
	uint32_t ins, outs;
	uint32_t asked, arrived, gone;  /* the first so many */
	struct pcoll_in *in;            /* [ins] */
	struct pcoll_out *out;          /* [outs] */
	const void *own;                /* what this member sends to itself */
};

size_t
pcoll_direct_bytes(const struct pcoll_call *call)
{
	return sizeof(struct pcoll_direct) +
	       call->tm->size * (sizeof(struct pcoll_in) + sizeof(struct pcoll_out));
}

struct pcoll_direct *
pcoll_direct_start(struct pcoll_op *op)
{
	struct pcoll_direct *direct = op->scratch;

	direct->in = (struct pcoll_in *)(direct + 1);
	direct->out = (struct pcoll_out *)(direct->in + op->call.tm->size);
	return direct;
}

void
pcoll_direct_send(struct pcoll_op *op, gex_Rank_t to, const void *addr)
{
	struct pcoll_direct *direct = op->scratch;

	if (to == op->call.tm->rank)
		direct->own = addr;
	else
		direct->out[direct->outs++] = (struct pcoll_out){
			.addr = addr, .len_bytes = op->call.len_bytes, .to = to, .index = PCOLL_DIRECT,
		};
}

void
pcoll_direct_receive(struct pcoll_op *op, gex_Rank_t from, void *addr)
{
	struct pcoll_direct *direct = op->scratch;
	struct pcoll_in *in;

	if (from == op->call.tm->rank) {
		if (direct->own != addr)
			psi_copy(addr, direct->own, op->call.len_bytes);
		return;
	}
	in = &direct->in[direct->ins++];
	in->from = from;
	in->addr = addr;
}

bool
pcoll_direct_step(struct pcoll_op *op)
{
	struct pcoll_direct *direct = op->scratch;
	bool all_gone = true;

	for (; direct->asked < direct->ins; direct->asked++) {
		struct pcoll_in *in = &direct->in[direct->asked];

		if (!pcoll_in_ask(op, in, in->from, PCOLL_DIRECT, in->addr, op->call.len_bytes))
			break;
	}
	for (uint32_t i = direct->gone; i < direct->outs; i++) {
		const bool gone = pcoll_out_push(op, &direct->out[i], op->call.len_bytes);

		if (gone && i == direct->gone)
			direct->gone++;
		all_gone = all_gone && gone;
	}
	while (direct->arrived < direct->asked && pcoll_in_whole(&direct->in[direct->arrived]))
		direct->arrived++;
	return all_gone && direct->arrived == direct->ins;
}
