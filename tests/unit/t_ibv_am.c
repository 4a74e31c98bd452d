/*
 * Messages of the ibv conduit: what is sent arrives, once, whole and where it belongs; credits
 * bound what is on its way; what finds no room waits or is refused, and nothing is lost.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 16, MEDIUM = 8192, CREDITS = PIBV_CREDITS_MOST };

static unsigned char there[BYTES], here[BYTES];
static struct psi_segment_name name_there;
static bool payload_is_good;

static void
pair_start(void)
{
	rig_start(2);
	name_there = rig_bind(1, there, sizeof there);
	rig_meet(0, 1);
}

static struct mock_device *device(uint32_t host) { return mock_device_of(host); }

static unsigned
requests_heard(uint32_t place)
{
	return rig_ranks[place].heard[PSI_REQUESTS];
}

/* As many requests as are taken, without a poll. */
static unsigned
send_all(uint32_t from, uint32_t to, size_t len_bytes, unsigned most)
{
	unsigned sent = 0;

	while (sent < most && rig_send(from, to, PSI_REQUESTS, 1, len_bytes ? here : NULL,
	                               len_bytes, (int32_t)sent) == PSI_OK)
		sent++;
	return sent;
}

/* -- categories -------------------------------------------------------------------------------- */

START_TEST(shorts_of_all_lengths)
{
	pair_start();
	for (unsigned nargs = 0; nargs <= PSI_MAX_ARGS; nargs++)
		for (unsigned network = 0; network < PSI_NETWORKS; network++) {
			const struct rig_rank *rank = &rig_ranks[1];

			ck_assert_int_eq(rig_send(0, 1, network, nargs, NULL, 0, 100), PSI_OK);
			ck_assert_uint_eq(rig_turn(1), 1);
			ck_assert_uint_eq(rank->heard[network], nargs + 1);
			ck_assert_uint_eq(rank->last.source, 0);
			ck_assert_uint_eq(rank->last.handler, 200);
			ck_assert_uint_eq(rank->last.category, PSI_SHORT);
			ck_assert_uint_eq(rank->last.network, network);
			ck_assert_uint_eq(rank->last.nargs, nargs);
			for (unsigned i = 0; i < nargs; i++)
				ck_assert_int_eq(rank->args[i], 100 + (int)i);
			rig_turn(0);
		}
}
END_TEST

static void
medium_check(struct rig_rank *rank, struct psi_port *port, const struct psi_arrival *arrival)
{
	(void)rank, (void)port;
	payload_is_good = arrival->category == PSI_MEDIUM &&
	                  (uintptr_t)arrival->payload % 16 == 0 &&
	                  rig_is_filled(arrival->payload, arrival->len_bytes, arrival->nargs);
	memset(arrival->payload, 0xee, arrival->len_bytes);     /* it is writable */
}

/* Around each limit: inline, a buffer, the largest. */
START_TEST(mediums_of_all_lengths)
{
	static const size_t lens[] = {
		0, 1, 16, 47, 48, 49, 95, 96, 97, 111, 112, 113, 127, 128, 129, 1000,
		4096, 8191, 8192,
	};

	pair_start();
	rig_ranks[1].deliver = medium_check;
	for (size_t i = 0; i < sizeof lens / sizeof *lens; i++)
		for (unsigned nargs = 0; nargs <= PSI_MAX_ARGS; nargs++) {
			rig_fill(here, lens[i], nargs);
			payload_is_good = false;
			ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, nargs, here, lens[i], 5),
			                 PSI_OK);
			memset(here, 0, lens[i]);       /* it has been read */
			ck_assert_uint_eq(rig_turn(1), 1);
			ck_assert(payload_is_good);
			ck_assert_uint_eq(rig_ranks[1].last.len_bytes, lens[i]);
			ck_assert_uint_eq(rig_ranks[1].last.nargs, nargs);
			rig_turn(0);
		}
	rig_buffers_come_back(0, 1);
}
END_TEST

