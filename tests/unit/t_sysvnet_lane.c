/* One lane alone: headers, lap numbers, positions and payload bytes across the wrap of 32 bits. */
#include <stdlib.h>
#include <string.h>

#include "smp-conduit/sysvnet/sysvnet_lane.h"
#include "tests/unit/sysvnet_rig.h"
#include "tests/unit/main.h"

START_TEST(headers_keep_their_fields)
{
	static const uint32_t lengths[] = { 0, 1, 255, 65535, 65536, 0xfffffe, 0xffffff };
	static const uint64_t laps[] = { 0, 1, 0x7fff, 0x8000, 0xffff };

	for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++)
	for (unsigned lap = 0; lap < sizeof laps / sizeof *laps; lap++)
	for (unsigned nargs = 0; nargs <= PSI_MAX_ARGS; nargs++)
	for (unsigned kind = 0; kind < 9; kind++) {
		for (unsigned handler = 0; handler < 256; handler++) {
			struct sysvnet_header_fields in = {
				.len_bytes = lengths[l], .handler = (uint8_t)handler,
				.nargs = (uint8_t)nargs, .category = (uint8_t)(kind % 3),
				.where = (uint8_t)(kind / 3),
			};
			uint64_t header = sysvnet_header_pack(&in) | laps[lap];
			struct sysvnet_header_fields out = sysvnet_header_unpack(header);

			if ((header & 0xffff) != laps[lap] || out.len_bytes != in.len_bytes ||
			    out.handler != in.handler || out.nargs != in.nargs ||
			    out.category != in.category || out.where != in.where)
				ck_abort_msg("length %u handler %u nargs %u kind %u lap %llu",
				             lengths[l], handler, nargs, kind,
				             (unsigned long long)laps[lap]);
		}
	}
}
END_TEST

/* A slot is full when its header has the lap of the position that is expected there: so what it had
 * a round ago, or nothing at all in the first round, must differ, whatever the position. */
START_TEST(laps_tell_rounds_apart)
{
	for (uint32_t shift = 2; shift <= 16; shift++) {
		uint32_t slots = 1u << shift;
		const uint32_t from[] = { 0, 65535u << shift, 0x7ffffff0u & ~(slots - 1),
		                          0u - 4 * slots };

		ck_assert_uint_ne(sysvnet_lap(0, shift), 0);
		ck_assert_uint_ne(sysvnet_lap(slots - 1, shift), 0);
		for (unsigned i = 0; i < 4; i++) {
			for (uint32_t step = 0; step < 8; step++) {
				uint32_t position = from[i] + step * slots;
				uint64_t now = sysvnet_lap(position, shift);
				uint64_t next = sysvnet_lap(position + slots, shift);

				ck_assert_uint_eq(next, (now + 1) & 0xffff);
				ck_assert_uint_eq(sysvnet_lap(position + slots - 1, shift), now);
			}
		}
	}
}
END_TEST

/* ------------------------------------------------------------------ a lane on its own --- */

struct lane {
	struct sysvnet_out out;
	struct sysvnet_in in;
	struct sysvnet_control *control;
	struct sysvnet_slot *slots;
	unsigned char *data;
	uint32_t *data_ends;
};

static void *
aligned_zeroes(size_t bytes)
{
	void *at = aligned_alloc(SYSVNET_SLOT_BYTES, (bytes + SYSVNET_SLOT_BYTES - 1) /
	                                          SYSVNET_SLOT_BYTES * SYSVNET_SLOT_BYTES);

	ck_assert_ptr_nonnull(at);
	return memset(at, 0, bytes);
}

/* A lane in the state it has after `position' messages and `head' bytes of payload, all
 * consumed. */
static void
lane_open(struct lane *lane, uint32_t slots, uint32_t data_bytes, uint32_t position, uint32_t head)
{
	const uint32_t shift = (uint32_t)__builtin_ctz(slots);

	lane->control = aligned_zeroes(sizeof *lane->control);
	lane->slots = aligned_zeroes(slots * sizeof *lane->slots);
	lane->data = aligned_zeroes(data_bytes);
	lane->data_ends = calloc(slots, sizeof *lane->data_ends);
	ck_assert_ptr_nonnull(lane->data_ends);
	for (uint32_t i = 0; i < slots && position; i++) {
		uint32_t at = position - slots + i;

		atomic_store(&lane->slots[at & (slots - 1)].header, sysvnet_lap(at, shift));
		lane->data_ends[i] = head;
	}
	atomic_store(&lane->control->consumed, position);
	lane->out = (struct sysvnet_out){
		.mask = slots - 1, .shift = shift, .next = position, .limit = position + slots,
		.window = sysvnet_window_all_free(data_bytes, head),
		.data_end = lane->data_ends, .slots = lane->slots, .data = lane->data,
		.control = lane->control,
	};
	lane->in = (struct sysvnet_in){
		.mask = slots - 1,
		.shift = (uint16_t)shift,
		.next = position,
		.done = position,
		.told = position,
		.least_bytes = sysvnet_window_least(data_bytes),
		.slots = lane->slots,
		.data = lane->data,
		.control = lane->control,
	};
}

