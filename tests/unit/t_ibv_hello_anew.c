/*
 * The ibv conduit's queue pair for datagrams fails while connections are made: it starts anew, with
 * the number that peers know, and each message arrives once.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

static const enum ibv_wc_status statuses[] = {
	IBV_WC_LOC_QP_OP_ERR, IBV_WC_GENERAL_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_FATAL_ERR,
};

static void
fail_next(uint32_t place, enum ibv_wc_status status, unsigned after)
{
	mock_device_of(place)->fail_datagram = status;
	mock_device_of(place)->fail_datagram_after = after;
}

static bool
has_failed(uint32_t place)
{
	return rig_ranks[place].conduit->hello.failed;
}

/* It is as after its first start. */
static void
is_whole(uint32_t place)
{
	const struct psi_conduit *conduit = rig_ranks[place].conduit;

	ck_assert(!conduit->hello.failed);
	ck_assert_int_eq(conduit->hello.qp->state, IBV_QPS_RTS);
	ck_assert_uint_eq(conduit->hello.qp->qp_num, conduit->card.qp);
	ck_assert_uint_eq(conduit->hello.posted, PIBV_HELLOS);
	ck_assert_uint_eq(conduit->hello.sent, 0);
	ck_assert_ptr_null(conduit->hello.first);
	ck_assert_uint_eq(rig_ranks[place].told_lost, 0);
}

/* All pairs are connected, and each rank has heard that many messages. */
static void
all_is_well(unsigned heard)
{
	for (uint32_t place = 0; place < rig_places; place++) {
		ck_assert_uint_eq(rig_ranks[place].heard[PSI_REPLIES], heard);
		is_whole(place);
		for (uint32_t other = 0; other < place; other++)
			ck_assert(rig_are_connected(place, other));
	}
	rig_no_lines();
}

/* Objects of all devices, so that none is made twice, and none is left. */
static uint64_t
objects(void)
{
	uint64_t sum = 0;

	for (uint32_t host = 0; host < rig_places; host++)
		sum += mock_device_of(host)->counts.objects;
	return sum;
}

/* -- what makes it fail ------------------------------------------------------------------------ */

/* A datagram that cannot leave.  While it stands still, none is posted to it. */
START_TEST(datagram_that_cannot_leave)
{
	rig_start(2);
	fail_next(0, statuses[_i], 0);
	rig_talk(0, 1);
	ck_assert_uint_eq(mock.datagrams_sent, 0);
	ck_assert_uint_eq(mock_device_of(0)->counts.datagrams, 1);
	rig_turn(0);
	ck_assert(has_failed(0));
	rig_pass_ns(RIG_HELLO_NS);      /* a hello is due, but what was flushed is not read yet */
	rig_turn(0);
	ck_assert(has_failed(0));
	ck_assert_uint_eq(mock_device_of(0)->counts.datagrams, 1);
	rig_settle();
	ck_assert(!has_failed(0));
	ck_assert(!rig_are_connected(0, 1));
	rig_pass_ns(2 * RIG_HELLO_NS);
	rig_settle();
	ck_assert_uint_eq(mock.datagrams_sent, 2);
	rig_talk(1, 0);
	rig_settle();
	all_is_well(1);
}
END_TEST

/* Others are on their way behind it: they come back, and are sent again. */
START_TEST(datagrams_behind_one_that_cannot_leave)
{
	rig_start(4);
	fail_next(0, IBV_WC_LOC_QP_OP_ERR, (unsigned)_i);
	for (uint32_t peer = 1; peer < 4; peer++)
		rig_talk(0, peer);
	ck_assert_uint_eq(mock.datagrams_sent, (unsigned)_i);
	for (uint32_t peer = 1; peer < 4; peer++) {
		rig_wait_connected(0, peer);
		ck_assert_uint_eq(rig_ranks[peer].heard[PSI_REPLIES], 1);
		is_whole(peer);
	}
	is_whole(0);
	rig_no_lines();
}
END_TEST

