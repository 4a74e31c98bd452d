/*
 * The ofi conduit: what is sent arrives, once and whole, over the loopback interface: Shorts,
 * Mediums of every size, the word that a Long is there, and replies; to each port its own.
 */
#include "tests/unit/main.h"
#include "tests/unit/ofi_rig.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct {
	unsigned count[PSI_NETWORKS];
	struct psi_arrival last;
	int32_t args[PSI_MAX_ARGS];
	struct psi_port *port;
} heard;

/* Its arguments are the seed, and the seed and so on. */
static bool
args_are(const struct psi_arrival *arrival, uint32_t seed)
{
	for (unsigned i = 0; i < arrival->nargs; i++)
		if (arrival->args[i] != (int32_t)(seed + i))
			return false;
	return true;
}

static void
listen_to(struct psi_port *port, const struct psi_arrival *arrival)
{
	const uint32_t seed = arrival->nargs ? (uint32_t)arrival->args[0] : 0;

	ck_assert(args_are(arrival, seed));
	heard.count[arrival->network]++;
	heard.last = *arrival;
	heard.port = port;
	if (arrival->category == PSI_MEDIUM) {
		ck_assert_uint_eq((uintptr_t)arrival->payload % 16, 0);
		ck_assert(ofi_is_filled(arrival->payload, arrival->len_bytes, seed));
		memset(arrival->payload, 0xee, arrival->len_bytes);     /* it is writable */
	}
}

static void
send_seeded(uint32_t peer, unsigned category, unsigned network, unsigned nargs, const void *payload,
            size_t len_bytes, uint32_t seed)
{
	int32_t args[PSI_MAX_ARGS];
	struct psi_am am = psi_am_of(peer, category, psi_am_tag(network, 200, nargs), args);

	for (unsigned i = 0; i < nargs; i++)
		args[i] = (int32_t)(seed + i);
	am.payload = payload;
	am.len_bytes = len_bytes;
	if (category == PSI_LONG)
		am.dest = (void *)(uintptr_t)0x123456789abcd0;
	ofi_send(ofi_self.port, &am, PSI_BOTH_NETWORKS);
}

static uint32_t other(void) { return 1 - ofi_self.place; }

/* -- Shorts and the word of a Long ------------------------------------------------------------- */

static void
shorts(void)
{
	ofi_self.deliver = listen_to;
	for (unsigned nargs = 0; nargs <= PSI_MAX_ARGS; nargs++) {
		for (unsigned network = 0; network < PSI_NETWORKS; network++) {
			/* of all so far: the other's may come while this one still meets */
			send_seeded(other(), PSI_SHORT, network, nargs, NULL, 0, 7 * nargs);
			OFI_UNTIL(heard.count[network] == nargs + 1);
			ck_assert_uint_eq(heard.last.source, other());
			ck_assert_uint_eq(heard.last.handler, 200);
			ck_assert_uint_eq(heard.last.category, PSI_SHORT);
			ck_assert_uint_eq(heard.last.nargs, nargs);
			ofi_meet();
		}
	}
}

START_TEST(shorts_arrive_with_their_arguments)
{
	ofi_run(2, false, true, shorts);
}
END_TEST

static void
long_word(void)
{
	ofi_self.deliver = listen_to;
	send_seeded(other(), PSI_LONG, PSI_REQUESTS, 3, NULL, 1 << 30, 5);
	OFI_UNTIL(heard.count[PSI_REQUESTS]);
	ck_assert_uint_eq(heard.last.category, PSI_LONG);
	ck_assert_uint_eq(heard.last.len_bytes, 1 << 30);
	ck_assert_uint_eq((uintptr_t)heard.last.payload, 0x123456789abcd0);
	ofi_meet();
}

START_TEST(a_long_tells_where_its_payload_is)
{
	ofi_run(2, false, true, long_word);
}
END_TEST

/* -- Mediums ----------------------------------------------------------------------------------- */

/* All small ones, some of the larger, and the largest. */
static size_t
size_next(size_t len_bytes, size_t most)
{
	const size_t next = len_bytes + (len_bytes < 300 ? 1 : 233);

	return len_bytes < most && next > most ? most : next;
}

static void
mediums(void)
{
	static unsigned char payload[POFI_MEDIUM_BYTES];
	const size_t most = pofi_ops.am_max_medium(ofi_self.port, other(), PSI_REQUESTS, 16);
	unsigned sent = 0;

	ck_assert_uint_le(most, sizeof payload);
	ck_assert_uint_ge(most, 512);
	ofi_self.deliver = listen_to;
	for (size_t len_bytes = 0; len_bytes <= most; len_bytes = size_next(len_bytes, most)) {
		const uint32_t seed = (uint32_t)len_bytes * 2 + ofi_self.place;
		const unsigned nargs = 1 + sent % PSI_MAX_ARGS;

		ofi_fill(payload, len_bytes, seed);
		send_seeded(other(), PSI_MEDIUM, sent % 2, nargs, payload, len_bytes, seed);
		memset(payload, 0, len_bytes);  /* it has been read */
		sent++;
	}
	OFI_UNTIL(heard.count[PSI_REQUESTS] + heard.count[PSI_REPLIES] == sent);
	ofi_meet();
}

START_TEST(mediums_of_all_sizes_arrive_whole)
{
	ofi_run(2, false, true, mediums);
}
END_TEST

START_TEST(mediums_are_as_large_as_the_setting_says)
{
	ofi_set("GASNET_OFI_MAX_MEDIUM", "3000");
	ofi_run(2, false, true, mediums);
}
END_TEST

/* -- ports ------------------------------------------------------------------------------------- */

