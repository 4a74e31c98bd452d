/*
 * What goes wrong with the ibv conduit: each status of a completion is told with the peer, the
 * reason and the port, after two seconds, in which keepers may end the job with the cause; events
 * of the device; requests that it refuses; memory that it does not register.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

enum { BYTES = 1 << 16, EVENT_POLLS = 1100 };

static unsigned char there[BYTES], here[BYTES];
static struct psi_segment_name name_there;

static void
ranks_start(uint32_t ranks)
{
	rig_start(ranks);
	name_there = rig_bind(1, there, sizeof there);
	for (uint32_t to = 1; to < ranks; to++)
		rig_meet(0, to);
}

static struct mock_device *device(uint32_t host) { return mock_device_of(host); }

static int
put(size_t len_bytes, uint64_t cookie)
{
	return rig_put(0, rig_transfer(1, name_there, 0, here, len_bytes, cookie));
}

static void
says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "`%s' is not in: %s", part, text);
}

/* Told of once the two seconds are over, and not before. */
static void
is_lost_after_a_while(uint32_t peer, const char *part)
{
	rig_turn(0);
	rig_pass_ns(2 * (uint64_t)RIG_SECOND_NS - 1);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	rig_pass_ns(1);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 1);
	ck_assert_uint_eq(rig_ranks[0].lost, peer);
	says(rig_ranks[0].lost_why, part);
}

static void
is_lost_at_once(const char *line)
{
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	says(rig_ranks[0].said, line);
	rig_turn(0);
	ck_assert_uint_gt(rig_ranks[0].told_lost, 0);
	ck_assert_uint_eq(rig_ranks[0].lost, PSI_NO_PEER);
	ck_assert_int_ne(put(8, 99), PSI_OK);
}

/* -- completions ------------------------------------------------------------------------------- */

static const struct { enum ibv_wc_status status; const char *reason; } statuses[] = {
	{ IBV_WC_RETRY_EXC_ERR, "the peer is gone, or no path leads to it" },
	{ IBV_WC_RNR_RETRY_EXC_ERR, "has had no receive buffer" },
	{ IBV_WC_REM_ACCESS_ERR, "the peer's segment is gone" },
	{ IBV_WC_REM_INV_RD_REQ_ERR, "the peer's segment is gone" },
	{ IBV_WC_REM_OP_ERR, "the peer's device could not do it" },
	{ IBV_WC_REM_INV_REQ_ERR, "the peer's device could not do it" },
	{ IBV_WC_REM_ABORT_ERR, "the peer's device could not do it" },
	{ IBV_WC_LOC_PROT_ERR, "memory of this process was unmapped" },
	{ IBV_WC_LOC_ACCESS_ERR, "memory of this process was unmapped" },
	{ IBV_WC_LOC_QP_OP_ERR, "the port went down, or memory of this process" },
	{ IBV_WC_LOC_LEN_ERR, "memory of this process was unmapped" },
	{ IBV_WC_MW_BIND_ERR, "memory of this process was unmapped" },
	{ IBV_WC_FATAL_ERR, "the device has failed, or was removed" },
	{ IBV_WC_GENERAL_ERR, "the device has failed, or was removed" },
	{ IBV_WC_WR_FLUSH_ERR, "the device has stopped the connection" },
	{ IBV_WC_BAD_RESP_ERR, "not expected" },
	{ IBV_WC_RESP_TIMEOUT_ERR, "not expected" },
};

/* Others are flushed behind it, which adds nothing to the reason. */
START_TEST(status_is_told_with_peer_and_reason)
{
	const enum ibv_wc_status status = statuses[_i].status;

	ranks_start(2);
	device(0)->hold = true;
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(put(8, i + 1), PSI_OK);
	device(0)->fail_status = status;
	device(0)->fail_after = 3;
	device(0)->hold = false;
	mock_run();
	is_lost_after_a_while(1, statuses[_i].reason);
	says(rig_ranks[0].lost_why, ibv_wc_status_str(status));
	says(rig_ranks[0].lost_why, "by port 1 of mock0");
	if (status != IBV_WC_RETRY_EXC_ERR)
		says(rig_ranks[0].lost_why, "vendor's number 0x81");
	ck_assert_uint_eq(rig_ranks[0].lines, 0);
	for (unsigned cookie = 5; cookie <= 10; cookie++)
		ck_assert_uint_eq(rig_done_count(0, cookie), 0);
}
END_TEST

