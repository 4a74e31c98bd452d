/* Sleeping and waking: without a time bound, so that a wake-up that is lost hangs the test. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/util/clock.h"
#include "tests/unit/sysvnet_rig.h"
#include "tests/unit/main.h"

static void
count(struct rig_rank *rank, const struct psi_arrival *got)
{
	(void)got;
	atomic_fetch_add((_Atomic uint32_t *)rank->data, 1);
}

static struct rig *
open_rig(uint32_t ranks, bool threaded, bool crowded, _Atomic uint32_t *heard)
{
	const struct rig_options options = { ranks, threaded, crowded, count };
	struct rig *rig = rig_open(&options);

	for (uint32_t place = 0; place < ranks; place++)
		rig->rank[place].data = heard;
	return rig;
}

static int
send_short(struct rig *rig, uint32_t from, uint32_t to, unsigned network)
{
	const struct psi_am am = { .peer = to, .category = PSI_SHORT, .network = (uint8_t)network };

	return sysvnet_send(rig->rank[from].port, &am);
}

static int
arm(struct rig *rig, uint32_t place, unsigned networks, uint32_t want, uint32_t *ticket_out)
{
	return sysvnet_arm(rig->rank[place].port, networks, want, ticket_out);
}

/* ------------------------------------------------------------------------- one thread --- */

/* Whether the lane is looked at or not, a message that lies there forbids to sleep. */
START_TEST(arm_sees_what_is_there)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(80, _i % 2, _i / 2, &heard);
	uint32_t ticket;

	for (uint32_t round = 0; round < 100; round++) {
		const uint32_t from = round % 79;
		const unsigned network = round % 2;

		ck_assert_int_eq(send_short(rig, from, 79, network), PSI_OK);
		ck_assert_int_eq(arm(rig, 79, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_AGAIN);
		ck_assert_int_eq(arm(rig, 79, 1u << network, PSI_NO_PEER, &ticket), PSI_AGAIN);
		ck_assert_int_eq(arm(rig, 79, 1u << (1 - network), PSI_NO_PEER, &ticket), PSI_OK);
		sysvnet_disarm(rig->rank[79].port);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[79].port, PSI_BOTH_NETWORKS, 4), 1);
		/* the lane is looked at now: the next message needs no announcement */
		ck_assert_int_eq(send_short(rig, from, 79, network), PSI_OK);
		ck_assert_int_eq(arm(rig, 79, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_AGAIN);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[79].port, PSI_BOTH_NETWORKS, 4), 1);
		if (round % 3)
			continue;
		ck_assert_int_eq(arm(rig, 79, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
		sysvnet_disarm(rig->rank[79].port);
	}
	rig_close(rig);
}
END_TEST

