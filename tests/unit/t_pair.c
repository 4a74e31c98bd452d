/*
 * Two conduits as one: who is local goes by the first, others by the second; limits that name no
 * peer are the least.
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
	unsigned own_wakes, disarms;
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
		*out = (struct psi_attributes){ medium, longest, 10, false, false, 0, #who };     \
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
static void describe(struct psi_conduit *pair, char *text, size_t text_bytes)
{
	(void)pair, (void)text_bytes;
	text[0] = '\0';
}
static void request(struct psi_port *port, uint32_t peer)
{
	(void)port, (void)peer;
	local.requests++;
}
static const struct psi_services services;
static int network_arm_result;
static int network_arm(struct psi_port *port, unsigned networks, uint32_t room_peer,
                       uint32_t *ticket_out)
{
	(void)port, (void)networks, (void)room_peer, (void)ticket_out;
	return network_arm_result;
}
static void disarm(struct psi_port *port) { (void)port, local.disarms++; }
static void wake_own(struct psi_port *port)
{
	(void)port;
	local.own_wakes++;
}
static int drain(struct psi_conduit *conduit) { return (void)conduit, network.drains++, PSI_OK; }

/* The network makes transfers with segments that have a name; the reference makes all. */
static unsigned network_moves, reference_moves;
static int network_move(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	if (transfer->remote.name.key == PSI_NO_KEY)
		return PSI_UNSUPPORTED;
	network_moves++;
	return PSI_OK;
}
static int reference_move(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port, (void)transfer;
	reference_moves++;
	return PSI_OK;
}
static int network_signal(struct psi_port *port, const struct psi_transfer *transfer,
                          const struct psi_signal_operation *signal)
{
	(void)signal;
	return network_move(port, transfer);
}
static int reference_signal(struct psi_port *port, const struct psi_transfer *transfer,
                            const struct psi_signal_operation *signal)
{
	(void)signal;
	return reference_move(port, transfer);
}
static int network_long(struct psi_port *port, struct psi_long *message)
{
	const struct psi_transfer transfer = { .remote = message->dest };

	return network_move(port, &transfer);
}
static int reference_long(struct psi_port *port, struct psi_long *message)
{
	(void)message;
	return reference_move(port, NULL);
}
static int bind_one(struct psi_conduit *conduit, void *base, size_t len_bytes,
                    struct psi_segment_name *name_out, struct psi_registration **registration_out)
{
	(void)conduit, (void)base, (void)len_bytes, (void)registration_out;
	name_out->key = 7;
	return PSI_OK;
}

static const struct psi_conduit_ops local_ops = {
	.name = "near", .probe = probe, .open = local_open, .port_open = local_port_open,
	.connect = connect_near, .am_max_medium = local_most, .am_send = local_send,
	.am_send_alone = send_alone, .am_claim = claim_one, .am_publish = publish,
	.am_cancel = cancel, .poll = local_poll, .arm = arm, .sleep = sleep_for,
	.disarm = disarm, .wake_peer = wake_peer, .request_room = request, .wake = wake_own,
	.describe = describe,
};
static const struct psi_conduit_ops network_ops = {
	.name = "far", .probe = probe, .open = network_open, .port_open = network_port_open,
	.connect = connect_far, .am_max_medium = network_most, .am_send = network_send,
	.poll = network_poll, .drain = drain, .arm = network_arm,
	.segment_bind = bind_one, .put = network_move, .get = network_move,
	.put_signal = network_signal, .am_long = network_long,
};
static const struct psi_conduit_ops reference_ops = {
	.put = reference_move, .get = reference_move, .put_signal = reference_signal,
	.am_long = reference_long,
};

static const struct psi_conduit_ops *ops;
static struct psi_conduit *conduit;
static struct psi_port *port;
static struct psi_attributes attributes;

static void
pair_open_with(const struct psi_conduit_ops *far)
{
	static const uint8_t is_local[PLACES] = { 1, 1, 0 };
	const struct psi_conduit_job job = {
		.places = PLACES, .local = is_local, .host_places = 2,
	};

	ck_assert_ptr_eq(psi_conduit_lay(psi_pair_make(&local_ops, far, &reference_ops),
	                                 &reference_ops, &ops), NULL);
	ck_assert_int_eq(ops->open(&services, &job, &attributes, &conduit), PSI_OK);
	ck_assert_int_eq(ops->port_open(conduit, 0, false, NULL, &port), PSI_OK);
	ck_assert_int_eq(ops->connect(conduit), PSI_OK);
}

