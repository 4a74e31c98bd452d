/*
 * Rails of the ibv conduit: large puts and gets go by several ports, and where a port beyond the
 * first fails, or stands still, by the others.
 */
#include "tests/unit/ibv_rma_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

enum { RAILS = 2 };

/* -- sharing ----------------------------------------------------------------------------------- */

/* Two ports of one device, or two devices. */
static void
rails_start(bool two_devices)
{
	mock_reset(2);
	for (uint32_t host = 0; host < 2; host++) {
		if (two_devices)
			rma_device(host, 1)->present = true;
		else
			rma_device(host, 0)->limits.phys_port_cnt = 2;
	}
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
	rig_set(PSI_NO_PEER, "PST_IBV_STRIPE", "65536");
	rma_start();
	ck_assert_uint_eq(rig_connection(0, 1)->rail_count, RAILS);
}

/* The second rail's port. */
static void
second_cut(uint32_t host, bool two_devices)
{
	rma_device(host, two_devices)->ports[two_devices ? 0 : 1].cut = true;
}

START_TEST(large_transfers_are_shared_by_rails)
{
	const bool two_devices = _i;
	uint64_t before;

	rails_start(two_devices);
	before = rma_writes(0, 0) + rma_writes(0, 1);
	rma_there_and_back(5, 65536, 1);
	ck_assert_uint_eq(rma_writes(0, 0) + rma_writes(0, 1) - before, 1);   /* not so large */
	before = rma_writes(0, 0) + rma_writes(0, 1);
	rma_there_and_back(5, 65537, 2);
	ck_assert_uint_eq(rma_writes(0, 0) + rma_writes(0, 1) - before, RAILS);
	if (two_devices)
		ck_assert_uint_eq(rma_writes(0, 1), 1);
	rma_there_and_back(0, RMA_BYTES, 3);
	rig_bind(0, rma_here, sizeof rma_here);
	rma_there_and_back(17, 500000, 4);
	ck_assert_ptr_null(rig_ranks[0].conduit->striped);
	ck_assert_uint_eq(rma_registrations(), two_devices ? 5 : 4);    /* and the segment */
}
END_TEST

/* What a rail that fails had goes by the first: before and after it has had work. */
START_TEST(rail_that_fails_is_used_no_more)
{
	const bool two_devices = _i & 1;

	rails_start(two_devices);
	if (_i & 2)
		rma_there_and_back(0, RMA_BYTES, 1);
	second_cut(_i & 4 ? 1 : 0, two_devices);
	rma_there_and_back(11, 800000, 2);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "a rail to rank 1 is used no more") != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_msg(strstr(rig_ranks[0].said, two_devices ? "port 1 of mock1" : "port 2 of mock0")
	              != NULL, "%s", rig_ranks[0].said);
	rma_there_and_back(0, RMA_BYTES, 3);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	ck_assert_ptr_null(rig_ranks[0].conduit->striped);
	ck_assert_uint_eq(rma_registrations(), 3);
	rig_pass_ns(10 * (uint64_t)RIG_SECOND_NS);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

/* Its device takes no more requests. */
START_TEST(rail_that_refuses_is_used_no_more)
{
	rails_start(true);
	rma_device(0, 1)->refuse[MOCK_POST_SEND] = ENOMEM;
	rma_there_and_back(0, RMA_BYTES, 1);
	rma_there_and_back(0, RMA_BYTES, 2);
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
	rig_bind(0, rma_here, sizeof rma_here);
	rig_fill(rma_here, RMA_BYTES, 77);
	rma_device(0, 0)->late = rma_device(0, 1)->late = true;
	for (unsigned i = 0; i < PUTS; i++) {
		const uint64_t at = i * 20000;

		if (i == PUTS / 2)
			second_cut(0, _i);
		ck_assert_int_eq(rig_put(0, rig_transfer(1, rma_name, at, rma_here + at, 150000,
		                                         i + 1)), PSI_OK);
	}
	rma_device(0, 0)->late = rma_device(0, 1)->late = false;
	mock_run();
	rig_settle();
	for (unsigned i = 0; i < PUTS; i++)
		ck_assert_uint_eq(rig_done_count(0, i + 1), 1);
	ck_assert_uint_eq(rig_ranks[0].done_count, PUTS);
	ck_assert(rig_is_filled(rma_there, (PUTS - 1) * 20000 + 150000, 77));
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

/* As many as both have. */
START_TEST(ranks_with_different_rails)
{
	mock_reset(2);
	rma_device(0, 0)->limits.phys_port_cnt = 2;
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
	rig_set(PSI_NO_PEER, "PST_IBV_STRIPE", "65536");
	rma_start();
	ck_assert_uint_eq(rig_connection(0, 1)->rail_count, 1);
	ck_assert_uint_eq(rig_connection(1, 0)->rail_count, 1);
	rma_there_and_back(0, RMA_BYTES, 1);
}
END_TEST

/* The first rail has the messages: without it the peer is lost. */
START_TEST(first_rail_is_the_connection)
{
	rails_start(_i);
	rma_device(0, 0)->ports[0].cut = true;
	ck_assert_int_eq(rig_put(0, rig_transfer(1, rma_name, 0, rma_here, RMA_BYTES, 5)), PSI_OK);
	rig_turn(0);
	rig_turn(0);            /* a poll reads one queue, and devices have their own */
	rig_pass_ns(2 * (uint64_t)RIG_SECOND_NS);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 1);
	ck_assert_uint_eq(rig_ranks[0].lost, 1);
	ck_assert_uint_eq(rig_done_count(0, 5), 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("rails");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, large_transfers_are_shared_by_rails, 0, 2);
	tcase_add_loop_test(tests, rail_that_fails_is_used_no_more, 0, 8);
	tcase_add_test(tests, rail_that_refuses_is_used_no_more);
	tcase_add_loop_test(tests, rail_fails_with_much_under_way, 0, 2);
	tcase_add_test(tests, ranks_with_different_rails);
	tcase_add_loop_test(tests, first_rail_is_the_connection, 0, 2);
	return unit_run("ibv rails", tests);
}