START_TEST(words_of_longs_carry_the_address)
{
	const int32_t args[2] = { 1, 2 };
	struct psi_am am = psi_am_of(1, PSI_LONG, psi_am_tag(PSI_REQUESTS, 9, 2), args);

	pair_start();
	am.dest = (void *)(uintptr_t)0x123456789abcd0;
	am.len_bytes = 77777;
	ck_assert_int_eq(pibv_ops.am_send(rig_as(0)->port, &am), PSI_OK);
	ck_assert_uint_eq(rig_turn(1), 1);
	ck_assert_ptr_eq(rig_ranks[1].last.payload, am.dest);
	ck_assert_uint_eq(rig_ranks[1].last.len_bytes, 77777);
	ck_assert_uint_eq(rig_ranks[1].last.category, PSI_LONG);
	ck_assert_int_eq(rig_ranks[1].args[1], 2);
}
END_TEST

/* -- ports and networks ------------------------------------------------------------------------ */

START_TEST(each_port_gets_its_own)
{
	struct psi_port *ports[2];
	unsigned delivered;
	struct psi_am am = psi_am_of(3, PSI_SHORT, psi_am_tag(PSI_REQUESTS, 9, 0), NULL);

	pair_start();
	ports[0] = rig_ranks[1].port;
	ports[1] = rig_port(1, 1);
	rig_port(0, 1);
	for (unsigned i = 0; i < 20; i++) {
		am.peer = i % 2 ? 3 : 1;
		ck_assert_int_eq(pibv_ops.am_send(rig_as(0)->port, &am), PSI_OK);
	}
	rig_as(1);
	delivered = pibv_ops.poll(ports[1], PSI_BOTH_NETWORKS, 64);
	delivered += pibv_ops.poll(ports[1], PSI_BOTH_NETWORKS, 64);    /* another batch */
	ck_assert_uint_eq(delivered, 10);
	ck_assert_ptr_eq(rig_ranks[1].last_port, ports[1]);
	ck_assert_uint_gt(rig_ranks[1].looks_again, 0);
	ck_assert_int_eq(pibv_ops.arm(ports[0], PSI_BOTH_NETWORKS, PSI_NO_PEER, NULL), PSI_AGAIN);
	ck_assert_int_eq(pibv_ops.arm(ports[1], PSI_BOTH_NETWORKS, PSI_NO_PEER, NULL), PSI_OK);
	ck_assert_uint_eq(pibv_ops.poll(ports[0], PSI_BOTH_NETWORKS, 64), 10);
	ck_assert_ptr_eq(rig_ranks[1].last_port, ports[0]);
	/* from the second endpoint, to it */
	am.peer = 3;
	ck_assert_int_eq(pibv_ops.am_send(rig_as(0)->owners[1].port, &am), PSI_OK);
	rig_as(1);
	ck_assert_uint_eq(pibv_ops.poll(ports[1], PSI_BOTH_NETWORKS, 64), 1);
	ck_assert_uint_eq(rig_ranks[1].last.source, 2);
}
END_TEST

/* Polls for replies alone deliver no request, of any category. */
START_TEST(networks_that_are_not_polled_wait)
{
	struct rig_rank *rank = &rig_ranks[1];

	pair_start();
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, NULL, 0, 1), PSI_OK);
	ck_assert_int_eq(rig_send(0, 1, PSI_REPLIES, 2, NULL, 0, 1), PSI_OK);
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, here, 300, 1), PSI_OK);
	ck_assert_int_eq(rig_send(0, 1, PSI_REPLIES, 2, here, 300, 1), PSI_OK);
	rig_as(1);
	ck_assert_uint_eq(pibv_ops.poll(rank->port, 1 << PSI_REPLIES, 64), 2);
	ck_assert_uint_eq(rank->heard[PSI_REQUESTS], 0);
	ck_assert_uint_eq(pibv_ops.poll(rank->port, 1 << PSI_REQUESTS, 64), 2);
	ck_assert_uint_eq(rank->heard[PSI_REPLIES], 2);
}
END_TEST

START_TEST(budget_is_kept_and_nothing_is_lost)
{
	pair_start();
	ck_assert_uint_eq(send_all(0, 1, 0, 10), 10);
	for (unsigned i = 0; i < 10; i++) {
		rig_as(1);
		ck_assert_uint_eq(pibv_ops.poll(rig_ranks[1].port, PSI_BOTH_NETWORKS, 1), 1);
		ck_assert_int_eq(rig_ranks[1].args[0], (int)i);
	}
	ck_assert_uint_eq(rig_turn(1), 0);
}
END_TEST