static void
pair_open(void)
{
	pair_open_with(&network_ops);
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
	ck_assert_str_eq(attributes.transport, "network");
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

/* Memory of a neighbour that is not mapped is its client's own. */
START_TEST(transfers_that_the_network_does_not_make_are_the_references)
{
	struct psi_transfer transfer = { .remote = { .peer = FAR, .name = { .key = 7 } } };
	struct psi_registration *registration = NULL;
	struct psi_segment_name name = { .key = PSI_NO_KEY };
	struct psi_long message = { .dest = transfer.remote };

	pair_open();
	ck_assert_int_eq(ops->put(port, &transfer), PSI_OK);
	ck_assert_int_eq(ops->get(port, &transfer), PSI_OK);
	ck_assert_int_eq(ops->put_signal(port, &transfer, NULL), PSI_OK);
	ck_assert_int_eq(ops->am_long(port, &message), PSI_OK);
	ck_assert_uint_eq(network_moves, 4);
	transfer.remote.name.key = message.dest.name.key = PSI_NO_KEY;
	ck_assert_int_eq(ops->am_long(port, &message), PSI_OK);
	ck_assert_int_eq(ops->put(port, &transfer), PSI_OK);
	ck_assert_int_eq(ops->put_signal(port, &transfer, NULL), PSI_OK);
	transfer.remote = (struct psi_remote){ .peer = 1, .name = { .key = 7 } };
	ck_assert_int_eq(ops->get(port, &transfer), PSI_OK);
	ck_assert_int_eq(ops->put_signal(port, &transfer, NULL), PSI_OK);
	ck_assert_uint_eq(network_moves, 4);
	ck_assert_uint_eq(reference_moves, 5);
	ck_assert_int_eq(ops->segment_bind(conduit, NULL, 1, &name, &registration), PSI_OK);
	ck_assert_uint_eq(name.key, 7);
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

START_TEST(smp_is_asked_what_names_a_neighbour)
{
	uint32_t ticket;

	pair_open();
	ck_assert_int_eq(ops->arm(port, PSI_BOTH_NETWORKS, FAR, &ticket), PSI_OK);
	ck_assert_uint_eq(local.room_peer, PSI_NO_PEER);
	ck_assert_int_eq(ops->arm(port, PSI_BOTH_NETWORKS, 1, &ticket), PSI_OK);
	ck_assert_uint_eq(local.room_peer, 1);
	ops->wake_peer(port, FAR);
	ops->request_room(port, FAR);
	ck_assert_uint_eq(local.wakes + local.requests, 0);
	ops->wake_peer(port, 1);
	ops->request_room(port, 1);
	ck_assert_uint_eq(local.wakes + local.requests, 2);
	ops->wake(port);
	ck_assert_uint_eq(local.own_wakes, 1);
}
END_TEST

START_TEST(a_port_for_which_the_network_has_a_message_does_not_sleep)
{
	uint32_t ticket;

	pair_open();
	network_arm_result = PSI_AGAIN;
	ck_assert_int_eq(ops->arm(port, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_AGAIN);
	ck_assert_uint_eq(local.disarms, 1);
}
END_TEST

/* How it does when the network can wake it: t_watch. */
START_TEST(a_port_sleeps_as_smp_does)
{
	pair_open();
	ops->sleep(port, 0, 5);
	ck_assert_uint_eq(local.slept_ns, 5);
	ops->sleep(port, 0, 0);
	ck_assert_uint_eq(local.slept_ns, 1000000);     /* a nap */
}
END_TEST

/* The rest is what the pair makes of their absence. */
START_TEST(a_network_needs_the_required_operations_alone)
{
	static const struct psi_conduit_ops least = {
		.name = "least", .probe = probe, .open = network_open,
		.port_open = network_port_open, .connect = connect_far,
		.am_max_medium = network_most, .am_send = network_send, .poll = network_poll,
	};
	struct psi_transfer transfer = { .remote = { .peer = FAR, .name = { .key = 7 } } };
	char text[80];
	uint32_t ticket;

	ck_assert_ptr_null(psi_conduit_lacks(&least));
	pair_open_with(&least);
	ck_assert_int_eq(ops->put(port, &transfer), PSI_OK);
	ck_assert_int_eq(ops->arm(port, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket), PSI_OK);
	ops->sleep(port, ticket, 0);
	ck_assert_int_eq(ops->drain(conduit), PSI_OK);
	ops->describe(conduit, text, sizeof text);
	ck_assert_str_eq(text, "it says nothing of itself; near on this host: ");
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
	tcase_add_test(tests, transfers_that_the_network_does_not_make_are_the_references);
	tcase_add_test(tests, polls_look_at_both_and_at_the_network_though_smp_is_busy);
	tcase_add_test(tests, smp_is_asked_what_names_a_neighbour);
	tcase_add_test(tests, a_port_for_which_the_network_has_a_message_does_not_sleep);
	tcase_add_test(tests, a_port_sleeps_as_smp_does);
	tcase_add_test(tests, a_network_needs_the_required_operations_alone);
	return unit_run("two conduits as one", tests);
}
