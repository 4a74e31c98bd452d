/* Whether the kernel or rooms serve a large block between two members: which copies the reader
 * finds slow, what it wants then, and when the owner lets the kernel try again. */
#include "coll/cells_list.h"
#include "coll/cells_side.h"
#include "tests/unit/main.h"

#include <string.h>

enum { OWN_TICKS = 100, SLOW = 351, QUICK = 350, PART_SLOW = 501, PART_QUICK = 500 };
enum { KIB_64 = 64 << 10, SLOW_TELLS = 4, ROOMS_BETWEEN = 62, TRIALS = 2 };

static struct psi_cells memory[2];
static struct peer peers[2];
static struct pcoll_cells sides[2];
static struct pcoll_cells *const owner = &sides[0], *const reader = &sides[1];

static void
sides_make(void)
{
	memset(memory, 0, sizeof memory);
	memset(sides, 0, sizeof sides);
	for (gex_Rank_t rank = 0; rank < 2; rank++) {
		peers[rank].cells = sides[rank].own = &memory[rank];
		sides[rank].peers = peers;
		sides[rank].size = 2;
		sides[rank].rank = rank;
	}
}

static struct cells_op
op_of(struct pcoll_cells *cells, const struct pcoll_cells_kind *kind, size_t len_bytes)
{
	static struct pcoll_call calls[8];
	static unsigned used;
	struct pcoll_call *call = &calls[used++ % 8];
	struct cells_op op = { .kind = kind, .call = call };

	call->len_bytes = len_bytes;
	pcoll_cells_pace_choose(cells, &op);
	return op;
}

/* The reader judges copies of whole blocks, or of parts. */
static void
judge(const struct cells_op *op, uint64_t ticks, bool part, unsigned times)
{
	while (times--)
		pcoll_cells_kernel_judge(reader, op, ticks, part);
}

/* So many operations in a row go by rooms, or by the kernel. */
static void
expect(const struct cells_op *op, bool kernel, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		ck_assert_msg(pcoll_cells_kernel_choose(owner, op) == kernel, "operation %u", i);
}

START_TEST(slow_copies_in_a_row_want_rooms)
{
	struct cells_op given = op_of(owner, &pcoll_cells_exchange, KIB_64);
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);

	read.pace->own_ticks = OWN_TICKS;
	judge(&read, SLOW, false, SLOW_TELLS - 1);
	expect(&given, true, 1);
	judge(&read, QUICK, false, 1);
	judge(&read, SLOW, false, SLOW_TELLS - 1);
	expect(&given, true, 1);
	judge(&read, SLOW, false, 1);
	expect(&given, false, ROOMS_BETWEEN);
	expect(&given, true, TRIALS);
	expect(&given, false, ROOMS_BETWEEN);
	judge(&read, QUICK, false, 1);
	expect(&given, true, 3 * ROOMS_BETWEEN);
}
END_TEST

START_TEST(lengths_of_other_powers_are_not_concerned)
{
	struct cells_op read = op_of(reader, &pcoll_cells_gather_all, 2 * KIB_64);
	struct cells_op shorter = op_of(owner, &pcoll_cells_gather_all, KIB_64);
	struct cells_op same = op_of(owner, &pcoll_cells_gather_all, KIB_64 + 1);
	struct cells_op longer = op_of(owner, &pcoll_cells_gather_all, 2 * KIB_64 + 1);

	read.pace->own_ticks = OWN_TICKS;
	judge(&read, SLOW, false, SLOW_TELLS);
	expect(&shorter, true, 1);
	expect(&same, false, 1);
	expect(&longer, true, 1);
}
END_TEST

START_TEST(short_blocks_and_larger_teams_have_no_pace)
{
	ck_assert_ptr_null(op_of(owner, &pcoll_cells_exchange, KIB_64 - 1).pace);
	ck_assert_ptr_null(op_of(owner, &pcoll_cells_broadcast, KIB_64).pace);
	owner->size = 3;
	ck_assert_ptr_null(op_of(owner, &pcoll_cells_exchange, KIB_64).pace);
}
END_TEST

START_TEST(nothing_is_slow_where_no_own_block_is_copied)
{
	struct cells_op given = op_of(owner, &pcoll_cells_gather_all, KIB_64);
	struct cells_op read = op_of(reader, &pcoll_cells_gather_all, KIB_64);

	judge(&read, SLOW, false, 2 * SLOW_TELLS);
	expect(&given, true, 2 * ROOMS_BETWEEN);
}
END_TEST

/* The giver of a scatter tells how long the copy of its own block takes.  If it copies none, the
 * reader wants rooms. */
START_TEST(the_giver_of_a_scatter_tells_its_time)
{
	struct cells_op given = op_of(owner, &pcoll_cells_scatter, KIB_64);
	struct cells_op read = op_of(reader, &pcoll_cells_scatter, KIB_64);
	struct psi_cell_line line;

	memset(&line, 0, sizeof line);
	ck_assert(given.is_one_way && read.is_one_way);
	given.pace->own_ticks = OWN_TICKS;
	pcoll_cells_pace_tell(&given, &line);
	pcoll_cells_pace_hear(&read, &line);
	judge(&read, QUICK, false, SLOW_TELLS);
	expect(&given, true, 1);
	given.pace->own_ticks = 0;
	pcoll_cells_pace_tell(&given, &line);
	pcoll_cells_pace_hear(&read, &line);
	judge(&read, QUICK, false, SLOW_TELLS);
	expect(&given, false, 1);
}
END_TEST

START_TEST(a_part_may_take_longer)
{
	struct cells_op given = op_of(owner, &pcoll_cells_gather, KIB_64);
	struct cells_op read = op_of(reader, &pcoll_cells_gather, KIB_64);

	read.pace->own_ticks = OWN_TICKS;
	judge(&read, PART_QUICK, true, SLOW_TELLS);
	expect(&given, true, 1);
	judge(&read, PART_SLOW, true, SLOW_TELLS);
	expect(&given, false, 1);
}
END_TEST

START_TEST(own_copies_are_timed)
{
	static unsigned char from[KIB_64], to[KIB_64];
	struct cells_op op = op_of(reader, &pcoll_cells_exchange, KIB_64);

	memset(from, 7, sizeof from);
	pcoll_cells_copy_timed(&op, to, from);
	ck_assert(memcmp(from, to, sizeof from) == 0);
	ck_assert_uint_gt(op.pace->own_least, 0);
	for (unsigned i = 0; i < 20; i++)
		pcoll_cells_copy_timed(&op, to, from);
	ck_assert_uint_gt(op.pace->own_ticks, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("cells_kernel");

	tcase_add_checked_fixture(tests, sides_make, NULL);
	tcase_add_test(tests, slow_copies_in_a_row_want_rooms);
	tcase_add_test(tests, lengths_of_other_powers_are_not_concerned);
	tcase_add_test(tests, short_blocks_and_larger_teams_have_no_pace);
	tcase_add_test(tests, nothing_is_slow_where_no_own_block_is_copied);
	tcase_add_test(tests, the_giver_of_a_scatter_tells_its_time);
	tcase_add_test(tests, a_part_may_take_longer);
	tcase_add_test(tests, own_copies_are_timed);
	return unit_run("cells_kernel", tests);
}
