/*
 * The ibv conduit's send queues: what asks for a completion behind requests that have asked for
 * none, and that each cookie completes once.
 */
#include "tests/unit/ibv_pair.h"
#include "tests/unit/main.h"

enum { BYTES = PAIR_BYTES, MANY = PAIR_MANY, SOFT_ROCE = 0xffffff };

/* A put that nobody could see complete is asked for by the second poll behind it, once. */
START_TEST(poll_asks_for_what_is_waited_for)
{
	struct mock_counts before, after;

	pair_start();
	mock_device_of(0)->late = true;
	ck_assert_int_eq(rig_put(0, put_of(0, 8, 1)), PSI_OK);      /* has a completion */
	ck_assert_int_eq(rig_put(0, put_of(8, 8, 2)), PSI_OK);      /* has none */
	before = counts_of(0);
	rig_turn(0);
	ck_assert_uint_eq(counts_of(0).empty, before.empty);
	rig_turn(0);
	after = counts_of(0);
	ck_assert_uint_eq(after.empty - before.empty, 1);
	rig_turn(0);
	ck_assert_uint_eq(counts_of(0).requests, after.requests);
	mock_device_of(0)->late = false;
	mock_run();
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].done_count, 2);
}
END_TEST

/* Gets of which the last has no completion: what asks for it. */
static struct mock_counts
gets_are_asked_for(void)
{
	pair_start();
	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_eq(rig_get(0, put_of(8 * i, 8, i + 1)), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_ranks[0].done_count, 8);
	return counts_of(0);
}

START_TEST(empty_write_asks_for_gets)
{
	const struct mock_counts counts = gets_are_asked_for();

	ck_assert_uint_eq(counts.empty, 1);
	ck_assert_uint_eq(counts.reads, 8);
}
END_TEST

/* It repeats no read behind an empty write, and behind puts alone one is right. */
START_TEST(read_asks_for_gets_of_soft_roce)
{
	struct mock_counts counts;

	mock_device_of(0)->limits.vendor_id = SOFT_ROCE;
	counts = gets_are_asked_for();
	ck_assert_uint_eq(counts.empty, 0);
	ck_assert_uint_eq(counts.reads, 9);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_eq(rig_put(0, put_of(8 * i, 8, 9 + i)), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_ranks[0].done_count, 16);
	counts = counts_of(0);
	ck_assert_uint_eq(counts.empty, 1);
	ck_assert_uint_eq(counts.reads, 9);
}
END_TEST

/* A read that asks is one that has not completed, too. */
START_TEST(read_that_asks_is_under_way)
{
	mock_device_of(0)->limits.vendor_id = SOFT_ROCE;
	pair_start();
	ck_assert_int_eq(rig_get(0, put_of(0, 8, 1)), PSI_OK);      /* has a completion */
	mock_device_of(0)->late = true;
	ck_assert_int_eq(rig_put(0, put_of(8, 8, 2)), PSI_OK);
	pibv_work_flush_all(rig_as(0)->conduit);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].done_count, 1);
	ck_assert_int_eq(rig_put(0, put_of(16, 8, 3)), PSI_OK);
	pibv_work_flush_all(rig_as(0)->conduit);
	ck_assert_uint_eq(counts_of(0).empty, 0);
	ck_assert_uint_eq(counts_of(0).reads, 3);
}
END_TEST

/* Nor is a read of long ago one that is under way, when counts have wrapped. */
START_TEST(read_of_long_ago_is_over)
{
	struct mock_counts counts;

	mock_device_of(0)->limits.vendor_id = SOFT_ROCE;
	(void)gets_are_asked_for();
	for (unsigned i = 0; i < 3; i++) {
		struct pibv_connection *connection = rig_connection(0, 1);

		ck_assert_uint_eq(connection->posted, connection->retired);
		connection->posted += 1u << 30;
		connection->retired = connection->signaled = connection->wanted =
			connection->worked = connection->posted;
		counts = counts_of(0);
		ck_assert_int_eq(rig_put(0, put_of(0, 8, 9)), PSI_OK);
		ck_assert_int_eq(rig_put(0, put_of(0, 8, 9)), PSI_OK);
		pibv_work_flush_all(rig_as(0)->conduit);
		ck_assert_uint_eq(counts_of(0).reads, counts.reads);
		rig_settle();
	}
}
END_TEST

/* Puts and messages mixed at random, late and on time: each cookie once. */
static void
cookies_complete_once(void)
{
	uint64_t random = 12345;
	unsigned cookies = 0, sent = 0;

	pair_start();
	for (unsigned i = 0; i < 10 * MANY; i++) {
		const unsigned what = (unsigned)(random >> 40);
		const size_t len_bytes = what % 7 == 0 ? 9000 + what % 3000 : 1 + what % 300;

		random = random * 6364136223846793005u + 1442695040888963407u;
		mock_device_of(0)->late = what % 16 < 8;
		if (what % 3 == 0) {
			struct psi_transfer put = put_of(what % 1000, len_bytes, ++cookies);

			put.read_cookie = ++cookies;
			ck_assert_int_eq(rig_put(0, put), PSI_OK);
		} else if (what % 3 == 1) {
			ck_assert_int_eq(rig_get(0, put_of(what % 1000, len_bytes, ++cookies)),
			                 PSI_OK);
		} else if (rig_send(0, 1, PSI_REQUESTS, what % 17, here, len_bytes % 8192, 3) ==
		           PSI_OK) {
			sent++;
		}
		if (what % 5 == 0)
			mock_run();
		if (what % 4 == 0)
			rig_turn(0);
		if (what % 6 == 0)
			rig_turn(1);
	}
	mock_device_of(0)->late = false;
	mock_run();
	rig_settle();
	pibv_work_flush_all(rig_as(0)->conduit);
	rig_settle();
	ck_assert_uint_eq(rig_ranks[0].done_count, cookies);
	for (unsigned i = 1; i <= cookies; i += 97)
		ck_assert_uint_eq(rig_done_count(0, i), 1);
	ck_assert_uint_gt(sent, MANY);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REQUESTS], sent);
	ck_assert_uint_eq(rig_ranks[0].conduit->buffers.taken, 0);
	ck_assert_uint_eq(rig_ranks[0].conduit->signals, 0);
	ck_assert_uint_eq(counts_of(0).registrations, 3);       /* buffers, datagrams */
}

START_TEST(mixed_cookies_complete_once)
{
	cookies_complete_once();
	ck_assert_uint_gt(counts_of(0).empty_behind_reads, 0);
}
END_TEST

START_TEST(mixed_cookies_of_soft_roce_complete_once)
{
	mock_device_of(0)->limits.vendor_id = SOFT_ROCE;
	cookies_complete_once();
	ck_assert_uint_gt(counts_of(0).empty, 0);
	ck_assert_uint_eq(counts_of(0).empty_behind_reads, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ask");

	mock_reset(4);
	tcase_set_timeout(tests, 40);
	tcase_add_test(tests, poll_asks_for_what_is_waited_for);
	tcase_add_test(tests, empty_write_asks_for_gets);
	tcase_add_test(tests, read_asks_for_gets_of_soft_roce);
	tcase_add_test(tests, read_that_asks_is_under_way);
	tcase_add_test(tests, read_of_long_ago_is_over);
	tcase_add_test(tests, mixed_cookies_complete_once);
	tcase_add_test(tests, mixed_cookies_of_soft_roce_complete_once);
	return unit_run("ibv ask", tests);
}
