/*
 * The same bytes down a tree.  A member sends on what has come, while the rest is coming; the child
 * with the largest subtree is served first.
 */
#include "coll/parts.h"

#include "runtime/team/team.h"

void
pcoll_down_start(struct pcoll_op *op, struct pcoll_down *down, gex_Rank_t root, const void *buf,
                 size_t len_bytes)
{
	pcoll_tree_make(op->call.tm->rank, op->call.tm->size, root, &down->tree);
	down->buf = (unsigned char *)(uintptr_t)buf;
	down->len_bytes = len_bytes;
	for (uint32_t i = 0; i < down->tree.children; i++)
		down->out[i] = (struct pcoll_out){
			.addr = down->buf, .len_bytes = len_bytes, .to = down->tree.child[i],
			.index = PCOLL_DOWN,
		};
}

bool
pcoll_down_step(struct pcoll_op *op, struct pcoll_down *down, size_t ready)
{
	bool done;

	if (!down->tree.is_root) {
		if (!down->asked)
			down->asked = pcoll_in_ask(op, &down->in, down->tree.parent, PCOLL_DOWN,
			                           down->buf, down->len_bytes);
		ready = down->asked ? pcoll_in_prefix(&down->in) : 0;
	}
	done = ready == down->len_bytes;
	for (uint32_t i = down->tree.children; i-- > 0; )
		done = pcoll_out_push(op, &down->out[i], ready) && done;
	return done;
}
