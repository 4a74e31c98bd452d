/*
 * The ibv conduit's send queues: which requests ask for a completion, how many doorbells and
 * completions the usual patterns take, and that cookies complete in their order.
 *
 * The bounds are what perftest's programs do with the same batching: ib_send_lat and ib_write_lat
 * post one request for each message and ask for one completion each; ib_write_bw asks for one in
 * each batch.
 */
#include "tests/unit/ibv_pair.h"
#include "tests/unit/main.h"

#include <string.h>

enum { BYTES = PAIR_BYTES, MANY = PAIR_MANY };

/* -- patterns ---------------------------------------------------------------------------------- */

/* ib_send_lat: to and fro.  The answer pays the credit, so there is no message beside them. */
START_TEST(ping_pong_is_one_send_each)
{
	struct mock_counts before[2], after[2];

	pair_start();
	before[0] = counts_of(0);
	before[1] = counts_of(1);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, NULL, 0, 1), PSI_OK);
		ck_assert_uint_eq(rig_turn(1), 1);
		ck_assert_int_eq(rig_send(1, 0, PSI_REPLIES, 2, NULL, 0, 2), PSI_OK);
		ck_assert_uint_eq(rig_turn(0), 1);
	}
	for (uint32_t host = 0; host < 2; host++) {
		after[host] = counts_of(host);
		ck_assert_uint_eq(after[host].requests - before[host].requests, MANY);
		ck_assert_uint_eq(after[host].chains - before[host].chains, MANY);
		ck_assert_uint_eq(after[host].inlined - before[host].inlined, MANY);
		ck_assert_uint_eq(after[host].polls - before[host].polls, MANY);
		ck_assert_uint_le(after[host].send_completions - before[host].send_completions,
		                  MANY / 32 + 1);
		ck_assert_uint_le(after[host].receive_chains - before[host].receive_chains,
		                  MANY / PIBV_BATCH + 1);
	}
}
END_TEST

/* ib_write_lat: one write, one completion, and nothing beside them. */
START_TEST(put_waited_for_is_one_write_and_one_completion)
{
	struct mock_counts before, after;

	pair_start();
	before = counts_of(0);
	for (unsigned i = 0; i < MANY; i++) {
		struct psi_transfer put = put_of(8, 8, i + 1);

		put.waited = true;
		ck_assert_int_eq(rig_put(0, put), PSI_OK);
		rig_turn(0);
		ck_assert_uint_eq(rig_ranks[0].done_count, i + 1);
	}
	after = counts_of(0);
	ck_assert_uint_eq(after.requests - before.requests, MANY);
	ck_assert_uint_eq(after.chains - before.chains, MANY);
	ck_assert_uint_eq(after.send_completions - before.send_completions, MANY);
	ck_assert_uint_eq(after.polls - before.polls, MANY);
}
END_TEST

/* ib_write_bw: a stream.  A quarter of the queue has one completion. */
START_TEST(stream_of_puts_has_a_completion_for_each_quarter)
{
	struct mock_counts before, after;

	pair_start();
	before = counts_of(0);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_int_eq(rig_put(0, put_of(8, 8, i + 1)), PSI_OK);
		if (i % 32 == 31)
			rig_turn(0);
	}
	rig_settle();
	after = counts_of(0);
	ck_assert_uint_eq(rig_ranks[0].done_count, MANY);
	ck_assert_uint_le(after.requests - before.requests, MANY + MANY / 32 + 1);
	ck_assert_uint_le(after.send_completions - before.send_completions, 2 * MANY / 32 + 2);
	ck_assert_uint_le(after.empty - before.empty, MANY / 32 + 1);
}
END_TEST

/* The runtime polls behind each put, and the device is done with it by then. */
START_TEST(stream_to_a_fast_device_has_no_more)
{
	struct mock_counts before, after;

	pair_start();
	before = counts_of(0);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_int_eq(rig_put(0, put_of(8, 8, i + 1)), PSI_OK);
		rig_turn(0);
	}
	after = counts_of(0);
	ck_assert_uint_eq(after.requests - before.requests, MANY);
	ck_assert_uint_le(after.send_completions - before.send_completions, MANY / 32 + 5);
	rig_turn(0);                    /* a thread that waits polls again */
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].done_count, MANY);
}
END_TEST

