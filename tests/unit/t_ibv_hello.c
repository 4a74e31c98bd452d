/*
 * Connections of the ibv conduit are made by datagrams, which may be lost, come twice, cross or
 * come out of order; strangers' are dropped.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

/* -- as it should be --------------------------------------------------------------------------- */

/* Hello, answer, and the first message: two datagrams. */
START_TEST(two_datagrams_connect)
{
	rig_start(2);
	ck_assert_uint_eq(mock.datagrams_sent, 0);
	rig_talk(0, 1);
	rig_settle();
	ck_assert(rig_are_connected(0, 1));
	ck_assert_uint_eq(mock.datagrams_sent, 2);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 1);
	ck_assert_uint_eq((unsigned)rig_ranks[1].args[0], 42);
	ck_assert_ptr_null(rig_ranks[0].conduit->hello.first);
	ck_assert_ptr_null(rig_ranks[1].conduit->hello.first);
	/* nothing is sent again */
	rig_pass_ns(RIG_SECOND_NS);
	rig_settle();
	ck_assert_uint_eq(mock.datagrams_sent, 2);
	rig_no_lines();
}
END_TEST

/* Both begin before either has heard of the other. */
START_TEST(hellos_cross)
{
	rig_start(2);
	mock.hold_datagrams = true;
	rig_talk(0, 1);
	rig_talk(1, 0);
	ck_assert_uint_eq(mock.datagram_count, 2);
	mock_datagram_deliver(0);
	mock_datagram_deliver(0);
	mock.hold_datagrams = false;
	rig_settle();
	ck_assert(rig_are_connected(0, 1));
	ck_assert_uint_eq(rig_ranks[0].heard[PSI_REPLIES], 1);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 1);
	rig_no_lines();
}
END_TEST

/* Also where only one is told to. */
START_TEST(all_connect_at_the_start)
{
	rig_set(_i ? 2 : PSI_NO_PEER, "GASNET_CONNECT_STATIC", "1");
	rig_start(4);
	for (uint32_t a = 0; a < 4; a++)
		for (uint32_t b = 0; b < 4; b++)
			if (a != b) {
				ck_assert_int_eq(rig_connection(a, b)->state, PIBV_CONNECTED);
				ck_assert_int_eq(rig_send(a, b, PSI_REQUESTS, 0, NULL, 0, 0),
				                 PSI_OK);
			}
	rig_settle();
	for (uint32_t a = 0; a < 4; a++)
		ck_assert_uint_eq(rig_ranks[a].heard[PSI_REQUESTS], 3);
	rig_no_lines();
}
END_TEST

/* -- losses ------------------------------------------------------------------------------------ */

static unsigned lost_bits;

static unsigned
fate_by_bits(unsigned number)
{
	return number < 8 && lost_bits >> number & 1 ? 0 : 1;
}

/* Each pattern of losses among the first 6 datagrams, with one or two who begin. */
START_TEST(each_loss_is_made_good)
{
	lost_bits = (unsigned)_i % 64;
	rig_start(2);
	mock.fate = fate_by_bits;
	rig_talk(0, 1);
	if (_i >= 64)
		rig_talk(1, 0);
	rig_wait_connected(0, 1);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 1);
	ck_assert_uint_eq(rig_ranks[0].heard[PSI_REPLIES], _i >= 64);
	rig_no_lines();
}
END_TEST

static unsigned twice(unsigned number) { return 2 + (number & 1); }

START_TEST(datagrams_that_come_twice_change_nothing)
{
	rig_start(2);
	mock.fate = twice;
	rig_talk(0, 1);
	rig_talk(1, 0);
	rig_settle();
	ck_assert(rig_are_connected(0, 1));
	ck_assert_uint_eq(rig_ranks[0].heard[PSI_REPLIES], 1);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 1);
	ck_assert_uint_lt(mock.datagrams_sent, 20);
	rig_no_lines();
}
END_TEST

