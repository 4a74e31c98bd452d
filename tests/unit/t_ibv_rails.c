/*
 * Rails of the ibv conduit: large puts and gets go by several ports, and where a port beyond the
 * first fails, or stands still, by the others.
 */
#include "tests/unit/ibv_rma_rig.h"
#include "tests/unit/main.h"

#include "runtime/util/bounds.h"

#include <errno.h>
#include <string.h>

enum { RAILS = 2 };

/* -- sharing ----------------------------------------------------------------------------------- */

/* Two ports of one device, or two devices; the fabric is there. */
static void
rails_go(bool two_devices)
{
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

static void
rails_start(bool two_devices)
{
	mock_reset(2);
	rails_go(two_devices);
}

/* The second rail's port. */
static struct mock_port *
second(uint32_t host, bool two_devices)
{
	return &rma_device(host, two_devices)->ports[two_devices ? 0 : 1];
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

/* Two, three and four rails, and transfers of few pages: each byte goes once, and no other. */
START_TEST(small_transfers_are_shared_too)
{
	static const char *const rails[] = { "2", "3", "4" };
	const unsigned count = (unsigned)_i + 2;

	mock_reset(2);
	for (uint32_t host = 0; host < 2; host++) {
		rma_device(host, 1)->present = true;
		for (unsigned i = 0; i < MOCK_DEVICES; i++)
			rma_device(host, i)->limits.phys_port_cnt = 2;
	}
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", rails[_i]);
	rig_set(PSI_NO_PEER, "PST_IBV_STRIPE", "8192");
	rma_start();
	ck_assert_uint_eq(rig_connection(0, 1)->rail_count, count);
	for (size_t len_bytes = 8192; len_bytes < 66000; len_bytes += 1021) {
		const uint64_t before = rma_writes(0, 0) + rma_writes(0, 1);
		uint64_t writes;

		rma_there_and_back(5, len_bytes, (uint32_t)len_bytes);
		writes = rma_writes(0, 0) + rma_writes(0, 1) - before;
		if (len_bytes <= 8192)
			ck_assert_uint_eq(writes, 1);
		else
			ck_assert_uint_eq(writes, psi_least(len_bytes / 4096, count));
	}
	rig_no_lines();
}
END_TEST

/* Pieces of 16 MiB at most, or of the port's largest message, each with a completion: so a rail
 * that is slow is told from one that stands still. */
START_TEST(large_stripes_go_in_pieces)
{
	enum { BYTES = 40 << 20, MESSAGE = 1 << 23 };
	static unsigned char there[BYTES], here[BYTES];
	const bool small_messages = _i & 1, is_get = _i & 2;
	unsigned char *from = is_get ? there : here, *to = is_get ? here : there;
	const unsigned pieces = small_messages ? 6 : 4;
	struct mock_counts before;
	struct psi_transfer all;

	mock_reset(2);
	if (small_messages)
		rma_device(0, 0)->ports[0].attr.max_msg_sz = MESSAGE;
	rails_go(false);
	all = rig_transfer(1, rig_bind(1, there, BYTES), 0, here, BYTES, 5);
	rig_fill(from, BYTES, 3);
	memset(to, 0, BYTES);
	before = rma_device(0, 0)->counts;
	ck_assert_int_eq(is_get ? rig_get(0, all) : rig_put(0, all), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_done_count(0, 5), 1);
	ck_assert(rig_is_filled(to, BYTES, 3));
	ck_assert_uint_eq(rma_device(0, 0)->counts.requests - before.requests, pieces);
	ck_assert_uint_eq(rma_device(0, 0)->counts.send_completions - before.send_completions,
	                  pieces);
}
END_TEST

/* What a rail that fails had goes by the first: before and after it has had work. */
START_TEST(rail_that_fails_is_used_no_more)
{
	const bool two_devices = _i & 1;

	rails_start(two_devices);
	if (_i & 2)
		rma_there_and_back(0, RMA_BYTES, 1);
	second(_i & 4 ? 1 : 0, two_devices)->cut = true;
	rma_there_and_back(11, 800000, 2);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "a rail to rank 1 (here) is used no more"), "%s",
	              rig_ranks[0].said);
	ck_assert_msg(strstr(rig_ranks[0].said, two_devices ? "port 1 of mock1" : "port 2 of mock0")
	              != NULL, "%s", rig_ranks[0].said);
	rma_there_and_back(0, RMA_BYTES, 3);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	ck_assert_ptr_null(rig_ranks[0].conduit->striped);
	ck_assert_uint_eq(rma_registrations(), 3);
	ck_assert_uint_eq(rig_ranks[0].conduit->signals, 0);
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
	ck_assert_uint_eq(rig_ranks[0].conduit->signals, 0);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
}
END_TEST

/* The rail fails when some stripes have ended and others are under way. */
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
			second(0, _i)->cut = true;
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

/* -- a rail that stands still ------------------------------------------------------------------ */

