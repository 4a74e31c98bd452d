/*
 * The ofi conduit: Longs whose payload is a put.  A Long is one write, with a record; without a
 * place for that it has two halves, of which either comes first.  The handler runs behind the
 * bytes; a Long that finds no room has not begun; the payload is the caller's own again when the
 * conduit says so.
 */
#include "ofi-conduit/pofi_record.h"
#include "tests/unit/main.h"
#include "tests/unit/ofi_rma_rig.h"

#include <stdlib.h>
#include <string.h>

enum { HANDLER = 201, NARGS = 3 };

static struct {
	unsigned count;
	struct psi_arrival arrival;
	int32_t args[PSI_MAX_ARGS];
} heard;

static void
hear(struct psi_port *port, const struct psi_arrival *arrival)
{
	(void)port;
	heard.count++;
	heard.arrival = *arrival;
	memcpy(heard.args, arrival->args, arrival->nargs * sizeof *heard.args);
}

/* What a Long needs until it has been sent. */
struct sending {
	struct psi_am am;
	struct psi_long message;
	int32_t args[NARGS];
};

/* To the next process, at the beginning of its segment, which lies here at the same address. */
static void
sending_make(struct sending *sending, void *payload, size_t len_bytes, unsigned network)
{
	*sending = (struct sending){
		.args = { 7, -8, (int32_t)len_bytes },
		.am = { .peer = rma_other(), .handler = HANDLER, .category = PSI_LONG,
			.network = (uint8_t)network, .nargs = NARGS, .payload = payload,
			.len_bytes = len_bytes, .dest = rma_own },
		.message = { .dest = { .peer = rma_other(), .name = rma_name(rma_other()) } },
	};
	sending->am.args = sending->args;
	sending->message.am = &sending->am;
}

static int
long_try(struct sending *sending)
{
	return pofi_ops.am_long(ofi_self.port, &sending->message);
}

static void
long_send(void *payload, size_t len_bytes)
{
	struct sending sending;
	int result;

	sending_make(&sending, payload, len_bytes, PSI_REQUESTS);
	while ((result = long_try(&sending)) == PSI_AGAIN)
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_int_eq(result, PSI_OK);
}

/* -- two ways ---------------------------------------------------------------------------------- */

static bool by_halves;

/* Longs go whole, with records, where they can; a process without records sends halves. */
static void
way_choose(void)
{
	if (by_halves)
		ofi_self.conduit->records.rings = NULL;
}

/* Runs body in two processes, first by records, then by halves. */
static void
both_ways(bool threaded, ofi_body *body)
{
	for (int way = 0; way < 2; way++) {
		by_halves = way;
		rma_run(2, threaded, body);
	}
	by_halves = false;
}

static unsigned
pieces_of(size_t len_bytes)
{
	const size_t most = ofi_self.conduit->rma.long_bytes;

	return (unsigned)((len_bytes + most - 1) / most);
}

static struct pofi_peer *
other_peer(void)
{
	return &ofi_self.conduit->peers[rma_other()];
}

/* -- all sizes --------------------------------------------------------------------------------- */

static const size_t lens[] = {
	1, 8, 64, 65, 1000, POFI_BOUNCE_BYTES, POFI_BOUNCE_BYTES + 1, 100000, 1 << 20,
};

/* The payload is overwritten as soon as it may be. */
static void
all_sizes(void)
{
	unsigned char *bytes = malloc(1 << 20);
	unsigned writes = 0;

	way_choose();
	ofi_self.deliver = hear;
	rma_watch();
	for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
		ofi_fill(bytes, lens[i], i * 2 + ofi_self.place);
		writes += pieces_of(lens[i]);
		long_send(bytes, lens[i]);
		memset(bytes, 0, lens[i]);
		OFI_UNTIL(heard.count == i + 1);
		ck_assert_uint_eq(heard.arrival.category, PSI_LONG);
		ck_assert_uint_eq(heard.arrival.handler, HANDLER);
		ck_assert_uint_eq(heard.arrival.source, rma_other());
		ck_assert_uint_eq(heard.arrival.len_bytes, lens[i]);
		ck_assert_uint_eq(heard.arrival.nargs, NARGS);
		ck_assert_int_eq(heard.args[1], -8);
		ck_assert_int_eq(heard.args[2], (int32_t)lens[i]);
		ck_assert(ofi_is_filled(rma_own, lens[i], i * 2 + rma_other()));
		ofi_meet();
	}
	ck_assert_uint_eq(rma_seen.writes, writes);
	/* without credits to be paid yet, a Long that is whole needs no other message */
	ck_assert_uint_eq(rma_seen.sends,
	                  ofi_self.conduit->records.rings ? 0 : sizeof lens / sizeof *lens);
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_DROPPED], 0);
	ck_assert_ptr_null(ofi_self.conduit->longs.halves);
	free(bytes);
}

static const char *const providers[] = { "tcp;ofi_rxm", "net", "shm" };

START_TEST(longs_of_all_sizes_arrive_whole)
{
	if (!ofi_has_provider(providers[_i]))
		return;
	ofi_set("PST_OFI_PROVIDER", providers[_i]);
	both_ways(false, all_sizes);
	both_ways(true, all_sizes);
}
END_TEST

