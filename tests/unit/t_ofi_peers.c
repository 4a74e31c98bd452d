/*
 * The ofi conduit and peers that are no good: those that do not poll delay nobody else, and those
 * that are lost are named, with libfabric's reason.
 */
#include "tests/unit/main.h"
#include "tests/unit/ofi_rig.h"

#include "runtime/util/clock.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned heard[PSI_NETWORKS];

static void
listen(struct psi_port *port, const struct psi_arrival *arrival)
{
	(void)port;
	heard[arrival->network]++;
}

static unsigned char payload[POFI_MEDIUM_BYTES];

static struct psi_am
medium(uint32_t peer, unsigned network, size_t len_bytes)
{
	return psi_am_medium(peer, psi_am_tag(network, 200, 0), NULL, payload, len_bytes);
}

/* -- peers that do not poll -------------------------------------------------------------------- */

enum { SENDER, DEAF, DEAFER, GOOD, PLACES, MESSAGES = 10000, TRIES = 1000 };

/* The largest messages, until no more are taken; how many were. */
static unsigned
stuff(uint32_t peer, unsigned network)
{
	const struct psi_am am = medium(peer, network, ofi_self.attributes.max_medium_bytes);
	unsigned taken = 0;

	for (unsigned refused = 0; refused < TRIES;) {
		if (pofi_ops.am_send(ofi_self.port, &am) == PSI_OK) {
			taken++;
			continue;
		}
		refused++;
		(void)pofi_ops.poll(ofi_self.port, PSI_BOTH_NETWORKS, 8);
	}
	return taken;
}

static void
sender(void)
{
	unsigned taken[PSI_NETWORKS];

	for (uint32_t peer = DEAF; peer <= DEAFER; peer++) {
		for (unsigned network = 0; network < PSI_NETWORKS; network++)
			taken[network] = stuff(peer, network);
		ck_assert_uint_le(taken[PSI_REQUESTS], ofi_self.conduit->credits);
		/* those that a handler sends: each answers a request, which had a credit */
		ck_assert_uint_ge(taken[PSI_REPLIES], ofi_self.conduit->credits);
		atomic_store(&ofi_words[peer], taken[PSI_REQUESTS] + taken[PSI_REPLIES]);
	}
	for (unsigned i = 0; i < MESSAGES; i++) {
		const struct psi_am am = medium(GOOD, i % PSI_NETWORKS, 300);

		ofi_send(ofi_self.port, &am, PSI_BOTH_NETWORKS);
	}
	OFI_UNTIL(atomic_load(&ofi_words[GOOD]) == MESSAGES);
	atomic_store(&ofi_words[SENDER], 1);
}

static unsigned
all_heard(void)
{
	return heard[PSI_REQUESTS] + heard[PSI_REPLIES];
}

static void
deaf(void)
{
	while (!atomic_load(&ofi_words[SENDER]))
		usleep(1000);
	OFI_UNTIL(all_heard() >= atomic_load(&ofi_words[ofi_self.place]));
}

static void
good(void)
{
	OFI_UNTIL(all_heard() == MESSAGES);
	atomic_store(&ofi_words[GOOD], MESSAGES);
}

/* All have talked to the sender, so that they are connected. */
static void
two_are_deaf(void)
{
	const struct psi_am am = medium(SENDER, PSI_REPLIES, 300);

	ofi_self.deliver = listen;
	if (ofi_self.place != SENDER)
		ofi_send(ofi_self.port, &am, PSI_BOTH_NETWORKS);
	else
		OFI_UNTIL(all_heard() == PLACES - 1);
	ofi_meet();
	if (ofi_self.place == SENDER)
		sender();
	else if (ofi_self.place == GOOD)
		good();
	else
		deaf();
	ofi_meet();
	ck_assert_ptr_null(ofi_self.conduit->queued);
}

/* Messages so large that the kernel's buffers do not take them off the provider. */
START_TEST(peers_that_do_not_poll_delay_nobody_else)
{
	ofi_set("PST_OFI_PROVIDER", "tcp;ofi_rxm");
	setenv("FI_OFI_RXM_BUFFER_SIZE", "68000", 1);
	ofi_run(PLACES, false, true, two_are_deaf);
	unsetenv("FI_OFI_RXM_BUFFER_SIZE");
}
END_TEST

