/*
 * Messages of the ofi conduit: arguments of all sizes travel in as few bytes as their sizes say,
 * and come back as they were; what collectives send fits what a provider injects.
 */
#include "ofi-conduit/pofi_wire.h"
#include "tests/unit/main.h"

#include <stdint.h>

static const int32_t values[] = {
	0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, INT32_MAX, INT32_MIN, -1,
};

enum { VALUES = sizeof values / sizeof *values, GUARD = 0x5a };

static unsigned
bytes_of(int32_t value)
{
	const uint32_t arg = (uint32_t)value;

	return arg == 0 ? 0 : arg < 1U << 8 ? 1 : arg < 1U << 16 ? 2 : 4;
}

/* Argument i is value number (seed * (i + 1)) of the list. */
static void
there_and_back(unsigned nargs, unsigned seed)
{
	int32_t args[PSI_MAX_ARGS], back[PSI_MAX_ARGS];
	char bytes[PSI_MAX_ARGS * sizeof *args + 1];
	size_t expected = 0;
	uint32_t sizes;

	for (unsigned i = 0; i < nargs; i++) {
		args[i] = values[seed * (i + 1) % VALUES];
		expected += bytes_of(args[i]);
	}
	memset(bytes, GUARD, sizeof bytes);
	sizes = pofi_sizes_of(nargs, args);
	ck_assert_uint_eq(pofi_args_bytes(sizes), expected);
	ck_assert_ptr_eq(pofi_args_pack(bytes, nargs, args), bytes + expected);
	ck_assert_int_eq(bytes[expected], GUARD);
	pofi_args_unpack(bytes, nargs, sizes, back);
	ck_assert_mem_eq(back, args, nargs * sizeof *args);
}

START_TEST(arguments_of_all_sizes_come_back)
{
	for (unsigned nargs = 0; nargs <= PSI_MAX_ARGS; nargs++)
		for (unsigned seed = 0; seed < VALUES; seed++)
			there_and_back(nargs, seed);
	ck_assert_uint_eq(pofi_args_bytes(POFI_SIZES_MOST), PSI_MAX_ARGS * sizeof(int32_t));
}
END_TEST

/* A note of a broadcast of 8 bytes: team, number, what, from, to, index, words, root, length, form,
 * key (coll/pcoll_note.c). */
START_TEST(a_note_with_a_word_is_one_line)
{
	const int32_t args[PSI_MAX_ARGS] = {
		7, 0, 70000, 12, 31, 15, 2, 0, 0, 0, 0, 15, 8, 0, 0x1000, -12345,
	};
	const uint32_t sizes = pofi_sizes_of(PSI_MAX_ARGS, args);

	ck_assert_uint_eq(pofi_message_bytes(PSI_MEDIUM, sizes, 8), POFI_LINE);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("wire");

	tcase_add_test(tests, arguments_of_all_sizes_come_back);
	tcase_add_test(tests, a_note_with_a_word_is_one_line);
	return unit_run("what ofi sends", tests);
}
