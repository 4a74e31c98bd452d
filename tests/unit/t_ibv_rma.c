/*
 * Transfers of the ibv conduit that are more than one work request: pieces, segments in parts, and
 * stripes by several rails, one of which may fail; and atomic operations of the device.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

enum { BYTES = 1 << 20, RAILS = 2 };

static unsigned char there[BYTES], here[BYTES];
static struct psi_segment_name name_there;

static struct mock_device *
device(uint32_t host, unsigned index)
{
	return &mock.devices[host][index];
}

static uint64_t
writes(uint32_t host, unsigned index)
{
	return device(host, index)->counts.writes;
}

static void
pair_start(void)
{
	rig_start(2);
	name_there = rig_bind(1, there, sizeof there);
	rig_meet(0, 1);
}

/* A put of all bytes between, and a get back; each completes once. */
static void
there_and_back(uint64_t offset, size_t len_bytes, uint32_t seed)
{
	static unsigned char back[BYTES];
	struct rig_rank *rank = &rig_ranks[0];

	rank->done_count = 0;
	rig_fill(here, len_bytes, seed);
	memset(there, 0, sizeof there);
	memset(back, 0, sizeof back);
	ck_assert_int_eq(rig_put(0, rig_transfer(1, name_there, offset, here, len_bytes, 5)),
	                 PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rank->done_count, 1);
	ck_assert_uint_eq(rank->done[0], 5);
	ck_assert(rig_is_filled(there + offset, len_bytes, seed));
	ck_assert(offset == 0 || there[offset - 1] == 0);
	ck_assert(offset + len_bytes == BYTES || there[offset + len_bytes] == 0);
	ck_assert_int_eq(rig_get(0, rig_transfer(1, name_there, offset, back, len_bytes, 6)),
	                 PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rank->done_count, 2);
	ck_assert_uint_eq(rank->done[1], 6);
	ck_assert(rig_is_filled(back, len_bytes, seed));
}

static uint64_t
registrations(void)
{
	return device(0, 0)->counts.registrations + device(0, 1)->counts.registrations;
}

/* -- pieces ------------------------------------------------------------------------------------ */

/* A device whose messages are small; one cookie, with the last. */
START_TEST(large_transfers_go_in_pieces)
{
	uint64_t before;

	mock_reset(2);
	device(0, 0)->ports[0].attr.max_msg_sz = 10000;
	pair_start();
	before = writes(0, 0);
	there_and_back(3, 100000, 1);
	ck_assert_uint_eq(writes(0, 0) - before, 10);
	there_and_back(0, BYTES, 2);
	ck_assert_uint_eq(registrations(), 3);
}
END_TEST

/* The last piece goes inline or by a buffer, or neither: the others are still read. */
START_TEST(pieces_are_read_with_the_last)
{
	static const size_t lens[] = { 10001, 10128, 12000, 20000 };
	const bool from_segment = _i;

	mock_reset(2);
	device(0, 0)->ports[0].attr.max_msg_sz = 10000;
	pair_start();
	if (from_segment)
		rig_bind(0, here, sizeof here);
	for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
		struct psi_transfer put = rig_transfer(1, name_there, 0, here, lens[i], 1);

		put.read_cookie = 2;
		rig_ranks[0].done_count = 0;
		rig_fill(here, lens[i], i);
		device(0, 0)->hold = true;
		ck_assert_int_eq(rig_put(0, put), PSI_OK);
		ck_assert_uint_eq(rig_ranks[0].done_count, 0);
		device(0, 0)->hold = false;
		mock_run();
		rig_settle();
		ck_assert_uint_eq(rig_done_count(0, 1), 1);
		ck_assert_uint_eq(rig_done_count(0, 2), 1);
		ck_assert(rig_is_filled(there, lens[i], i));
	}
}
END_TEST

