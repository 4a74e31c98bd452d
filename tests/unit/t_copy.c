/* Copies: every way gives what memcpy gives and writes nothing beside it; the choice between
 * them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/util/copy.h"
#include "tests/unit/main.h"

enum { GUARD = 256, MOST = 3 * 1024 * 1024 };

static unsigned char *src, *dst, *expected;

static void
set_up(void)
{
	uint32_t state = 1;

	src = aligned_alloc(4096, MOST + 8192);
	dst = aligned_alloc(4096, MOST + 8192);
	expected = malloc(MOST + 8192);
	ck_assert(src && dst && expected);
	for (size_t i = 0; i < MOST + 8192; i++) {
		state = state * 1664525u + 1013904223u;
		src[i] = (unsigned char)(state >> 24);
	}
}

static void
tear_down(void)
{
	free(src);
	free(dst);
	free(expected);
}

static void
check_copy(void (*copy)(void *, const void *, size_t), size_t to, size_t from, size_t len)
{
	const size_t around = len + 2 * GUARD;

	memset(dst + to, 0xa5, around);
	memset(expected, 0xa5, around);
	memcpy(expected + GUARD, src + from, len);
	copy(dst + to + GUARD, src + from, len);
	if (memcmp(dst + to, expected, around) != 0)
		ck_abort_msg("to %zu, from %zu, %zu bytes", to, from, len);
}

START_TEST(every_way_copies)
{
	const struct psi_copy_way *way = &psi_copy_ways[_i];
	static const size_t lengths[] = { 1000, 4096, 8191, 65536, 65599, 1048576, 2097151 };

	if (!way->usable())
		return;
	for (size_t offset = 0; offset < 66; offset++)
		for (size_t len = 0; len < 400; len += 1 + offset % 3)
			check_copy(way->copy, offset, 65 - offset, len);
	for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++)
		for (size_t offset = 0; offset < 64; offset += lengths[l] > 100000 ? 21 : 7)
			check_copy(way->copy, offset, offset * 5 % 64, lengths[l]);
}
END_TEST

START_TEST(psi_copy_copies)
{
	const size_t edge = PSI_COPY_STRING_BYTES, far_edge = PSI_COPY_STREAM_FAR_BYTES;
	const size_t lengths[] = { 0,
		                   1,
		                   7,
		                   64,
		                   2047,
		                   2048,
		                   2049,
		                   far_edge - 1,
		                   far_edge,
		                   PSI_COPY_VECTORS_BYTES - 1,
		                   PSI_COPY_VECTORS_BYTES,
		                   edge - 1,
		                   edge,
		                   edge + 1,
		                   edge + 4097 };

	for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++)
		for (size_t offset = 0; offset < 12; offset++) {
			check_copy(psi_copy, offset, 3 * (offset & 1), lengths[l]);
			check_copy(psi_copy_far, offset, 3 * (offset & 1), lengths[l]);
			check_copy(psi_copy_owning, offset, 3 * (offset & 1), lengths[l]);
		}
	psi_copy(NULL, NULL, 0);
	psi_copy_owning(NULL, NULL, 0);
}
END_TEST

/* Within a page behind the source, memcpy is slow. */
static bool
is_slow(size_t past)
{
	return past % 4096 >= 1 && past % 4096 <= 8;
}

START_TEST(the_choice)
{
	const unsigned char *at = (const unsigned char *)(uintptr_t)0x700000;
	const bool loop = psi_copy_ways[PSI_COPY_STREAM].usable();
	const bool vectors = psi_copy_ways[PSI_COPY_VECTORS].usable();
	const bool wide = psi_copy_ways[PSI_COPY_STREAM_WIDE].usable();
	const bool string = psi_copy_ways[PSI_COPY_STRING].usable();
	const enum psi_copy_kind stream = wide ? PSI_COPY_STREAM_WIDE
	                                : loop ? PSI_COPY_STREAM : PSI_COPY_PLAIN;
	const enum psi_copy_kind no_memcpy = vectors ? PSI_COPY_VECTORS
	                                     : loop  ? PSI_COPY_LOOP
	                                             : PSI_COPY_PLAIN;
	const enum psi_copy_kind least = vectors ? PSI_COPY_VECTORS : PSI_COPY_PLAIN;
	const enum psi_copy_kind most = string ? PSI_COPY_STRING : PSI_COPY_PLAIN;

	for (size_t past = 0; past < 9000; past++) {
		const struct {
			size_t bytes;
			bool far;
			enum psi_copy_kind kind;
		} cases[] = {
			{ 2047, false, least },
			{ 2047, true, least },
			{ 2048, false, is_slow(past) ? no_memcpy : least },
			{ PSI_COPY_STREAM_FAR_BYTES - 1, true, is_slow(past) ? no_memcpy : least },
			{ PSI_COPY_STREAM_FAR_BYTES, false, is_slow(past) ? no_memcpy : least },
			{ PSI_COPY_STREAM_FAR_BYTES, true, stream },
			{ PSI_COPY_VECTORS_BYTES - 1, false, is_slow(past) ? no_memcpy : least },
			{ PSI_COPY_VECTORS_BYTES, false,
			  is_slow(past) ? no_memcpy : PSI_COPY_PLAIN },
			{ PSI_COPY_STRING_BYTES - 1, false,
			  is_slow(past) ? no_memcpy : PSI_COPY_PLAIN },
			{ PSI_COPY_STRING_BYTES, false, is_slow(past) ? no_memcpy : most },
			{ PSI_COPY_STREAM_BYTES - 1, false, is_slow(past) ? no_memcpy : most },
			{ PSI_COPY_STREAM_BYTES, false, stream },
		};

		for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
			ck_assert_int_eq(
				psi_copy_choose(at + past, at, cases[i].bytes, cases[i].far),
				cases[i].kind);
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("copy");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, every_way_copies, 0, PSI_COPY_KINDS);
	tcase_add_test(tests, psi_copy_copies);
	tcase_add_test(tests, the_choice);
	return unit_run("copy", tests);
}
