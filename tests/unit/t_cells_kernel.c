/* How a large block goes between two members, by the kernel or by rooms: what the reader finds
 * quicker and wants then, and when each tries the other way. */
#include "coll/cells_list.h"
#include "coll/cells_side.h"
#include "tests/unit/main.h"

#include "gasnet_tools_time.h"

#include <string.h>

enum { KIB_64 = 64 << 10, EVERY = 67, SOON_EVERY = 17, SOON = 136, TRIALS = 2, RECENT = 4 };
enum { SLOW = 1000, LITTLE_QUICKER = 940, QUICKER = 930 };

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
		peers[rank] = (struct peer){ 0 };
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

/* The reader has had so many payloads that way, one behind the other. */
static void
took(struct cells_op *op, struct pcoll_recent *way, uint64_t ticks, unsigned times)
{
	op->filled_ticks = 0;
	op->pace->peers_gap_ticks = 0;
	while (times--) {
		op->pace->way = way;
		op->read_ticks = ticks;
		pcoll_cells_pace_judge(reader, op);
	}
}

static bool
wants_rooms(void)
{
	return atomic_load(&memory[1].rooms_wanted) != 0;
}

/* The owner's next operations: how many of so many go by the kernel. */
static unsigned
count_kernel(const struct cells_op *op, unsigned times)
{
	unsigned count = 0;

	while (times--)
		count += pcoll_cells_kernel_choose(owner, op);
	return count;
}

START_TEST(the_quicker_way_is_wanted)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);
	struct pcoll_pace *pace = read.pace;

	took(&read, &pace->kernel, SLOW, RECENT + 1);
	ck_assert(!wants_rooms());
	took(&read, &pace->rooms, LITTLE_QUICKER, RECENT + 1);
	ck_assert(!wants_rooms());
	took(&read, &pace->rooms, QUICKER, 1);
	ck_assert(wants_rooms());
	took(&read, &pace->kernel, QUICKER, 2);
	ck_assert(wants_rooms());
	took(&read, &pace->kernel, QUICKER / 2, 2);
	ck_assert(!wants_rooms());
}
END_TEST

/* It finds caches as the other way has left them. */
START_TEST(the_first_of_a_way_does_not_count)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);
	struct pcoll_pace *pace = read.pace;

	took(&read, &pace->kernel, SLOW, 2);
	for (unsigned i = 0; i < 2 * RECENT; i++) {
		took(&read, &pace->rooms, 1, 1);
		took(&read, &pace->kernel, SLOW, 1);
	}
	ck_assert(!wants_rooms());
	took(&read, &pace->rooms, 1, 2);
	ck_assert(wants_rooms());
}
END_TEST

/* The quickest of the last counts, so that one for which a CPU was lost does not. */
START_TEST(slow_ones_by_chance_do_not_count)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);
	struct pcoll_pace *pace = read.pace;

	took(&read, &pace->rooms, SLOW, 2);
	took(&read, &pace->kernel, QUICKER, 2);
	took(&read, &pace->kernel, 100 * SLOW, RECENT - 1);
	ck_assert(!wants_rooms());
	took(&read, &pace->kernel, 100 * SLOW, 1);
	ck_assert(wants_rooms());
}
END_TEST

START_TEST(loads_have_no_pace)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);

	read.by_loads = true;
	took(&read, &read.pace->kernel, 1, 2);
	ck_assert_uint_eq(read.pace->kernel.ticks[0], 0);
}
END_TEST

/* What the members do between the calls counts, since it may wait for lines; but not for ever. */
START_TEST(gaps_count)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);
	struct pcoll_pace *pace = read.pace;

	took(&read, &pace->kernel, SLOW, 2);
	read.gap_ticks = SLOW / 2;
	took(&read, &pace->rooms, QUICKER, RECENT + 1);
	ck_assert(!wants_rooms());
	ck_assert_uint_eq(pace->rooms.ticks[0], QUICKER + SLOW / 2 + 1);
	read.gap_ticks = 1000 * SLOW;
	took(&read, &pace->rooms, QUICKER, 1);
	ck_assert_uint_lt(pace->rooms.ticks[RECENT % 4], 100 * SLOW);
}
END_TEST

