/*
 * Trees, and what goes down and up them piece by piece: while a member receives a piece it sends on
 * the one before.
 */
#include "coll/schedule_parts.h"

/* -- shapes of trees --------------------------------------------------------------------------- */

static void
kin_adopt(struct pcoll_kin *kin, uint64_t place, uint64_t run, uint32_t size, uint32_t root)
{
	kin->child_run[kin->children] = (uint32_t)run;
	kin->child[kin->children++] = pcoll_rank_at(place, size, root);
}

void
pcoll_kin_knomial(uint32_t rank, uint32_t size, uint32_t root, uint32_t radix,
                  struct pcoll_kin *kin_out)
{
	const uint64_t place = pcoll_place_of(rank, size, root);
	uint64_t step = 1;

	*kin_out = (struct pcoll_kin){ .is_root = place == 0 };
	for (; step < size && place % (step * radix) == 0; step *= radix)
		for (uint64_t i = 1; i < radix && place + i * step < size; i++) {
			const uint64_t at = place + i * step, left = size - at;

			kin_adopt(kin_out, at, step < left ? step : left, size, root);
		}
	kin_out->run = (uint32_t)(step < size - place ? step : size - place);
	if (place)
		kin_out->parent = pcoll_rank_at(place - place % (step * radix), size, root);
}

/* Goes from the root down to the member, whose run is then known. */
void
pcoll_kin_binary(uint32_t rank, uint32_t size, uint32_t root, struct pcoll_kin *kin_out)
{
	const uint32_t place = pcoll_place_of(rank, size, root);
	uint32_t at = 0, run = size, near;

	*kin_out = (struct pcoll_kin){ .is_root = place == 0 };
	while (at != place) {
		kin_out->parent = pcoll_rank_at(at, size, root);
		near = run / 2;         /* the first child's: half of run - 1, rounded up */
		if (place <= at + near) {
			at = at + 1;
			run = near;
		} else {
			at = at + 1 + near;
			run = run - 1 - near;
		}
	}
	kin_out->run = run;
	near = run / 2;
	if (run > 1)
		kin_adopt(kin_out, place + 1, near, size, root);
	if (run > 2)
		kin_adopt(kin_out, place + 1 + near, run - 1 - near, size, root);
}

void
pcoll_kin_chain(uint32_t rank, uint32_t size, uint32_t root, struct pcoll_kin *kin_out)
{
	const uint32_t place = pcoll_place_of(rank, size, root);

	*kin_out = (struct pcoll_kin){ .is_root = place == 0, .run = size - place };
	if (place)
		kin_out->parent = pcoll_rank_at(place - 1, size, root);
	if (kin_out->run > 1)
		kin_adopt(kin_out, place + 1, kin_out->run - 1, size, root);
}

/* -- pieces ------------------------------------------------------------------------------------ */

size_t
pcoll_piece_bytes(const struct pcoll_shape *shape)
{
	return shape->piece_bytes && shape->piece_bytes < shape->len_bytes ? shape->piece_bytes
	                                                                   : shape->len_bytes;
}

/* -- down -------------------------------------------------------------------------------------- */

/* What all pieces of a tree have in common. */
struct tree {
	struct pcoll_schedule *schedule;
	const struct pcoll_kin *kin;
	uint32_t tags;                  /* piece i has tag tags + i */
	uint32_t pieces;                /* the view */
	uint32_t count;
};

/* Pieces at, at + step, ... of the loop. */
static struct pcoll_index
tree_tag(const struct tree *tree, uint32_t at, int32_t step)
{
	return pcoll_from(tree->tags + at, step);
}

static void
down_receive(const struct tree *tree, uint32_t at, int32_t step)
{
	pcoll_add_receive(tree->schedule, pcoll_at(tree->kin->parent), tree_tag(tree, at, step),
	                  pcoll_block(tree->pieces, pcoll_from(at, step)), pcoll_no_span());
}

/* The largest subtree first. */
static void
down_send(const struct tree *tree, uint32_t at, int32_t step)
{
	for (uint32_t i = tree->kin->children; i-- > 0; )
		pcoll_add_send(tree->schedule, pcoll_at(tree->kin->child[i]),
		               tree_tag(tree, at, step),
		               pcoll_block(tree->pieces, pcoll_from(at, step)), pcoll_no_span());
}

static void
down_inner(const struct tree *tree)
{
	down_receive(tree, 0, 0);
	pcoll_add_round(tree->schedule);
	pcoll_loop_begin(tree->schedule, tree->count - 1);
	down_receive(tree, 1, 1);
	down_send(tree, 0, 1);
	pcoll_add_round(tree->schedule);
	pcoll_loop_end(tree->schedule);
	down_send(tree, tree->count - 1, 0);
}

static void
down_add(struct pcoll_schedule *schedule, const struct pcoll_kin *kin, uint32_t pieces)
{
	const struct tree tree = {
		.schedule = schedule, .kin = kin, .tags = schedule->tags, .pieces = pieces,
		.count = schedule->view[pieces].count,
	};

	schedule->tags += tree.count;
	if (!kin->is_root && kin->children) {
		down_inner(&tree);
		return;
	}
	pcoll_loop_begin(schedule, tree.count);
	if (kin->is_root)
		down_send(&tree, 0, 1);
	else
		down_receive(&tree, 0, 1);
	pcoll_loop_end(schedule);
}

