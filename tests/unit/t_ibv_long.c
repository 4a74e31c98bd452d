/*
 * Bytes and a message behind them in the ibv conduit: Longs, and puts with signal.  They arrive
 * before what tells of them; what finds no room has not begun; the source is read when the sender
 * is told so.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <string.h>

enum { BYTES = 1 << 16, MEDIUM = 8192 };

static unsigned char there[BYTES], here[BYTES];
static struct psi_segment_name name_there;
static bool payload_is_good;

static struct mock_device *device(uint32_t host) { return mock_device_of(host); }

static void
pair_start(void)
{
	rig_start(2);
	name_there = rig_bind(1, there, sizeof there);
	rig_meet(0, 1);
}

/* A device whose messages are small: large transfers are several pieces. */
static void
pair_start_with_pieces(uint32_t piece_bytes)
{
	mock_reset(2);
	device(0)->ports[0].attr.max_msg_sz = piece_bytes;
	pair_start();
}

/* -- Longs ------------------------------------------------------------------------------------- */

static size_t long_bytes;
static unsigned long_seed;

static void
long_check(struct rig_rank *rank, struct psi_port *port, const struct psi_arrival *arrival)
{
	(void)rank, (void)port;
	payload_is_good = arrival->category == PSI_LONG && arrival->payload == there + 64 &&
	                  arrival->len_bytes == long_bytes &&
	                  rig_is_filled(arrival->payload, long_bytes, long_seed);
}

/* Calls until it is done, with polls of the sender between; how many calls. */
static unsigned
long_send(unsigned network)
{
	const int32_t args[3] = { 1, 2, 3 };
	struct psi_am am = psi_am_of(1, PSI_LONG, psi_am_tag(network, 9, 3), args);
	struct psi_long message = {
		.am = &am, .dest = { .peer = 1, .name = name_there, .offset = 64 },
	};
	unsigned calls = 1;

	am.payload = here;
	am.len_bytes = long_bytes;
	am.dest = there + 64;
	rig_fill(here, long_bytes, long_seed);
	payload_is_good = false;
	while (pibv_ops.am_long(rig_as(0)->port, &message) == PSI_AGAIN) {
		ck_assert_uint_lt(++calls, 10);
		rig_turn(0);
	}
	memset(here, 0xee, long_bytes);
	return calls;
}

/* Small ones in their message, large ones by a write before it; both from private memory. */
START_TEST(longs_of_all_lengths)
{
	static const size_t lens[] = { 1, 63, 64, 80, 4096, 4097, 8192, 60000 };

	pair_start();
	rig_ranks[1].deliver = long_check;
	for (size_t i = 0; i < 2 * sizeof lens / sizeof *lens; i++) {
		const struct mock_counts before = device(0)->counts;
		unsigned calls;

		long_bytes = lens[i / 2];
		long_seed = (unsigned)i;
		calls = long_send(i % 2 ? PSI_REPLIES : PSI_REQUESTS);
		ck_assert_uint_eq(calls > 1, long_bytes > PIBV_PACKED_BYTES);
		ck_assert_uint_eq(device(0)->counts.writes - before.writes,
		                  long_bytes > PIBV_PACKED_BYTES);
		ck_assert_uint_eq(device(0)->counts.sends - before.sends, 1);
		ck_assert_uint_eq(device(0)->counts.chains - before.chains -
		                  (device(0)->counts.empty - before.empty), 1);
		ck_assert_uint_eq(rig_turn(1), 1);
		ck_assert(payload_is_good);
		ck_assert_int_eq(rig_ranks[1].args[2], 3);
	}
	rig_settle();
	ck_assert_uint_eq(device(0)->counts.registrations, 3);
}
END_TEST

/* The last piece goes inline; the others are still read then. */
START_TEST(longs_in_pieces)
{
	static const size_t lens[] = { 10001, 10128, 10129, 30000, 40001 };

	pair_start_with_pieces(10000);
	rig_ranks[1].deliver = long_check;
	for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
		long_bytes = lens[i];
		long_seed = i;
		ck_assert_uint_gt(long_send(PSI_REQUESTS), 1);
		ck_assert_uint_eq(rig_turn(1), 1);
		ck_assert(payload_is_good);
	}
	rig_settle();
	ck_assert_uint_eq(device(0)->counts.registrations, 3);
}
END_TEST

