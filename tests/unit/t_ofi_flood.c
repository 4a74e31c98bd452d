/*
 * The ofi conduit under load: all send to all at once, requests are answered, sizes are random, and
 * nothing is lost or waits for ever; a receiver that does not poll bounds its senders; what a
 * stranger sends is dropped.
 */
#include "tests/unit/main.h"
#include "tests/unit/ofi_rig.h"

#include "runtime/util/clock.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 3000, THREADS = 3, MOST_BYTES = POFI_MEDIUM_BYTES };

static _Atomic uint64_t requests, replies;

/* Says that the client must not wait here for more than replies. */
static void
answer(struct psi_port *port, const struct psi_arrival *arrival)
{
	const struct psi_am am = psi_am_medium(arrival->source, psi_am_tag(PSI_REPLIES, 201, 1),
	                                       arrival->args, arrival->payload,
	                                       arrival->len_bytes);

	ofi_send(port, &am, 1 << PSI_REPLIES);
}

static void
listen_and_answer(struct psi_port *port, const struct psi_arrival *arrival)
{
	const uint32_t seed = (uint32_t)arrival->args[0];

	if (arrival->category == PSI_MEDIUM)
		ck_assert(ofi_is_filled(arrival->payload, arrival->len_bytes, seed));
	if (arrival->network == PSI_REPLIES) {
		atomic_fetch_add(&replies, 1);
		return;
	}
	if (arrival->category == PSI_MEDIUM)
		answer(port, arrival);
	atomic_fetch_add(&requests, 1);
}

static uint32_t
random_next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Mediums, which are answered, and Shorts, which are not; how many of the first. */
static unsigned
flood(uint32_t seed, unsigned messages)
{
	unsigned char payload[MOST_BYTES];
	unsigned mediums = 0;

	for (unsigned i = 0; i < messages; i++) {
		const uint32_t step = 1 + random_next(&seed) % (ofi_self.places - 1);
		const uint32_t peer = (ofi_self.place + step) % ofi_self.places;
		const size_t len_bytes = random_next(&seed) %
		                         (i % 8 ? 100 : ofi_self.attributes.max_medium_bytes + 1);
		const int32_t arg = (int32_t)random_next(&seed);
		const uint32_t tag = psi_am_tag(PSI_REQUESTS, 200, 1);
		struct psi_am am = psi_am_of(peer, PSI_SHORT, tag, &arg);

		if (i % 3) {
			ofi_fill(payload, len_bytes, (uint32_t)arg);
			am = psi_am_medium(peer, tag, &arg, payload, len_bytes);
			mediums++;
		}
		ofi_send(ofi_self.port, &am, PSI_BOTH_NETWORKS);
	}
	return mediums;
}

/* All requests of all have been handled, and all replies have come. */
static void
settle(uint64_t sent, uint64_t answers)
{
	uint64_t all = sent * ofi_self.places;

	OFI_UNTIL(atomic_load(&replies) == answers);
	atomic_store(&ofi_words[ofi_self.place], 0);
	ofi_meet();
	for (uint64_t sum = 0; sum < all;) {
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
		atomic_store(&ofi_words[ofi_self.place], atomic_load(&requests));
		sum = 0;
		for (uint32_t place = 0; place < ofi_self.places; place++)
			sum += atomic_load(&ofi_words[place]);
		ck_assert_uint_le(sum, all);
	}
	ofi_meet();
}

static void
all_to_all(void)
{
	ofi_self.deliver = listen_and_answer;
	settle(MESSAGES, flood(ofi_self.place + 1, MESSAGES));
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_DROPPED], 0);
}

START_TEST(two_flood_each_other)
{
	ofi_run(2, false, true, all_to_all);
}
END_TEST

START_TEST(three_flood_each_other)
{
	ofi_run(3, false, true, all_to_all);
}
END_TEST

START_TEST(few_small_receive_buffers_are_enough)
{
	ofi_set("PST_OFI_RECEIVE_BUFFERS", "2");
	ofi_set("PST_OFI_RECEIVE_SIZE", "1");
	ofi_run(3, false, true, all_to_all);
}
END_TEST

/* Half of it is none, so each network has one buffer all the same. */
START_TEST(a_queue_of_one_send_is_enough)
{
	setenv("FI_OFI_RXM_TX_SIZE", "1", 1);
	ofi_set("PST_OFI_PROVIDER", "tcp;ofi_rxm");
	ofi_run(2, false, true, all_to_all);
	unsetenv("FI_OFI_RXM_TX_SIZE");
}
END_TEST

/* Of libfabric 1.17, a provider that carries messages of 64 KiB as a whole; of later ones, none has
 * that name. */
START_TEST(large_messages_are_whole_where_the_provider_carries_them)
{
	ofi_set("PST_OFI_PROVIDER", "net");
	if (ofi_has_provider("net"))
		ofi_run(3, false, true, all_to_all);
}
END_TEST

/* Is there a file of this process in /dev/shm? */
static bool
has_shm_file(void)
{
	DIR *dir = opendir("/dev/shm");
	char prefix[24];
	bool found = false;

	ck_assert_ptr_nonnull(dir);
	snprintf(prefix, sizeof prefix, "%d:", (int)getpid());
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		found = found || strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(dir);
	return found;
}