/* -- credits ----------------------------------------------------------------------------------- */

/* So many to a place that does not poll; each handler that starts gives one back. */
START_TEST(credits_bound_what_is_on_its_way)
{
	pair_start();
	ck_assert_uint_eq(send_all(0, 1, 0, 1000), CREDITS);
	ck_assert_uint_eq(rig_ranks[0].count[PSI_COUNT_REFUSED], 1);
	ck_assert_int_eq(rig_send(0, 1, PSI_REPLIES, 0, NULL, 0, 0), PSI_OK);   /* needs none */
	rig_settle();
	ck_assert_uint_eq(requests_heard(1), CREDITS);
	ck_assert_uint_gt(rig_ranks[0].looks_again, 0);
	ck_assert_uint_eq(send_all(0, 1, 0, 1000), CREDITS);
}
END_TEST

/* Threads that wait for room are told of the credit that ends the lack, and of no other. */
START_TEST(credit_after_lack_is_told)
{
	struct rig_rank *rank = &rig_ranks[0];
	unsigned told;

	pair_start();
	ck_assert_uint_eq(send_all(0, 1, 0, CREDITS), CREDITS);
	rig_turn(0);
	rig_turn(0);
	told = rank->looks_again;
	ck_assert_uint_eq(rig_turn(1), PIBV_BATCH);     /* pays for them */
	rig_turn(0);
	ck_assert_uint_eq(rank->looks_again, told + 1);
	rig_turn(1);
	rig_turn(0);
	ck_assert_uint_eq(rank->looks_again, told + 1);
}
END_TEST

/* Its answers pay; a message of its own only where there are none. */
START_TEST(answers_pay_credits)
{
	struct mock_counts before;

	pair_start();
	for (unsigned i = 0; i < 10 * CREDITS; i++) {
		before = device(1)->counts;
		ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 0, NULL, 0, 0), PSI_OK);
		rig_turn(1);
		if (i % 2)
			ck_assert_int_eq(rig_send(1, 0, PSI_REPLIES, 0, NULL, 0, 0), PSI_OK);
		rig_turn(0);
		ck_assert_uint_eq(device(1)->counts.sends - before.sends, i % 2);
	}
}
END_TEST

/* One message of its own for half of the credits. */
START_TEST(silent_receiver_pays_half_at_once)
{
	struct mock_counts before;

	pair_start();
	before = device(1)->counts;
	for (unsigned i = 0; i < 100 * CREDITS; i++) {
		ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 0, NULL, 0, 0), PSI_OK);
		rig_turn(1);
		rig_turn(0);
	}
	ck_assert_uint_eq(device(1)->counts.sends - before.sends, 100 * 2);
}
END_TEST

/* -- waiting for room -------------------------------------------------------------------------- */

static int32_t expected;

static void
in_order(struct rig_rank *rank, struct psi_port *port, const struct psi_arrival *arrival)
{
	(void)rank, (void)port;
	ck_assert_int_eq(arrival->args[0], expected);
	expected++;
}

/* Replies never fail for lack of room in the queue, and nothing overtakes those that wait. */
START_TEST(replies_wait_in_the_backlog)
{
	const unsigned depth = PIBV_DEPTH;
	unsigned sent = 0;

	pair_start();
	device(0)->late = true;
	while (rig_send(0, 1, PSI_REPLIES, 1, NULL, 0, (int32_t)sent) == PSI_OK)
		sent++;
	ck_assert_uint_ge(sent, depth - 4 + CREDITS);
	ck_assert_uint_le(sent, depth + CREDITS);
	device(0)->late = false;
	mock_run();
	rig_ranks[1].deliver = in_order;
	for (unsigned i = 0; i < 2; i++)        /* reads what has completed */
		pibv_progress_alone(rig_as(0)->conduit);
	device(0)->late = true;
	while (rig_connection(0, 1)->first == NULL)
		ck_assert_int_eq(rig_send(0, 1, PSI_REPLIES, 1, NULL, 0, (int32_t)sent++), PSI_OK);
	device(0)->late = false;
	mock_run();
	for (unsigned i = 0; i < 100; i++) {
		if (i < 20 && rig_send(0, 1, PSI_REPLIES, 1, NULL, 0, (int32_t)sent) == PSI_OK)
			sent++;
		rig_turn(0);
		rig_turn(1);
	}
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REPLIES], sent);
	ck_assert_int_eq(expected, (int)sent);
	ck_assert_uint_eq(rig_connection(0, 1)->replies, 0);
}
END_TEST