/* One whose message goes by a buffer, and finds none, or that has no credit, has not begun. */
START_TEST(longs_without_room_have_not_begun)
{
	const bool lacks_buffer = _i;
	const char *const inline_bytes = lacks_buffer ? "0" : "128";
	struct psi_am am = psi_am_of(1, PSI_LONG, psi_am_tag(PSI_REQUESTS, 9, 0), NULL);
	enum { LEN = 5000, MOST = PIBV_CREDITS_MOST + 1 };
	struct psi_long messages[MOST];
	unsigned sent = 0;
	struct mock_counts before;

	rig_set(PSI_NO_PEER, "GASNET_INLINESEND_LIMIT", inline_bytes);
	rig_set(PSI_NO_PEER, "GASNET_BBUF_COUNT", "16");
	pair_start();
	rig_buffers_come_back(0, 1);
	am.payload = here;
	am.dest = there;
	am.len_bytes = LEN;
	device(0)->late = true;
	do {
		ck_assert_uint_lt(sent, MOST);
		before = device(0)->counts;
		messages[sent] = (struct psi_long){
			.am = &am, .dest = { .peer = 1, .name = name_there },
		};
		ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &messages[sent]), PSI_AGAIN);
	} while (messages[sent].state[0] && ++sent);
	ck_assert_uint_eq(sent, lacks_buffer ? 8 : PIBV_CREDITS_MOST);
	ck_assert_uint_eq(device(0)->counts.requests, before.requests);
	ck_assert_uint_eq(device(0)->counts.registrations, before.registrations);
	ck_assert_uint_eq(rig_ranks[0].conduit->spent[0][1], sent);
	device(0)->late = false;
	mock_run();
	rig_settle();
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REQUESTS], sent);
	for (unsigned i = 0; i < sent; i++)
		ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &messages[i]), PSI_OK);
	ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &messages[sent]), PSI_AGAIN);
	ck_assert_uint_ne(messages[sent].state[0], 0);
	rig_buffers_come_back(0, 1);
	ck_assert_uint_eq(device(0)->counts.registrations, 3);
}
END_TEST

/* They go through buffers, the message behind them; the source is in use no longer than that. */
START_TEST(longs_whose_memory_is_not_registered_go_by_buffers)
{
	static const size_t lens[] = { 4097, 8192, 8400, 60000 };

	rig_set(PSI_NO_PEER, "GASNET_BBUF_COUNT", "16");
	if (_i)
		rig_set(PSI_NO_PEER, "GASNET_INLINESEND_LIMIT", "0");
	pair_start();
	rig_ranks[1].deliver = long_check;
	device(0)->refuse[MOCK_MR] = ENOMEM;
	for (unsigned i = 0; i < 2 * sizeof lens / sizeof *lens; i++) {
		const uint64_t sends = device(0)->counts.sends;

		long_bytes = lens[i / 2];
		long_seed = i;
		ck_assert_uint_gt(long_send(i % 2 ? PSI_REPLIES : PSI_REQUESTS), 1);
		rig_settle();
		ck_assert(payload_is_good);
		ck_assert_uint_eq(device(0)->counts.sends - sends, 1);
	}
	ck_assert_uint_eq(device(0)->counts.registrations, 3);
	ck_assert_uint_eq(rig_ranks[0].lines, 0);
	ck_assert_uint_le(rig_ranks[0].conduit->spent[0][1], PIBV_CREDITS_MOST / 2);
	rig_buffers_come_back(0, 1);
}
END_TEST

START_TEST(longs_without_a_name_or_large_and_immediate_are_for_others)
{
	struct psi_am am = psi_am_of(1, PSI_LONG, psi_am_tag(PSI_REQUESTS, 9, 0), NULL);
	struct psi_long message = {
		.am = &am, .dest = { .peer = 1, .name = { .key = PSI_NO_KEY } },
	};

	pair_start();
	am.payload = here;
	am.len_bytes = 10;
	ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &message), PSI_UNSUPPORTED);
	message.dest.name = name_there;
	message.immediate = true;
	am.dest = there;
	ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &message), PSI_OK);
	am.len_bytes = 5000;
	ck_assert_int_eq(pibv_ops.am_long(rig_as(0)->port, &message), PSI_UNSUPPORTED);
}
END_TEST

