/*
 * Transfers of the ibv conduit that are more than one work request: pieces, and segments in parts;
 * and atomic operations of the device.
 */
#include "tests/unit/ibv_rma_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

/* -- pieces ------------------------------------------------------------------------------------ */

/* A device whose messages are small; one cookie, with the last. */
START_TEST(large_transfers_go_in_pieces)
{
	uint64_t before;

	mock_reset(2);
	rma_device(0, 0)->ports[0].attr.max_msg_sz = 10000;
	rma_start();
	before = rma_writes(0, 0);
	rma_there_and_back(3, 100000, 1);
	ck_assert_uint_eq(rma_writes(0, 0) - before, 10);
	rma_there_and_back(0, RMA_BYTES, 2);
	ck_assert_uint_eq(rma_registrations(), 3);
}
END_TEST

/* The last piece goes inline or by a buffer, or neither: the others are still read. */
START_TEST(pieces_are_read_with_the_last)
{
	static const size_t lens[] = { 10001, 10128, 12000, 20000 };
	const bool from_segment = _i;

	mock_reset(2);
	rma_device(0, 0)->ports[0].attr.max_msg_sz = 10000;
	rma_start();
	if (from_segment)
		rig_bind(0, rma_here, sizeof rma_here);
	for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
		struct psi_transfer put = rig_transfer(1, rma_name, 0, rma_here, lens[i], 1);

		put.read_cookie = 2;
		rig_ranks[0].done_count = 0;
		rig_fill(rma_here, lens[i], i);
		rma_device(0, 0)->hold = true;
		ck_assert_int_eq(rig_put(0, put), PSI_OK);
		ck_assert_uint_eq(rig_ranks[0].done_count, 0);
		rma_device(0, 0)->hold = false;
		mock_run();
		rig_settle();
		ck_assert_uint_eq(rig_done_count(0, 1), 1);
		ck_assert_uint_eq(rig_done_count(0, 2), 1);
		ck_assert(rig_is_filled(rma_there, lens[i], i));
	}
}
END_TEST

/* More pieces than the queue has entries, completing late. */
START_TEST(pieces_wait_for_room)
{
	mock_reset(2);
	rma_device(0, 0)->ports[0].attr.max_msg_sz = 4096;
	rma_start();
	rma_device(0, 0)->late = true;
	rig_fill(rma_here, RMA_BYTES, 9);
	ck_assert_int_eq(rig_put(0, rig_transfer(1, rma_name, 0, rma_here, RMA_BYTES, 5)), PSI_OK);
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_uint_eq(rig_ranks[0].done_count, 0);
		mock_run();
		rig_turn(0);
		if (rig_ranks[0].done_count)
			break;
	}
	ck_assert_uint_eq(rig_done_count(0, 5), 1);
	ck_assert(rig_is_filled(rma_there, RMA_BYTES, 9));
	ck_assert_uint_eq(rma_registrations(), 3);
}
END_TEST

/* Reads at once are as many as the peer's device serves. */
START_TEST(reads_at_once_are_those_of_both)
{
	mock_reset(2);
	rma_device(0, 0)->limits.max_qp_init_rd_atom = 16;
	rma_device(1, 0)->limits.max_qp_rd_atom = 2;
	rma_start();
	rma_there_and_back(0, 10000, 1);
}
END_TEST