static void
all_to_all_leave(void)
{
	const struct psi_am am = psi_am_of(0, PSI_SHORT, psi_am_tag(PSI_REPLIES, 201, 0), NULL);

	all_to_all();
	while (pofi_ops.drain(ofi_self.conduit) == PSI_AGAIN)
		;
	ck_assert(!has_shm_file());
	/* a thread that still runs does no harm */
	ck_assert_int_eq(pofi_ops.am_send(ofi_self.port, &am), PSI_AGAIN);
	ck_assert_uint_eq(pofi_ops.poll(ofi_self.port, PSI_BOTH_NETWORKS, 8), 0);
	ck_assert_int_eq(pofi_ops.drain(ofi_self.conduit), PSI_OK);
}

/* Its receive buffers take FI_OPT_MIN_MULTI_RECV late; its files are in /dev/shm. */
START_TEST(three_flood_each_other_over_shm)
{
	ofi_set("PST_OFI_PROVIDER", "shm");
	if (ofi_has_provider("shm"))
		ofi_run(3, false, true, all_to_all_leave);
}
END_TEST

/* -- threads ----------------------------------------------------------------------------------- */

static _Atomic uint64_t answered;

static void *
thread_floods(void *number)
{
	const uint32_t seed = ofi_self.place * THREADS + *(const uint32_t *)number;

	atomic_fetch_add(&answered, flood(seed, MESSAGES / THREADS));
	return NULL;
}

static void
threads_flood(void)
{
	pthread_t threads[THREADS];
	uint32_t numbers[THREADS];

	ofi_self.deliver = listen_and_answer;
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, thread_floods, &numbers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	settle(MESSAGES / THREADS * THREADS, atomic_load(&answered));
}

START_TEST(threads_of_two_processes_flood_each_other)
{
	ofi_run(2, true, true, threads_flood);
}
END_TEST

/* -- credit ------------------------------------------------------------------------------------ */

/* How many of so many tries were taken. */
static unsigned
requests_taken(unsigned tries)
{
	const int32_t arg = 0;
	const struct psi_am am = psi_am_of(1, PSI_SHORT, psi_am_tag(PSI_REQUESTS, 200, 1), &arg);
	unsigned taken = 0;

	for (unsigned i = 0; i < tries; i++) {
		if (pofi_ops.am_send(ofi_self.port, &am) == PSI_OK)
			taken++;
		else
			ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	}
	return taken;
}

/* Until so many were taken, or the rest will never be: process 1 may not get to run for long where
 * CPUs are busy, and until it does the provider is not connected, and credit does not come back. */
static unsigned
requests_taken_in_time(unsigned most)
{
	const uint64_t until_ns = psi_now_ns() + 20000000000;
	unsigned taken = 0;

	while (taken < most && psi_now_ns() < until_ns)
		taken += requests_taken(1);
	return taken;
}

/* Process 1 looks after replies alone at first, so it takes no request. */
static void
one_is_slow(void)
{
	enum { TRIES = 20000 };
	const int32_t arg = 0;
	const struct psi_am reply = psi_am_of(1, PSI_SHORT, psi_am_tag(PSI_REPLIES, 201, 1), &arg);

	ofi_self.deliver = listen_and_answer;
	if (ofi_self.place == 0) {
		ck_assert_uint_eq(requests_taken_in_time(POFI_CREDITS_MOST), POFI_CREDITS_MOST);
		ck_assert_uint_eq(requests_taken(TRIES), 0);
		ofi_send(ofi_self.port, &reply, PSI_BOTH_NETWORKS);
		ck_assert_uint_ge(ofi_self.count[PSI_COUNT_REFUSED], TRIES);
	} else {
		while (!atomic_load(&replies))
			ofi_turn(ofi_self.port, 1 << PSI_REPLIES);
		ck_assert_uint_eq(atomic_load(&requests), 0);
	}
	ofi_meet();
	if (ofi_self.place == 0)
		ck_assert_uint_gt(requests_taken_in_time(POFI_CREDITS_MOST / 2 + 1),
		                  POFI_CREDITS_MOST / 2);
	ofi_meet();
}

START_TEST(requests_to_one_who_is_slow_are_bounded_and_replies_pass_them)
{
	ofi_run(2, false, true, one_is_slow);
}
END_TEST

/* -- strangers --------------------------------------------------------------------------------- */

/* Process 2 is of another job, and knows the address of process 0. */
static void
stranger_sends(void)
{
	const int32_t arg = 0;
	const struct psi_am am = psi_am_of(0, PSI_SHORT, psi_am_tag(PSI_REQUESTS, 200, 1), &arg);

	ofi_self.deliver = listen_and_answer;
	if (ofi_self.place == 2)
		ofi_self.conduit->tag ^= 1;
	if (ofi_self.place != 0)
		ofi_send(ofi_self.port, &am, PSI_BOTH_NETWORKS);
	if (ofi_self.place == 0)
		OFI_UNTIL(ofi_self.count[PSI_COUNT_DROPPED] == 1 && atomic_load(&requests) == 1);
	ofi_meet();
}

START_TEST(what_a_stranger_sends_is_dropped_and_counted)
{
	ofi_run(3, false, true, stranger_sends);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ofi");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, two_flood_each_other);
	tcase_add_test(tests, three_flood_each_other);
	tcase_add_test(tests, few_small_receive_buffers_are_enough);
	tcase_add_test(tests, a_queue_of_one_send_is_enough);
	tcase_add_test(tests, large_messages_are_whole_where_the_provider_carries_them);
	tcase_add_test(tests, three_flood_each_other_over_shm);
	tcase_add_test(tests, threads_of_two_processes_flood_each_other);
	tcase_add_test(tests, requests_to_one_who_is_slow_are_bounded_and_replies_pass_them);
	tcase_add_test(tests, what_a_stranger_sends_is_dropped_and_counted);
	return unit_run("ofi conduit, load", tests);
}