/* -- puts with signal -------------------------------------------------------------------------- */

static int
put_signal(size_t len_bytes, uint64_t packed, uint64_t cookie)
{
	struct psi_transfer transfer = rig_transfer(1, name_there, 0, here, len_bytes, 0);
	const struct psi_signal_operation signal = { .packed = packed, .cookie = cookie };

	transfer.read_now = true;
	return pibv_ops.put_signal(rig_as(0)->port, &transfer, &signal);
}

START_TEST(signals_come_behind_their_bytes)
{
	static const size_t lens[] = { 1, 80, 96, 97, 4096, 4097, 8192 };

	pair_start();
	for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
		rig_fill(here, lens[i], (uint32_t)i);
		memset(there, 0, sizeof there);
		ck_assert_int_eq(put_signal(lens[i], 0x100 + i, 0), PSI_OK);
		memset(here, 0xee, lens[i]);
		rig_turn(1);
		ck_assert_uint_eq(rig_ranks[1].signal_count, i + 1);
		ck_assert_uint_eq(rig_ranks[1].signals[i], 0x100 + i);
		ck_assert(rig_is_filled(there, lens[i], (uint32_t)i));
		ck_assert_uint_eq(there[lens[i]], 0);
	}
	ck_assert_int_eq(put_signal(8193, 0x100, 0), PSI_UNSUPPORTED);
	ck_assert_int_eq(put_signal(8, 0, 0), PSI_UNSUPPORTED);
	ck_assert_int_eq(put_signal(8, 0x100, 7), PSI_UNSUPPORTED);
}
END_TEST

/* What the device has held back completes. */
static void
all_signals_come(unsigned sent)
{
	device(0)->late = false;
	mock_run();
	rig_settle();
	ck_assert_uint_eq(rig_ranks[1].signal_count, sent);
	rig_buffers_come_back(0, 1);
}

/* No room: nothing has begun, and no buffer is kept. */
START_TEST(signals_without_room_have_not_begun)
{
	unsigned sent = 0;

	pair_start();
	rig_bind(0, here, sizeof here);
	device(0)->late = true;
	while (put_signal(5000, 0x100, 0) == PSI_OK)
		sent++;
	ck_assert_uint_ge(sent, PIBV_DEPTH / 2 - 2);
	ck_assert_uint_eq(rig_connection(0, 1)->buffers, sent);
	all_signals_come(sent);
}
END_TEST

/* The put has a buffer, and its message finds none. */
START_TEST(signal_without_a_buffer_gives_that_of_its_put_back)
{
	unsigned sent = 0;

	rig_set(PSI_NO_PEER, "GASNET_INLINESEND_LIMIT", "0");
	rig_set(PSI_NO_PEER, "GASNET_BBUF_COUNT", "16");
	pair_start();
	rig_buffers_come_back(0, 1);
	device(0)->late = true;
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 1, here, MEDIUM, 0), PSI_OK);
	while (put_signal(5000, 0x100, 0) == PSI_OK)
		sent++;
	ck_assert_uint_eq(sent, 3);
	ck_assert_uint_eq(rig_connection(0, 1)->buffers, 7);
	all_signals_come(sent);
}
END_TEST

START_TEST(signal_that_names_nothing_is_counted)
{
	pair_start();
	rig_ranks[1].refuses_signals = true;
	ck_assert_int_eq(put_signal(8, 0x100, 0), PSI_OK);
	rig_turn(1);
	ck_assert_uint_eq(rig_ranks[1].count[PSI_COUNT_DROPPED], 1);
}
END_TEST

/* -- large puts with signal -------------------------------------------------------------------- */

enum { PIECE = 10000, PUT = 1, READ = 2 };