/* The first get would fail, with a status that names another cause. */
START_TEST(device_without_reads_is_passed_over)
{
	char reason[PIBV_LACK_BYTES] = "";
	int *const limit = _i ? &rma_device(0, 0)->limits.max_qp_rd_atom
	                      : &rma_device(0, 0)->limits.max_qp_init_rd_atom;

	mock_reset(2);
	rig_job(1, false);
	*limit = 0;
	rig_as(0);
	ck_assert(!pibv_ops.probe(&rig_services, reason, sizeof reason));
	ck_assert_msg(strstr(reason, "device mock0 has no RDMA reads ("), "%s", reason);
	ck_assert_int_eq(rig_open(0), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_ptr_nonnull(strstr(rig_ranks[0].said, "has no RDMA reads ("));
	rma_device(0, 1)->present = true;
	ck_assert_int_eq(rig_open(0), PSI_OK);
	ck_assert_str_eq(rig_ranks[0].conduit->devices[0].name, "mock1");
}
END_TEST

/* What a device does not say has no limit, and less than a page is none. */
START_TEST(device_that_does_not_say_its_limits)
{
	mock_reset(2);
	for (uint32_t host = 0; host < 2; host++) {
		rma_device(host, 0)->limits.max_mr_size = (unsigned)_i;
		rma_device(host, 0)->ports[0].attr.max_msg_sz = 0;
		rma_device(host, 0)->limits.max_qp_init_rd_atom = 256;
	}
	rma_start();
	rma_there_and_back(3, 100000, 1);
	rig_no_lines();
}
END_TEST

/* -- segments in parts ------------------------------------------------------------------------- */

/* Within a part, over its end, and over many. */
START_TEST(segment_in_parts)
{
	enum { PART = 65536 };
	uint64_t reads;

	rig_set(PSI_NO_PEER, "PST_IBV_PART", "65536");
	rma_start();
	ck_assert_uint_eq(rma_device(1, 0)->counts.registrations, 3 + RMA_BYTES / PART + 1);
	rma_there_and_back(100, 1000, 1);
	reads = rma_device(0, 0)->counts.reads;
	rma_there_and_back(PART - 8, 16, 2);
	ck_assert_uint_eq(rma_device(0, 0)->counts.reads - reads, 2);   /* the table is known */
	rma_there_and_back(PART - 1, 2 * PART + 2, 3);
	rma_there_and_back(0, RMA_BYTES, 4);
	rma_there_and_back(RMA_BYTES - 1, 1, 5);
	rig_bind(0, rma_here, sizeof rma_here);
	rma_there_and_back(PART - 1, 2 * PART + 2, 6);
}
END_TEST

/* Peers remember the table of a segment that is gone.  Those that follow have the same keys, and
 * their tables would have its address. */
START_TEST(segments_in_parts_that_follow_each_other)
{
	enum { ROUNDS = 8 };
	static unsigned char others[RMA_BYTES];

	rig_set(PSI_NO_PEER, "PST_IBV_PART", "65536");
	mock_reset(2);
	rma_device(1, 0)->keys_return = true;
	rig_start(2);
	rig_meet(0, 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned char *const bytes = i % 2 ? rma_there : others;
		struct psi_registration *registration;
		struct psi_segment_name name;

		ck_assert_int_eq(pibv_ops.segment_bind(rig_as(1)->conduit, bytes, RMA_BYTES, &name,
		                                       &registration), PSI_OK);
		rig_fill(rma_here, RMA_BYTES, i);
		ck_assert_int_eq(rig_put(0, rig_transfer(1, name, 0, rma_here, RMA_BYTES, i + 1)),
		                 PSI_OK);
		rig_settle();
		ck_assert_uint_eq(rig_done_count(0, i + 1), 1);
		ck_assert(rig_is_filled(bytes, RMA_BYTES, i));
		pibv_ops.segment_release(rig_as(1)->conduit, registration);
		ck_assert_uint_eq(rma_device(1, 0)->counts.registrations, 3);
	}
}
END_TEST

/* Memory gets a name for a Long alone only where the Long is put there. */
START_TEST(segments_in_parts_get_no_longs)
{
	rma_start();
	ck_assert(rig_ranks[0].attributes.puts_longs);
	rig_set(PSI_NO_PEER, "PST_IBV_PART", "65536");
	rma_start();
	ck_assert(!rig_ranks[0].attributes.puts_longs);
}
END_TEST

/* Nothing is registered before the line that says so. */
START_TEST(segment_of_too_many_parts)
{
	enum { BYTES = 1 << 24 };
	static unsigned char bytes[BYTES];
	struct psi_registration *registration;
	struct psi_segment_name name;

	rig_set(PSI_NO_PEER, "PST_IBV_PART", "65536");
	rig_set(PSI_NO_PEER, "PST_IBV_MAX_MEDIUM", "512");
	rma_start();
	rma_device(0, 0)->refuse[MOCK_MR] = ENOMEM;
	ck_assert_int_eq(pibv_ops.segment_bind(rig_as(0)->conduit, bytes, BYTES, &name,
	                                       &registration), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "would have 256 parts of 65536 bytes, and ") &&
	              strstr(rig_ranks[0].said, "; raise PST_IBV_PART"), "%s", rig_ranks[0].said);
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

	rma_start();
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

	rma_start();
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

	rma_start();
	name = rig_bind(1, &word, sizeof word);
	word = 0;
	rma_device(0, 0)->late = true;
	while (atomic(name, false, 1, 0, NULL, taken + 1) == PSI_OK)
		taken++;
	ck_assert_uint_ge(taken, PIBV_DEPTH - 4);
	rma_device(0, 0)->late = false;
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
	tcase_add_loop_test(tests, device_without_reads_is_passed_over, 0, 2);
	tcase_add_loop_test(tests, device_that_does_not_say_its_limits, 0, 2);
	tcase_add_test(tests, segment_in_parts);
	tcase_add_test(tests, segments_in_parts_that_follow_each_other);
	tcase_add_test(tests, segments_in_parts_get_no_longs);
	tcase_add_test(tests, segment_of_too_many_parts);
	tcase_add_test(tests, words_are_added_and_swapped);
	tcase_add_test(tests, own_words_go_by_the_device);
	tcase_add_test(tests, additions_without_room_are_refused);
	return unit_run("ibv rma", tests);
}