/* With few buffers, large messages take turns; who is refused gets one later. */
START_TEST(buffers_that_lack_come_back)
{
	unsigned sent;

	rig_set(PSI_NO_PEER, "GASNET_BBUF_COUNT", "16");
	pair_start();
	device(0)->late = true;
	sent = send_all(0, 1, MEDIUM, 100);
	ck_assert_uint_eq(sent, 8);             /* half; the others are for other peers */
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 0, NULL, 0, 0), PSI_OK);  /* is inline */
	device(0)->late = false;
	mock_run();
	rig_settle();
	ck_assert_uint_eq(rig_ranks[0].conduit->buffers.taken, 0);
	ck_assert_uint_eq(send_all(0, 1, MEDIUM, 1), 1);
	rig_settle();
	ck_assert_uint_eq(requests_heard(1), sent + 2);
}
END_TEST

/* Three send to one that does not poll and has few receive buffers: devices wait. */
START_TEST(empty_receive_queue_loses_nothing)
{
	unsigned sent = 0;

	rig_set(PSI_NO_PEER, "GASNET_RBUF_COUNT", "32");
	rig_start(4);
	for (uint32_t from = 1; from < 4; from++)
		rig_meet(from, 0);
	for (uint32_t from = 1; from < 4; from++)
		sent += send_all(from, 0, 1000, 1000);
	ck_assert_uint_eq(sent, 3 * CREDITS);
	ck_assert_uint_gt(mock.waiting, 0);
	rig_settle();
	ck_assert_uint_eq(mock.waiting, 0);
	ck_assert_uint_eq(requests_heard(0), sent);
	ck_assert_uint_eq(rig_ranks[0].conduit->receives.posted +
	                  rig_ranks[0].conduit->receives.free_count, 32);
}
END_TEST

/* A handler that keeps its buffer for long leaves some to the device. */
static void
poll_within(struct rig_rank *rank, struct psi_port *port, const struct psi_arrival *arrival)
{
	(void)arrival;
	ck_assert_uint_gt(rank->conduit->receives.posted, 0);
	pibv_ops.poll(port, 1 << PSI_REPLIES, 64);
}

START_TEST(handlers_that_poll_leave_buffers)
{
	unsigned sent = 0;

	rig_set(PSI_NO_PEER, "GASNET_RBUF_COUNT", "32");
	rig_start(3);
	for (uint32_t from = 1; from < 3; from++)
		rig_meet(from, 0);
	rig_ranks[0].deliver = poll_within;
	for (unsigned round = 0; round < 20; round++) {
		for (uint32_t from = 1; from < 3; from++)
			sent += send_all(from, 0, 500, 20);
		rig_settle();
	}
	ck_assert_uint_eq(requests_heard(0), sent);
	ck_assert_uint_ge(sent, 400);
}
END_TEST

/* -- unsound messages -------------------------------------------------------------------------- */

static void
raw_send(struct pibv_header header, uint32_t len_bytes)
{
	struct psi_conduit *conduit = rig_as(0)->conduit;
	char bytes[PIBV_INLINE_BYTES] = { 0 };
	struct ibv_sge sge = { .addr = (uintptr_t)bytes, .length = len_bytes };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	};

	memcpy(bytes, &header, sizeof header);
	ck_assert(pibv_work_post_plain(conduit, rig_connection(0, 1), &wr));
	rig_settle();
}