/* From the client's memory, which is read when the second cookie says so. */
static int
large_put_signal(size_t len_bytes, uint64_t packed)
{
	struct psi_transfer transfer = rig_transfer(1, name_there, 0, here, len_bytes, PUT);
	const struct psi_signal_operation signal = { .packed = packed };

	transfer.read_now = false;
	transfer.read_cookie = READ;
	return pibv_ops.put_signal(rig_as(0)->port, &transfer, &signal);
}

/* Pieces, the last of which has one byte, fits inline, a buffer, or neither. */
START_TEST(large_puts_are_writes_and_a_message)
{
	static const size_t lens[] = { 9000, PIECE, PIECE + 1, PIECE + 100, 30000, 30128, 60000 };
	const bool from_segment = _i;
	const struct rig_rank *rank = &rig_ranks[0];

	pair_start_with_pieces(PIECE);
	if (from_segment)
		rig_bind(0, here, sizeof here);
	for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
		const uint64_t pieces = (lens[i] + PIECE - 1) / PIECE;
		const struct mock_counts before = device(0)->counts;

		rig_fill(here, lens[i], i);
		memset(there, 0, sizeof there);
		rig_ranks[0].done_count = 0;
		device(0)->hold = true;
		ck_assert_int_eq(large_put_signal(lens[i], 0x100 + i), PSI_OK);
		ck_assert_uint_eq(rank->done_count, 0);
		ck_assert_uint_eq(device(0)->counts.requests - before.requests, pieces + 1);
		ck_assert_uint_eq(device(0)->counts.chains - before.chains, pieces);
		device(0)->hold = false;
		mock_run();
		rig_settle();
		ck_assert_uint_eq(rig_done_count(0, PUT), 1);
		ck_assert_uint_eq(rig_done_count(0, READ), 1);
		ck_assert_uint_eq(rig_ranks[1].signals[i], 0x100 + i);
		ck_assert(rig_is_filled(there, lens[i], i));
		ck_assert_uint_eq(device(0)->counts.registrations, before.registrations);
	}
	rig_buffers_come_back(0, 1);
}
END_TEST

/* A large one needs a key for its memory, room for all, and a message that goes inline. */
START_TEST(large_puts_that_are_for_others)
{
	pair_start_with_pieces(PIECE);
	device(0)->refuse[MOCK_MR] = ENOMEM;
	ck_assert_int_eq(large_put_signal(30000, 0x100), PSI_UNSUPPORTED);
	device(0)->refuse[MOCK_MR] = 0;
	pair_start_with_pieces(512);
	ck_assert_int_eq(large_put_signal(60000, 0x100), PSI_UNSUPPORTED);
	rig_set(PSI_NO_PEER, "GASNET_INLINESEND_LIMIT", "16");
	pair_start_with_pieces(PIECE);
	ck_assert_int_eq(large_put_signal(30000, 0x100), PSI_UNSUPPORTED);
	ck_assert_uint_eq(device(0)->counts.writes, 0);
}
END_TEST

/* Without room for all nothing has begun; each that has begun completes once. */
START_TEST(large_puts_without_room_have_not_begun)
{
	enum { LEN = 35000, REQUESTS = 5 };
	unsigned sent = 0;
	uint64_t before;

	pair_start_with_pieces(PIECE);
	before = device(0)->counts.requests;
	device(0)->late = true;
	while (large_put_signal(LEN, 0x100) == PSI_OK)
		sent++;
	ck_assert_uint_ge(sent, PIBV_DEPTH / REQUESTS - 1);
	ck_assert_uint_eq(device(0)->counts.requests - before, sent * REQUESTS);
	ck_assert_uint_eq(device(0)->counts.registrations, 3 + sent);
	device(0)->late = false;
	mock_run();
	rig_settle();
	ck_assert_uint_eq(rig_ranks[1].signal_count, sent);
	ck_assert_uint_eq(rig_done_count(0, PUT), sent);
	ck_assert_uint_eq(rig_done_count(0, READ), sent);
	ck_assert_uint_eq(device(0)->counts.registrations, 3);
}
END_TEST

/* The completion queue has room for one more completion, and the pieces before the last ask for it:
 * what has begun is not refused for its message. */