/* A cell that is read: the owner tells of its room, or where its block is. */
START_TEST(owners_tell_of_their_part)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);
	const uint64_t now = gasnett_ticks_now();

	memory[0].line[0].room.filled_ticks = 500;
	memory[0].line[0].room.gap_ticks = 70;
	pcoll_cells_pace_read(reader, &read, KIB_64 / 2, false, now);
	ck_assert_ptr_eq(read.pace->way, &read.pace->rooms);
	ck_assert_uint_eq(read.filled_ticks, 500);
	ck_assert_uint_eq(read.pace->peers_gap_ticks, 70);
	memory[0].line[0].direct.gap_ticks = 90;
	pcoll_cells_pace_read(reader, &read, KIB_64, true, now);
	ck_assert_ptr_eq(read.pace->way, &read.pace->kernel);
	ck_assert_uint_eq(read.filled_ticks, 500);
	ck_assert_uint_eq(read.pace->peers_gap_ticks, 90);
}
END_TEST

/* A short last piece is in the line, where times would be. */
START_TEST(contents_of_lines_are_no_times)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64 + 48);

	memory[0].line[0].room.filled_ticks = 500;
	memory[0].line[0].room.gap_ticks = 70;
	pcoll_cells_pace_read(reader, &read, KIB_64, false, gasnett_ticks_now());
	memset(memory[0].line[0].bytes, 0xff, 48);
	pcoll_cells_pace_read(reader, &read, 48, false, gasnett_ticks_now());
	ck_assert_uint_eq(read.filled_ticks, 500);
	ck_assert_uint_eq(read.pace->peers_gap_ticks, 70);
}
END_TEST

/* Who copies them has timed them. */
START_TEST(halves_are_timed_by_those_who_copy)
{
	struct cells_op read = op_of(reader, &pcoll_cells_scatter, KIB_64);

	read.has_offered = true;
	read.read_ticks = SLOW;
	pcoll_cells_pace_read(reader, &read, KIB_64, true, gasnett_ticks_now() - SLOW);
	ck_assert_ptr_eq(read.pace->way, &read.pace->halves);
	ck_assert_uint_eq(read.read_ticks, SLOW);
}
END_TEST

START_TEST(who_is_out_of_reach_has_no_pace)
{
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);

	peers[0].is_out_of_reach = true;
	took(&read, &read.pace->rooms, 1, 2);
	ck_assert_uint_eq(read.pace->rooms.ticks[0], 0);
}
END_TEST

START_TEST(owners_try_the_other_way_now_and_then)
{
	struct cells_op given = op_of(owner, &pcoll_cells_exchange, KIB_64);
	struct cells_op read = op_of(reader, &pcoll_cells_exchange, KIB_64);
	const unsigned soon = SOON / SOON_EVERY * TRIALS;

	ck_assert_uint_eq(count_kernel(&given, 4), 4);
	ck_assert_uint_eq(count_kernel(&given, TRIALS), 0);
	ck_assert_uint_eq(count_kernel(&given, SOON - 4 - TRIALS), SOON - 4 - soon);
	ck_assert_uint_eq(count_kernel(&given, 10 * EVERY), 10 * (EVERY - TRIALS));
	took(&read, &read.pace->kernel, SLOW, 2);
	took(&read, &read.pace->rooms, QUICKER, 2);
	ck_assert_uint_eq(count_kernel(&given, 10 * EVERY), 10 * TRIALS);
}
END_TEST

