/*
 * A path on which no datagram arrives ends the job, if the peer polls; a peer that makes no calls
 * ends nothing.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

enum { TELL_S = 10, LISTEN_S = 20, LATER_S = 5, POLLS_PER_LOOK = 1024 };

static unsigned
never(unsigned number)
{
	(void)number;
	return 0;
}

/* A second, in each tenth of which each of the ranks polls for long enough to look, if it polls. */
static void
second_passes(bool zero_polls, bool one_polls)
{
	for (unsigned tenth = 0; tenth < 10; tenth++) {
		rig_pass_ns(RIG_SECOND_NS / 10);
		for (unsigned poll = 0; poll < POLLS_PER_LOOK; poll++) {
			if (zero_polls)
				rig_turn(0);
			if (one_polls)
				rig_turn(1);
		}
	}
}

static void
seconds_pass(unsigned seconds, bool zero_polls, bool one_polls)
{
	for (unsigned second = 0; second < seconds; second++)
		second_passes(zero_polls, one_polls);
}

static void
nobody_is_lost(void)
{
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	ck_assert_uint_eq(rig_ranks[1].told_lost, 0);
}

/* The two connect, and all is well a minute later. */
static void
both_go_on(void)
{
	rig_wait_connected(0, 1);
	seconds_pass(60, true, true);
	nobody_is_lost();
}