/* An answer, or one that is sent again. */
START_TEST(each_datagram_of_either_side)
{
	rig_start(2);
	mock.hold_datagrams = _i & 4;   /* the first is lost, and is sent again */
	fail_next(_i & 1, IBV_WC_LOC_QP_OP_ERR, _i & 2 ? 1 : 0);
	rig_talk(0, 1);
	rig_settle();
	mock.hold_datagrams = false;
	rig_talk(1, 0);
	rig_wait_connected(0, 1);
	all_is_well(1);
}
END_TEST

/* Both at once, again and again. */
START_TEST(both_sides_fail_again_and_again)
{
	enum { TIMES = 6 };
	unsigned failed = 0;

	rig_start(2);
	rig_talk(0, 1);         /* and so the first hello is in order */
	rig_talk(1, 0);
	while (failed < TIMES) {
		for (uint32_t place = 0; place < 2; place++)
			fail_next(place, IBV_WC_GENERAL_ERR, 0);
		rig_settle();
		rig_pass_ns(RIG_SECOND_NS);
		for (uint32_t place = 0; place < 2; place++)
			rig_turn(place);
		if (rig_are_connected(0, 1))
			break;
		failed++;
	}
	for (uint32_t place = 0; place < 2; place++)
		fail_next(place, IBV_WC_SUCCESS, 0);
	rig_wait_connected(0, 1);
	all_is_well(1);
}
END_TEST

/* One that is larger than its buffer, from a stranger who knows number and key. */
static void
too_large_datagram(uint32_t place)
{
	static const char bytes[MOCK_DATAGRAM_BYTES];
	const struct pibv_card *card = &rig_ranks[place].conduit->card;

	mock_datagram_inject(mock_device_of(place), card->qp, card->qkey, bytes, sizeof bytes);
}

/* This side is about to answer: what it has no room for it answers when it is asked again. */
START_TEST(datagram_that_is_too_large)
{
	rig_start(2);
	too_large_datagram(1);
	rig_talk(0, 1);
	rig_turn(1);
	ck_assert(has_failed(1));
	ck_assert_uint_eq(mock.datagrams_dropped, 2);
	rig_wait_connected(0, 1);
	rig_talk(1, 0);
	rig_settle();
	all_is_well(1);
}
END_TEST

/* A hello has come, and waits to be read, when the queue pair fails: it counts. */
START_TEST(hello_that_came_before_the_failure)
{
	rig_start(2);
	rig_talk(0, 1);
	too_large_datagram(1);
	rig_turn(1);
	ck_assert(has_failed(1));
	ck_assert_ptr_nonnull(rig_connection(1, 0));
	rig_wait_connected(0, 1);
	rig_talk(1, 0);
	rig_settle();
	all_is_well(1);
}
END_TEST

/* -- ranks that wait --------------------------------------------------------------------------- */

/* A rank that wants no connection itself is reached again, whether it polls or sleeps. */
START_TEST(rank_without_hellos_starts_anew)
{
	const bool sleeps = _i;
	uint64_t most_ns;
	int fd;

	rig_start(2);
	too_large_datagram(1);
	rig_turn(1);
	ck_assert(has_failed(1));
	for (unsigned i = 0; i < 8 && has_failed(1); i++) {
		if (sleeps)     /* what was flushed wakes it */
			ck_assert_int_eq(pibv_ops.wait_on(rig_as(1)->conduit, &fd, &most_ns),
			                 PSI_AGAIN);
		rig_turn(1);
	}
	is_whole(1);
	rig_talk(0, 1);
	rig_talk(1, 0);
	rig_settle();
	all_is_well(1);
}
END_TEST

/* Messages on connections that there are do not wait. */
START_TEST(connections_go_on_meanwhile)
{
	rig_start(3);
	rig_meet(0, 1);
	fail_next(0, IBV_WC_GENERAL_ERR, 0);
	rig_talk(0, 2);
	rig_turn(0);
	ck_assert(has_failed(0));
	rig_talk(0, 1);
	rig_turn(1);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 1);
	rig_wait_connected(0, 2);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 1);
	ck_assert_uint_eq(rig_ranks[2].heard[PSI_REPLIES], 1);
	is_whole(0);
	rig_no_lines();
}
END_TEST

/* -- nothing is lost or made twice ------------------------------------------------------------- */