/* More pieces than the queue has entries, completing late. */
START_TEST(pieces_wait_for_room)
{
	mock_reset(2);
	device(0, 0)->ports[0].attr.max_msg_sz = 4096;
	pair_start();
	device(0, 0)->late = true;
	rig_fill(here, BYTES, 9);
	ck_assert_int_eq(rig_put(0, rig_transfer(1, name_there, 0, here, BYTES, 5)), PSI_OK);
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_uint_eq(rig_ranks[0].done_count, 0);
		mock_run();
		rig_turn(0);
		if (rig_ranks[0].done_count)
			break;
	}
	ck_assert_uint_eq(rig_done_count(0, 5), 1);
	ck_assert(rig_is_filled(there, BYTES, 9));
	ck_assert_uint_eq(registrations(), 3);
}
END_TEST

/* Reads at once are as many as the peer's device serves. */
START_TEST(reads_at_once_are_those_of_both)
{
	mock_reset(2);
	device(0, 0)->limits.max_qp_init_rd_atom = 16;
	device(1, 0)->limits.max_qp_rd_atom = 2;
	pair_start();
	there_and_back(0, 10000, 1);
}
END_TEST

/* -- segments in parts ------------------------------------------------------------------------- */

/* Within a part, over its end, and over many. */
START_TEST(segment_in_parts)
{
	enum { PART = 65536 };
	uint64_t reads;

	rig_set(PSI_NO_PEER, "PST_IBV_PART", "65536");
	pair_start();
	ck_assert_uint_eq(device(1, 0)->counts.registrations, 3 + BYTES / PART + 1);
	there_and_back(100, 1000, 1);
	reads = device(0, 0)->counts.reads;
	there_and_back(PART - 8, 16, 2);
	ck_assert_uint_eq(device(0, 0)->counts.reads - reads, 2);       /* the table is known */
	there_and_back(PART - 1, 2 * PART + 2, 3);
	there_and_back(0, BYTES, 4);
	there_and_back(BYTES - 1, 1, 5);
	rig_bind(0, here, sizeof here);
	there_and_back(PART - 1, 2 * PART + 2, 6);
}
END_TEST

/* -- rails ------------------------------------------------------------------------------------- */

/* Two ports of one device, or two devices. */
static void
rails_start(bool two_devices)
{
	mock_reset(2);
	for (uint32_t host = 0; host < 2; host++) {
		if (two_devices)
			device(host, 1)->present = true;
		else
			device(host, 0)->limits.phys_port_cnt = 2;
	}
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
	rig_set(PSI_NO_PEER, "PST_IBV_STRIPE", "65536");
	pair_start();
	ck_assert_uint_eq(rig_connection(0, 1)->rail_count, RAILS);
}

/* The second rail's port. */
static void
second_cut(uint32_t host, bool two_devices)
{
	device(host, two_devices)->ports[two_devices ? 0 : 1].cut = true;
}

START_TEST(large_transfers_are_shared_by_rails)
{
	const bool two_devices = _i;
	uint64_t before;

	rails_start(two_devices);
	before = writes(0, 0) + writes(0, 1);
	there_and_back(5, 65536, 1);
	ck_assert_uint_eq(writes(0, 0) + writes(0, 1) - before, 1);     /* is not so large */
	before = writes(0, 0) + writes(0, 1);
	there_and_back(5, 65537, 2);
	ck_assert_uint_eq(writes(0, 0) + writes(0, 1) - before, RAILS);
	if (two_devices)
		ck_assert_uint_eq(writes(0, 1), 1);
	there_and_back(0, BYTES, 3);
	rig_bind(0, here, sizeof here);
	there_and_back(17, 500000, 4);
	ck_assert_ptr_null(rig_ranks[0].conduit->striped);
	ck_assert_uint_eq(registrations(), two_devices ? 5 : 4);        /* and the segment */
}
END_TEST