/* The earlier hello comes last, long after the two are connected. */
START_TEST(late_hello_changes_nothing)
{
	rig_start(2);
	mock.hold_datagrams = true;
	rig_talk(0, 1);
	rig_pass_ns(RIG_HELLO_NS);
	rig_turn(0);
	ck_assert_uint_eq(mock.datagram_count, 2);
	mock_datagram_deliver(1);
	rig_turn(1);
	ck_assert_uint_eq(mock.datagram_count, 2);
	mock_datagram_deliver(1);
	rig_settle();
	ck_assert(rig_are_connected(0, 1));
	mock_datagram_deliver(0);       /* says that 0 is not ready */
	mock.hold_datagrams = false;
	rig_settle();
	ck_assert(rig_are_connected(0, 1));
	rig_talk(1, 0);
	rig_talk(0, 1);
	rig_settle();
	ck_assert_uint_eq(rig_ranks[0].heard[PSI_REPLIES], 1);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 2);
	rig_no_lines();
}
END_TEST

/* Random loss, duplicates and order, all pairs of four ranks. */
START_TEST(storm_connects_all)
{
	uint64_t random = (uint64_t)_i + 1;

	rig_start(4);
	mock.hold_datagrams = true;
	rig_talk_all();
	for (unsigned step = 0; step < 3000; step++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		rig_turn((uint32_t)(random >> 40) % 4);
		rig_datagram_goes(random);
		rig_pass_ns(RIG_HELLO_NS / 4);
	}
	mock.hold_datagrams = false;
	rig_settle();
	for (uint32_t a = 0; a < 4; a++) {
		ck_assert_uint_eq(rig_ranks[a].heard[PSI_REPLIES], 3);
		for (uint32_t b = 0; b < a; b++)
			ck_assert(rig_are_connected(a, b));
	}
}
END_TEST

/* 20 ms, 40 ms and so on, up to a second. */
START_TEST(intervals_grow_to_their_limit)
{
	uint64_t interval_ns = RIG_HELLO_NS;

	rig_start(2);
	mock_device_of(1)->gone = true;
	rig_talk(0, 1);
	for (unsigned sent = 1; sent < 12; sent++) {
		ck_assert_uint_eq(mock.datagrams_sent, sent);
		rig_pass_ns(interval_ns - 1);
		rig_turn(0);
		ck_assert_uint_eq(mock.datagrams_sent, sent);
		rig_pass_ns(1);
		rig_turn(0);
		interval_ns = interval_ns * 2 < RIG_SECOND_NS ? interval_ns * 2 : RIG_SECOND_NS;
	}
}
END_TEST

/* One line after ten seconds, and no end of the job. */
START_TEST(silence_is_told_once)
{
	rig_start(2);
	mock_device_of(1)->gone = true;
	rig_talk(0, 1);
	for (unsigned second = 0; second < 9; second++) {
		rig_pass_ns(RIG_SECOND_NS);
		rig_turn(0);
	}
	rig_no_lines();
	for (unsigned second = 0; second < 30; second++) {
		rig_pass_ns(RIG_SECOND_NS);
		rig_turn(0);
	}
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_ptr_nonnull(strstr(rig_ranks[0].said, "rank 1 (here) has not answered for 10 s"));
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	mock_device_of(1)->gone = false;
	rig_wait_connected(0, 1);
}
END_TEST

/* -- strangers --------------------------------------------------------------------------------- */

static uint64_t dropped(uint32_t place) { return rig_ranks[place].count[PSI_COUNT_DROPPED]; }

static void
stranger(const void *bytes, uint32_t len_bytes)
{
	const struct pibv_card *card = &rig_ranks[1].conduit->card;

	mock_datagram_inject(mock_device_of(1), card->qp, card->qkey, bytes, len_bytes);
	rig_turn(1);
}