/* One doorbell: a write and a message behind it, or a message alone. */
START_TEST(put_with_signal_is_one_chain)
{
	struct psi_signal_operation signal = { .packed = 0x80 };
	struct psi_transfer small = put_of(0, 4096, 0), large = put_of(0, 8192, 0);
	struct mock_counts before, after;

	pair_start();
	small.remote.name = large.remote.name = name_there;
	small.read_now = large.read_now = true;
	before = counts_of(0);
	for (unsigned i = 0; i < MANY; i++) {
		signal.packed = 0x80 | (uint64_t)i << 16;
		ck_assert_int_eq(pibv_ops.put_signal(rig_as(0)->port, &small, &signal), PSI_OK);
		rig_turn(1);
		rig_turn(0);
		ck_assert_uint_eq(rig_ranks[1].signals[rig_ranks[1].signal_count - 1],
		                  signal.packed);
		rig_ranks[1].signal_count = 0;
	}
	after = counts_of(0);
	ck_assert_uint_eq(after.chains - before.chains - (after.empty - before.empty), MANY);
	ck_assert_uint_eq(after.sends - before.sends, MANY);
	ck_assert_uint_eq(after.writes, before.writes);
	before = after;
	for (unsigned i = 0; i < MANY; i++) {
		here[17] = (unsigned char)i;
		ck_assert_int_eq(pibv_ops.put_signal(rig_as(0)->port, &large, &signal), PSI_OK);
		here[17]++;             /* it has been read */
		rig_turn(1);
		ck_assert_uint_eq(there[17], (unsigned char)i);
		ck_assert_uint_eq(rig_ranks[1].signal_count, 1);
		rig_ranks[1].signal_count = 0;
		rig_turn(0);
	}
	after = counts_of(0);
	ck_assert_uint_eq(after.chains - before.chains - (after.empty - before.empty), MANY);
	ck_assert_uint_eq(after.sends - before.sends, MANY);
	ck_assert_uint_eq(after.writes - before.writes, MANY);
	ck_assert_uint_le(after.send_completions - before.send_completions, 2 * MANY / 32 + 1);
}
END_TEST

/* One doorbell too; what waits for the source has the one completion. */
START_TEST(large_long_is_one_chain)
{
	const int32_t args[2] = { 1, 2 };
	struct psi_am am = psi_am_of(1, PSI_LONG, psi_am_tag(PSI_REQUESTS, 9, 2), args);
	struct mock_counts before, after;

	pair_start();
	rig_bind(0, here, sizeof here);
	am.payload = here;
	am.dest = there;
	am.len_bytes = 8192;
	before = counts_of(0);
	for (unsigned i = 0; i < MANY; i++) {
		struct psi_long message = {
			.am = &am, .dest = { .peer = 1, .name = name_there },
		};

		here[17] = (unsigned char)i;
		ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &message), PSI_AGAIN);
		rig_turn(0);
		ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &message), PSI_OK);
		ck_assert_uint_eq(rig_turn(1), 1);
		ck_assert_uint_eq(there[17], (unsigned char)i);
	}
	after = counts_of(0);
	ck_assert_uint_eq(after.chains - before.chains, MANY);
	ck_assert_uint_eq(after.requests - before.requests, 2 * MANY);
	ck_assert_uint_eq(after.writes - before.writes, MANY);
	ck_assert_uint_eq(after.send_completions - before.send_completions, MANY);
}
END_TEST

/* -- the ring ---------------------------------------------------------------------------------- */

/* Puts whose completions come late fill the queue; the rest waits, and all complete in order. */
START_TEST(full_queue_keeps_puts_in_order)
{
	pair_start();
	mock_device_of(0)->late = true;
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(rig_put(0, put_of(i, 1, i + 1)), PSI_OK);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].done_count, 0);
	ck_assert_uint_le(counts_of(0).requests, rig_ranks[0].conduit->depth + 2);
	mock_device_of(0)->late = false;
	mock_run();
	rig_settle();
	ck_assert_uint_eq(rig_ranks[0].done_count, MANY);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_uint_eq(rig_ranks[0].done[i], i + 1);
	ck_assert_ptr_null(rig_connection(0, 1)->first);
}
END_TEST

