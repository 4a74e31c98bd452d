/*
 * A reduction up a tree.  For each piece of the vector a member requests the pieces of all its
 * children at once.  It combines them in the order of the tree, each time into the buffer of the
 * child, and passes the result on.  So its own src is only read, and the scratch is one piece for
 * each child.
 */
#include "coll/parts.h"

#include "runtime/util/copy.h"

#include "runtime/team/team.h"

enum { PIECE_BYTES = 64 << 10, ALIGN = 64 };

struct pcoll_up {
	struct pcoll_tree tree;
	bool (*state)(struct pcoll_op *op, struct pcoll_up *up);
	unsigned char *dst;             /* of the root, or NULL */
	gex_Rank_t next;                /* whom results are sent to */
	uint32_t next_index, piece, child;
	size_t done_bytes, now_bytes;
	size_t stride;                  /* between the buffers of children */
	const unsigned char *sum;       /* of the pieces combined so far */
	unsigned char *buffers;
	struct pcoll_out out;
	struct pcoll_in in[PCOLL_TREE_CHILDREN];
};

size_t
pcoll_up_piece(const struct pcoll_call *call, size_t offset)
{
	const size_t elem = call->reduction.elem_bytes, left = call->len_bytes - offset;
	const size_t most = elem >= PIECE_BYTES ? elem : PIECE_BYTES / elem * elem;

	return left < most ? left : most;
}

static size_t
up_stride_of(const struct pcoll_call *call)
{
	return (pcoll_up_piece(call, 0) + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t
up_head_bytes(void)
{
	return (sizeof(struct pcoll_up) + ALIGN - 1) / ALIGN * ALIGN;
}

size_t
pcoll_up_bytes(const struct pcoll_call *call, gex_Rank_t root)
{
	struct pcoll_tree tree;

	pcoll_tree_make(call->tm->rank, call->tm->size, root, &tree);
	return up_head_bytes() + tree.children * up_stride_of(call);
}

static bool up_state_asking(struct pcoll_op *op, struct pcoll_up *up);

static bool
up_state_passing(struct pcoll_op *op, struct pcoll_up *up)
{
	if (up->dst) {
		if (up->dst + up->done_bytes != up->sum)
			psi_copy(up->dst + up->done_bytes, up->sum, up->now_bytes);
	} else if (!pcoll_out_push(op, &up->out, up->now_bytes)) {
		return false;
	}
	up->done_bytes += up->now_bytes;
	up->piece++;
	up->child = 0;
	up->state = up_state_asking;
	return true;
}

static bool
up_state_combining(struct pcoll_op *op, struct pcoll_up *up)
{
	const struct pcoll_reduction *reduction = &op->call.reduction;

	for (; up->child < up->tree.children; up->child++) {
		unsigned char *other = up->buffers + up->child * up->stride;

		if (!pcoll_in_whole(&up->in[up->child]))
			return false;
		reduction->combine(up->sum, other, up->now_bytes / reduction->elem_bytes,
		                   reduction->cdata);
		up->sum = other;
	}
	up->out = (struct pcoll_out){
		.addr = up->sum, .len_bytes = up->now_bytes, .to = up->next,
		.index = up->next_index | up->piece,
	};
	up->state = up_state_passing;
	return true;
}

static bool
up_state_asking(struct pcoll_op *op, struct pcoll_up *up)
{
	up->now_bytes = pcoll_up_piece(&op->call, up->done_bytes);
	for (; up->child < up->tree.children; up->child++)
		if (!pcoll_in_ask(op, &up->in[up->child], up->tree.child[up->child],
		                  PCOLL_UP | up->piece, up->buffers + up->child * up->stride,
		                  up->now_bytes))
			return false;
	up->child = 0;
	up->sum = (const unsigned char *)op->call.src + up->done_bytes;
	up->state = up_state_combining;
	return true;
}

struct pcoll_up *
pcoll_up_start(struct pcoll_op *op, void *memory, gex_Rank_t root, void *dst, gex_Rank_t heir)
{
	struct pcoll_up *up = memory;

	pcoll_tree_make(op->call.tm->rank, op->call.tm->size, root, &up->tree);
	up->dst = up->tree.is_root ? dst : NULL;
	up->next = up->tree.is_root ? heir : up->tree.parent;
	up->next_index = up->tree.is_root ? PCOLL_RESULT : PCOLL_UP;
	up->stride = up_stride_of(&op->call);
	up->buffers = (unsigned char *)memory + up_head_bytes();
	up->state = up_state_asking;
	return up;
}

bool
pcoll_up_step(struct pcoll_op *op, struct pcoll_up *up)
{
	while (up->done_bytes < op->call.len_bytes)
		if (!up->state(op, up))
			return false;
	return true;
}

size_t
pcoll_up_done(const struct pcoll_up *up)
{
	return up->done_bytes;
}
