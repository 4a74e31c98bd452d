/* Checks of vector, indexed and strided transfers. */
#include "runtime/vis/vis.h"

#include "runtime/process/rules.h"

#include <stdlib.h>

/* -- every build ------------------------------------------------------------------------------ */

void
psi_vis_need_strides(const struct psi_strides side[PSI_SIDES], const size_t *count, size_t levels,
                     const char *call)
{
	if (PSI_UNLIKELY(levels && (!count || !side[PSI_DST].stride || !side[PSI_SRC].stride)))
		psi_fatal("%s: stridelevels is %zu, and one of the three arrays is NULL; pass them "
		          "all", call,
		          levels);
	psi_check_list(count, levels, sizeof *count, "count", call);
}

void
psi_vis_check_sizes(size_t dst_bytes, size_t src_bytes, const char *call)
{
	if (PSI_LIKELY(dst_bytes == src_bytes && psi_fits_memory(dst_bytes, 1)))
		return;
	if (!psi_fits_memory(dst_bytes, 1) || !psi_fits_memory(src_bytes, 1))
		psi_fatal("%s: the lists make more bytes than a process can address, or one of "
		          "their pieces passes the end of memory; look at lengths and addresses",
		          call);
	psi_fatal("%s: the destination has %zu bytes and the source %zu; both sides need the same "
	          "number",
	          call, dst_bytes, src_bytes);
}

void
psi_vis_check_pieces(const struct psi_vis *vis, enum psi_way way)
{
	struct psi_cursor cursor;
	struct psi_run run;

	psi_cursor_open(&cursor, &vis->side[vis->remote], (struct psi_position){ 0, 0 });
	while (psi_cursor_look(&cursor, &run)) {
		const uintptr_t last = run.addr + (run.count - 1) * (size_t)run.stride;

		(void)psi_reach(way, vis->target.place, (void *)run.addr, run.len, vis->call);
		(void)psi_reach(way, vis->target.place, (void *)last, run.len, vis->call);
		psi_cursor_take(&cursor, run.len, run.count);
	}
}

/* -- where psi.checks is set ------------------------------------------------------------------ */

enum { MOST_PIECES = 1 << 16 };         /* more are not compared with each other */

struct piece {
	uintptr_t lo, hi;
	enum psi_which which;
};

static void
side_check_null(const struct psi_side *side, const char *name, const char *call)
{
	const uintptr_t page = GASNET_PAGESIZE;
	const struct psi_extent extent = psi_side_extent(side);

	if (extent.lo < page || extent.lo > extent.hi)
		psi_fatal("%s: a piece of the %s lies at NULL or past the end of memory; give "
		          "each piece that is not empty an address", call, name);
}

/* Counts the pieces; MOST_PIECES + 1 means more than MOST_PIECES. */
static size_t
side_count_pieces(const struct psi_side *side)
{
	struct psi_cursor cursor;
	struct psi_run run;
	size_t count = 0;

	psi_cursor_open(&cursor, side, (struct psi_position){ 0, 0 });
	while (psi_cursor_look(&cursor, &run)) {
		if (run.count > MOST_PIECES - count)
			return MOST_PIECES + 1;
		count += run.count;
		psi_cursor_take(&cursor, run.len, run.count);
	}
	return count;
}

/* Appends the pieces of a side; returns the end of what it wrote. */
static struct piece *
side_gather_pieces(const struct psi_side *side, enum psi_which which, struct piece *pieces)
{
	struct psi_cursor cursor;
	struct psi_run run;

	psi_cursor_open(&cursor, side, (struct psi_position){ 0, 0 });
	while (psi_cursor_look(&cursor, &run)) {
		psi_cursor_take(&cursor, run.len, run.count);
		for (; run.count; run.count--, run.addr += (size_t)run.stride)
			*pieces++ = (struct piece){ run.addr, run.addr + run.len, which };
	}
	return pieces;
}

static int
piece_compare(const void *a, const void *b)
{
	const struct piece *one = a, *other = b;

	return one->lo < other->lo ? -1 : one->lo > other->lo;
}

static void
pieces_check_overlap(const struct piece *pieces, size_t count, const char *call)
{
	uintptr_t end[PSI_SIDES] = { 0, 0 };

	for (size_t i = 0; i < count; i++) {
		const struct piece *piece = &pieces[i];

		if (piece->which == PSI_DST && piece->lo < end[PSI_DST])
			psi_fatal("%s: pieces of the destination overlap, one of them at %p; each "
			          "byte may be written once", call, (void *)piece->lo);
		if (piece->lo < end[!piece->which])
			psi_fatal("%s: source and destination overlap, at %p; copy the data "
			          "elsewhere first", call, (void *)piece->lo);
		if (piece->hi > end[piece->which])
			end[piece->which] = piece->hi;
	}
}

void
psi_vis_rules(const struct psi_vis *vis, bool mapped)
{
	const struct psi_side *dst = &vis->side[PSI_DST],
			      *src = mapped ? &vis->side[PSI_SRC] : NULL;
	const size_t count = side_count_pieces(dst) + (src ? side_count_pieces(src) : 0);
	struct piece *pieces, *end;

	side_check_null(&vis->side[!vis->remote], vis->remote == PSI_DST ? "source" : "destination",
	                vis->call);
	pieces = count <= MOST_PIECES ? malloc(count * sizeof *pieces) : NULL;
	if (!pieces)
		return;
	end = side_gather_pieces(dst, PSI_DST, pieces);
	if (src)
		side_gather_pieces(src, PSI_SRC, end);
	qsort(pieces, count, sizeof *pieces, piece_compare);
	pieces_check_overlap(pieces, count, vis->call);
	free(pieces);
}

/* Strides must go from the inner dimension to the outer: each is at least as long as what it steps
 * over. */
static void
strides_check_order(struct psi_strides side, const char *name, size_t elem, const size_t *count,
                    size_t levels, const char *call)
{
	size_t least = elem;

	for (size_t k = 0; k < levels; k++) {
		const size_t stride = (size_t)side.stride[k];

		if (stride < least)
			psi_fatal("%s: stride %zu of the %s is %zu, and it steps over %zu bytes; "
			          "dimensions go from the inner to the outer, gex_VIS_Strided "
			          "calls take them in any order",
			          call, k, name, stride, least);
		least = stride * count[k];
	}
}

void
psi_vis_rules_strides(const struct psi_strides side[PSI_SIDES], size_t elem, const size_t *count,
                      size_t levels, bool legacy, const char *call)
{
	for (size_t k = 0; k < levels; k++) {
		const ptrdiff_t stride = side[PSI_DST].stride[k];
		const size_t step = stride < 0 ? 0 - (size_t)stride : (size_t)stride;

		if (count[k] > 1 && step < elem)
			psi_fatal("%s: stride %zu of the destination is %td, so pieces of %zu "
			          "bytes overlap; each byte may be written once",
			          call, k, stride, elem);
	}
	if (legacy) {
		strides_check_order(side[PSI_DST], "destination", elem, count, levels, call);
		strides_check_order(side[PSI_SRC], "source", elem, count, levels, call);
	}
}
