/* A lane's bytes for payload: never given out twice, wider for a stream, narrow again behind it. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/main.h"
#include "tests/unit/sysvnet_rig.h"

enum {
	LINE = SYSVNET_LINE_BYTES,
	LEAST = SYSVNET_WINDOW_BYTES,
	MOST = 1024 * 1024,
	UNDER_WAY = 64,
};

static uint32_t
random_below(uint32_t *state, uint32_t bound)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(*state >> 4) * bound >> 28);
}

static bool
give(struct sysvnet_window *window, uint32_t need, uint32_t *offset_out)
{
	if (!sysvnet_window_has(window, need) && !sysvnet_window_widen(window, need))
		return false;
	*offset_out = sysvnet_window_take(window, need);
	return true;
}

/* ------------------------------------------------------------------ by itself --- */

/* Payloads that are under way, in order. */
struct way {
	struct {
		uint32_t offset, need, end;
	} piece[UNDER_WAY];
	uint32_t first, next;
};

static void
check_apart(const struct way *way, uint32_t offset, uint32_t need, uint32_t most)
{
	bool apart = offset + need <= most && offset % LINE == 0;

	for (uint32_t i = way->first; i != way->next; i++) {
		const uint32_t at = way->piece[i % UNDER_WAY].offset;

		apart = apart &&
		        (offset + need <= at || at + way->piece[i % UNDER_WAY].need <= offset);
	}
	if (!apart)
		ck_abort_msg("%u bytes at %u of %u, %u under way", need, offset, most,
		             way->next - way->first);
}

/* The receiver tells of some of them. */
static void
take_back(struct way *way, struct sysvnet_window *window, uint32_t count)
{
	for (; count && way->first != way->next; count--)
		window->tail = way->piece[way->first++ % UNDER_WAY].end;
}

/* Bursts of random length and size on both sides, from positions around the wrap of 32 bits. */
START_TEST(nothing_is_given_out_twice)
{
	static const uint32_t most[] = { 512, 2048, LEAST, 64 * 1024, MOST };
	const uint32_t share = most[_i] / 4;
	struct sysvnet_window window = sysvnet_window_all_free(most[_i], 0u - 3 * most[_i] - LINE);
	uint32_t state = 5, given = 0, widest = 0;
	struct way way = { .first = 0 };

	for (unsigned burst = 0; burst < 5000; burst++) {
		const uint32_t largest = random_below(&state, 4) ? share / 16 + LINE : share;

		for (uint32_t n = random_below(&state, UNDER_WAY); n; n--) {
			const uint32_t need = sysvnet_data_bytes(
				1 + random_below(&state, largest < share ? largest : share));
			uint32_t offset;

			if (way.next - way.first == UNDER_WAY || !give(&window, need, &offset))
				break;
			check_apart(&way, offset, need, most[_i]);
			way.piece[way.next % UNDER_WAY].offset = offset;
			way.piece[way.next % UNDER_WAY].need = need;
			way.piece[way.next++ % UNDER_WAY].end = window.head;
			given++;
		}
		if (window.bytes > most[_i] || window.bytes < sysvnet_window_least(most[_i]))
			ck_abort_msg("a window of %u bytes", window.bytes);
		widest = window.bytes > widest ? window.bytes : widest;
		take_back(&way, &window, random_below(&state, UNDER_WAY));
	}
	ck_assert_uint_gt(given, 5000);
	ck_assert_uint_eq(widest, most[_i]);
}
END_TEST

/* Whatever was under way, and though the receiver keeps a quarter of the least window to
 * itself: a payload of a quarter of all bytes finds room. */
START_TEST(there_is_always_room_in_the_end)
{
	for (uint32_t need = LINE; need <= MOST / 4; need += 63 * LINE) {
		struct sysvnet_window window = sysvnet_window_all_free(MOST, 0u - 7 * LINE);
		uint32_t state = need, offset, before;

		for (unsigned i = 0; i < 300; i++) {
			const uint32_t other =
				sysvnet_data_bytes(1 + random_below(&state, MOST / 4));

			before = window.head;
			if (give(&window, i & 1 ? need : other, &offset))
				continue;
			ck_assert_uint_ne(window.tail, before);
			window.tail = before - (window.head - window.tail >= LEAST / 4 - LINE
			                                ? LEAST / 4 - LINE
			                                : 0);
			ck_assert(give(&window, i & 1 ? need : other, &offset));
			window.tail =
				window.head - (random_below(&state, 2) ? window.bytes / 2 : 0);
			if (window.head - window.tail > window.bytes)
				window.tail = window.head;
		}
	}
}
END_TEST

/* One at a time: the same few bytes, whatever the size, in a window no wider than two payloads. */
START_TEST(single_messages_keep_the_window)
{
	for (uint32_t need = LINE; need <= MOST / 4; need *= 2) {
		struct sysvnet_window window = sysvnet_window_all_free(MOST, 0);
		uint32_t offset;

		for (unsigned i = 0; i < 1000; i++) {
			ck_assert(give(&window, need, &offset));
			ck_assert_uint_le(window.bytes, need > LEAST ? need : LEAST);
			window.tail = window.head;
		}
	}
}
END_TEST

