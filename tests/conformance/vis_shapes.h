/*
 * Random vector, indexed and strided transfers, each with a list of where every one of its bytes
 * goes and comes from, made beside the call's arguments and not from them.
 */
#ifndef VIS_SHAPES_H
#define VIS_SHAPES_H

#include <gasnet.h>
#include <gasnet_vis.h>

#include "tests/lib/pt.h"

enum { PIECES = 64, LEVELS = 7, DST = 0, SRC = 1, SIDES = 2 };
enum shape_kind { SHAPE_VECTOR, SHAPE_INDEXED, SHAPE_STRIDED, SHAPE_KINDS };

struct shape_side {
	size_t pieces;                  /* of the list */
	size_t offset[PIECES], len[PIECES];
	size_t origin;                  /* strided: where the address points */
	ptrdiff_t stride[LEVELS];
	size_t *at;                     /* [bytes]: offset of each byte in the area */
};

struct shape {
	enum shape_kind kind;
	int ordered;                    /* as GASNet-1 wants it: strides that do not transpose */
	size_t bytes;
	size_t elem, levels, count[LEVELS + 1]; /* strided; count[0] is elem */
	struct shape_side side[SIDES];
};

static size_t
shape_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* -- lists ------------------------------------------------------------------------------------ */

/* Bytes of pieces one after the other. */
static void
shape_expand(struct shape_side *side)
{
	size_t n = 0;

	for (size_t i = 0; i < side->pieces; i++)
		for (size_t b = 0; b < side->len[i]; b++)
			side->at[n++] = side->offset[i] + b;
}

static void
shape_shuffle(struct pt_rng *rng, struct shape_side *side)
{
	for (size_t i = side->pieces; i > 1; i--) {
		const size_t k = pt_rand_below(rng, i), offset = side->offset[k],
			     len = side->len[k];

		side->offset[k] = side->offset[i - 1];
		side->len[k] = side->len[i - 1];
		side->offset[i - 1] = offset;
		side->len[i - 1] = len;
	}
}

/* Places pieces whose lengths are given, apart from each other; now and then evenly, touching, or
 * in order of address, so that there is something to join. */
static void
shape_place_apart(struct pt_rng *rng, struct shape_side *side, size_t bytes, size_t room)
{
	const size_t gap = (room - bytes) / (side->pieces + 1);
	const unsigned how = (unsigned)pt_rand_below(rng, 4);
	size_t at = pt_rand_below(rng, gap + 1);

	for (size_t i = 0; i < side->pieces; i++) {
		side->offset[i] = at;
		at += side->len[i];
		at += how == 0 ? 0 : how == 1 ? gap : pt_rand_below(rng, gap + 1);
	}
	if (pt_rand_below(rng, 2))
		shape_shuffle(rng, side);
}

static void
shape_place_anywhere(struct pt_rng *rng, struct shape_side *side, size_t room)
{
	for (size_t i = 0; i < side->pieces; i++)
		side->offset[i] = pt_rand_below(rng, room - side->len[i] + 1);
}

static void
shape_place(struct pt_rng *rng, struct shape *shape, unsigned which, size_t room)
{
	struct shape_side *side = &shape->side[which];

	if (which == DST || pt_rand_below(rng, 2))
		shape_place_apart(rng, side, shape->bytes, room);
	else
		shape_place_anywhere(rng, side, room);
	shape_expand(side);
}

static void
shape_vector(struct pt_rng *rng, struct shape *shape, size_t room)
{
	shape->bytes =
		pt_rand_below(rng, 8) ? pt_rand_below(rng, room / 2) : pt_rand_below(rng, 20);
	for (unsigned which = 0; which < SIDES; which++) {
		struct shape_side *side = &shape->side[which];
		const size_t even = pt_rand_below(rng, 3) ? 0 : 1 + pt_rand_below(rng, 40);
		size_t left = shape->bytes;

		side->pieces = 0;
		while (left && side->pieces < PIECES - 1) {
			size_t len = even ? even : pt_rand_below(rng, 2 * left / 3 + 2);

			len = shape_least(len, left);
			side->len[side->pieces++] = len;
			left -= len;
		}
		if (left || pt_rand_below(rng, 4) == 0)
			side->len[side->pieces++] = left;
		shape_place(rng, shape, which, room);
	}
}

static void
shape_indexed(struct pt_rng *rng, struct shape *shape, size_t room)
{
	const size_t some = pt_rand_below(rng, 10) ? 8 : 1,
		     u = 1 + pt_rand_below(rng, some * room / 1024 + 1),
		     v = 1 + pt_rand_below(rng, some), w = 1 + pt_rand_below(rng, some),
		     x = pt_rand_below(rng, some + 1);
	const size_t len[SIDES] = { u * v, u * w }, pieces[SIDES] = { w * x, v * x };

	shape->bytes = u * v * w * x;
	if (shape->bytes > room / 2 || pieces[DST] > PIECES || pieces[SRC] > PIECES) {
		shape_indexed(rng, shape, room);
		return;
	}
	for (unsigned which = 0; which < SIDES; which++) {
		shape->side[which].pieces = pieces[which];
		for (size_t i = 0; i < pieces[which]; i++)
			shape->side[which].len[i] = len[which];
		shape_place(rng, shape, which, room);
	}
}

