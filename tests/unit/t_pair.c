/*
 * Two conduits as one: who is local goes by the first, others by the second; limits that name no
 * peer are the least; sleeps end soon, since the network wakes nobody.
 */
#include "runtime/conduit/conduits.h"
#include "runtime/conduit/pair.h"
#include "tests/unit/main.h"

#include <string.h>

enum { PLACES = 3, FAR = 2, LOCAL_MEDIUM = 1000, NETWORK_MEDIUM = 700 };

/* What a fake conduit was asked. */
struct fake {
	unsigned opens, ports, sends, alone, claims, published, cancelled, polls, drains, requests;
	unsigned connects;
	int connect_result;
	unsigned wakes, ready;          /* ready: what a poll delivers */
	uint32_t room_peer;
	uint64_t slept_ns;
};
static struct fake local, network;

static bool
probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	(void)services, (void)reason, (void)reason_bytes;
	return true;
}

/* The two conduits differ in whom they count for, and in their limits. */
#define FAKE(who, medium, longest)                                                                \
	static int who##_open(const struct psi_services *services,                                \
	                      const struct psi_conduit_job *job, struct psi_attributes *out,      \
	                      struct psi_conduit **conduit_out)                                   \
	{                                                                                         \
		(void)services, (void)job, (void)conduit_out;                                     \
		*out = (struct psi_attributes){ medium, longest, 10 };                            \
		who.opens++;                                                                      \
		return PSI_OK;                                                                    \
	}                                                                                         \
	static int who##_port_open(struct psi_conduit *conduit, uint32_t place, bool serial,      \
	                           void *owner, struct psi_port **port_out)                       \
	{                                                                                         \
		(void)conduit, (void)place, (void)serial, (void)owner, (void)port_out;            \
		who.ports++;                                                                      \
		return PSI_OK;                                                                    \
	}                                                                                         \
	static size_t who##_most(struct psi_port *port, uint32_t peer, unsigned net,              \
	                         unsigned nargs)                                                  \
	{                                                                                         \
		(void)port, (void)peer, (void)net, (void)nargs;                                   \
		return medium;                                                                    \
	}                                                                                         \
	static int who##_send(struct psi_port *port, const struct psi_am *am)                     \
	{                                                                                         \
		(void)port, (void)am;                                                             \
		who.sends++;                                                                      \
		return PSI_OK;                                                                    \
	}                                                                                         \
	static unsigned who##_poll(struct psi_port *port, unsigned networks, unsigned budget)     \
	{                                                                                         \
		(void)port, (void)networks, (void)budget;                                         \
		who.polls++;                                                                      \
		return who.ready;                                                                 \
	}
FAKE(local, LOCAL_MEDIUM, 50)
FAKE(network, NETWORK_MEDIUM, 60)

static int connect_near(struct psi_conduit *conduit)
{
	(void)conduit;
	local.connects++;
	return local.connect_result;
}
static int connect_far(struct psi_conduit *conduit)
{
	(void)conduit;
	network.connects++;
	return network.connect_result;
}
static int send_alone(struct psi_port *port, const struct psi_am *am)
{
	(void)port, (void)am;
	local.alone++;
	return PSI_OK;
}
static int claim_one(struct psi_port *port, struct psi_claim *claim)
{
	(void)port, (void)claim;
	local.claims++;
	return PSI_OK;
}
static int publish(struct psi_port *port, const struct psi_claim *claim, const struct psi_am *am)
{
	(void)port, (void)claim, (void)am;
	local.published++;
	return PSI_OK;
}
static void cancel(struct psi_port *port, const struct psi_claim *claim)
{
	(void)port, (void)claim;
	local.cancelled++;
}
static int arm(struct psi_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out)
{
	(void)port, (void)networks, (void)ticket_out;
	local.room_peer = room_peer;
	return PSI_OK;
}
static void sleep_for(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns)
{
	(void)port, (void)ticket;
	local.slept_ns = timeout_ns;
}
static void wake_peer(struct psi_port *port, uint32_t peer)
{
	(void)port, (void)peer;
	local.wakes++;
}
static void request(struct psi_port *port, uint32_t peer)
{
	(void)port, (void)peer;
	local.requests++;
}
static int drain(struct psi_conduit *conduit) { return (void)conduit, network.drains++, PSI_OK; }

static const struct psi_conduit_ops local_ops = {
	.name = "near", .probe = probe, .open = local_open, .port_open = local_port_open,
	.connect = connect_near, .am_max_medium = local_most, .am_send = local_send,
	.am_send_alone = send_alone, .am_claim = claim_one, .am_publish = publish,
	.am_cancel = cancel, .poll = local_poll, .arm = arm, .sleep = sleep_for,
	.wake_peer = wake_peer, .request_room = request,
};
static const struct psi_conduit_ops network_ops = {
	.name = "far", .probe = probe, .open = network_open, .port_open = network_port_open,
	.connect = connect_far, .am_max_medium = network_most, .am_send = network_send,
	.poll = network_poll, .drain = drain,
};

static const struct psi_conduit_ops *ops;
static struct psi_conduit *conduit;
static struct psi_port *port;
static struct psi_attributes attributes;

static void
pair_open(void)
{
	static const uint8_t is_local[PLACES] = { 1, 1, 0 };
	const struct psi_conduit_job job = { .places = PLACES, .local = is_local };

	ck_assert_ptr_eq(psi_conduit_lay(psi_pair_make(&local_ops, &network_ops), NULL, &ops),
	                 NULL);
	ck_assert_int_eq(ops->open(NULL, &job, &attributes, &conduit), PSI_OK);
	ck_assert_int_eq(ops->port_open(conduit, 0, false, NULL, &port), PSI_OK);
	ck_assert_int_eq(ops->connect(conduit), PSI_OK);
}