/* As many objects as where nothing fails, and each message once. */
START_TEST(as_if_nothing_had_failed)
{
	uint64_t there;

	rig_start(3);
	rig_talk_all();
	rig_settle();
	all_is_well(2);
	there = objects();
	mock_reset(3);
	rig_start(3);
	for (uint32_t a = 0; a < 3; a++) {
		fail_next(a, IBV_WC_LOC_QP_OP_ERR, (unsigned)_i);
		for (uint32_t b = 0; b < 3; b++)
			if (a != b)
				rig_talk(a, b);
	}
	for (uint32_t a = 0; a < 3; a++)
		for (uint32_t b = 0; b < a; b++)
			rig_wait_connected(a, b);
	all_is_well(2);
	ck_assert_uint_eq(objects(), there);
}
END_TEST

/* Random failures of both kinds, losses, duplicates and order, all pairs of four ranks. */
START_TEST(storm_of_failures)
{
	enum { STEPS = 4000, STORM = 3000 };
	uint64_t random = (uint64_t)_i + 1;

	rig_start(4);
	mock.hold_datagrams = true;
	rig_talk_all();
	for (unsigned step = 0; step < STEPS; step++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (step < STORM && (random >> 33) % 50 == 0)
			too_large_datagram((uint32_t)(random >> 50) % 4);
		if (step < STORM && (random >> 36) % 8 == 0)
			fail_next((uint32_t)(random >> 52) % 4, statuses[random >> 54 & 3], 0);
		rig_turn((uint32_t)(random >> 40) % 4);
		rig_datagram_goes(random);
		rig_pass_ns(RIG_HELLO_NS / 4);
	}
	mock.hold_datagrams = false;
	for (uint32_t place = 0; place < 4; place++) {
		fail_next(place, IBV_WC_SUCCESS, 0);
		rig_ranks[place].lines = 0;     /* that some have not answered for 10 s */
	}
	for (uint32_t a = 0; a < 4; a++)
		for (uint32_t b = 0; b < a; b++)
			rig_wait_connected(a, b);
	all_is_well(3);
}
END_TEST

/* -- a device that does not start it again ----------------------------------------------------- */

static const struct { enum mock_call call; unsigned after; } steps[] = {
	{ MOCK_MODIFY, 1 }, { MOCK_MODIFY, 2 }, { MOCK_MODIFY, 3 }, { MOCK_MODIFY, 4 },
	{ MOCK_POST_RECV, 0 }, { MOCK_POST_RECV, PIBV_HELLOS - 1 },
};

/* One line, and the next poll ends the job. */
START_TEST(device_that_does_not_start_it_again)
{
	rig_start(2);
	fail_next(0, IBV_WC_GENERAL_ERR, 0);
	mock_device_of(0)->refuse[steps[_i].call] = EIO;
	mock_device_of(0)->refuse_after[steps[_i].call] =
		steps[_i].after + (steps[_i].call == MOCK_MODIFY);      /* that of the connection */
	rig_talk(0, 1);
	for (unsigned i = 0; i < 20 && !rig_ranks[0].told_lost; i++)
		rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "the queue pair for datagrams of device mock0 does "
	                                        "not start again") != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 1);
	ck_assert_uint_eq(rig_ranks[0].lost, PSI_NO_PEER);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("hello anew");

	tcase_set_timeout(tests, 40);
	tcase_add_loop_test(tests, datagram_that_cannot_leave, 0,
	                    sizeof statuses / sizeof *statuses);
	tcase_add_loop_test(tests, datagrams_behind_one_that_cannot_leave, 0, 3);
	tcase_add_loop_test(tests, each_datagram_of_either_side, 0, 8);
	tcase_add_test(tests, both_sides_fail_again_and_again);
	tcase_add_test(tests, datagram_that_is_too_large);
	tcase_add_test(tests, hello_that_came_before_the_failure);
	tcase_add_loop_test(tests, rank_without_hellos_starts_anew, 0, 2);
	tcase_add_test(tests, connections_go_on_meanwhile);
	tcase_add_loop_test(tests, as_if_nothing_had_failed, 0, 6);
	tcase_add_loop_test(tests, storm_of_failures, 0, 20);
	tcase_add_loop_test(tests, device_that_does_not_start_it_again, 0,
	                    sizeof steps / sizeof *steps);
	return unit_run("ibv hello anew", tests);
}
