/* Polling: replies before requests, every sender in turn, quiet lanes, handlers that answer. */
#include <string.h>

#include "tests/unit/sysvnet_rig.h"
#include "tests/unit/main.h"

struct counted {
	uint32_t heard, next_in_order;
};

static void
count_in_order(struct rig_rank *rank, const struct psi_arrival *got)
{
	struct counted *counted = rank->data;

	ck_assert_int_eq(got->args[0], (int32_t)counted->next_in_order);
	counted->next_in_order++;
	counted->heard++;
}

/* A message without payload. */
static void
send_one(struct rig *rig, unsigned network, uint32_t number)
{
	ck_assert_int_eq(rig_send_number(rig, 0, 1, network, 0, number), PSI_OK);
}

/* A poll that finds replies leaves requests to the next, which takes them even if there are replies
 * again. */
START_TEST(replies_come_first_but_not_twice)
{
	struct rig_options options = { 2, _i == 1, true, count_in_order };
	struct rig *rig = rig_open(&options);
	struct sysvnet_port *port = rig->rank[1].port;
	struct counted counted = { 0, 0 };

	rig->rank[1].data = &counted;
	for (uint32_t round = 0; round < 5 * 300; round += 5) {
		for (uint32_t i = 0; i < 2; i++)
			send_one(rig, PSI_REPLIES, round + i);
		send_one(rig, PSI_REQUESTS, round + 4);
		ck_assert_uint_eq(sysvnet_poll(port, PSI_BOTH_NETWORKS, 8), 2);
		send_one(rig, PSI_REPLIES, round + 2);
		ck_assert_uint_eq(sysvnet_poll(port, 1u << PSI_REPLIES, 8), 1);
		send_one(rig, PSI_REPLIES, round + 3);
		ck_assert_uint_eq(sysvnet_poll(port, PSI_BOTH_NETWORKS, 8), 2);
		ck_assert_uint_eq(counted.heard, round + 5);
	}
	rig_close(rig);
}
END_TEST

/* ----------------------------------------------------------------------- active lanes --- */

static void
count_by_source(struct rig_rank *rank, const struct psi_arrival *got)
{
	uint32_t *heard = rank->data;

	heard[got->source]++;
}

static void
send_short_to(struct rig *rig, uint32_t from, uint32_t to, unsigned network)
{
	const struct psi_am am = { .peer = to, .category = PSI_SHORT, .network = (uint8_t)network };

	ck_assert_int_eq(sysvnet_send(rig->rank[from].port, &am), PSI_OK);
}

/* Every index of a sender, alone and in company, makes its lane heard; nobody else's. */
START_TEST(every_sender_is_heard)
{
	struct rig_options options = { 300, _i % 2, _i / 2, count_by_source };
	struct rig *rig = rig_open(&options);
	uint32_t heard[300] = { 0 }, state = 7;
	const uint32_t to = 131;

	rig->rank[to].data = heard;
	for (uint32_t from = 0; from < 300; from++) {
		unsigned network = from % 2;

		send_short_to(rig, from, to, network);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[to].port, 1u << (1 - network), 500), 0);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[to].port, 1u << network, 500), 1);
		ck_assert_uint_eq(heard[from], 1);
	}
	for (int round = 0; round < 50; round++) {
		uint32_t some = 0, got = 0, now;

		for (uint32_t from = 0; from < 300; from++) {
			state = state * 1664525u + 1013904223u;
			if (state >> 29)
				continue;
			send_short_to(rig, from, to, state >> 8 & 1);
			some++;
		}
		while ((now = sysvnet_poll(rig->rank[to].port, PSI_BOTH_NETWORKS, 10)))
			got += now;
		ck_assert_uint_eq(got, some);
	}
	rig_close(rig);
}
END_TEST