/* A message too, although nobody waits for it. */
START_TEST(lost_message_is_told)
{
	ranks_start(2);
	device(0)->fail_status = IBV_WC_RETRY_EXC_ERR;
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, NULL, 0, 0), PSI_OK);
	is_lost_after_a_while(1, "the peer is gone");
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, NULL, 0, 0), PSI_AGAIN);
}
END_TEST

/* Soft-RoCE repeats a message where it tries again before the answer comes.  Its handler does not
 * run again, and one that was lost is not passed over. */
START_TEST(message_out_of_turn_ends_the_job)
{
	const unsigned before = 5;
	uint32_t *sent;
	unsigned heard;

	ranks_start(2);
	sent = &rig_connection(0, 1)->sent;
	for (unsigned i = 0; i < before; i++)
		ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, NULL, 0, 0), PSI_OK);
	rig_settle();
	heard = rig_ranks[1].heard[PSI_REQUESTS];
	*sent += _i / 2 ? 1u : -1u;
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, here, _i % 2 ? 100 : 0, 0), PSI_OK);
	rig_turn(1);
	rig_turn(1);
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REQUESTS], heard);
	ck_assert_uint_gt(rig_ranks[1].told_lost, 0);
	ck_assert_uint_eq(rig_ranks[1].lost, PSI_NO_PEER);
	says(rig_ranks[1].lost_why, _i / 2 ? "mock0 has lost a message of rank 0"
	                                   : "mock0 has repeated a message of rank 0");
}
END_TEST

/* The number of a message wraps. */
START_TEST(messages_in_their_turn_end_nothing)
{
	enum { MANY = 600 };

	ranks_start(2);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, here, i % 3 ? 0 : 100, 0), PSI_OK);
		rig_settle();
	}
	ck_assert_uint_eq(rig_ranks[1].told_lost, 0);
	ck_assert_uint_ge(rig_ranks[1].heard[PSI_REQUESTS], MANY);
}
END_TEST

/* 4.096 us by 2 to the power of the timeout, for each try. */
START_TEST(retries_say_for_how_long)
{
	static const struct { const char *timeout, *tries, *text; } cases[] = {
		{ NULL, NULL, "for 7.5 s" },
		{ "14", "1", "for 0.1 s" },
		{ "20", "3", "for 17.2 s" },
		{ "18", "7", "for 7.5 s" },     /* 7 would be without end */
	};

	if (cases[_i].timeout) {
		rig_set(PSI_NO_PEER, "GASNET_QP_TIMEOUT", cases[_i].timeout);
		rig_set(PSI_NO_PEER, "GASNET_QP_RETRY_COUNT", cases[_i].tries);
	}
	ranks_start(2);
	device(1)->gone = true;
	ck_assert_int_eq(put(8, 1), PSI_OK);
	is_lost_after_a_while(1, cases[_i].text);
}
END_TEST

/* One peer is gone: traffic with others goes on until the job ends. */
START_TEST(others_go_on)
{
	ranks_start(3);
	device(1)->gone = true;
	ck_assert_int_eq(put(8, 1), PSI_OK);
	rig_turn(0);
	ck_assert(rig_connection(0, 1)->broken);
	for (unsigned i = 0; i < 100; i++) {
		ck_assert_int_ne(put(8, 1000 + i), PSI_FATAL);
		ck_assert_int_eq(rig_send(0, 2, PSI_REQUESTS, 2, NULL, 0, 0), PSI_OK);
		rig_turn(2);
		ck_assert_int_eq(rig_send(2, 0, PSI_REPLIES, 2, NULL, 0, 0), PSI_OK);
		rig_turn(0);
	}
	ck_assert_uint_eq(rig_ranks[2].heard[PSI_REQUESTS], 100);
	ck_assert_uint_eq(rig_ranks[0].heard[PSI_REPLIES], 100);
	ck_assert_int_eq(pibv_ops.drain(rig_as(0)->conduit), PSI_AGAIN);
	rig_turn(0);
	ck_assert_int_eq(pibv_ops.drain(rig_as(0)->conduit), PSI_OK);   /* that of others */
}
END_TEST

