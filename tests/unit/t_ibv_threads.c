/*
 * The ibv conduit in PAR: threads of two ranks send, put, poll and answer at once, through queues
 * that are short enough to fill.  All arrives once; sanitizers see the rest.
 */
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { RANKS = 2, THREADS = 3, MESSAGES = 3000, WORDS = 64, PAYLOAD = 600 };

static _Atomic unsigned requests[RANKS], replies[RANKS], done[RANKS], lost, wrong;
static uint64_t words[RANKS][THREADS][WORDS];
static struct psi_segment_name names[RANKS];

/* -- services, which any thread calls ---------------------------------------------------------- */

static void
reply_send(struct psi_port *port, uint32_t to)
{
	const struct psi_am am = psi_am_of(to, PSI_SHORT, psi_am_tag(PSI_REPLIES, 1, 0), NULL);

	while (pibv_ops.am_send(port, &am) == PSI_AGAIN)
		pibv_ops.poll(port, 1 << PSI_REPLIES, 8);
}

/* A payload is one byte all over; a request has an answer. */
static void
deliver(void *owner, const struct psi_arrival *arrival)
{
	const struct rig_owner *of = owner;
	const unsigned char *bytes = arrival->payload;

	for (size_t i = 1; i < arrival->len_bytes; i++)
		if (bytes[i] != bytes[0])
			atomic_fetch_add(&wrong, 1);
	if (arrival->network == PSI_REPLIES) {
		atomic_fetch_add(&replies[of->rank->place], 1);
		return;
	}
	atomic_fetch_add(&requests[of->rank->place], 1);
	reply_send(of->port, arrival->source);
}

/* A cookie is its rank and one. */
static void completed(uint64_t cookie) { atomic_fetch_add(&done[cookie - 1], 1); }
static void look_again(void) {}
static void knock(uint32_t process) { (void)process; }
static uint32_t knocker(void) { return PSI_NO_PEER; }

static void
unreachable(uint32_t place, const char *why)
{
	(void)place, (void)why;
	atomic_fetch_add(&lost, 1);
}

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	(void)format;
	atomic_fetch_add(&lost, 1);
}

/* -- threads ----------------------------------------------------------------------------------- */

static void
turn(struct psi_port *port)
{
	if (!pibv_ops.poll(port, PSI_BOTH_NETWORKS, 8))
		sched_yield();
}

static void
request_send(struct psi_port *port, uint32_t to, unsigned number)
{
	unsigned char payload[PAYLOAD];
	const int32_t args[2] = { 1, 2 };
	struct psi_am am = psi_am_of(to, number % 3 ? PSI_SHORT : PSI_MEDIUM,
	                             psi_am_tag(PSI_REQUESTS, 1, 2), args);

	if (am.category == PSI_MEDIUM) {
		memset(payload, (int)number, sizeof payload);
		am.payload = payload;
		am.len_bytes = number % PAYLOAD;
	}
	while (pibv_ops.am_send(port, &am) == PSI_AGAIN)
		turn(port);
}

static void
word_put(struct psi_port *port, uint32_t place, unsigned thread, unsigned number)
{
	uint64_t value = number;
	const struct psi_transfer transfer = {
		.remote = { .peer = 1 - place, .name = names[1 - place],
		            .offset = sizeof(uint64_t) * (thread * WORDS + number % WORDS) },
		.here = &value, .len_bytes = sizeof value, .cookie = place + 1, .read_now = true,
	};

	while (pibv_ops.put(port, &transfer) == PSI_AGAIN)
		turn(port);
}

static bool
is_over(uint32_t place)
{
	const unsigned all = THREADS * MESSAGES;

	return atomic_load(&requests[place]) == all && atomic_load(&replies[place]) == all &&
	       atomic_load(&done[place]) == all;
}

static void *
thread_run(void *arg)
{
	const unsigned number = (unsigned)(uintptr_t)arg, thread = number % THREADS;
	const uint32_t place = number / THREADS;
	struct psi_port *port = rig_ranks[place].port;

	for (unsigned i = 0; i < MESSAGES; i++) {
		request_send(port, 1 - place, i);
		word_put(port, place, thread, i);
		if (i % 4 == thread)
			turn(port);
	}
	while (!(is_over(0) && is_over(1)) && !atomic_load(&lost))
		turn(port);
	return NULL;
}

START_TEST(threads_send_and_poll_at_once)
{
	static struct psi_services services;
	pthread_t threads[RANKS * THREADS];

	rig_threaded = true;
	rig_set(PSI_NO_PEER, "PST_IBV_SEND_QUEUE", "16");
	rig_set(PSI_NO_PEER, "GASNET_RBUF_COUNT", "32");
	rig_set(PSI_NO_PEER, "GASNET_BBUF_COUNT", "16");
	rig_start(RANKS);
	services = rig_services;
	services.deliver = deliver;
	services.completed = completed;
	services.look_again = look_again;
	services.unreachable = unreachable;
	services.knock = knock;
	services.knocker = knocker;
	services.log = say;
	for (uint32_t place = 0; place < RANKS; place++) {
		names[place] = rig_bind(place, words[place], sizeof words[place]);
		rig_ranks[place].conduit->services = &services;
	}
	for (uintptr_t i = 0; i < RANKS * THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, thread_run, (void *)i), 0);
	for (unsigned i = 0; i < RANKS * THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(lost, 0);
	ck_assert_uint_eq(wrong, 0);
	for (uint32_t place = 0; place < RANKS; place++) {
		ck_assert_uint_eq(requests[place], THREADS * MESSAGES);
		ck_assert_uint_eq(replies[place], THREADS * MESSAGES);
		ck_assert_uint_eq(done[place], THREADS * MESSAGES);
		for (unsigned thread = 0; thread < THREADS; thread++)
			ck_assert_uint_eq(words[place][thread][(MESSAGES - 1) % WORDS],
			                  MESSAGES - 1);
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("threads");

	tcase_set_timeout(tests, 100);
	tcase_add_test(tests, threads_send_and_poll_at_once);
	return unit_run("ibv threads", tests);
}