START_TEST(lengths_of_other_powers_are_not_concerned)
{
	struct cells_op read = op_of(reader, &pcoll_cells_gather_all, 2 * KIB_64);
	struct cells_op shorter = op_of(owner, &pcoll_cells_gather_all, KIB_64);
	struct cells_op same = op_of(owner, &pcoll_cells_gather_all, KIB_64 + 1);
	struct cells_op longer = op_of(owner, &pcoll_cells_gather_all, 2 * KIB_64 + 1);

	took(&read, &read.pace->kernel, SLOW, 2);
	took(&read, &read.pace->rooms, QUICKER, 2);
	ck_assert_uint_eq(count_kernel(&shorter, 1), 1);
	ck_assert_uint_eq(count_kernel(&same, 1), 0);
	ck_assert_uint_eq(count_kernel(&longer, 1), 1);
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

/* So many operations of the reader: in how many it offers a part. */
static unsigned
count_offers(const struct pcoll_cells_kind *kind, unsigned times)
{
	unsigned count = 0;

	while (times--)
		count += op_of(reader, kind, KIB_64).offers;
	return count;
}

START_TEST(readers_of_scatters_find_whether_to_offer)
{
	const unsigned soon = SOON / SOON_EVERY * TRIALS;
	struct cells_op read = op_of(reader, &pcoll_cells_scatter, KIB_64);
	struct pcoll_pace *pace = read.pace;

	ck_assert(read.offers);
	ck_assert_uint_eq(count_offers(&pcoll_cells_scatter, SOON - 1), SOON - soon - 1);
	ck_assert_uint_eq(count_offers(&pcoll_cells_scatter, EVERY), EVERY - TRIALS);
	took(&read, &pace->halves, SLOW, 2);
	took(&read, &pace->kernel, QUICKER, 2);
	ck_assert(pace->wants_alone);
	ck_assert_uint_eq(count_offers(&pcoll_cells_scatter, EVERY), TRIALS);
	took(&read, &pace->halves, QUICKER / 2, 2);
	ck_assert_uint_eq(count_offers(&pcoll_cells_scatter, EVERY), EVERY - TRIALS);
	ck_assert_uint_eq(count_offers(&pcoll_cells_gather, 2 * SOON), 2 * SOON);
	ck_assert_uint_eq(count_offers(&pcoll_cells_exchange, 2 * SOON), 0);
}
END_TEST

/* The owner alone makes trials then. */
START_TEST(both_ways_of_the_kernel_are_tried_beside_rooms)
{
	struct cells_op read = op_of(reader, &pcoll_cells_scatter, KIB_64);
	unsigned count;

	took(&read, &read.pace->halves, SLOW, 2);
	took(&read, &read.pace->rooms, QUICKER, 2);
	ck_assert(wants_rooms());
	count = count_offers(&pcoll_cells_scatter, 20 * EVERY);
	ck_assert_uint_ge(count, 9 * EVERY);
	ck_assert_uint_le(count, 11 * EVERY);
	took(&read, &read.pace->kernel, QUICKER / 2, 2);
	ck_assert(read.pace->wants_alone);
	took(&read, &read.pace->kernel, QUICKER / 2, 1);
	ck_assert(!wants_rooms());
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("cells_kernel");

	tcase_add_checked_fixture(tests, sides_make, NULL);
	tcase_add_test(tests, the_quicker_way_is_wanted);
	tcase_add_test(tests, the_first_of_a_way_does_not_count);
	tcase_add_test(tests, slow_ones_by_chance_do_not_count);
	tcase_add_test(tests, loads_have_no_pace);
	tcase_add_test(tests, gaps_count);
	tcase_add_test(tests, owners_tell_of_their_part);
	tcase_add_test(tests, contents_of_lines_are_no_times);
	tcase_add_test(tests, halves_are_timed_by_those_who_copy);
	tcase_add_test(tests, who_is_out_of_reach_has_no_pace);
	tcase_add_test(tests, owners_try_the_other_way_now_and_then);
	tcase_add_test(tests, lengths_of_other_powers_are_not_concerned);
	tcase_add_test(tests, short_blocks_and_larger_teams_have_no_pace);
	tcase_add_test(tests, readers_of_scatters_find_whether_to_offer);
	tcase_add_test(tests, both_ways_of_the_kernel_are_tried_beside_rooms);
	return unit_run("cells_kernel", tests);
}
