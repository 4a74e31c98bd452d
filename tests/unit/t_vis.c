/*
 * What transfers of many pieces are made of: dimensions merged, neighbours joined, cursors that
 * stop and start anywhere; against lists of bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/vis/vis.h"
#include "tests/unit/main.h"

enum { MOST = 4096, BASE = 1 << 20 };

static uint64_t state = 1;

static size_t
below(size_t bound)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(state >> 33) % bound;
}

/* -- lattices --------------------------------------------------------------------------------- */

static struct psi_lattice lattice;
static struct psi_nest nest[PSI_SIDES];
static struct psi_side side[PSI_SIDES];

static void
make(const ptrdiff_t *dst, const ptrdiff_t *src, size_t elem, const size_t *count, size_t levels)
{
	const struct psi_strides to = { (void *)(uintptr_t)BASE, dst },
				 from = { (void *)(uintptr_t)(2 * BASE), src };

	ck_assert(psi_lattice_make(&lattice, to, from, elem, count, levels));
	for (unsigned which = 0; which < PSI_SIDES; which++)
		side[which] = psi_lattice_side(&lattice, which, &nest[which]);
}

START_TEST(contiguous_is_one_piece)
{
	const size_t count[] = { 4, 1, 5, 6 };
	const ptrdiff_t stride[] = { 8, 12345, 32, 160 };

	make(stride, stride, 8, count, 4);
	ck_assert_uint_eq(lattice.dims, 0);
	ck_assert_uint_eq(lattice.elem, 8 * 4 * 5 * 6);
	ck_assert_uint_eq(psi_lattice_bytes(&lattice), 960);
	ck_assert_uint_eq(side[PSI_DST].entries, 1);
}
END_TEST

/* Backwards on both sides is forwards; the order of dimensions means nothing. */
START_TEST(direction_and_order_are_nothing)
{
	const size_t count[] = { 6, 4 };
	const ptrdiff_t stride[] = { -32, 8 };

	make(stride, stride, 8, count, 2);
	ck_assert_uint_eq(lattice.dims, 0);
	ck_assert_uint_eq(lattice.elem, 192);
	ck_assert_uint_eq(lattice.base[PSI_DST], BASE - 160);
	ck_assert_uint_eq(lattice.base[PSI_SRC], 2 * BASE - 160);
}
END_TEST

START_TEST(rows_of_rows_are_rows)
{
	const size_t count[] = { 4, 10 };
	const ptrdiff_t dst[] = { 100, 400 }, src[] = { 16, 64 };

	make(dst, src, 8, count, 2);
	ck_assert_uint_eq(lattice.dims, 1);
	ck_assert_uint_eq(lattice.count[0], 40);
	ck_assert_int_eq(lattice.stride[PSI_DST][0], 100);
	ck_assert_int_eq(lattice.stride[PSI_SRC][0], 16);
}
END_TEST

/* What one side cannot merge the other may, in the order of both. */
START_TEST(sides_merge_alone)
{
	const size_t count[] = { 4, 10 };
	const ptrdiff_t dst[] = { 8, 32 }, src[] = { 16, 1000 };

	make(dst, src, 8, count, 2);
	ck_assert_uint_eq(lattice.dims, 2);
	ck_assert_uint_eq(nest[PSI_DST].dims, 0);
	ck_assert_uint_eq(nest[PSI_DST].elem, 320);
	ck_assert_uint_eq(nest[PSI_SRC].dims, 2);
	ck_assert_uint_eq(side[PSI_SRC].entries, 40);
}
END_TEST

START_TEST(more_than_memory)
{
	const size_t count[] = { (size_t)1 << 40, (size_t)1 << 30 };
	const ptrdiff_t stride[] = { 1, 1 };
	const struct psi_strides any = { NULL, stride };

	ck_assert(!psi_lattice_make(&lattice, any, any, 1, count, 2));
}
END_TEST

/* -- extents ---------------------------------------------------------------------------------- */