START_TEST(strangers_are_dropped_and_counted)
{
	struct pibv_hello good, bad;
	unsigned count = 0;

	rig_start(2);
	good = (struct pibv_hello){
		.tag = rig_ranks[0].conduit->tag, .wire = PIBV_WIRE, .process = 0, .to = 1,
		.qp = { 9999 }, .psn = { 5 }, .reads = 16,
	};
#define BAD(member, value) \
	do { \
		bad = good; \
		bad.member = (value); \
		stranger(&bad, sizeof bad); \
		ck_assert_uint_eq(dropped(1), ++count); \
	} while (0)
	BAD(tag, good.tag + 1);
	BAD(wire, PIBV_WIRE + 1);
	BAD(process, 2);
	BAD(to, 0);
#undef BAD
	stranger(&good, sizeof good - 1);
	ck_assert_uint_eq(dropped(1), ++count);
	stranger(&good, 0);
	ck_assert_uint_eq(dropped(1), ++count);
	ck_assert_ptr_null(rig_connection(1, 0));
	/* their buffers are posted again */
	for (unsigned i = 0; i < 3 * PIBV_HELLOS; i++)
		stranger(&good, 4);
	rig_talk(0, 1);
	rig_settle();
	ck_assert(rig_are_connected(0, 1));
	rig_no_lines();
}
END_TEST

/* One that names this process as its sender. */
START_TEST(hello_from_oneself_is_dropped)
{
	struct pibv_hello hello;

	rig_start(2);
	hello = (struct pibv_hello){
		.tag = rig_ranks[0].conduit->tag, .wire = PIBV_WIRE, .process = 1, .to = 1,
	};
	stranger(&hello, sizeof hello);
	ck_assert_uint_eq(dropped(1), 1);
	ck_assert_ptr_null(rig_connection(1, 1));
	rig_no_lines();
}
END_TEST

START_TEST(wrong_key_does_not_arrive)
{
	const struct pibv_card *card;
	char bytes[64] = { 0 };

	rig_start(2);
	card = &rig_ranks[1].conduit->card;
	mock_datagram_inject(mock_device_of(1), card->qp, card->qkey + 1, bytes, sizeof bytes);
	rig_turn(1);
	ck_assert_uint_eq(mock.datagrams_dropped, 1);
	ck_assert_uint_eq(dropped(1), 0);
}
END_TEST

/* One that asks for no answer has none. One that does has a message, since both are connected. */
START_TEST(hello_of_a_connected_peer_has_no_answer)
{
	struct pibv_hello hello;
	uint64_t sends;

	rig_start(2);
	rig_meet(0, 1);
	sends = mock_device_of(1)->counts.sends;
	hello = (struct pibv_hello){
		.tag = rig_ranks[0].conduit->tag, .wire = PIBV_WIRE, .process = 0, .to = 1,
		.ready = 1, .connected = 1,
	};
	stranger(&hello, sizeof hello);
	ck_assert_uint_eq(mock_device_of(1)->counts.sends, sends);
	hello.connected = 0;
	stranger(&hello, sizeof hello);
	ck_assert_uint_eq(mock_device_of(1)->counts.sends, sends + 1);
	ck_assert_uint_eq(mock.datagrams_sent, 2);
	ck_assert_uint_eq(dropped(1), 0);
}
END_TEST

/* -- lack -------------------------------------------------------------------------------------- */

/* A datagram that the device does not take is sent when its time comes again. */
START_TEST(full_datagram_queue_is_tried_again)
{
	rig_start(2);
	mock_device_of(0)->refuse[MOCK_POST_DATAGRAM] = ENOMEM;
	rig_talk(0, 1);
	rig_settle();
	ck_assert_uint_eq(mock.datagrams_sent, 0);
	mock_device_of(0)->refuse[MOCK_POST_DATAGRAM] = 0;
	rig_pass_ns(RIG_HELLO_NS);
	rig_settle();
	ck_assert(rig_are_connected(0, 1));
	rig_no_lines();
}
END_TEST

static const struct { enum mock_call call; int code; const char *part; } refusals[] = {
	{ MOCK_QP, ENOMEM, "no queue pair for rank 1" },
	{ MOCK_MODIFY, ENOMEM, "no queue pair for rank 1" },
	{ MOCK_AH, ENOMEM, "no way to rank 1" },
	{ MOCK_POST_DATAGRAM, EIO, "no way to rank 1: device mock0 takes no datagram: Input/" },
};

/* The line, and the next poll ends the job. */
START_TEST(connection_that_cannot_be_made)
{
	rig_start(2);
	mock_device_of(0)->refuse[refusals[_i].call] = refusals[_i].code;
	(void)rig_send(0, 1, PSI_REPLIES, 1, NULL, 0, 42);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, refusals[_i].part) != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_int_ne(rig_send(0, 1, PSI_REQUESTS, 1, NULL, 0, 42), PSI_OK);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 1);
}
END_TEST