/* A stream has it all soon; silence gives it back, lap by lap. */
START_TEST(streams_widen_and_silence_narrows)
{
	for (uint32_t need = 16 * LINE; need <= 64 * 1024; need *= 4) {
		struct sysvnet_window window = sysvnet_window_all_free(MOST, 0);
		uint32_t offset, sent = 0;

		for (; window.bytes < MOST && sent < 4 * MOST; sent += need) {
			ck_assert(give(&window, need, &offset));
			if (window.head - window.tail > 3 * need)
				window.tail = window.head - 3 * need;
		}
		ck_assert_uint_eq(window.bytes, MOST);
		ck_assert_uint_le(sent, 2 * MOST);
		for (sent = 0; window.bytes > LEAST && window.bytes > 2 * need && sent < 8 * MOST;
		     sent += need) {
			window.tail = window.head;
			ck_assert(give(&window, need, &offset));
		}
		ck_assert_uint_le(window.bytes, 2 * need > LEAST ? 2 * need : LEAST);
		ck_assert_uint_le(sent, 2 * MOST);
	}
}
END_TEST

/* ------------------------------------------------------------ between two ranks --- */

static unsigned arrived;

static void
count(struct rig_rank *rank, const struct psi_arrival *arrival)
{
	(void)rank;
	ck_assert(memcmp(arrival->payload, rig_pattern(arrived++), arrival->len_bytes) == 0);
}

static bool
send(struct rig *rig, uint32_t number, size_t len_bytes)
{
	const struct psi_am am = {
		.peer = 1, .category = PSI_MEDIUM, .network = PSI_REQUESTS,
		.payload = rig_pattern(number), .len_bytes = len_bytes,
	};

	return sysvnet_send(rig->rank[0].port, &am) == PSI_OK;
}

static void
poll_all(struct rig *rig)
{
	while (sysvnet_poll(rig->rank[1].port, 1u << PSI_REQUESTS, 64))
		;
}

static uint32_t
window_bytes(const struct rig *rig)
{
	return rig->rank[0].port->out[PSI_REQUESTS][1].window.bytes;
}

/* Sends so many; the receiver is `behind' messages behind, or with 0 takes each at once. */
static void
send_many(struct rig *rig, uint32_t *sent, uint32_t count, size_t len_bytes, uint32_t behind)
{
	for (uint32_t i = 0; i < count; i++, (*sent)++) {
		if (!send(rig, *sent, len_bytes)) {
			poll_all(rig);
			ck_assert(send(rig, *sent, len_bytes));
		}
		while (*sent + 1 - arrived > behind)
			ck_assert_uint_gt(sysvnet_poll(rig->rank[1].port, 1u << PSI_REQUESTS, 1),
			                  0);
	}
}

START_TEST(a_lane_widens_for_a_stream)
{
	static const size_t lengths[] = { 1024, 4096, 16384, 65536 };
	struct rig *rig = rig_open(&(struct rig_options){ .ranks = 2, .handler = count });
	const uint32_t most = rig->rank[0].net->layout.data_bytes;
	uint32_t sent = 0;

	arrived = 0;
	ck_assert_uint_ge(most, 64 * 1024);
	for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
		const uint32_t enough = (uint32_t)(3 * most / lengths[l]);

		send_many(rig, &sent, enough, lengths[l], 6);
		ck_assert_uint_eq(window_bytes(rig), most);
		send_many(rig, &sent, enough, 1024, 0);
		send_many(rig, &sent, 4 * most / 1024, 1024, 0);
		ck_assert_uint_eq(window_bytes(rig), LEAST);
	}
	poll_all(rig);
	ck_assert_uint_eq(arrived, sent);
	ck_assert_uint_eq(rig_count(&rig->rank[0], SYSVNET_COUNT_IN_BUFFER), 0);
	rig_close(rig);
}
END_TEST

/* Of a lane that single messages use, no page beyond the least window is touched. */
START_TEST(no_page_without_a_stream)
{
	struct rig *rig = rig_open(&(struct rig_options){ .ranks = 2, .handler = count });
	const struct sysvnet_out *out = &rig->rank[0].port->out[PSI_REQUESTS][1];
	uint32_t sent = 0;

	arrived = 0;
	for (size_t len = 200; len <= LEAST / 2; len += 100)
		send_many(rig, &sent, 20, len, 0);
	ck_assert_uint_eq(out->window.bytes, LEAST);
	for (uint32_t at = LEAST; at < out->window.most_bytes; at++)
		if (out->data[at])
			ck_abort_msg("byte %u was written", at);
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("sysvnet_window");

	tcase_add_loop_test(tests, nothing_is_given_out_twice, 0, 5);
	tcase_add_test(tests, there_is_always_room_in_the_end);
	tcase_add_test(tests, single_messages_keep_the_window);
	tcase_add_test(tests, streams_widen_and_silence_narrows);
	tcase_add_test(tests, a_lane_widens_for_a_stream);
	tcase_add_test(tests, no_page_without_a_stream);
	return unit_run("sysvnet_window", tests);
}