static void
lane_close(struct lane *lane)
{
	free(lane->control);
	free(lane->slots);
	free(lane->data);
	free(lane->data_ends);
}

/* Payload length of message number i: up to a quarter of the ring, as the sender keeps to. */
static uint32_t
length_of(uint32_t i, uint32_t data_bytes)
{
	return data_bytes ? i * 2654435761u % (data_bytes / 4) + 1 : 0;
}

/* Sends message number i if there is room; its payload must lie inside the ring. */
static bool
lane_send(struct lane *lane, uint32_t i, uint32_t data_bytes)
{
	struct sysvnet_header_fields fields = {
		.len_bytes = length_of(i, data_bytes), .handler = (uint8_t)i,
		.where = data_bytes ? SYSVNET_DATA_RING : SYSVNET_INLINE,
	};
	uint32_t offset = 0;
	unsigned char *data;

	if (!sysvnet_out_has_room(&lane->out))
		return false;
	if (data_bytes) {
		data = sysvnet_out_data(&lane->out, fields.len_bytes, &offset);
		if (!data)
			return false;
		ck_assert_uint_eq(offset % SYSVNET_LINE_BYTES, 0);
		ck_assert_uint_le(offset + fields.len_bytes, data_bytes);
		ck_assert_ptr_eq(data, lane->data + offset);
		memcpy(data, rig_pattern(i), fields.len_bytes);
	}
	memcpy(sysvnet_out_slot(&lane->out)->body, &i, sizeof i);
	memcpy(sysvnet_out_slot(&lane->out)->body + sizeof i, &offset, sizeof offset);
	sysvnet_out_publish(&lane->out, sysvnet_header_pack(&fields));
	return true;
}

static bool
lane_take(struct lane *lane, uint32_t i, uint32_t data_bytes)
{
	struct sysvnet_header_fields fields;
	struct sysvnet_slot *slot;
	uint32_t number, offset;
	uint64_t header;

	slot = sysvnet_in_peek(&lane->in, &header);
	if (!slot)
		return false;
	fields = sysvnet_header_unpack(header);
	memcpy(&number, slot->body, sizeof number);
	memcpy(&offset, slot->body + sizeof number, sizeof offset);
	ck_assert_uint_eq(number, i);
	ck_assert_uint_eq(fields.handler, (uint8_t)i);
	ck_assert_uint_eq(fields.len_bytes, length_of(i, data_bytes));
	ck_assert(memcmp(lane->data + offset, rig_pattern(i), fields.len_bytes) == 0);
	memset(lane->data + offset, 0xee, fields.len_bytes);
	sysvnet_in_take(&lane->in);
	sysvnet_in_retire(&lane->in, header);
	return true;
}

/* Bursts of random length in turn on both sides: order, contents, and no more than the ring
 * holds. */
static void
run_lane(struct lane *lane, uint32_t data_bytes, uint32_t messages)
{
	const uint32_t slots = lane->out.mask + 1;
	uint32_t sent = 0, taken = 0, state = 99;

	while (taken < messages) {
		state = state * 1664525u + 1013904223u;
		for (uint32_t burst = state >> 16 & (2 * slots - 1); burst && sent < messages;
		     burst--)
			if (!lane_send(lane, sent, data_bytes))
				break;
			else
				sent++;
		ck_assert_uint_le(sent - taken, slots);
		state = state * 1664525u + 1013904223u;
		for (uint32_t burst = state >> 16 & (2 * slots - 1); burst; burst--)
			if (lane_take(lane, taken, data_bytes))
				taken++;
			else if (taken != sent)
				ck_abort_msg("%u sent, %u taken, none found", sent, taken);
	}
	ck_assert_uint_eq(sent, taken);
}

static const uint32_t ring_sizes[][2] = {
	{ 4, 0 }, { 16, 0 }, { 16, 2048 }, { 64, 8192 }, { 128, 32768 }, { 32, 131072 },
};