/* Lanes that have been quiet for long are not looked at any more; their next message is found. */
START_TEST(quiet_lanes_are_dropped_and_found_again)
{
	struct rig_options options = { 100, _i % 2, _i / 2, count_by_source };
	struct rig *rig = rig_open(&options);
	uint32_t heard[100] = { 0 };
	uint64_t announced;

	rig->rank[99].data = heard;
	for (uint32_t round = 1; round <= 4; round++) {
		for (uint32_t from = 0; from < 99; from++)
			send_short_to(rig, from, 99, PSI_REQUESTS);
		while (sysvnet_poll(rig->rank[99].port, PSI_BOTH_NETWORKS, 1000))
			;
		for (uint32_t from = 0; from < 99; from++)
			ck_assert_uint_eq(heard[from], round);
		ck_assert_uint_eq(rig->rank[99].port->active_count[PSI_REQUESTS], 99);
		for (long i = 0; rig->rank[99].port->active_count[PSI_REQUESTS] > 2; i++) {
			sysvnet_poll(rig->rank[99].port, PSI_BOTH_NETWORKS, 1000);
			ck_assert_int_lt(i, 1000 * 1000);
		}
		announced = rig_count(&rig->rank[5], SYSVNET_COUNT_ANNOUNCED);
		send_short_to(rig, 5, 99, PSI_REQUESTS);
		send_short_to(rig, 5, 99, PSI_REQUESTS);
		ck_assert_uint_gt(rig_count(&rig->rank[5], SYSVNET_COUNT_ANNOUNCED), announced);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[99].port, PSI_BOTH_NETWORKS, 9), 2);
		heard[5] = round;
	}
	ck_assert_uint_gt(rig_count(&rig->rank[99], SYSVNET_COUNT_UNPOLLED), 200);
	rig_close(rig);
}
END_TEST

/* Some senders never pause; with a small budget, all are heard all the same. */
START_TEST(no_sender_starves_another)
{
	struct rig_options options = { 5, _i == 1, true, count_by_source };
	struct rig *rig = rig_open(&options);
	uint32_t heard[5] = { 0 };

	rig->rank[4].data = heard;
	for (int round = 0; round < 4000; round++) {
		for (uint32_t from = 0; from < 4; from++) {
			const struct psi_am am = { .peer = 4, .category = PSI_SHORT };

			while (sysvnet_send(rig->rank[from].port, &am) == PSI_OK)
				;
		}
		sysvnet_poll(rig->rank[4].port, PSI_BOTH_NETWORKS, 1);
	}
	for (uint32_t from = 0; from < 4; from++)
		ck_assert_uint_ge(heard[from], 500);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------------------------ replies --- */

struct echo {
	uint32_t requests, replies;
};

static void
answer(struct rig_rank *rank, const struct psi_arrival *got)
{
	struct echo *echo = rank->data;
	const struct psi_am am = {
		.peer = got->source, .category = got->category, .network = PSI_REPLIES,
		.nargs = got->nargs, .args = got->args, .payload = got->payload,
		.len_bytes = got->len_bytes,
	};

	if (got->network == PSI_REPLIES) {
		echo->replies++;
		ck_assert(memcmp(got->payload, rig_pattern((uint32_t)got->args[0]),
		                 got->len_bytes) == 0);
		return;
	}
	echo->requests++;
	while (sysvnet_send(rank->port, &am) == PSI_AGAIN)
		sysvnet_poll(rank->port, 1u << PSI_REPLIES, 4);
}

/* A handler answers with what it was given, while it lies where it arrived. */
START_TEST(handlers_answer)
{
	struct rig_options options = { 3, _i == 1, true, answer };
	struct rig *rig = rig_open(&options);
	struct echo echo[3] = { { 0, 0 } };

	for (uint32_t place = 0; place < 3; place++)
		rig->rank[place].data = &echo[place];
	for (uint32_t i = 0; i < 6000; i++) {
		ck_assert_int_eq(rig_send_number(rig, i % 3, (i + i / 3) % 3, PSI_REQUESTS,
		                                 i * 37 % 65537, i), PSI_OK);
		for (uint32_t place = 0; place < 3; place++)
			sysvnet_poll(rig->rank[place].port, PSI_BOTH_NETWORKS, 4);
		for (uint32_t place = 0; place < 3; place++)
			sysvnet_poll(rig->rank[place].port, PSI_BOTH_NETWORKS, 4);
		ck_assert_uint_eq(echo[0].replies + echo[1].replies + echo[2].replies, i + 1);
	}
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("poll");

	tcase_add_loop_test(tests, replies_come_first_but_not_twice, 0, 2);
	tcase_add_loop_test(tests, every_sender_is_heard, 0, 4);
	tcase_add_loop_test(tests, quiet_lanes_are_dropped_and_found_again, 0, 4);
	tcase_add_loop_test(tests, no_sender_starves_another, 0, 2);
	tcase_add_loop_test(tests, handlers_answer, 0, 2);
	return unit_run("sysvnet poll", tests);
}