/* What rings between arm and sleep ends the sleep before it begins; what came before does not. */
START_TEST(a_wake_after_the_ticket_counts)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(2, _i % 2, _i / 2, &heard);
	struct sysvnet_port *port = rig->rank[1].port;
	uint32_t ticket;
	uint64_t from;

	for (int round = 0; round < 100; round++) {
		sysvnet_wake(port);
		ck_assert_int_eq(arm(rig, 1, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
		sysvnet_wake(port);
		sysvnet_sleep(port, ticket, 0);
		sysvnet_disarm(port);

		ck_assert_int_eq(arm(rig, 1, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
		ck_assert_int_eq(send_short(rig, 0, 1, PSI_REQUESTS), PSI_OK);
		sysvnet_sleep(port, ticket, 0);
		sysvnet_disarm(port);
		ck_assert_uint_eq(sysvnet_poll(port, PSI_BOTH_NETWORKS, 4), 1);
	}
	ck_assert_int_eq(arm(rig, 1, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
	sysvnet_wake(port);
	ck_assert_int_eq(sysvnet_fd_sleep_begin(port, ticket), PSI_AGAIN);
	sysvnet_disarm(port);
	ck_assert_int_eq(arm(rig, 1, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
	from = psi_now_ns();
	sysvnet_sleep(port, ticket, 20000000);
	ck_assert_uint_ge(psi_now_ns() - from, 10000000);
	sysvnet_disarm(port);
	rig_close(rig);
}
END_TEST

/* Somebody who waits for nothing is not rung: with one thread, disarm takes the announcement
 * back. */
START_TEST(no_wake_for_a_rank_that_is_awake)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(2, false, _i, &heard);
	uint32_t ticket;

	for (int round = 0; round < 50; round++) {
		ck_assert_int_eq(arm(rig, 1, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
		sysvnet_disarm(rig->rank[1].port);
		ck_assert_int_eq(send_short(rig, 0, 1, PSI_REQUESTS), PSI_OK);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 4), 1);
		sysvnet_wake(rig->rank[1].port);
	}
	ck_assert_uint_eq(rig_count(&rig->rank[0], SYSVNET_COUNT_WAKEUPS_SENT), 0);
	ck_assert_uint_eq(rig_count(&rig->rank[1], SYSVNET_COUNT_WAKEUPS_SENT), 0);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------------------ many threads --- */

struct sleeper {
	struct rig *rig;
	uint32_t place, want;
	unsigned networks;
	bool on_fd;
	bool (*until)(struct sleeper *sleeper);
	_Atomic uint32_t *heard;
	_Atomic uint32_t flag;
	_Atomic uint32_t sleeps;
	pthread_t thread;
	struct psi_claim claim;
};

/* Polls and sleeps, without a bound, until the condition holds. */
static void
sleep_until(struct sleeper *s)
{
	struct sysvnet_port *port = s->rig->rank[s->place].port;
	uint32_t ticket;

	while (!s->until(s)) {
		if (sysvnet_poll(port, s->networks, 16))
			continue;
		if (sysvnet_arm(port, s->networks, s->want, &ticket) != PSI_OK)
			continue;
		if (!s->until(s)) {
			atomic_fetch_add(&s->sleeps, 1);
			if (s->on_fd)
				rig_sleep_on_fd(&s->rig->rank[s->place], ticket);
			else
				sysvnet_sleep(port, ticket, 0);
		}
		sysvnet_disarm(port);
	}
}

static void *
sleeper_main(void *argument)
{
	sleep_until(argument);
	return NULL;
}

/* Starts the sleeper and waits until it went to sleep, as far as can be seen from outside. */
static void
start_asleep(struct sleeper *s)
{
	atomic_store(&s->sleeps, 0);
	atomic_store(&s->flag, 0);
	ck_assert_int_eq(pthread_create(&s->thread, NULL, sleeper_main, s), 0);
	while (!atomic_load(&s->sleeps))
		sched_yield();
	for (int i = 0; i < 20; i++)
		sched_yield();
}

static bool
has_heard(struct sleeper *s)
{
	return atomic_load(s->heard) > 0;
}

START_TEST(a_message_wakes)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(3, _i % 2, _i / 2 % 2, &heard);
	struct sleeper s = { .rig = rig, .place = 1, .want = PSI_NO_PEER, .until = has_heard,
	                     .networks = PSI_BOTH_NETWORKS, .heard = &heard,
	                     .on_fd = _i / 4 };

	for (uint32_t round = 0; round < 300; round++) {
		atomic_store(&heard, 0);
		start_asleep(&s);
		ck_assert_int_eq(send_short(rig, round % 2 * 2, 1, round / 2 % 2), PSI_OK);
		pthread_join(s.thread, NULL);
	}
	rig_close(rig);
}
END_TEST

static bool
lane_has_room(struct sleeper *s)
{
	return send_short(s->rig, s->place, s->want, PSI_REQUESTS) == PSI_OK;
}

/* Who found a lane full sleeps until the receiver has consumed from it. */
START_TEST(room_in_a_lane_wakes)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(3, _i % 2, _i / 2 % 2, &heard);
	struct sleeper s = { .rig = rig, .place = 1, .want = 2, .until = lane_has_room,
	                     .networks = PSI_BOTH_NETWORKS, .heard = &heard,
	                     .on_fd = _i / 4 };

	for (uint32_t round = 0; round < 100; round++) {
		while (send_short(rig, 1, 2, PSI_REQUESTS) == PSI_OK)
			;
		start_asleep(&s);
		while (sysvnet_poll(rig->rank[2].port, PSI_BOTH_NETWORKS, 1))
			;
		pthread_join(s.thread, NULL);
		while (sysvnet_poll(rig->rank[2].port, PSI_BOTH_NETWORKS, 1))
			;
	}
	rig_close(rig);
}
END_TEST

static bool
buffer_is_free(struct sleeper *s)
{
	s->claim = (struct psi_claim){ .peer = s->want, .network = PSI_REQUESTS,
	                               .least_bytes = 65536, .most_bytes = 65536 };
	return sysvnet_claim(s->rig->rank[s->place].port, &s->claim) == PSI_OK;
}

/* A send that has promised itself a place, and then finds no buffer, rings who went to sleep for
 * want of that place. */
START_TEST(a_place_not_used_wakes)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(2, true, _i, &heard);
	struct sysvnet_port *port = rig->rank[1].port;
	struct psi_claim claim = { .peer = 0, .most_bytes = SYSVNET_LARGE_BYTES };
	static unsigned char payload[SYSVNET_LARGE_BYTES];
	const struct psi_am am = {
		.peer = 0, .category = PSI_MEDIUM, .payload = payload, .len_bytes = sizeof payload,
	};
	uint32_t ticket;
	uint64_t from;

	while (sysvnet_claim(port, &claim) == PSI_OK)
		continue;
	ck_assert_int_eq(arm(rig, 1, PSI_BOTH_NETWORKS, 0, &ticket), PSI_OK);
	ck_assert_int_eq(sysvnet_send(port, &am), PSI_AGAIN);
	from = psi_now_ns();
	sysvnet_sleep(port, ticket, 5000000000u);
	ck_assert_uint_lt(psi_now_ns() - from, 4000000000u);
	rig_close(rig);
}
END_TEST

/* Who found no buffer sleeps until one is given back: by the receiver, which consumed its message,
 * or by a third rank, which cancels. */
START_TEST(room_in_the_pool_wakes)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(3, _i % 2, _i / 2 % 2, &heard);
	struct sleeper s = { .rig = rig, .place = 1, .want = 2, .until = buffer_is_free,
	                     .networks = PSI_BOTH_NETWORKS, .heard = &heard,
	                     .on_fd = _i / 4 };
	struct sleeper owner = { .rig = rig, .place = 0, .want = 2 };

	for (uint32_t round = 0; round < 100; round++) {
		struct psi_claim held[SYSVNET_LARGE_COUNT];

		for (int i = 0; i < SYSVNET_LARGE_COUNT; i++) {
			ck_assert(buffer_is_free(&owner));
			held[i] = owner.claim;
		}
		start_asleep(&s);
		if (round % 2) {
			const struct psi_am am = { .peer = 2, .category = PSI_MEDIUM,
			                           .network = PSI_REQUESTS, .len_bytes = 5 };

			ck_assert_int_eq(sysvnet_publish(rig->rank[0].port, &held[0], &am),
			                 PSI_OK);
			ck_assert_uint_eq(sysvnet_poll(rig->rank[2].port, PSI_BOTH_NETWORKS, 4),
			                  1);
		} else {
			sysvnet_cancel(rig->rank[0].port, &held[0]);
		}
		pthread_join(s.thread, NULL);
		sysvnet_cancel(rig->rank[1].port, &s.claim);
		for (int i = 1; i < SYSVNET_LARGE_COUNT; i++)
			sysvnet_cancel(rig->rank[0].port, &held[i]);
	}
	rig_close(rig);
}
END_TEST

static bool
flag_is_set(struct sleeper *s)
{
	return atomic_load_explicit(&s->flag, memory_order_relaxed);
}

START_TEST(wake_ends_a_sleep)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(2, _i % 2, _i / 2 % 2, &heard);
	struct sleeper s = { .rig = rig, .place = 1, .want = PSI_NO_PEER, .until = flag_is_set,
	                     .networks = PSI_BOTH_NETWORKS, .heard = &heard,
	                     .on_fd = _i / 4 };

	/* By its own process, and by another of the host. */
	for (uint32_t round = 0; round < 300; round++) {
		start_asleep(&s);
		atomic_store_explicit(&s.flag, 1, memory_order_relaxed);
		if (round % 2)
			sysvnet_wake(rig->rank[1].port);
		else
			sysvnet_wake_host(rig->rank[0].port);
		pthread_join(s.thread, NULL);
	}
	rig_close(rig);
}
END_TEST

/* A thread that polls takes lanes over on which a sleeping one of the same port counted: it is
 * rung, and comes back to sleep on them, so that the next message wakes it when nobody polls any
 * more. */
START_TEST(a_poll_beside_a_sleeper_wakes_it)
{
	_Atomic uint32_t heard = 0;
	struct rig *rig = open_rig(2, true, _i, &heard);
	struct sleeper s = { .rig = rig, .place = 1, .want = PSI_NO_PEER, .until = flag_is_set,
	                     .networks = PSI_BOTH_NETWORKS, .heard = &heard };

	for (uint32_t round = 0; round < 200; round++) {
		atomic_store(&heard, 0);
		start_asleep(&s);
		ck_assert_int_eq(send_short(rig, 0, 1, PSI_REQUESTS), PSI_OK);
		sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 4);
		ck_assert_int_eq(send_short(rig, 0, 1, PSI_REQUESTS), PSI_OK);
		while (atomic_load(&heard) < 2)
			sched_yield();
		atomic_store(&s.flag, 1);
		sysvnet_wake(rig->rank[1].port);
		pthread_join(s.thread, NULL);
	}
	rig_close(rig);
}
END_TEST

struct slow {
	_Atomic uint32_t first, later;
	uint32_t expected;
};

/* The first message's handler does not return before all later ones are handled. */
static void
wait_for_later(struct rig_rank *rank, const struct psi_arrival *got)
{
	struct slow *slow = rank->data;
	unsigned char *payload = got->payload;

	ck_assert(memcmp(payload, rig_pattern(got->handler), got->len_bytes) == 0);
	if (got->handler) {
		atomic_fetch_add(&slow->later, 1);
		return;
	}
	atomic_store(&slow->first, 1);
	while (atomic_load(&slow->later) < slow->expected)
		sched_yield();
	/* and what it was given is still there */
	ck_assert(memcmp(payload, rig_pattern(0), got->len_bytes) == 0);
}

static void *
poll_once(void *argument)
{
	struct rig_rank *rank = argument;

	while (!sysvnet_poll(rank->port, PSI_BOTH_NETWORKS, 1))
		sched_yield();
	return NULL;
}

/* Several threads on a port: a handler that takes its time holds up no other message, of any
 * size. */
START_TEST(a_slow_handler_delays_no_message)
{
	static const size_t lengths[] = { 40, 2000, 5000, 65536 };
	const struct rig_options options = { 2, true, true, wait_for_later };
	struct rig *rig = rig_open(&options);
	struct slow slow = { .first = 0, .expected = 500 };
	struct psi_am am = { .peer = 1, .category = PSI_MEDIUM, .payload = rig_pattern(0),
	                     .len_bytes = lengths[_i] };
	pthread_t thread;

	rig->rank[1].data = &slow;
	ck_assert_int_eq(sysvnet_send(rig->rank[0].port, &am), PSI_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, poll_once, &rig->rank[1]), 0);
	while (!atomic_load(&slow.first))
		sched_yield();
	for (uint32_t i = 1; i <= slow.expected; i++) {
		am.handler = (uint8_t)(1 + i % 250);
		am.payload = rig_pattern(am.handler);
		am.len_bytes = lengths[i % 4];
		ck_assert_int_eq(sysvnet_send(rig->rank[0].port, &am), PSI_OK);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 8), 1);
	}
	pthread_join(thread, NULL);
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("sleep");

	tcase_add_loop_test(tests, arm_sees_what_is_there, 0, 4);
	tcase_add_loop_test(tests, a_wake_after_the_ticket_counts, 0, 4);
	tcase_add_loop_test(tests, no_wake_for_a_rank_that_is_awake, 0, 2);
	tcase_add_loop_test(tests, a_message_wakes, 0, 8);
	tcase_add_loop_test(tests, room_in_a_lane_wakes, 0, 8);
	tcase_add_loop_test(tests, room_in_the_pool_wakes, 0, 8);
	tcase_add_loop_test(tests, a_place_not_used_wakes, 0, 2);
	tcase_add_loop_test(tests, wake_ends_a_sleep, 0, 8);
	tcase_add_loop_test(tests, a_poll_beside_a_sleeper_wakes_it, 0, 2);
	tcase_add_loop_test(tests, a_slow_handler_delays_no_message, 0, 4);
	return unit_run("sysvnet sleep", tests);
}