/* Counts of 32 bits wrap in the midst of it. */
START_TEST(counts_wrap)
{
	struct pibv_connection *connection;

	pair_start();
	rig_settle();
	connection = rig_connection(0, 1);
	pibv_work_flush_all(rig_as(0)->conduit);
	rig_settle();
	ck_assert_uint_eq(connection->posted, connection->retired);
	connection->posted = connection->retired = connection->signaled = connection->wanted =
		connection->worked = connection->read = UINT32_MAX - 5;
	for (unsigned i = 0; i < MANY; i++) {
		here[i] = (unsigned char)(i + 1);
		ck_assert_int_eq(rig_put(0, put_of(i, 1, i + 1)), PSI_OK);
		if (i % 8 == 0)
			rig_turn(0);
	}
	rig_settle();
	ck_assert_uint_lt(connection->posted, 2 * MANY);
	ck_assert_uint_eq(rig_ranks[0].done_count, MANY);
	ck_assert_mem_eq(here, there, MANY);
}
END_TEST

/* The queue of completions has room for all that can come at once. */
START_TEST(completion_queue_does_not_overflow)
{
	static unsigned char payload[256];

	rig_start(4);
	name_there = rig_bind(1, there, sizeof there);
	for (uint32_t from = 0; from < 4; from++)
		for (uint32_t to = 0; to < from; to++)
			rig_meet(from, to);
	for (unsigned i = 0; i < MANY; i++)
		for (uint32_t from = 0; from < 4; from++)
			for (uint32_t to = 0; to < 4; to++)
				if (from != to)
					(void)rig_send(from, to, PSI_REQUESTS, 4, payload, 256, 0);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(rig_put(0, put_of(i, 8, i + 1)), PSI_OK);
	rig_settle();
	for (uint32_t place = 0; place < 4; place++)
		ck_assert_msg(rig_ranks[place].lines == 0, "%s", rig_ranks[place].said);
	ck_assert_uint_eq(rig_ranks[0].done_count, MANY);
}
END_TEST

/* -- read cookies ------------------------------------------------------------------------------ */

/* Of a put that goes inline or by a buffer at once, of another with its completion. */
START_TEST(read_cookie_comes_when_the_source_may_change)
{
	static const size_t lens[] = { 8, 128, 129, 8192, 20000 };

	pair_start();
	rig_bind(0, here, sizeof here);
	for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
		struct psi_transfer put = put_of(0, lens[i], 1);

		put.read_cookie = 2;
		rig_ranks[0].done_count = 0;
		rig_fill(here, lens[i], i);
		mock_device_of(0)->hold = true;
		ck_assert_int_eq(rig_put(0, put), PSI_OK);
		if (rig_ranks[0].done_count) {
			ck_assert_uint_eq(rig_ranks[0].done[0], 2);
			memset(here, 0xee, lens[i]);
		}
		ck_assert_uint_eq(rig_ranks[0].done_count, lens[i] <= 8192);
		mock_device_of(0)->hold = false;
		mock_run();
		rig_settle();
		ck_assert(rig_is_filled(there, lens[i], i));
		ck_assert_uint_eq(rig_done_count(0, 1), 1);
		ck_assert_uint_eq(rig_done_count(0, 2), 1);
	}
}
END_TEST

/* What a get brings is there when its cookie completes, not before. */
START_TEST(get_by_a_buffer_is_copied_at_its_completion)
{
	static unsigned char mine[BYTES];
	static const size_t lens[] = { 8, 4000, 8192, 30000 };

	pair_start();
	for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
		rig_fill(there, lens[i], i + 7);
		memset(mine, 0, sizeof mine);
		rig_ranks[0].done_count = 0;
		ck_assert_int_eq(rig_get(0, rig_transfer(1, name_there, 0, mine, lens[i], 5)),
		                 PSI_OK);
		rig_settle();
		ck_assert_uint_eq(rig_done_count(0, 5), 1);
		ck_assert(rig_is_filled(mine, lens[i], i + 7));
	}
	ck_assert_uint_eq(counts_of(0).registrations, 3);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("work");

	mock_reset(4);
	tcase_set_timeout(tests, 40);
	tcase_add_test(tests, ping_pong_is_one_send_each);
	tcase_add_test(tests, put_waited_for_is_one_write_and_one_completion);
	tcase_add_test(tests, stream_of_puts_has_a_completion_for_each_quarter);
	tcase_add_test(tests, put_with_signal_is_one_chain);
	tcase_add_test(tests, large_long_is_one_chain);
	tcase_add_test(tests, full_queue_keeps_puts_in_order);
	tcase_add_test(tests, counts_wrap);
	tcase_add_test(tests, stream_to_a_fast_device_has_no_more);
	tcase_add_test(tests, completion_queue_does_not_overflow);
	tcase_add_test(tests, read_cookie_comes_when_the_source_may_change);
	tcase_add_test(tests, get_by_a_buffer_is_copied_at_its_completion);
	return unit_run("ibv work", tests);
}