/* Of four buffers the first peer gets two, the second one, and the third the last. */
static void
shares(void)
{
	struct psi_conduit *conduit;
	struct pofi_send *last;

	ck_assert_int_eq(ofi_open(false), PSI_OK);
	conduit = ofi_self.conduit;
	conduit->sends[PSI_REPLIES].most = 4;
	ck_assert_ptr_nonnull(pofi_send_take(conduit, PSI_REPLIES, 1));
	ck_assert_ptr_nonnull(pofi_send_take(conduit, PSI_REPLIES, 1));
	ck_assert_ptr_null(pofi_send_take(conduit, PSI_REPLIES, 1));
	ck_assert_ptr_nonnull(pofi_send_take(conduit, PSI_REPLIES, 2));
	ck_assert_ptr_null(pofi_send_take(conduit, PSI_REPLIES, 2));
	last = pofi_send_take(conduit, PSI_REPLIES, 3);
	ck_assert_ptr_nonnull(last);
	ck_assert_ptr_null(pofi_send_take(conduit, PSI_REPLIES, 0));
	ck_assert(pofi_sends_pending(conduit));
	pofi_send_give(conduit, last);
	ck_assert_ptr_eq(pofi_send_take(conduit, PSI_REPLIES, 0), last);
	ck_assert_uint_eq(conduit->sends[PSI_REQUESTS].flying, 0);
}

START_TEST(no_peer_gets_the_last_send_buffers)
{
	ofi_run(PLACES, false, false, shares);
}
END_TEST

/* -- peers that are lost ----------------------------------------------------------------------- */

static ssize_t
send_fails(struct fid_ep *ep, const void *bytes, size_t len, void *desc, fi_addr_t address,
           void *context)
{
	(void)ep, (void)bytes, (void)len, (void)desc, (void)address, (void)context;
	return -FI_ENOKEY;
}

/* It is told of when its time is over, and not before. */
static void
told_of(uint32_t place, const char *why)
{
	ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_uint_eq(ofi_self.lost, PSI_NO_PEER);
	ofi_self.conduit->lost_peer.tell_at_ns -= 3000000000;
	ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_uint_eq(ofi_self.lost, place);
	ck_assert_msg(strstr(ofi_said, why), "`%s' is not in: %s", why, ofi_said);
}

static void
sending_fails(void)
{
	const struct psi_am am = medium(1, PSI_REQUESTS, 1000);
	struct fi_ops_msg ops = *ofi_self.conduit->ep->msg;

	ops.send = send_fails;
	ofi_self.conduit->ep->msg = &ops;
	if (ofi_self.place == 0) {
		ck_assert_int_eq(pofi_ops.am_send(ofi_self.port, &am), PSI_AGAIN);
		told_of(1, "Required key not available");
	}
	ofi_meet_idle();
}

START_TEST(a_peer_to_whom_sending_fails_is_named_with_the_reason)
{
	ofi_run(2, false, true, sending_fails);
}
END_TEST

static void *failed_context;