START_TEST(order_and_contents_from_any_start)
{
	const uint32_t slots = ring_sizes[_i][0], data_bytes = ring_sizes[_i][1];
	const uint32_t starts[] = { 0, slots, 65535 * slots, 65536 * slots - 3, 0x7fffffff - slots,
	                            0u - 10 * slots, 0u - slots, 0u - 3, 0u - 1, 7 };
	struct lane lane;

	for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
		uint32_t head = data_bytes ? (0u - i * 7 * SYSVNET_LINE_BYTES) : 0;

		lane_open(&lane, slots, data_bytes, starts[i], starts[i] ? head : 0);
		run_lane(&lane, data_bytes, 40 * slots + 5);
		lane_close(&lane);
	}
}
END_TEST

/* Without a receiver exactly `slots' messages go, and after a quarter is consumed a quarter
 * more. */
START_TEST(room_comes_in_quarters)
{
	const uint32_t slots = ring_sizes[_i][0];
	const uint32_t starts[] = { 0, 0u - 2 * slots, 0u - slots, 0u - slots / 2 };
	struct lane lane;

	for (unsigned i = 0; i < 4; i++) {
		uint32_t sent = 0;

		lane_open(&lane, slots, 0, starts[i], 0);
		while (lane_send(&lane, sent, 0))
			sent++;
		ck_assert_uint_eq(sent, slots);
		for (uint32_t taken = 0; taken < slots / 4; taken++) {
			ck_assert(!lane_send(&lane, sent, 0));
			ck_assert(lane_take(&lane, taken, 0));
		}
		while (lane_send(&lane, sent, 0))
			sent++;
		ck_assert_uint_eq(sent, slots + slots / 4);
		lane_close(&lane);
	}
}
END_TEST

/* A place promised to one sender is not given to another. */
START_TEST(reserved_places_are_kept)
{
	struct lane lane;
	uint32_t sent = 0;

	lane_open(&lane, 16, 0, 0u - 8, 0);
	lane.out.reserved = 3;
	while (lane_send(&lane, sent, 0))
		sent++;
	ck_assert_uint_eq(sent, 13);
	lane.out.reserved = 0;
	while (lane_send(&lane, sent, 0))
		sent++;
	ck_assert_uint_eq(sent, 16);
	lane_close(&lane);
}
END_TEST

/* The payload ring is full at some time, and once all is consumed there is room for any payload: a
 * receiver must not keep to itself that it has done with the bytes. */
START_TEST(payload_room_comes_back)
{
	const uint32_t slots = ring_sizes[_i][0], data_bytes = ring_sizes[_i][1];
	const uint32_t heads[] = { 0, 0u - data_bytes, 0u - 64, 0u - data_bytes / 2 - 64 };

	for (unsigned h = 0; h < 4 && data_bytes; h++) {
		for (uint32_t len = 1; len <= data_bytes / 4; len += 61) {
			struct sysvnet_header_fields fields = { .len_bytes = len,
				                             .where = SYSVNET_DATA_RING };
			uint32_t offset, sent = 0;
			struct lane lane;
			uint64_t header;

			lane_open(&lane, slots, data_bytes, slots, heads[h]);
			while (sysvnet_out_has_room(&lane.out) &&
			       sysvnet_out_data(&lane.out, len, &offset)) {
				sysvnet_out_publish(&lane.out, sysvnet_header_pack(&fields));
				ck_assert_uint_le(++sent * len, data_bytes);
			}
			/* also what laps of the window have left at their ends, where it widens */
			ck_assert(sent == slots || (data_bytes > SYSVNET_WINDOW_BYTES ? 2 : 1) *
			                                           (sent + 2) *
			                                           ((len + 63) & ~63u) >
			                                   data_bytes);
			for (; sent; sent--) {
				ck_assert_ptr_nonnull(sysvnet_in_peek(&lane.in, &header));
				sysvnet_in_take(&lane.in);
				sysvnet_in_retire(&lane.in, header);
			}
			ck_assert(sysvnet_out_has_room(&lane.out));
			ck_assert_ptr_nonnull(sysvnet_out_data(&lane.out, data_bytes / 4, &offset));
			lane_close(&lane);
		}
	}
}
END_TEST

int
main(void)
{
	const int sizes = sizeof ring_sizes / sizeof *ring_sizes;
	TCase *tests = tcase_create("lane");

	tcase_add_test(tests, headers_keep_their_fields);
	tcase_add_test(tests, laps_tell_rounds_apart);
	tcase_add_loop_test(tests, order_and_contents_from_any_start, 0, sizes);
	tcase_add_loop_test(tests, room_comes_in_quarters, 0, sizes);
	tcase_add_test(tests, reserved_places_are_kept);
	tcase_add_loop_test(tests, payload_room_comes_back, 0, sizes);
	return unit_run("sysvnet lane", tests);
}