START_TEST(large_put_that_takes_the_last_completion_is_sent)
{
	enum { SMALL = 9000, LEN = 7 * SMALL - 500, SIGNALS = 16 };
	const struct rig_rank *rank = &rig_ranks[0];
	struct psi_transfer waited;
	uint64_t before;

	rig_set(PSI_NO_PEER, "PST_IBV_SEND_QUEUE", "16");
	mock_reset(3);
	device(0)->limits.max_cqe = 240;
	device(0)->ports[0].attr.max_msg_sz = SMALL;
	rig_start(3);
	name_there = rig_bind(1, there, sizeof there);
	rig_meet(0, 1);
	rig_meet(0, 2);
	rig_buffers_come_back(0, 2);
	waited = rig_transfer(2, rig_bind(2, there, sizeof there), 0, here, 8, 9);
	waited.waited = true;
	ck_assert_uint_eq(rank->conduit->signals_most, SIGNALS);
	rig_fill(here, sizeof here, 3);
	before = device(0)->counts.registrations;
	device(0)->late = true;
	while (rank->conduit->signals + 1 < SIGNALS)
		ck_assert_int_eq(rig_put(0, waited), PSI_OK);
	ck_assert_int_eq(large_put_signal(LEN, 0x100), PSI_OK);
	ck_assert_uint_ge(rank->conduit->signals, SIGNALS);
	ck_assert_int_eq(large_put_signal(LEN, 0x100), PSI_AGAIN);
	ck_assert_uint_eq(device(0)->counts.registrations, before + 1);
	all_signals_come(1);
	ck_assert_uint_eq(rig_done_count(0, PUT), 1);
	ck_assert_uint_eq(rig_done_count(0, READ), 1);
	ck_assert(rig_is_filled(there, LEN, 3));
	ck_assert_uint_eq(device(0)->counts.registrations, before);
}
END_TEST

/* Each piece of what is read at once would take a buffer, and the second finds none: nothing has
 * been posted. */
START_TEST(buffered_puts_of_several_pieces_are_for_others)
{
	enum { SMALL = 4096, SHARE = 8 };
	unsigned sent = 0;
	uint64_t before;

	rig_set(PSI_NO_PEER, "GASNET_BBUF_COUNT", "16");
	pair_start_with_pieces(SMALL);
	rig_buffers_come_back(0, 1);
	device(0)->late = true;
	for (; rig_connection(0, 1)->buffers < SHARE - 1; sent++)
		ck_assert_int_eq(put_signal(SMALL, 0x100, 0), PSI_OK);
	before = device(0)->counts.requests;
	ck_assert_int_ne(put_signal(2 * SMALL, 0x100, 0), PSI_OK);
	ck_assert_uint_eq(device(0)->counts.requests, before);
	all_signals_come(sent);
	ck_assert_int_eq(put_signal(2 * SMALL, 0x100, 0), PSI_UNSUPPORTED);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("long");

	tcase_set_timeout(tests, 40);
	tcase_add_test(tests, longs_of_all_lengths);
	tcase_add_test(tests, longs_in_pieces);
	tcase_add_loop_test(tests, longs_without_room_have_not_begun, 0, 2);
	tcase_add_loop_test(tests, longs_whose_memory_is_not_registered_go_by_buffers, 0, 2);
	tcase_add_test(tests, longs_without_a_name_or_large_and_immediate_are_for_others);
	tcase_add_test(tests, signals_come_behind_their_bytes);
	tcase_add_test(tests, signals_without_room_have_not_begun);
	tcase_add_test(tests, signal_without_a_buffer_gives_that_of_its_put_back);
	tcase_add_test(tests, signal_that_names_nothing_is_counted);
	tcase_add_loop_test(tests, large_puts_are_writes_and_a_message, 0, 2);
	tcase_add_test(tests, large_puts_that_are_for_others);
	tcase_add_test(tests, large_puts_without_room_have_not_begun);
	tcase_add_test(tests, large_put_that_takes_the_last_completion_is_sent);
	tcase_add_test(tests, buffered_puts_of_several_pieces_are_for_others);
	return unit_run("ibv long", tests);
}