/* Twice as long as the device tries, and a second. */
static uint64_t
limit_ns(void)
{
	return (uint64_t)((2 * pibv_tried_s(rig_ranks[0].conduit) + 1) * 1e9);
}

/* So many polls that rails are looked at, and what ended before is read. */
static void
look(void)
{
	for (unsigned i = 0; i < 3 * 1024; i++)
		rig_turn(0);
}

/* Puts or gets all bytes. */
static void
begin(bool is_get, uint64_t cookie)
{
	const struct psi_transfer all =
		rig_transfer(1, rma_name, 0, rma_here, sizeof rma_here, cookie);

	ck_assert_int_eq(is_get ? rig_get(0, all) : rig_put(0, all), PSI_OK);
}

static void
rail_is_used(bool used)
{
	ck_assert_msg(rig_ranks[0].lines == !used, "%s", rig_ranks[0].said);
	ck_assert_uint_eq(rig_ranks[0].told_lost, 0);
	ck_assert(rig_connection(0, 1)->rails[1]->broken == !used);
}

/* Requests that are flushed write nothing, nor complete a transfer again. */
static void
stopped_rail_does_nothing(bool two_devices, const unsigned char *filled)
{
	unsigned char *other = filled == rma_there ? rma_here : rma_there;

	memset(other, 0xee, RMA_BYTES);
	second(0, two_devices)->still = false;
	rma_device(0, 1)->late = false;
	mock_run();
	rig_settle();
	look();
	ck_assert(rig_is_filled(filled, RMA_BYTES, 7));
	ck_assert_uint_eq(rig_ranks[0].done_count, 1);
	rail_is_used(false);
}

/* Its stripe goes by the first: before and after it has had work. */
START_TEST(rail_that_stands_still_is_used_no_more)
{
	const bool two_devices = _i & 1, is_get = _i & 2;
	unsigned char *from = is_get ? rma_there : rma_here, *to = is_get ? rma_here : rma_there;

	rails_start(two_devices);
	if (_i & 4)
		rma_there_and_back(0, RMA_BYTES, 1);
	rig_ranks[0].done_count = 0;
	rig_fill(from, RMA_BYTES, 7);
	memset(to, 0, RMA_BYTES);
	second(0, two_devices)->still = true;
	begin(is_get, 5);
	look();
	rig_pass_ns(limit_ns() - 1000);
	look();
	rail_is_used(true);
	ck_assert_uint_eq(rig_ranks[0].done_count, 0);
	rig_pass_ns(2000);
	look();
	rail_is_used(false);
	ck_assert_msg(strstr(rig_ranks[0].said, "a rail to rank 1 (here) is used no more: nothing "
	                                         "ends there") != NULL, "%s", rig_ranks[0].said);
	ck_assert_uint_eq(rig_done_count(0, 5), 1);
	ck_assert(rig_is_filled(to, RMA_BYTES, 7));
	stopped_rail_does_nothing(two_devices, to);
	ck_assert_ptr_null(rig_ranks[0].conduit->striped);
	ck_assert_uint_eq(rma_registrations(), 3);
	rma_there_and_back(0, RMA_BYTES, 3);
	rail_is_used(false);
}
END_TEST

/* The bytes are there, and their completion comes when the stripe has gone by the first. */
START_TEST(rail_that_tells_too_late_changes_nothing)
{
	rails_start(true);
	rig_fill(rma_here, RMA_BYTES, 7);
	rma_device(0, 1)->late = true;
	begin(false, 5);
	look();
	rig_pass_ns(limit_ns());
	look();
	rail_is_used(false);
	ck_assert_uint_eq(rig_done_count(0, 5), 1);
	stopped_rail_does_nothing(true, rma_there);
}
END_TEST

/* All stripes that it has, and those that wait for room there. */
START_TEST(rail_stands_still_with_much_under_way)
{
	enum { PUTS = 200 };

	rails_start(_i);
	rig_bind(0, rma_here, sizeof rma_here);
	rig_fill(rma_here, RMA_BYTES, 7);
	second(0, _i)->still = true;
	for (unsigned i = 0; i < PUTS; i++) {
		const uint64_t at = i * 4096;

		ck_assert_int_eq(rig_put(0, rig_transfer(1, rma_name, at, rma_here + at, 150000,
		                                         i + 1)), PSI_OK);
		rig_turn(0);
	}
	look();
	ck_assert_uint_eq(rig_ranks[0].done_count, 0);
	rig_pass_ns(limit_ns());
	look();
	rail_is_used(false);
	for (unsigned i = 0; i < PUTS; i++)
		ck_assert_uint_eq(rig_done_count(0, i + 1), 1);
	ck_assert_uint_eq(rig_ranks[0].done_count, PUTS);
	ck_assert(rig_is_filled(rma_there, (PUTS - 1) * 4096 + 150000, 7));
	ck_assert_ptr_null(rig_ranks[0].conduit->striped);
}
END_TEST