void
pcoll_add_down(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
               const struct pcoll_kin *kin, enum pcoll_buffer from)
{
	down_add(schedule, kin,
	         pcoll_view_pieces(schedule, kin->is_root ? from : PCOLL_DST,
	                           pcoll_piece_bytes(shape), shape->len_bytes));
}

void
pcoll_add_broadcast(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                    const struct pcoll_kin *kin)
{
	pcoll_add_down(schedule, shape, kin, PCOLL_SRC);
	if (kin->is_root && !shape->in_place)
		pcoll_add_own_copy(schedule, shape);
}

/* -- up ---------------------------------------------------------------------------------------- */

/*
 * Each child has two places in scratch memory, for even and odd pieces.  An operand is combined
 * into that of the next child, so the sum of a piece is where the last child's operand was.
 */
struct up {
	struct tree tree;               /* pieces are those of src */
	uint32_t slots, dst;            /* views; dst of the heir alone */
	bool is_heir;
	uint32_t root, heir;
};

/* The place of a child's pieces at, at + step, ... */
static struct pcoll_span
up_slot(const struct up *up, uint32_t child, uint32_t at, int32_t step)
{
	const uint32_t children = up->tree.kin->children;

	return pcoll_block(up->slots, pcoll_around(child + at % 2 * children,
	                                           step * (int32_t)children, 2 * children));
}

static struct pcoll_span
up_piece(const struct up *up, uint32_t at, int32_t step)
{
	return pcoll_block(up->tree.pieces, pcoll_from(at, step));
}

static void
up_receive(const struct up *up, uint32_t at, int32_t step)
{
	for (uint32_t i = 0; i < up->tree.kin->children; i++)
		pcoll_add_receive(up->tree.schedule, pcoll_at(up->tree.kin->child[i]),
		                  tree_tag(&up->tree, at, step), up_slot(up, i, at, step),
		                  up_piece(up, at, step));
}

/* The root's sum goes to the heir, whose messages have tags of their own. */
static void
up_send(const struct up *up, struct pcoll_span sum, uint32_t at, int32_t step)
{
	const struct pcoll_kin *kin = up->tree.kin;
	const uint32_t peer = kin->is_root ? up->heir : kin->parent;
	const uint32_t tags = kin->is_root ? up->tree.count : 0;

	pcoll_add_send(up->tree.schedule, pcoll_at(peer), tree_tag(&up->tree, tags + at, step), sum,
	               up_piece(up, at, step));
}

static void
up_combine(const struct up *up, uint32_t at, int32_t step)
{
	struct pcoll_span sum = up_piece(up, at, step);

	for (uint32_t i = 0; i < up->tree.kin->children; i++) {
		const struct pcoll_span next = up_slot(up, i, at, step);

		pcoll_add_combine(up->tree.schedule, sum, next, up_piece(up, at, step));
		sum = next;
	}
	if (up->tree.kin->is_root && up->is_heir)
		pcoll_add_copy(up->tree.schedule, pcoll_block(up->dst, pcoll_from(at, step)), sum);
	else
		up_send(up, sum, at, step);
}

/* The heir that is not the root. */
static void
up_inherit(const struct up *up, uint32_t at, int32_t step)
{
	if (up->is_heir && !up->tree.kin->is_root)
		pcoll_add_receive(up->tree.schedule, pcoll_at(up->root),
		                  tree_tag(&up->tree, up->tree.count + at, step),
		                  pcoll_block(up->dst, pcoll_from(at, step)), pcoll_no_span());
}

/* In the middle of the loop, piece i is combined, the one behind it received, and the result of the
 * one before it inherited. */
static void
up_add(const struct up *up)
{
	struct pcoll_schedule *schedule = up->tree.schedule;
	const uint32_t last = up->tree.count - 1;

	up_receive(up, 0, 0);
	pcoll_add_round(schedule);
	if (last) {
		up_receive(up, 1, 0);
		up_combine(up, 0, 0);
		pcoll_add_round(schedule);
		pcoll_loop_begin(schedule, last - 1);
		up_receive(up, 2, 1);
		up_combine(up, 1, 1);
		up_inherit(up, 0, 1);
		pcoll_add_round(schedule);
		pcoll_loop_end(schedule);
	}
	up_combine(up, last, 0);
	if (last)
		up_inherit(up, last - 1, 0);
	pcoll_add_round(schedule);
	up_inherit(up, last, 0);
}

void
pcoll_add_reduce(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                 const struct pcoll_kin *kin)
{
	const size_t piece_bytes = pcoll_piece_bytes(shape);
	struct up up = {
		.tree = {
			.schedule = schedule, .kin = kin, .tags = schedule->tags,
			.pieces = pcoll_view_pieces(schedule, PCOLL_SRC, piece_bytes,
		                                    shape->len_bytes),
		},
		.is_heir = shape->rank == shape->root, .heir = shape->root,
		.root = pcoll_reduce_top(shape),
	};

	up.tree.count = schedule->view[up.tree.pieces].count;
	schedule->tags += 2 * up.tree.count;
	if (up.is_heir)
		up.dst = pcoll_view_pieces(schedule, PCOLL_DST, piece_bytes, shape->len_bytes);
	if (kin->children)
		up.slots = pcoll_view_tmp(schedule, (up.tree.count > 1 ? 2 : 1) * kin->children,
		                          piece_bytes);
	up_add(&up);
}