/* The first that was lost is named. */
START_TEST(first_loss_is_named)
{
	ranks_start(3);
	device(2)->gone = true;
	ck_assert_int_eq(rig_send(0, 2, PSI_REQUESTS, 2, NULL, 0, 0), PSI_OK);
	rig_turn(0);
	device(1)->gone = true;
	ck_assert_int_eq(put(8, 1), PSI_OK);
	rig_turn(0);
	is_lost_after_a_while(2, "the peer is gone");
}
END_TEST

/* Its memory is not registered any more. */
START_TEST(put_to_a_segment_that_is_gone)
{
	struct psi_registration *registration;
	struct psi_segment_name name;
	static unsigned char segment[4096];

	ranks_start(2);
	ck_assert_int_eq(pibv_ops.segment_bind(rig_as(1)->conduit, segment, sizeof segment, &name,
	                                       &registration), PSI_OK);
	pibv_ops.segment_release(rig_ranks[1].conduit, registration);
	ck_assert_int_eq(rig_put(0, rig_transfer(1, name, 0, here, 8, 1)), PSI_OK);
	is_lost_after_a_while(1, "the peer's segment is gone, or was bound anew");
	ck_assert_uint_eq(rig_done_count(0, 1), 0);
}
END_TEST

/* -- the device refuses ------------------------------------------------------------------------ */

START_TEST(request_that_is_refused)
{
	ranks_start(2);
	device(0)->refuse[MOCK_POST_SEND] = ENOMEM;
	if (_i)
		ck_assert_int_eq(put(8, 1), PSI_OK);    /* it never completes */
	else
		ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, NULL, 0, 0), PSI_AGAIN);
	is_lost_after_a_while(1, "device mock0 takes no work request: Cannot allocate memory");
	ck_assert_uint_eq(rig_done_count(0, 1), 0);
}
END_TEST

/* Peers would try to send for ever. */
START_TEST(receive_buffers_that_are_refused)
{
	ranks_start(2);
	device(0)->refuse[MOCK_POST_SRQ] = _i ? EINVAL : ENOMEM;
	for (unsigned i = 0; i < 100 && !rig_ranks[0].lines; i++) {
		ck_assert_int_eq(rig_send(1, 0, PSI_REQUESTS, 2, NULL, 0, 0), PSI_OK);
		rig_turn(0);
		rig_turn(1);
	}
	is_lost_at_once(_i ? "device mock0 takes no receive buffer: Invalid argument"
	                   : "device mock0 takes no receive buffer: Cannot allocate memory");
}
END_TEST

START_TEST(completions_that_cannot_be_read)
{
	ranks_start(2);
	device(0)->refuse[MOCK_POLL] = EIO;
	rig_turn(0);
	is_lost_at_once("the completion queue of mock0 cannot be read");
}
END_TEST

/* Puts and gets of private memory go by buffers, as far as those reach. */
START_TEST(memory_that_is_not_registered_goes_by_buffers)
{
	static unsigned char back[BYTES];

	ranks_start(2);
	device(0)->refuse[MOCK_MR] = ENOMEM;
	rig_fill(here, 50000, 3);
	ck_assert_int_eq(put(50000, 1), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_done_count(0, 1), 1);
	ck_assert(rig_is_filled(there, 50000, 3));
	ck_assert_int_eq(rig_get(0, rig_transfer(1, name_there, 0, back, 50000, 2)), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_done_count(0, 2), 1);
	ck_assert(rig_is_filled(back, 50000, 3));
	ck_assert_uint_eq(rig_ranks[0].lines, 0);
}
END_TEST