static void
all_sizes_in_pieces(void)
{
	way_choose();
	ofi_self.deliver = hear;
	ofi_self.conduit->rma.long_bytes = 50000;
	for (unsigned i = 0; i < 3; i++) {
		static unsigned char bytes[170000];

		ofi_fill(bytes, sizeof bytes, i + ofi_self.place);
		long_send(bytes, sizeof bytes);
		OFI_UNTIL(heard.count == i + 1);
		ck_assert(ofi_is_filled(rma_own, sizeof bytes, i + rma_other()));
		ck_assert(!other_peer()->record_open);
		ofi_meet();
	}
	ck_assert_uint_eq(other_peer()->records_sent, by_halves ? 0 : 3);
}

START_TEST(the_last_piece_of_a_large_one_tells)
{
	both_ways(false, all_sizes_in_pieces);
}
END_TEST

/* More than there are credits, slots or buffers, in both directions. */
static void
stream(void)
{
	enum { LONGS = 3000 };
	static unsigned char bytes[4096];

	way_choose();
	ofi_self.deliver = hear;
	for (unsigned i = 0; i < LONGS; i++)
		long_send(bytes, 1 + i % sizeof bytes);
	OFI_UNTIL(heard.count == LONGS);
	ofi_meet();
	ck_assert_ptr_null(ofi_self.conduit->longs.halves);
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_DROPPED], 0);
}

START_TEST(a_stream_of_longs_is_whole)
{
	ofi_set("PST_OFI_PROVIDER", providers[_i]);
	if (ofi_has_provider(providers[_i]))
		both_ways(false, stream);
}
END_TEST

/* -- halves ------------------------------------------------------------------------------------ */

static const uint64_t a_number = (uint64_t)1 << 40 | (uint64_t)99 << 16;

/* A head as it lies in a buffer, once its category is that of the Long.  Its arguments are 0. */
static size_t
head_make(char *bytes, size_t bytes_most)
{
	const uint64_t dest = (uintptr_t)rma_own;
	const struct pofi_header header = {
		.tag = ofi_self.conduit->tag, .source = 1,
		.len_bytes = 5, .handler = HANDLER, .category = PSI_LONG, .network = PSI_REQUESTS,
		.nargs = NARGS,
	};
	const struct pofi_tail tail = { .number = a_number, .len_bytes = 5 };
	const size_t len_bytes = pofi_message_bytes(POFI_LONG_HEAD, 0, sizeof tail);

	ck_assert_uint_le(len_bytes, bytes_most);
	memset(bytes, 0, len_bytes);
	memcpy(bytes, &header, POFI_HEADER_BYTES);
	memcpy(bytes + POFI_HEADER_BYTES, &dest, sizeof dest);
	memcpy(bytes + pofi_payload_at(POFI_LONG_HEAD, 0), &tail, sizeof tail);
	return len_bytes;
}

static void
either_order(void)
{
	struct psi_conduit *conduit = ofi_self.conduit;
	_Alignas(16) char head[256];
	const size_t len_bytes = head_make(head, sizeof head);

	ofi_self.deliver = hear;
	ck_assert(!pofi_long_head(conduit, head, len_bytes));
	ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_uint_eq(heard.count, 0);
	ck_assert(pofi_long_written(conduit, a_number));
	ck_assert_ptr_null(conduit->longs.halves);
	ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_uint_eq(heard.count, 1);
	ck_assert_uint_eq(heard.arrival.len_bytes, 5);

	ck_assert(!pofi_long_written(conduit, a_number));
	ck_assert(pofi_long_head(conduit, head, len_bytes));
	ck_assert_ptr_null(conduit->longs.halves);
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_DROPPED], 0);
	ofi_meet();
}

START_TEST(the_halves_come_in_either_order)
{
	rma_run(2, false, either_order);
}
END_TEST

static void
strange_numbers(void)
{
	struct psi_conduit *conduit = ofi_self.conduit;

	ck_assert(!pofi_long_written(conduit, (uint64_t)2 << 40));      /* of no process */
	ck_assert(!pofi_long_written(conduit, a_number | 1));
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_DROPPED], 2);
	ck_assert(!pofi_long_written(conduit, a_number));
	ck_assert(!pofi_long_written(conduit, a_number));
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_DROPPED], 3);
	ck_assert_uint_eq(conduit->longs.half_count, 1);
	ofi_meet();
}

START_TEST(numbers_that_no_peer_gives_are_dropped)
{
	rma_run(2, false, strange_numbers);
}
END_TEST

/* -- records ----------------------------------------------------------------------------------- */

/* Sends one to the other process, which does the same, and says how many messages that took. */
static unsigned
sends_of_one(unsigned heard_before)
{
	static unsigned char bytes[8];
	const unsigned sends = rma_seen.sends;

	long_send(bytes, sizeof bytes);
	OFI_UNTIL(heard.count == heard_before + 1);
	ofi_meet();
	return rma_seen.sends - sends;
}