START_TEST(extents)
{
	const size_t count[] = { 3, 4 };
	const ptrdiff_t dst[] = { 100, 1000 }, src[] = { -16, 100 };
	const gex_Memvec_t list[] = { { NULL, 0 }, { (void *)5000, 10 }, { (void *)4000, 1 } };
	const gex_Memvec_t bad[] = { { (void *)5000, 10 }, { (void *)UINTPTR_MAX, 10 } };
	void *const addr[] = { (void *)700, (void *)300, (void *)500 };
	const struct psi_side sides[] = { psi_side_list(list, 3), psi_side_index(addr, 3, 20),
	                                  psi_side_list(bad, 2), psi_side_list(list, 1) };
	struct psi_extent extent;

	make(dst, src, 8, count, 2);
	extent = psi_side_extent(&side[PSI_DST]);
	ck_assert(extent.bytes == 96 && extent.lo == BASE && extent.hi == BASE + 3208);
	extent = psi_side_extent(&side[PSI_SRC]);
	ck_assert(extent.bytes == 96 && extent.lo == 2 * BASE - 32 && extent.hi == 2 * BASE + 308);
	extent = psi_side_extent(&sides[0]);
	ck_assert(extent.bytes == 11 && extent.lo == 4000 && extent.hi == 5010);
	extent = psi_side_extent(&sides[1]);
	ck_assert(extent.bytes == 60 && extent.lo == 300 && extent.hi == 720);
	extent = psi_side_extent(&sides[2]);
	ck_assert(extent.bytes == SIZE_MAX && extent.lo > extent.hi);
	extent = psi_side_extent(&sides[3]);
	ck_assert(extent.bytes == 0 && extent.lo == extent.hi);
}
END_TEST

/* -- cursors ---------------------------------------------------------------------------------- */

static unsigned
runs_of(const struct psi_side *which, struct psi_run *first_out)
{
	struct psi_cursor cursor;
	struct psi_run run;
	unsigned n = 0;

	psi_cursor_open(&cursor, which, (struct psi_position){ 0, 0 });
	for (; psi_cursor_look(&cursor, &run); n++) {
		if (n == 0)
			*first_out = run;
		psi_cursor_take(&cursor, run.len, run.count);
	}
	return n;
}

START_TEST(neighbours_are_joined)
{
	enum { PIECES = 10 };
	gex_Memvec_t touching[PIECES];
	void *even[PIECES];
	struct psi_side list, index;
	struct psi_run run;

	for (size_t i = 0; i < PIECES; i++) {
		touching[i] = (gex_Memvec_t){ (void *)(BASE + i * (i + 1) / 2), i + 1 };
		even[i] = (void *)(BASE - i * 50);
	}
	list = psi_side_list(touching, PIECES);
	index = psi_side_index(even, PIECES, 8);
	ck_assert_uint_eq(runs_of(&list, &run), 1);
	ck_assert(run.addr == BASE && run.len == 55 && run.count == 1);
	ck_assert_uint_eq(runs_of(&index, &run), 1);
	ck_assert(run.addr == BASE && run.len == 8 && run.count == PIECES && run.stride == -50);
}
END_TEST

/* Addresses of all bytes, in order. */
static size_t
bytes_of(const struct psi_side *which, uintptr_t *at)
{
	struct psi_cursor cursor;
	struct psi_run run;
	size_t n = 0;

	psi_cursor_open(&cursor, which, (struct psi_position){ 0, 0 });
	while (psi_cursor_look(&cursor, &run)) {
		for (size_t i = 0; i < run.count; i++)
			for (size_t b = 0; b < run.len; b++)
				at[n++] = run.addr + i * (size_t)run.stride + b;
		psi_cursor_take(&cursor, run.len, run.count);
	}
	return n;
}