/* After 30 s, by the rank that listens, with the name of the one that is not heard. */
START_TEST(dead_path_ends_the_job)
{
	unsigned seconds = 0;

	rig_start(2);
	mock.fate = never;
	rig_talk(0, 1);
	for (; !rig_ranks[1].told_lost && seconds < 60; seconds++)
		second_passes(true, true);
	ck_assert_uint_ge(seconds, TELL_S + LISTEN_S);
	ck_assert_uint_le(seconds, TELL_S + LISTEN_S + LATER_S);
	ck_assert_uint_eq(rig_ranks[1].lost, 0);
	ck_assert_ptr_nonnull(strstr(rig_ranks[1].lost_why, "no path"));
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

/* Hellos arrive, and no answer does: the rank that began finds it. */
static unsigned from_one_side(unsigned number) { return number == 0; }

START_TEST(dead_way_back_ends_the_job)
{
	rig_start(2);
	mock.fate = from_one_side;
	rig_talk(0, 1);
	seconds_pass(TELL_S + LISTEN_S + LATER_S, true, true);
	ck_assert_uint_eq(rig_ranks[1].told_lost, 0);
	ck_assert_uint_eq(rig_ranks[0].lost, 1);
}
END_TEST

/* However long it computes, with a poll now and then or none; then it connects. */
START_TEST(peer_that_computes_ends_nothing)
{
	rig_start(2);
	mock.hold_datagrams = true;
	rig_talk(0, 1);
	for (unsigned second = 0; second < 300; second++)
		second_passes(true, _i && second % 60 == 0);
	ck_assert_uint_ge(rig_ranks[1].knocks, 200);
	mock.hold_datagrams = false;
	both_go_on();
}
END_TEST

/* A path that comes back in time does, too; knocks that have stopped are forgotten. */
START_TEST(path_that_comes_back_ends_nothing)
{
	rig_start(2);
	mock.fate = never;
	rig_talk(0, 1);
	seconds_pass(TELL_S + LISTEN_S / 2, true, true);
	mock.fate = NULL;
	both_go_on();
}
END_TEST

START_TEST(knocks_that_stop_are_forgotten)
{
	rig_start(2);
	mock.fate = never;
	for (unsigned second = 0; second < 300; second++) {
		if (second % 10 == 0)
			rig_ranks[1].knocker = 0;
		second_passes(false, true);
	}
	ck_assert_uint_eq(rig_ranks[1].told_lost, 0);
	ck_assert_ptr_null(rig_connection(1, 0));
}
END_TEST

/* Hellos that are far apart are awaited for longer; the last that was lost does not end the job. */
static unsigned
none_of_the_first(unsigned number)
{
	return number >= 14;
}

START_TEST(hellos_far_apart_are_awaited)
{
	rig_set(PSI_NO_PEER, "GASNET_CONNECT_RETRANS_MAX", "40000000");
	rig_start(2);
	mock.fate = none_of_the_first;
	rig_talk(0, 1);
	seconds_pass(120, true, true);
	ck_assert_uint_eq(rig_ranks[1].told_lost, 0);
	mock.fate = never;
	for (unsigned second = 0; second < 200 && !rig_are_connected(0, 1); second++)
		second_passes(true, true);
	ck_assert(rig_are_connected(0, 1) || strstr(rig_ranks[1].lost_why, "in 120 s"));
}
END_TEST

/* A hello has come, so the path is not dead, whatever the device says of the way back. */
START_TEST(hello_that_came_ends_a_knock)
{
	rig_start(2);
	mock.fate = never;
	for (unsigned second = 0; second < LISTEN_S - 2; second++) {
		rig_ranks[1].knocker = 0;
		second_passes(false, true);
	}
	pibv_knock_hello_came(rig_ranks[1].conduit, 0);
	for (unsigned second = 0; second < 4; second++) {
		rig_ranks[1].knocker = 0;
		second_passes(false, true);
	}
	ck_assert_uint_eq(rig_ranks[1].told_lost, 0);
}
END_TEST

/* Nobody knocks where no hello leaves. */
START_TEST(no_hello_no_knock)
{
	rig_start(2);
	mock_device_of(0)->refuse[MOCK_POST_DATAGRAM] = ENOMEM;
	rig_talk(0, 1);
	seconds_pass(40, true, true);
	ck_assert_uint_eq(rig_ranks[1].knocks, 0);
	ck_assert_uint_eq(rig_ranks[1].told_lost, 0);
}
END_TEST

/* All silent peers are knocked at, one at a time. */
START_TEST(knocks_take_turns)
{
	rig_start(4);
	mock.fate = never;
	for (uint32_t to = 1; to < 4; to++)
		rig_talk(0, to);
	seconds_pass(TELL_S + 1, true, false);
	for (unsigned step = 0; step < 500; step++) {
		const unsigned before = rig_ranks[1].knocks + rig_ranks[2].knocks +
		                        rig_ranks[3].knocks;

		rig_pass_ns(RIG_SECOND_NS / 100);
		rig_turn(0);
		ck_assert_uint_le(rig_ranks[1].knocks + rig_ranks[2].knocks +
		                  rig_ranks[3].knocks, before + 1);
	}
	for (uint32_t to = 1; to < 4; to++)
		ck_assert_uint_ge(rig_ranks[to].knocks, 4);
}
END_TEST

/* Two ranks knock in turns.  The rank listens to the first, and the other changes nothing. */
START_TEST(second_knocker_does_not_disturb)
{
	rig_start(3);
	mock.fate = never;
	for (unsigned second = 0; second < LISTEN_S + LATER_S; second++) {
		rig_ranks[1].knocker = second % 2 ? 2 : 0;
		second_passes(false, true);
	}
	ck_assert_uint_eq(rig_ranks[1].told_lost != 0, 1);
	ck_assert_uint_eq(rig_ranks[1].lost, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("knock");

	tcase_set_timeout(tests, 40);
	tcase_add_test(tests, dead_path_ends_the_job);
	tcase_add_test(tests, dead_way_back_ends_the_job);
	tcase_add_loop_test(tests, peer_that_computes_ends_nothing, 0, 2);
	tcase_add_test(tests, path_that_comes_back_ends_nothing);
	tcase_add_test(tests, knocks_that_stop_are_forgotten);
	tcase_add_test(tests, hellos_far_apart_are_awaited);
	tcase_add_test(tests, hello_that_came_ends_a_knock);
	tcase_add_test(tests, no_hello_no_knock);
	tcase_add_test(tests, knocks_take_turns);
	tcase_add_test(tests, second_knocker_does_not_disturb);
	return unit_run("ibv knock", tests);
}