/* Nobody polls the second port until the first is done with, with more messages than credits. */
static void
two_ports(void)
{
	enum { EACH = 3 * POFI_CREDITS_MOST };
	struct psi_port *second = ofi_port(1);
	unsigned seen = 0;
	uint32_t ticket;

	ofi_self.deliver = listen_to;
	ofi_meet();
	for (unsigned i = 0; i < POFI_CREDITS_MOST; i++)
		send_seeded(other() + ofi_self.places, PSI_SHORT, PSI_REQUESTS, 1, NULL, 0, i);
	for (unsigned i = 0; i < EACH; i++)
		send_seeded(other(), PSI_SHORT, PSI_REQUESTS, 1, NULL, 0, i);
	OFI_UNTIL(heard.count[PSI_REQUESTS] == EACH);
	ck_assert_ptr_eq(heard.port, ofi_self.port);
	ofi_meet();
	ck_assert_uint_eq(heard.count[PSI_REQUESTS], EACH);
	/* a thread that sleeps for the second port is told, and one that is about to finds it */
	ck_assert_uint_gt(ofi_self.looks_again, 0);
	ck_assert_int_eq(pofi_ops.arm(second, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_AGAIN);
	while (heard.count[PSI_REQUESTS] < EACH + POFI_CREDITS_MOST) {
		ofi_turn(second, 1 << PSI_REPLIES);
		ck_assert_uint_eq(heard.count[PSI_REQUESTS], EACH + seen);
		ofi_turn(second, PSI_BOTH_NETWORKS);
		seen = heard.count[PSI_REQUESTS] - EACH;
	}
	ck_assert_ptr_eq(heard.port, second);
	ck_assert_int_eq(pofi_ops.arm(second, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
	ofi_meet();
}

START_TEST(a_port_that_nobody_polls_delays_no_other)
{
	ofi_run(2, false, true, two_ports);
}
END_TEST

/* -- sleeping ---------------------------------------------------------------------------------- */

/* One sleeps on the network's descriptor until the other, some time later, sends; a few wake-ups
 * are the provider's own. */
static void
sleeper(void)
{
	enum { MOST_SLEEPS = 40 };
	unsigned sleeps = 0;

	while (!heard.count[PSI_REQUESTS]) {
		struct pollfd fd = { .events = POLLIN };
		uint64_t most_ns;
		const int result = pofi_ops.wait_on(ofi_self.conduit, &fd.fd, &most_ns);

		ck_assert_int_ne(result, PSI_UNSUPPORTED);
		if (result == PSI_OK) {
			ck_assert_uint_eq(most_ns, 0);
			ck_assert_uint_lt(sleeps++, MOST_SLEEPS);
			ck_assert_int_eq(poll(&fd, 1, 20000), 1);
		}
		(void)pofi_ops.poll(ofi_self.port, PSI_BOTH_NETWORKS, 8);
	}
	ck_assert_uint_gt(sleeps, 0);
	atomic_store(&ofi_words[1], 1);
}

static void
a_message_wakes(void)
{
	ofi_self.deliver = listen_to;
	if (ofi_self.place == 1) {
		sleeper();
		return;
	}
	usleep(100000);
	send_seeded(1, PSI_MEDIUM, PSI_REQUESTS, 1, NULL, 0, 3);
	OFI_UNTIL(atomic_load(&ofi_words[1]));
}

START_TEST(a_message_wakes_who_sleeps_on_the_descriptor)
{
	ofi_set("PST_OFI_PROVIDER", "tcp;ofi_rxm");
	ofi_run(2, false, true, a_message_wakes);
}
END_TEST

/* -- leaving ----------------------------------------------------------------------------------- */

/* One sends, drains and ends; the other does not look before that. */
static void
leave_early(void)
{
	enum { MESSAGES = POFI_CREDITS_MOST };
	static unsigned char payload[4000];

	ofi_self.deliver = listen_to;
	send_seeded(other(), PSI_SHORT, PSI_REQUESTS, 1, NULL, 0, 1);
	OFI_UNTIL(heard.count[PSI_REQUESTS] == 1);
	ofi_meet();
	ofi_fill(payload, sizeof payload, 9);
	if (ofi_self.place == 0) {
		for (unsigned i = 0; i < MESSAGES / 2; i++)
			send_seeded(1, PSI_MEDIUM, PSI_REPLIES, 1, payload, sizeof payload, 9);
		for (unsigned i = 0; i < MESSAGES / 2; i++)
			send_seeded(1, PSI_SHORT, PSI_REPLIES, 1, NULL, 0, 9);
		while (pofi_ops.drain(ofi_self.conduit) == PSI_AGAIN)
			;
		atomic_store(&ofi_words[0], 1);
		return;
	}
	while (!atomic_load(&ofi_words[0]))
		;
	OFI_UNTIL(heard.count[PSI_REPLIES] == MESSAGES);
}

START_TEST(what_was_drained_arrives_though_the_sender_is_gone)
{
	ofi_run(2, false, true, leave_early);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ofi");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, shorts_arrive_with_their_arguments);
	tcase_add_test(tests, a_long_tells_where_its_payload_is);
	tcase_add_test(tests, mediums_of_all_sizes_arrive_whole);
	tcase_add_test(tests, mediums_are_as_large_as_the_setting_says);
	tcase_add_test(tests, a_port_that_nobody_polls_delays_no_other);
	tcase_add_test(tests, a_message_wakes_who_sleeps_on_the_descriptor);
	tcase_add_test(tests, what_was_drained_arrives_though_the_sender_is_gone);
	return unit_run("ofi conduit, sending", tests);
}