static void
no_place_for_a_record(void)
{
	ofi_self.deliver = hear;
	rma_watch();
	if (!ofi_self.conduit->records.rings) {
		ofi_meet();
		return;
	}
	ck_assert_uint_eq(sends_of_one(0), 0);
	other_peer()->record_open = true;
	ck_assert_uint_eq(sends_of_one(1), 1);
	other_peer()->record_open = false;
	ck_assert_uint_eq(sends_of_one(2), 0);
	other_peer()->records_read = (uint16_t)(other_peer()->records_sent - POFI_RECORDS);
	ck_assert_uint_eq(sends_of_one(3), 1);
	/* that message has told how many were taken */
	ck_assert_uint_eq(other_peer()->records_read, 2);
	ck_assert_uint_eq(sends_of_one(4), 0);
	ck_assert_ptr_null(ofi_self.conduit->longs.halves);
}

START_TEST(without_a_place_for_its_record_a_long_goes_by_halves)
{
	rma_run(2, false, no_place_for_a_record);
}
END_TEST

static uint64_t
record_data(uint64_t process, uint64_t place)
{
	return process << POFI_RECORD_PROCESS_SHIFT | place << POFI_RECORD_PLACE_SHIFT |
	       POFI_IS_RECORD;
}

static void
strange_records(void)
{
	struct psi_conduit *conduit = ofi_self.conduit;

	ofi_self.deliver = hear;
	ck_assert_ptr_null(pofi_record_take(conduit, record_data(2, 0)));
	ck_assert_ptr_null(pofi_record_take(conduit, record_data(rma_other(), POFI_RECORDS)));
	ck_assert_ptr_null(pofi_record_take(conduit, record_data(rma_other(), 0)));
	ck_assert_uint_eq(other_peer()->records_taken, 0);
	(void)sends_of_one(0);
	ck_assert_uint_eq(other_peer()->records_taken, conduit->records.rings ? 1 : 0);
	ck_assert_ptr_null(pofi_record_take(conduit, record_data(rma_other(), 0)));
	ck_assert_uint_eq(heard.count, 1);
}

START_TEST(records_that_no_peer_has_sent_are_not_believed)
{
	rma_run(2, false, strange_records);
}
END_TEST

/* -- room -------------------------------------------------------------------------------------- */

static void
no_room(void)
{
	static unsigned char bytes[POFI_BOUNCE_BYTES];
	struct sending sending;

	way_choose();
	sending_make(&sending, bytes, sizeof bytes, PSI_REQUESTS);
	rma_watch();
	rma_seen.result = -FI_EAGAIN;
	ck_assert_int_eq(long_try(&sending), PSI_AGAIN);
	ck_assert(!pofi_transfers_pending(ofi_self.conduit));
	ck_assert_uint_eq(sending.message.state[0], 0);
	ck_assert_uint_eq(rma_seen.sends, 0);
	ck_assert_uint_eq(other_peer()->records_sent, 0);
	ck_assert(!other_peer()->record_open);
	rma_seen.result = 0;
	ofi_self.conduit->credits = 0;
	ck_assert_int_eq(long_try(&sending), PSI_AGAIN);
	ck_assert_uint_eq(rma_seen.writes + rma_seen.sends, 0);
	ofi_meet();
}

START_TEST(one_that_finds_no_room_has_not_begun)
{
	both_ways(false, no_room);
}
END_TEST

/* What the reference has to do. */
static void
left_out(void)
{
	static unsigned char bytes[POFI_BOUNCE_BYTES + 1];
	struct sending sending;

	sending_make(&sending, bytes, sizeof bytes, PSI_REQUESTS);
	sending.message.immediate = true;
	ck_assert_int_eq(long_try(&sending), PSI_UNSUPPORTED);
	sending.message.immediate = false;
	sending.message.dest.name.key = PSI_NO_KEY;
	ck_assert_int_eq(long_try(&sending), PSI_UNSUPPORTED);
	sending_make(&sending, bytes, 8, PSI_REQUESTS);
	ofi_self.conduit->rma.data = false;
	ck_assert_int_eq(long_try(&sending), PSI_UNSUPPORTED);
	ofi_meet();
}

START_TEST(longs_that_no_put_can_bring_are_left_to_messages)
{
	rma_run(2, false, left_out);
}
END_TEST

int
main(void)
{
	const int count = sizeof providers / sizeof *providers;
	TCase *tests = tcase_create("long");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, longs_of_all_sizes_arrive_whole, 0, count);
	tcase_add_test(tests, the_last_piece_of_a_large_one_tells);
	tcase_add_loop_test(tests, a_stream_of_longs_is_whole, 0, count);
	tcase_add_test(tests, the_halves_come_in_either_order);
	tcase_add_test(tests, without_a_place_for_its_record_a_long_goes_by_halves);
	tcase_add_test(tests, records_that_no_peer_has_sent_are_not_believed);
	tcase_add_test(tests, numbers_that_no_peer_gives_are_dropped);
	tcase_add_test(tests, one_that_finds_no_room_has_not_begun);
	tcase_add_test(tests, longs_that_no_put_can_bring_are_left_to_messages);
	return unit_run("Longs over ofi", tests);
}