/* The step to receiving, and that to sending. */
START_TEST(connection_that_does_not_get_ready)
{
	rig_start(2);
	mock_device_of(0)->refuse[MOCK_MODIFY] = EINVAL;
	mock_device_of(0)->refuse_after[MOCK_MODIFY] = 1 + (unsigned)_i;
	rig_talk(0, 1);
	rig_turn(1);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_ptr_nonnull(strstr(rig_ranks[0].said, "no way to rank 1"));
	ck_assert_uint_eq(rig_ranks[0].told_lost, 1);
}
END_TEST

static const struct { enum mock_call call; unsigned after; } look_ups[] = {
	{ MOCK_AH, 0 }, { MOCK_MODIFY, 1 },
};

/* A peer's address is looked up on the network, which may lose packets for a while. */
START_TEST(address_that_is_found_late)
{
	rig_start(2);
	mock_device_of(0)->refuse[look_ups[_i].call] = ETIMEDOUT;
	mock_device_of(0)->refuse_after[look_ups[_i].call] = look_ups[_i].after;
	rig_talk(0, 1);
	for (unsigned i = 0; i < 5; i++) {
		rig_settle();
		rig_pass_ns(RIG_SECOND_NS);
	}
	ck_assert(!rig_are_connected(0, 1));
	rig_no_lines();
	mock_device_of(0)->refuse[look_ups[_i].call] = 0;
	rig_wait_connected(0, 1);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], 1);
	rig_no_lines();
}
END_TEST

START_TEST(address_that_is_not_found)
{
	rig_start(2);
	mock_device_of(0)->refuse[MOCK_AH] = ETIMEDOUT;
	rig_talk(0, 1);
	rig_pass_ns(31 * (uint64_t)RIG_SECOND_NS);
	rig_turn(0);
	rig_pass_ns(3 * (uint64_t)RIG_SECOND_NS);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 1);
	ck_assert_uint_eq(rig_ranks[0].lost, 1);
	ck_assert_ptr_nonnull(strstr(rig_ranks[0].lost_why, "its port was not found for 30 s"));
}
END_TEST

/* Before the first message a peer costs little. */
START_TEST(peer_costs_less_than_512_bytes_before_first_use)
{
	ck_assert_uint_lt(sizeof(struct pibv_card) + sizeof(struct pibv_connection *) +
	                  2 * sizeof(uint16_t), 512);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("hello");

	tcase_set_timeout(tests, 40);
	tcase_add_test(tests, two_datagrams_connect);
	tcase_add_test(tests, hellos_cross);
	tcase_add_loop_test(tests, all_connect_at_the_start, 0, 2);
	tcase_add_loop_test(tests, each_loss_is_made_good, 0, 128);
	tcase_add_test(tests, datagrams_that_come_twice_change_nothing);
	tcase_add_test(tests, late_hello_changes_nothing);
	tcase_add_loop_test(tests, storm_connects_all, 0, 10);
	tcase_add_test(tests, intervals_grow_to_their_limit);
	tcase_add_test(tests, silence_is_told_once);
	tcase_add_test(tests, strangers_are_dropped_and_counted);
	tcase_add_test(tests, hello_from_oneself_is_dropped);
	tcase_add_test(tests, hello_of_a_connected_peer_has_no_answer);
	tcase_add_test(tests, wrong_key_does_not_arrive);
	tcase_add_test(tests, full_datagram_queue_is_tried_again);
	tcase_add_loop_test(tests, connection_that_cannot_be_made, 0,
	                    sizeof refusals / sizeof *refusals);
	tcase_add_loop_test(tests, connection_that_does_not_get_ready, 0, 2);
	tcase_add_loop_test(tests, address_that_is_found_late, 0, 2);
	tcase_add_test(tests, address_that_is_not_found);
	tcase_add_test(tests, peer_costs_less_than_512_bytes_before_first_use);
	return unit_run("ibv hello", tests);
}