/* What a rail that fails had goes by the first: before and after it has had work. */
START_TEST(rail_that_fails_is_used_no_more)
{
	const bool two_devices = _i & 1;

	rails_start(two_devices);
	if (_i & 2)
		there_and_back(0, BYTES, 1);
	second_cut(_i & 4 ? 1 : 0, two_devices);
	there_and_back(11, 800000, 2);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "a rail to rank 1 is used no more") != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_msg(strstr(rig_ranks[0].said, two_devices ? "port 1 of mock1" : "port 2 of mock0")
	              != NULL, "%s", rig_ranks[0].said);
	there_and_back(0, BYTES, 3);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	ck_assert_ptr_null(rig_ranks[0].conduit->striped);
	ck_assert_uint_eq(registrations(), 3);
	rig_pass_ns(10 * (uint64_t)RIG_SECOND_NS);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

/* Its device takes no more requests. */
START_TEST(rail_that_refuses_is_used_no_more)
{
	rails_start(true);
	device(0, 1)->refuse[MOCK_POST_SEND] = ENOMEM;
	there_and_back(0, BYTES, 1);
	there_and_back(0, BYTES, 2);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "device mock1 takes no work request") != NULL,
	              "%s", rig_ranks[0].said);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

/* In the midst: some stripes have ended, others are under way. */
START_TEST(rail_fails_with_much_under_way)
{
	enum { PUTS = 40 };

	rails_start(_i);
	rig_bind(0, here, sizeof here);
	rig_fill(here, BYTES, 77);
	device(0, 0)->late = device(0, 1)->late = true;
	for (unsigned i = 0; i < PUTS; i++) {
		const uint64_t at = i * 20000;

		if (i == PUTS / 2)
			second_cut(0, _i);
		ck_assert_int_eq(rig_put(0, rig_transfer(1, name_there, at, here + at, 150000,
		                                         i + 1)), PSI_OK);
	}
	device(0, 0)->late = device(0, 1)->late = false;
	mock_run();
	rig_settle();
	for (unsigned i = 0; i < PUTS; i++)
		ck_assert_uint_eq(rig_done_count(0, i + 1), 1);
	ck_assert_uint_eq(rig_ranks[0].done_count, PUTS);
	ck_assert(rig_is_filled(there, (PUTS - 1) * 20000 + 150000, 77));
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

/* As many as both have. */
START_TEST(ranks_with_different_rails)
{
	mock_reset(2);
	device(0, 0)->limits.phys_port_cnt = 2;
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
	rig_set(PSI_NO_PEER, "PST_IBV_STRIPE", "65536");
	pair_start();
	ck_assert_uint_eq(rig_connection(0, 1)->rail_count, 1);
	ck_assert_uint_eq(rig_connection(1, 0)->rail_count, 1);
	there_and_back(0, BYTES, 1);
}
END_TEST

/* The first rail has the messages: without it the peer is lost. */
START_TEST(first_rail_is_the_connection)
{
	rails_start(_i);
	device(0, 0)->ports[0].cut = true;
	ck_assert_int_eq(rig_put(0, rig_transfer(1, name_there, 0, here, BYTES, 5)), PSI_OK);
	rig_turn(0);
	rig_turn(0);            /* a poll reads one queue, and devices have their own */
	rig_pass_ns(2 * (uint64_t)RIG_SECOND_NS);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 1);
	ck_assert_uint_eq(rig_ranks[0].lost, 1);
	ck_assert_uint_eq(rig_done_count(0, 5), 0);
}
END_TEST

/* -- atomic operations ------------------------------------------------------------------------- */

static _Alignas(8) uint64_t word;

static int
atomic(struct psi_segment_name name, bool is_swap, uint64_t a, uint64_t b, uint64_t *result,
       uint64_t cookie)
{
	const struct psi_device_atomic operation = {
		.remote = { .peer = 1, .name = name }, .is_swap = is_swap,
		.add = is_swap ? 0 : a, .compare = a, .swap = b, .result = result, .cookie = cookie,
	};

	return pibv_ops.device_atomic(rig_as(0)->port, &operation);
}