/* Reads the side in bits, each by a cursor that starts where the last one stopped. */
static void
check_positions(const struct psi_side *which)
{
	static uintptr_t at[MOST];
	const size_t bytes = bytes_of(which, at);
	struct psi_position position = { 0, 0 };
	struct psi_cursor cursor;
	struct psi_run run;

	for (size_t done = 0; done < bytes;) {
		psi_cursor_open(&cursor, which, position);
		for (unsigned times = 1 + (unsigned)below(3);
		     times && psi_cursor_look(&cursor, &run); times--) {
			size_t len = run.len, count = 1 + below(run.count);

			if (below(2)) {
				len = 1 + below(run.len);
				count = len == run.len ? 1 : 1 + below(run.len / len);
				for (size_t b = 0; b < len * count; b++)
					ck_assert_uint_eq(at[done++], run.addr + b);
			} else {
				for (size_t i = 0; i < count; i++)
					for (size_t b = 0; b < len; b++)
						ck_assert_uint_eq(
							at[done++],
							run.addr + i * (size_t)run.stride + b);
			}
			psi_cursor_take(&cursor, len, count);
		}
		position = psi_cursor_at(&cursor);
	}
	psi_cursor_open(&cursor, which, position);
	ck_assert(!psi_cursor_look(&cursor, &run));
}

START_TEST(cursors_start_anywhere)
{
	for (unsigned round = 0; round < 300; round++) {
		gex_Memvec_t list[12];
		const size_t pieces = 1 + below(12);
		size_t count[3];
		ptrdiff_t dst[3], src[3];
		struct psi_side which;

		for (size_t i = 0; i < pieces; i++)
			list[i] = (gex_Memvec_t){ (void *)(BASE + 16 * below(20)),
				                  below(3) ? 16 : below(40) };
		which = psi_side_list(list, pieces);
		check_positions(&which);
		for (size_t k = 0; k < 3; k++) {
			count[k] = 1 + below(5);
			dst[k] = (ptrdiff_t)below(100) - 50;
			src[k] = (ptrdiff_t)(8 * below(10));
		}
		make(dst, src, 1 + below(20), count, 3);
		check_positions(&side[PSI_DST]);
		check_positions(&side[PSI_SRC]);
	}
}
END_TEST

/* -- copies ----------------------------------------------------------------------------------- */

static unsigned char from[MOST], to[MOST], expected[MOST];

static void
check_length(size_t len)
{
	const size_t pieces = 5, gap = 3;
	void *dst[5], *src = from + 1 + below(8);
	struct psi_side sides[PSI_SIDES];
	struct psi_cursor cursor[PSI_SIDES];
	size_t most = below(2) ? SIZE_MAX : below(len * pieces + 1), left;

	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (unsigned char)below(256);
	memset(to, 0x5a, sizeof to);
	memset(expected, 0x5a, sizeof expected);
	for (size_t i = 0; i < pieces; i++)
		dst[i] = to + 7 + i * (len + gap);
	left = most < len * pieces ? most : len * pieces;
	for (size_t i = 0; i < left; i++)
		expected[7 + i / len * (len + gap) + i % len] = ((unsigned char *)src)[i];
	sides[PSI_DST] = psi_side_index(dst, pieces, len);
	sides[PSI_SRC] = psi_side_index(&src, 1, len * pieces);
	for (unsigned which = 0; which < PSI_SIDES; which++)
		psi_cursor_open(&cursor[which], &sides[which], (struct psi_position){ 0, 0 });
	ck_assert_uint_eq(psi_vis_copy(&cursor[PSI_DST], &cursor[PSI_SRC], most), left);
	ck_assert(memcmp(to, expected, sizeof to) == 0);
}

/* Pieces of every length, at any alignment, with sides that are cut differently; what lies beside
 * them stays. */
START_TEST(copies_of_every_length)
{
	for (size_t len = 1; len <= 600; len++)
		check_length(len);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("vis");

	tcase_add_test(tests, contiguous_is_one_piece);
	tcase_add_test(tests, direction_and_order_are_nothing);
	tcase_add_test(tests, rows_of_rows_are_rows);
	tcase_add_test(tests, sides_merge_alone);
	tcase_add_test(tests, more_than_memory);
	tcase_add_test(tests, extents);
	tcase_add_test(tests, neighbours_are_joined);
	tcase_add_test(tests, cursors_start_anywhere);
	tcase_add_test(tests, copies_of_every_length);
	tcase_set_timeout(tests, 60);
	return unit_run("vis", tests);
}