static ssize_t
read_fails(struct fid_cq *cq, void *entries, size_t count)
{
	(void)cq, (void)entries, (void)count;
	return failed_context ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t
readerr_tells(struct fid_cq *cq, struct fi_cq_err_entry *error, uint64_t flags)
{
	(void)cq, (void)flags;
	*error = (struct fi_cq_err_entry){ .op_context = failed_context, .err = FI_EHOSTUNREACH };
	failed_context = NULL;
	return 1;
}

static const char *
strerror_tells(struct fid_cq *cq, int code, const void *data, char *text, size_t text_bytes)
{
	(void)cq, (void)code, (void)data, (void)text, (void)text_bytes;
	return "the provider's words";
}

static ssize_t
send_accepts(struct fid_ep *ep, const void *bytes, size_t len, void *desc, fi_addr_t address,
             void *context)
{
	(void)ep, (void)bytes, (void)len, (void)desc, (void)address;
	failed_context = context;
	return 0;
}

/* The provider takes a payment, and cannot deliver it. */
static void
payment_fails(void)
{
	struct fi_ops_msg ops = *ofi_self.conduit->ep->msg;
	struct fi_ops_cq cq_ops = *ofi_self.conduit->cq->ops;

	ops.send = send_accepts;
	cq_ops.read = read_fails;
	cq_ops.readerr = readerr_tells;
	cq_ops.strerror = strerror_tells;
	ofi_self.conduit->ep->msg = &ops;
	ofi_self.conduit->cq->ops = &cq_ops;
	if (ofi_self.place == 0) {
		pofi_pay(ofi_self.port, 1);
		ck_assert_ptr_nonnull(failed_context);
		told_of(1, "the provider's words");
		ck_assert_ptr_nonnull(strstr(ofi_said, "host"));
		ck_assert(!pofi_sends_pending(ofi_self.conduit));
	}
	ofi_meet_idle();
}

START_TEST(a_payment_that_is_lost_loses_the_peer)
{
	ofi_run(2, false, true, payment_fails);
}
END_TEST

/* Process 1 is gone; what is sent to it then, and replies that wait for it, hold nobody up. */
static void
one_leaves(void)
{
	const struct psi_am request = medium(1, PSI_REQUESTS, 1000);
	const struct psi_am reply = medium(1, PSI_REPLIES, 1000);

	ofi_self.deliver = listen;
	if (ofi_self.place == 1) {
		OFI_UNTIL(heard[PSI_REQUESTS]);
		return;
	}
	ofi_send(ofi_self.port, &request, PSI_BOTH_NETWORKS);
	while (ofi_self.lost == PSI_NO_PEER) {
		(void)pofi_ops.am_send(ofi_self.port, &request);
		(void)pofi_ops.am_send(ofi_self.port, &reply);
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	}
	ck_assert_uint_eq(ofi_self.lost, 1);
	while (pofi_ops.drain(ofi_self.conduit) == PSI_AGAIN)
		;
}

START_TEST(a_peer_that_is_gone_is_told_of)
{
	ofi_run(2, false, true, one_leaves);
}
END_TEST

/* -- strangers --------------------------------------------------------------------------------- */

enum { STRANGER = 2, RAW = 600, TRADES = 500 };

/* Raw bytes to process 0, more than all its receive buffers hold. */
static void
stranger(void)
{
	static const size_t sizes[] = { 1, 17, 15000 };
	static char bytes[15000];
	static struct fi_context2 contexts[RAW];
	struct fi_cq_data_entry entry;
	fi_addr_t address;

	ck_assert_int_eq(pofi_address_of(ofi_self.conduit, 0, &address), PSI_OK);
	for (unsigned sent = 0, done = 0; done < RAW;) {
		if (sent < RAW && fi_send(ofi_self.conduit->ep, bytes, sizes[sent % 3], NULL,
		                          address, &contexts[sent]) == 0)
			sent++;
		else
			sched_yield();
		done += fi_cq_read(ofi_self.conduit->cq, &entry, 1) == 1;
	}
}

static void
trade(void)
{
	const struct psi_am am = medium(1 - ofi_self.place, PSI_REQUESTS, 1000);

	for (unsigned i = 0; i < TRADES; i++)
		ofi_send(ofi_self.port, &am, PSI_BOTH_NETWORKS);
	OFI_UNTIL(heard[PSI_REQUESTS] == TRADES);
}

static void
stranger_among(void)
{
	ofi_self.deliver = listen;
	if (ofi_self.place == STRANGER)
		stranger();
	else
		trade();
	if (ofi_self.place == 0)
		OFI_UNTIL(ofi_self.count[PSI_COUNT_DROPPED] == RAW);
	ofi_meet_idle();
	ck_assert_uint_eq(ofi_self.conduit->posted, ofi_self.conduit->inbound_count);
}

START_TEST(what_strangers_send_uses_up_no_receive_buffers)
{
	ofi_run(3, false, true, stranger_among);
}
END_TEST

/* The first look at a port comes long after the first message: that is no silence of the peer. */
static void
late_look(void)
{
	struct psi_conduit *conduit;
	unsigned looks = 0;

	ck_assert_int_eq(ofi_open(false), PSI_OK);
	ck_assert_int_eq(ofi_connect(), PSI_OK);
	conduit = ofi_self.conduit;
	pofi_reach_refused(conduit, 1 - conduit->place);
	ck_assert(conduit->reach.asks);
	conduit->reach.since_ns = 1;
	do {
		pofi_reach_step(conduit);
		ck_assert(!conduit->peers[1 - conduit->place].broken);
		usleep(1000);
	} while (conduit->reach.asks && ++looks < 2000);
	ck_assert(conduit->peers[1 - conduit->place].answers);
}

START_TEST(a_late_look_at_a_port_loses_nobody)
{
	ofi_run(2, false, false, late_look);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ofi");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, peers_that_do_not_poll_delay_nobody_else);
	tcase_add_test(tests, no_peer_gets_the_last_send_buffers);
	tcase_add_test(tests, a_peer_to_whom_sending_fails_is_named_with_the_reason);
	tcase_add_test(tests, a_payment_that_is_lost_loses_the_peer);
	tcase_add_test(tests, a_peer_that_is_gone_is_told_of);
	tcase_add_test(tests, what_strangers_send_uses_up_no_receive_buffers);
	tcase_add_test(tests, a_late_look_at_a_port_loses_nobody);
	return unit_run("ofi conduit, peers", tests);
}