/* Who sleeps polls seldom, and looks before each sleep. */
START_TEST(sleeper_finds_a_rail_that_stands_still)
{
	uint64_t most_ns;
	int fd;

	rails_start(_i);
	second(0, _i)->still = true;
	begin(false, 5);
	for (unsigned ms = 0; ms < 30000 && !rig_ranks[0].done_count; ms++) {
		if (pibv_ops.wait_on(rig_as(0)->conduit, &fd, &most_ns) == PSI_OK)
			ck_assert_uint_le(most_ns, 1000000);
		rig_pass_ns(1000000);
		rig_turn(0);
	}
	rail_is_used(false);
	ck_assert_uint_eq(rig_ranks[0].done_count, 1);
}
END_TEST

/* A stripe of many pieces, which end one at a time: together they take longer than the limit. */
START_TEST(slow_rail_is_not_taken_for_one_that_stands_still)
{
	enum { ENDED = 5 };

	rails_start(_i);
	rig_ranks[0].conduit->stripe_piece_bytes = 4096;
	rig_fill(rma_here, RMA_BYTES, 7);
	second(0, _i)->still = true;
	begin(false, 5);
	for (unsigned i = 0; i < ENDED; i++) {
		look();
		rail_is_used(true);
		rig_pass_ns(limit_ns() - 1000);
		look();
		rail_is_used(true);
		second(0, _i)->still_after = 1;
		mock_run();
	}
	ck_assert_uint_eq(rig_ranks[0].done_count, 0);
	look();
	rig_pass_ns(limit_ns());        /* and now it does stand still */
	look();
	rail_is_used(false);
	ck_assert_uint_eq(rig_done_count(0, 5), 1);
	ck_assert(rig_is_filled(rma_there, RMA_BYTES, 7));
}
END_TEST

/* Before its first stripe and after it, and while the first rail alone is slow. */
START_TEST(idle_rail_is_not_taken_for_one_that_stands_still)
{
	struct mock_port *first;

	rails_start(_i);
	first = &rma_device(0, 0)->ports[0];
	for (unsigned i = 0; i < 3; i++) {
		rig_pass_ns(3 * limit_ns());
		look();
		rma_there_and_back(0, 60000, 1);
		rig_pass_ns(3 * limit_ns());
		look();
		rma_there_and_back(0, RMA_BYTES, 2);
	}
	rig_ranks[0].done_count = 0;
	first->still = true;
	begin(false, 5);
	look();
	rig_pass_ns(3 * limit_ns());
	look();
	rail_is_used(true);
	ck_assert_uint_eq(rig_ranks[0].done_count, 0);
	first->still = false;
	mock_run();
	look();
	rail_is_used(true);
	ck_assert_uint_eq(rig_done_count(0, 5), 1);
}
END_TEST

/* What ended while the process made no calls waits to be read.  Its next poll is the one, of so
 * many, that looks at rails. */
START_TEST(process_that_makes_no_calls_breaks_no_rail)
{
	const bool sleeps = _i & 2;
	uint64_t most_ns;
	int fd;

	rails_start(_i & 1);
	rig_fill(rma_here, RMA_BYTES, 7);
	for (unsigned i = 0; i < 2; i++) {
		begin(false, i + 1);
		rig_pass_ns(3 * limit_ns());
		rig_ranks[0].conduit->polls = 2 * 1024 - 1;
		if (sleeps)
			(void)pibv_ops.wait_on(rig_as(0)->conduit, &fd, &most_ns);
		look();
		rail_is_used(true);
		ck_assert_uint_eq(rig_ranks[0].done_count, i + 1);
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("rails");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, large_transfers_are_shared_by_rails, 0, 2);
	tcase_add_loop_test(tests, small_transfers_are_shared_too, 0, 3);
	tcase_add_loop_test(tests, large_stripes_go_in_pieces, 0, 4);
	tcase_add_loop_test(tests, rail_that_fails_is_used_no_more, 0, 8);
	tcase_add_test(tests, rail_that_refuses_is_used_no_more);
	tcase_add_loop_test(tests, rail_fails_with_much_under_way, 0, 2);
	tcase_add_test(tests, ranks_with_different_rails);
	tcase_add_loop_test(tests, first_rail_is_the_connection, 0, 2);
	tcase_add_loop_test(tests, rail_that_stands_still_is_used_no_more, 0, 8);
	tcase_add_test(tests, rail_that_tells_too_late_changes_nothing);
	tcase_add_loop_test(tests, rail_stands_still_with_much_under_way, 0, 2);
	tcase_add_loop_test(tests, sleeper_finds_a_rail_that_stands_still, 0, 2);
	tcase_add_loop_test(tests, slow_rail_is_not_taken_for_one_that_stands_still, 0, 2);
	tcase_add_loop_test(tests, idle_rail_is_not_taken_for_one_that_stands_still, 0, 2);
	tcase_add_loop_test(tests, process_that_makes_no_calls_breaks_no_rail, 0, 4);
	return unit_run("ibv rails", tests);
}