START_TEST(segment_that_cannot_be_registered)
{
	struct psi_registration *registration;
	struct psi_segment_name name;

	ranks_start(2);
	device(0)->refuse[MOCK_MR] = ENOMEM;
	ck_assert_int_eq(pibv_ops.segment_bind(rig_as(0)->conduit, here, 4096, &name,
	                                       &registration), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	says(rig_ranks[0].said, "cannot register 4096 bytes");
	says(rig_ranks[0].said, "ulimit -l");
}
END_TEST

/* -- events ------------------------------------------------------------------------------------ */

static void
polls(void)
{
	for (unsigned i = 0; i < EVENT_POLLS; i++)
		rig_turn(0);
}

static const struct { enum ibv_event_type type; bool fatal; const char *line; } events[] = {
	{ IBV_EVENT_PORT_ERR, false, "port 1 of mock0: port error" },
	{ IBV_EVENT_PORT_ACTIVE, false, "port 1 of mock0: port active" },
	{ IBV_EVENT_DEVICE_FATAL, true, "device mock0: local catastrophic error; the job cannot" },
	{ IBV_EVENT_CQ_ERR, true, "device mock0: CQ error; the job cannot" },
	{ IBV_EVENT_SRQ_ERR, true, "device mock0: SRQ catastrophic error; the job cannot" },
};

START_TEST(event_is_told)
{
	ranks_start(2);
	mock_event(device(0), events[_i].type, 1);
	polls();
	if (events[_i].fatal) {
		is_lost_at_once(events[_i].line);
		return;
	}
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	says(rig_ranks[0].said, events[_i].line);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	ck_assert_int_eq(put(8, 1), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_done_count(0, 1), 1);
}
END_TEST

/* One question in 1,024 polls, whatever else they have to do. */
START_TEST(events_are_asked_for_seldom)
{
	enum { POLLS = 10240 };
	uint64_t before;

	ranks_start(3);
	for (unsigned busy = 0; busy < 2; busy++) {
		before = device(0)->counts.event_reads;
		for (unsigned i = 0; i < POLLS; i++)
			rig_turn(0);
		ck_assert_uint_eq(device(0)->counts.event_reads - before, POLLS / 1024);
		device(0)->hold = true;         /* a backlog, which each poll tries */
		for (unsigned i = 0; i < 200; i++)
			ck_assert_int_eq(put(8, i + 1), PSI_OK);
		ck_assert_ptr_nonnull(rig_connection(0, 1)->first);
	}
}
END_TEST

START_TEST(events_of_others_are_not_told)
{
	ranks_start(2);
	mock_event(device(0), IBV_EVENT_PORT_ERR, 2);
	mock_event(device(0), IBV_EVENT_QP_FATAL, 0);
	mock_event(device(0), IBV_EVENT_GID_CHANGE, 1);
	polls();
	ck_assert_uint_eq(rig_ranks[0].lines, 0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("fail");

	tcase_set_timeout(tests, 40);
	tcase_add_loop_test(tests, status_is_told_with_peer_and_reason, 0,
	                    sizeof statuses / sizeof *statuses);
	tcase_add_test(tests, lost_message_is_told);
	tcase_add_loop_test(tests, message_out_of_turn_ends_the_job, 0, 4);
	tcase_add_test(tests, messages_in_their_turn_end_nothing);
	tcase_add_loop_test(tests, retries_say_for_how_long, 0, 4);
	tcase_add_test(tests, others_go_on);
	tcase_add_test(tests, first_loss_is_named);
	tcase_add_test(tests, put_to_a_segment_that_is_gone);
	tcase_add_loop_test(tests, request_that_is_refused, 0, 2);
	tcase_add_loop_test(tests, receive_buffers_that_are_refused, 0, 2);
	tcase_add_test(tests, completions_that_cannot_be_read);
	tcase_add_test(tests, memory_that_is_not_registered_goes_by_buffers);
	tcase_add_test(tests, segment_that_cannot_be_registered);
	tcase_add_loop_test(tests, event_is_told, 0, sizeof events / sizeof *events);
	tcase_add_test(tests, events_are_asked_for_seldom);
	tcase_add_test(tests, events_of_others_are_not_told);
	return unit_run("ibv fail", tests);
}