static void
send_to(uint32_t place)
{
	const struct psi_am am = psi_am_of(place, PSI_SHORT, psi_am_tag(PSI_REQUESTS, 200, 0),
	                                   NULL);

	ck_assert_int_eq(ops->am_send(port, &am), PSI_OK);
}

START_TEST(both_open_and_limits_are_the_least)
{
	pair_open();
	ck_assert_uint_eq(local.opens + network.opens, 2);
	ck_assert_uint_eq(local.ports + network.ports, 2);
	ck_assert_str_eq(ops->name, "far");
	ck_assert_uint_eq(attributes.max_medium_bytes, NETWORK_MEDIUM);
	ck_assert_uint_eq(attributes.max_long_bytes, 50);
	ck_assert_uint_eq(attributes.shared_bytes, 20);
	ck_assert_uint_eq(ops->am_max_medium(port, 1, 0, 0), LOCAL_MEDIUM);
	ck_assert_uint_eq(ops->am_max_medium(port, FAR, 0, 0), NETWORK_MEDIUM);
}
END_TEST

/* The others wait in the second's exchanges. */
START_TEST(both_connect_though_the_first_fails)
{
	pair_open();
	local.connect_result = PSI_FAILED;
	ck_assert_int_eq(ops->connect(conduit), PSI_FAILED);
	ck_assert_uint_eq(local.connects, 2);
	ck_assert_uint_eq(network.connects, 2);
	local.connect_result = PSI_OK;
	network.connect_result = PSI_FAILED;
	ck_assert_int_eq(ops->connect(conduit), PSI_FAILED);
}
END_TEST

START_TEST(a_port_that_is_opened_again_is_the_same)
{
	struct psi_port *again;

	pair_open();
	ck_assert_int_eq(ops->port_open(conduit, 0, false, NULL, &again), PSI_OK);
	ck_assert_ptr_eq(again, port);
	ck_assert_int_eq(ops->port_open(conduit, PLACES, false, NULL, &again), PSI_OK);
	ck_assert_ptr_ne(again, port);
}
END_TEST

/* Endpoint i of process r has place i * PLACES + r. */
START_TEST(each_peer_has_its_route)
{
	struct psi_claim claim = { .peer = 1 };
	const struct psi_am am = psi_am_of(FAR, PSI_SHORT, psi_am_tag(PSI_REQUESTS, 200, 0), NULL);

	pair_open();
	send_to(1);
	send_to(PLACES);
	ck_assert_uint_eq(local.sends, 2);
	ck_assert_uint_eq(network.sends, 0);
	send_to(FAR);
	send_to(FAR + 2 * PLACES);
	ck_assert_uint_eq(local.sends, 2);
	ck_assert_uint_eq(network.sends, 2);
	ck_assert_int_eq(ops->am_send_alone(port, &am), PSI_OK);
	ck_assert_uint_eq(network.sends, 3);
	ck_assert_uint_eq(local.alone, 0);
	ck_assert_int_eq(ops->am_claim(port, &claim), PSI_OK);
	ops->am_cancel(port, &claim);
	ck_assert_uint_eq(local.cancelled, 1);
	claim.peer = FAR;
	ck_assert_int_eq(ops->am_claim(port, &claim), PSI_UNSUPPORTED);
	ck_assert_uint_eq(local.claims, 1);
}
END_TEST

START_TEST(polls_look_at_both_and_at_the_network_though_smp_is_busy)
{
	enum { POLLS = 64 };

	pair_open();
	for (unsigned i = 0; i < POLLS; i++)
		ck_assert_uint_eq(ops->poll(port, PSI_BOTH_NETWORKS, 8), 0);
	ck_assert_uint_eq(network.polls, POLLS);
	local.ready = 1;
	network.polls = 0;
	for (unsigned i = 0; i < POLLS; i++)
		ops->poll(port, PSI_BOTH_NETWORKS, 8);
	ck_assert_uint_ge(network.polls, 2);
	ck_assert_uint_lt(network.polls, POLLS / 2);
	ck_assert_int_eq(ops->drain(conduit), PSI_OK);
	ck_assert_uint_eq(network.drains, 1);
}
END_TEST

START_TEST(sleeps_are_smps_and_end_soon)
{
	uint32_t ticket;

	pair_open();
	ck_assert_int_eq(ops->arm(port, PSI_BOTH_NETWORKS, FAR, &ticket), PSI_OK);
	ck_assert_uint_eq(local.room_peer, PSI_NO_PEER);
	ck_assert_int_eq(ops->arm(port, PSI_BOTH_NETWORKS, 1, &ticket), PSI_OK);
	ck_assert_uint_eq(local.room_peer, 1);
	ops->sleep(port, ticket, 0);
	ck_assert_uint_gt(local.slept_ns, 0);
	ck_assert_uint_le(local.slept_ns, 1000000);
	ops->sleep(port, ticket, 300);
	ck_assert_uint_eq(local.slept_ns, 300);
	ops->wake_peer(port, FAR);
	ops->request_room(port, FAR);
	ck_assert_uint_eq(local.wakes + local.requests, 0);
	ops->wake_peer(port, 1);
	ops->request_room(port, 1);
	ck_assert_uint_eq(local.wakes + local.requests, 2);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("pair");

	tcase_add_test(tests, both_open_and_limits_are_the_least);
	tcase_add_test(tests, both_connect_though_the_first_fails);
	tcase_add_test(tests, a_port_that_is_opened_again_is_the_same);
	tcase_add_test(tests, each_peer_has_its_route);
	tcase_add_test(tests, polls_look_at_both_and_at_the_network_though_smp_is_busy);
	tcase_add_test(tests, sleeps_are_smps_and_end_soon);
	return unit_run("two conduits as one", tests);
}
