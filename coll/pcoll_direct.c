/*
 * Sends blocks straight between members, for operations in which each pair has a block of its own.
 * A member requests its block from each peer that has one for it, and sends blocks in the order in
 * which they are requested.  A peer without room is passed over until the next step.  So a step
 * looks at the peers that requested, and at one sum of the bytes that have come.
 */
#include "coll/parts.h"

#include "runtime/util/copy.h"

#include "runtime/team/team.h"

struct pcoll_direct {
	uint32_t ins, outs, asked, gone;
	uint32_t first, wanting;        /* of the queue: where it begins, and how many */
	_Atomic size_t here_bytes;      /* of all ins */
	struct pcoll_in *in;            /* [ins] */
	struct pcoll_out *out;          /* [size], by rank */
	gex_Rank_t *queue;              /* [size], a ring buffer: peers that requested their block
	                                 * and have not got all of it */
	const void *own;                /* what this member sends to itself */
};

size_t
pcoll_direct_bytes(const struct pcoll_call *call)
{
	return sizeof(struct pcoll_direct) +
	       call->tm->size *
	               (sizeof(struct pcoll_in) + sizeof(struct pcoll_out) + sizeof(gex_Rank_t));
}

void
pcoll_direct_start(struct pcoll_op *op)
{
	struct pcoll_direct *direct = op->scratch;

	direct->in = (struct pcoll_in *)(direct + 1);
	direct->out = (struct pcoll_out *)(direct->in + op->call.tm->size);
	direct->queue = (gex_Rank_t *)(direct->out + op->call.tm->size);
}

void
pcoll_direct_send(struct pcoll_op *op, gex_Rank_t to, const void *addr)
{
	struct pcoll_direct *direct = op->scratch;

	if (to == op->call.tm->rank) {
		direct->own = addr;
		return;
	}
	direct->out[to] = (struct pcoll_out){
		.addr = addr, .len_bytes = op->call.len_bytes, .to = to, .index = PCOLL_DIRECT,
	};
	direct->outs++;
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
	in->sum = &direct->here_bytes;
}

void
pcoll_direct_all(struct pcoll_op *op, size_t stride_bytes)
{
	const struct pcoll_call *call = &op->call;
	const gex_Rank_t size = call->tm->size, rank = call->tm->rank;

	pcoll_direct_start(op);
	for (gex_Rank_t i = 0; i < size; i++) {
		const gex_Rank_t to = (gex_Rank_t)(((uint64_t)rank + i) % size);
		const gex_Rank_t from = (gex_Rank_t)(((uint64_t)rank + size - i) % size);

		pcoll_direct_send(op, to, (const char *)call->src + to * stride_bytes);
		pcoll_direct_receive(op, from, (char *)call->dst + from * call->len_bytes);
	}
}

/* -- steps ------------------------------------------------------------------------------------- */

static void
direct_request(struct pcoll_op *op, struct pcoll_direct *direct)
{
	for (; direct->asked < direct->ins; direct->asked++) {
		struct pcoll_in *in = &direct->in[direct->asked];

		if (!pcoll_in_ask(op, in, in->from, PCOLL_DIRECT, in->addr, op->call.len_bytes))
			return;
	}
}

static void
direct_put_last(struct pcoll_op *op, struct pcoll_direct *direct, gex_Rank_t to)
{
	direct->queue[((uint64_t)direct->first + direct->wanting++) % op->call.tm->size] = to;
}

static void
direct_take_requests(struct pcoll_op *op, struct pcoll_direct *direct)
{
	uint64_t words[2];
	gex_Rank_t from;

	while (pcoll_note_take_any(op, PCOLL_DIRECT, &from, words)) {
		direct->out[from].to = from;
		pcoll_out_asked(op, &direct->out[from], words);
		direct_put_last(op, direct, from);
	}
}

/* Each once. */
static void
direct_send_next(struct pcoll_op *op, struct pcoll_direct *direct)
{
	for (uint32_t left = direct->wanting; left; left--) {
		const gex_Rank_t to = direct->queue[direct->first];

		direct->first = (direct->first + 1) % op->call.tm->size;
		direct->wanting--;
		if (pcoll_out_push(op, &direct->out[to], op->call.len_bytes))
			direct->gone++;
		else
			direct_put_last(op, direct, to);
	}
}

bool
pcoll_direct_step(struct pcoll_op *op)
{
	struct pcoll_direct *direct = op->scratch;

	direct_request(op, direct);
	direct_take_requests(op, direct);
	direct_send_next(op, direct);
	return direct->gone == direct->outs &&
	       atomic_load_explicit(&direct->here_bytes, memory_order_acquire) == /* X2 */
	               direct->ins * op->call.len_bytes;
}