/* -- strided ---------------------------------------------------------------------------------- */

static void
shape_expand_strided(struct shape *shape, struct shape_side *side)
{
	size_t index[LEVELS] = { 0 }, n = 0;

	while (n < shape->bytes) {
		size_t at = side->origin;

		for (size_t k = 0; k < shape->levels; k++)
			at += index[k] * (size_t)side->stride[k];
		for (size_t b = 0; b < shape->elem; b++)
			side->at[n++] = at + b;
		for (size_t k = 0; k < shape->levels && ++index[k] == shape->count[k + 1]; k++)
			index[k] = 0;
	}
}

/* Each dimension steps over all that those before it in `order' reach; returns the reach of all. */
static size_t
shape_strides_apart(struct pt_rng *rng, struct shape *shape, struct shape_side *side, size_t room,
                    const size_t *order)
{
	size_t reach = shape->elem, points = shape->bytes / shape->elem, slack;

	for (size_t i = 0; i < shape->levels; i++) {
		const size_t k = order[i], count = shape->count[k + 1];

		points /= count;
		slack = (room - reach * count * points) / (count * points);
		slack = pt_rand_below(rng, 3) ? shape_least(slack, 1 + pt_rand_below(rng, 16))
		                              : slack;
		reach += pt_rand_below(rng, slack + 1);
		side->stride[k] = (ptrdiff_t)reach;
		reach *= count;
	}
	return reach;
}

/* Strides from anywhere to anywhere, also 0; returns the reach of all. */
static size_t
shape_strides_anywhere(struct pt_rng *rng, const struct shape *shape, struct shape_side *side,
                       size_t room)
{
	size_t reach = shape->elem;

	for (size_t k = 0; k < shape->levels; k++) {
		const size_t steps = shape->count[k + 1] - 1;
		const size_t most = steps ? (room - reach) / steps : room;
		const size_t stride = pt_rand_below(rng, shape_least(most, 200) + 1);

		side->stride[k] = (ptrdiff_t)stride;
		reach += steps * stride;
	}
	return reach;
}

static void
shape_strides(struct pt_rng *rng, struct shape *shape, unsigned which, size_t room)
{
	struct shape_side *side = &shape->side[which];
	size_t order[LEVELS], reach;

	for (size_t k = 0; k < shape->levels; k++)
		order[k] = k;
	for (size_t k = shape->levels; k > 1 && !shape->ordered; k--) {
		const size_t other = pt_rand_below(rng, k), before = order[other];

		order[other] = order[k - 1];
		order[k - 1] = before;
	}
	if (which == DST || shape->ordered || pt_rand_below(rng, 2))
		reach = shape_strides_apart(rng, shape, side, room, order);
	else
		reach = shape_strides_anywhere(rng, shape, side, room);
	side->origin = pt_rand_below(rng, room - shape_least(reach, room) + 1);
	for (size_t k = 0; k < shape->levels; k++) {
		if (shape->ordered || pt_rand_below(rng, 3))
			continue;
		side->origin += (shape->count[k + 1] - 1) * (size_t)side->stride[k];
		side->stride[k] = -side->stride[k];
	}
	if (shape->bytes)
		shape_expand_strided(shape, side);
}

static void
shape_strided(struct pt_rng *rng, struct shape *shape, size_t room)
{
	static const size_t elems[] = { 0, 1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 65, 100, 256, 300 };

	shape->elem = elems[pt_rand_below(rng, PT_COUNT(elems))];
	if (room > 100000)
		shape->elem *= 1 + pt_rand_below(rng, 50);
	shape->levels = pt_rand_below(rng, LEVELS + 1);
	shape->bytes = shape->elem;
	for (size_t k = 0; k < shape->levels; k++) {
		size_t count = 1 + pt_rand_below(rng, pt_rand_below(rng, 4) ? 5 : 40);

		if (pt_rand_below(rng, 200) == 0)
			count = 0;
		else if (shape->bytes * count > room / 2)
			count = 1;
		shape->count[k + 1] = count;
		shape->bytes *= count;
	}
	shape->count[0] = shape->elem;
	for (unsigned which = 0; which < SIDES; which++) {
		if (shape->bytes)
			shape_strides(rng, shape, which, room);
		else
			memset(shape->side[which].stride, 0x55, sizeof shape->side[which].stride);
	}
}

/* One of any kind, in areas of room bytes. */
static void
shape_make(struct pt_rng *rng, struct shape *shape, size_t room)
{
	shape->kind = (enum shape_kind)pt_rand_below(rng, SHAPE_KINDS);
	shape->ordered = shape->kind == SHAPE_STRIDED && pt_rand_below(rng, 4) == 0;
	switch (shape->kind) {
	case SHAPE_VECTOR:
		shape_vector(rng, shape, room);
		break;
	case SHAPE_INDEXED:
		shape_indexed(rng, shape, room);
		break;
	default:
		shape_strided(rng, shape, room);
	}
}

/* What the transfer is to do, byte by byte. */
static void
shape_model(const struct shape *shape, unsigned char *dst, const unsigned char *src)
{
	for (size_t i = 0; i < shape->bytes; i++)
		dst[shape->side[DST].at[i]] = src[shape->side[SRC].at[i]];
}

#endif