START_TEST(words_are_added_and_swapped)
{
	const struct psi_segment_name nowhere = { .key = PSI_NO_KEY };
	struct psi_segment_name name;
	uint64_t before = 0;

	pair_start();
	name = rig_bind(1, &word, sizeof word);
	word = 40;
	ck_assert_int_eq(atomic(name, false, 2, 0, &before, 1), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_done_count(0, 1), 1);
	ck_assert_uint_eq(before, 40);
	ck_assert_uint_eq(word, 42);
	ck_assert_int_eq(atomic(name, true, 41, 7, &before, 2), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(before, 42);
	ck_assert_uint_eq(word, 42);
	ck_assert_int_eq(atomic(name, true, 42, 7, NULL, 3), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_done_count(0, 3), 1);
	ck_assert_uint_eq(word, 7);
	ck_assert_int_eq(atomic(nowhere, false, 1, 0, NULL, 4), PSI_UNSUPPORTED);
	ck_assert_uint_eq(rig_ranks[0].conduit->buffers.taken, 0);
}
END_TEST

/* A rank's own words go by the device too, so that all operations on one are atomic. */
START_TEST(own_words_go_by_the_device)
{
	struct psi_device_atomic operation = { .add = 5, .cookie = 9 };
	uint64_t before = 0;

	pair_start();
	operation.remote.name = rig_bind(0, &word, sizeof word);
	operation.result = &before;
	word = 10;
	for (unsigned i = 1; i <= 300; i++) {
		while (pibv_ops.device_atomic(rig_as(0)->port, &operation) == PSI_AGAIN)
			rig_turn(0);
		rig_settle();
		ck_assert_uint_eq(rig_ranks[0].done_count, i);
		ck_assert_uint_eq(before, 5 + 5 * i);
	}
	ck_assert_uint_eq(rig_ranks[0].heard[PSI_REQUESTS], 0);
	ck_assert_ptr_null(rig_ranks[0].conduit->hello.first);
	ck_assert_uint_eq(mock.datagrams_sent, 2);      /* of the two ranks */
}
END_TEST

/* Refused where there is no room; what is taken completes once. */
START_TEST(additions_without_room_are_refused)
{
	struct psi_segment_name name;
	unsigned taken = 0;

	pair_start();
	name = rig_bind(1, &word, sizeof word);
	word = 0;
	device(0, 0)->late = true;
	while (atomic(name, false, 1, 0, NULL, taken + 1) == PSI_OK)
		taken++;
	ck_assert_uint_ge(taken, PIBV_DEPTH - 4);
	device(0, 0)->late = false;
	mock_run();
	rig_settle();
	ck_assert_uint_eq(word, taken);
	ck_assert_uint_eq(rig_ranks[0].done_count, taken);
	ck_assert_int_eq(atomic(name, false, 1, 0, NULL, 1), PSI_OK);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("rma");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, large_transfers_go_in_pieces);
	tcase_add_loop_test(tests, pieces_are_read_with_the_last, 0, 2);
	tcase_add_test(tests, pieces_wait_for_room);
	tcase_add_test(tests, reads_at_once_are_those_of_both);
	tcase_add_test(tests, segment_in_parts);
	tcase_add_loop_test(tests, large_transfers_are_shared_by_rails, 0, 2);
	tcase_add_loop_test(tests, rail_that_fails_is_used_no_more, 0, 8);
	tcase_add_test(tests, rail_that_refuses_is_used_no_more);
	tcase_add_loop_test(tests, rail_fails_with_much_under_way, 0, 2);
	tcase_add_test(tests, ranks_with_different_rails);
	tcase_add_loop_test(tests, first_rail_is_the_connection, 0, 2);
	tcase_add_test(tests, words_are_added_and_swapped);
	tcase_add_test(tests, own_words_go_by_the_device);
	tcase_add_test(tests, additions_without_room_are_refused);
	return unit_run("ibv rma", tests);
}