START_TEST(unsound_messages_are_dropped_and_counted)
{
	unsigned count = 0;

	pair_start();
#define BAD(bytes, ...) \
	do { \
		raw_send((struct pibv_header){ __VA_ARGS__ }, bytes); \
		ck_assert_uint_eq(rig_ranks[1].count[PSI_COUNT_DROPPED], ++count); \
		ck_assert_uint_eq(requests_heard(1), 0); \
	} while (0)
	BAD(15, .nargs = 0);
	BAD(17, .nargs = 0);
	BAD(20, .nargs = 2);
	BAD(84, .nargs = 17);
	BAD(16, .network = 2);
	BAD(16, .network = 32);
	BAD(16, .category = 5);
	BAD(16, .category = PSI_LONG);
	BAD(16, .to = 1);
	BAD(16, .to = PSI_PORTS_MOST);
	BAD(16, .to = UINT16_MAX);
	BAD(16, .source = 2 * PSI_PORTS_MOST);
	BAD(16, .source = UINT32_MAX);
	BAD(16, .category = PSI_MEDIUM, .len_bytes = 1);
	BAD(24, .category = PSI_MEDIUM, .len_bytes = UINT32_MAX);
	BAD(16, .category = PIBV_SIGNAL);
#undef BAD
	raw_send((struct pibv_header){ .nargs = 2,
	                               .number = (uint8_t)rig_connection(0, 1)->sent }, 24);
	ck_assert_uint_eq(requests_heard(1), 1);
	ck_assert_uint_eq(rig_ranks[1].conduit->receives.posted +
	                  rig_ranks[1].conduit->receives.free_count, PIBV_RECEIVES);
}
END_TEST

/* -- the end ----------------------------------------------------------------------------------- */

/* Drained is what has completed, the backlog included. */
START_TEST(drain_waits_for_all)
{
	pair_start();
	device(0)->late = true;
	for (unsigned i = 0; i < 500; i++)
		ck_assert_int_eq(rig_put(0, rig_transfer(1, name_there, i, here + i, 1, i + 1)),
		                 PSI_OK);
	ck_assert_int_eq(pibv_ops.drain(rig_as(0)->conduit), PSI_AGAIN);
	ck_assert_int_eq(pibv_ops.drain(rig_as(0)->conduit), PSI_AGAIN);
	device(0)->late = false;
	mock_run();
	for (unsigned i = 0; i < 20 && pibv_ops.drain(rig_as(0)->conduit) == PSI_AGAIN; i++)
		rig_turn(1);
	ck_assert_int_eq(pibv_ops.drain(rig_as(0)->conduit), PSI_OK);
	ck_assert_uint_eq(device(0)->counts.writes, 500);
}
END_TEST

/* What came before the queue was armed is found; what comes later makes the descriptor readable. */
START_TEST(sleeper_is_woken)
{
	uint64_t most_ns;
	int fd;
	char byte;

	pair_start();
	rig_settle();
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 0, NULL, 0, 0), PSI_OK);
	ck_assert_int_eq(pibv_ops.wait_on(rig_as(1)->conduit, &fd, &most_ns), PSI_AGAIN);
	ck_assert_uint_eq(rig_turn(1), 1);
	ck_assert_int_eq(pibv_ops.wait_on(rig_as(1)->conduit, &fd, &most_ns), PSI_OK);
	ck_assert_int_eq(read(fd, &byte, 1), -1);
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 0, NULL, 0, 0), PSI_OK);
	ck_assert_int_eq(read(fd, &byte, 1), 1);
	ck_assert_uint_eq(rig_turn(1), 1);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("am");

	tcase_set_timeout(tests, 40);
	tcase_add_test(tests, shorts_of_all_lengths);
	tcase_add_test(tests, mediums_of_all_lengths);
	tcase_add_test(tests, words_of_longs_carry_the_address);
	tcase_add_test(tests, each_port_gets_its_own);
	tcase_add_test(tests, networks_that_are_not_polled_wait);
	tcase_add_test(tests, budget_is_kept_and_nothing_is_lost);
	tcase_add_test(tests, credits_bound_what_is_on_its_way);
	tcase_add_test(tests, credit_after_lack_is_told);
	tcase_add_test(tests, answers_pay_credits);
	tcase_add_test(tests, silent_receiver_pays_half_at_once);
	tcase_add_test(tests, replies_wait_in_the_backlog);
	tcase_add_test(tests, buffers_that_lack_come_back);
	tcase_add_test(tests, empty_receive_queue_loses_nothing);
	tcase_add_test(tests, handlers_that_poll_leave_buffers);
	tcase_add_test(tests, unsound_messages_are_dropped_and_counted);
	tcase_add_test(tests, drain_waits_for_all);
	tcase_add_test(tests, sleeper_is_woken);
	return unit_run("ibv am", tests);
}
