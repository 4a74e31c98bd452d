/*
 * A message goes to smp or to the network, by its peer.  A put, get or Long to a peer of the
 * network goes to the network; what that declines, and all other transfers, the reference makes.
 * Open, connect and poll call both conduits.
 *
 * How a process sleeps that both wake is watch.c.
 */
#include "runtime/conduit/pair.h"
#include "runtime/conduit/watch.h"
#include "runtime/util/bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	POLLS_PER_LOOK = 8,     /* of a port where smp has messages all the time */
};

struct psi_conduit {
	const struct psi_services *services;
	struct psi_conduit *local, *network;
	const uint8_t *is_local;        /* [places], by job rank */
	uint32_t places;
	struct psi_port *ports[PSI_PORTS_MOST];  /* by index */
	struct psi_watch watch;
};

struct psi_port {
	struct psi_conduit *pair;
	struct psi_port *local, *network;
	uint32_t polls;                 /* since the network was looked at; any thread's */
};

static const struct psi_conduit_ops *local_ops, *network_ops, *reference_ops;

static bool
goes_local(const struct psi_port *port, uint32_t peer)
{
	const struct psi_conduit *pair = port->pair;

	return pair->is_local[peer < pair->places ? peer : peer % pair->places];
}

/* -- open, connect ----------------------------------------------------------------------------- */

static bool
pair_probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	return local_ops->probe(services, reason, reason_bytes) &&
	       network_ops->probe(services, reason, reason_bytes);
}

static int
pair_open(const struct psi_services *services, const struct psi_conduit_job *job,
          struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	struct psi_conduit *pair = calloc(1, sizeof *pair);
	struct psi_attributes local, network;
	int result = PSI_FAILED;

	if (!pair) {
		services->log("no memory");
		return PSI_FAILED;
	}
	pair->services = services;
	pair->is_local = job->local;
	pair->places = job->places;
	psi_watch_init(&pair->watch, services, job, local_ops, network_ops);
	if ((result = local_ops->open(services, job, &local, &pair->local)) != PSI_OK ||
	    (result = network_ops->open(services, job, &network, &pair->network)) != PSI_OK) {
		free(pair);
		return result;
	}
	*attributes_out = (struct psi_attributes){
		.max_medium_bytes = psi_least(local.max_medium_bytes, network.max_medium_bytes),
		.max_long_bytes = psi_least(local.max_long_bytes, network.max_long_bytes),
		.shared_bytes = local.shared_bytes + network.shared_bytes,
		.device_atomics = network.device_atomics,
		.puts_longs = network.puts_longs,
		.named_least_bytes = network.named_least_bytes,
	};
	memcpy(attributes_out->transport, network.transport, sizeof network.transport);
	*conduit_out = pair;
	return PSI_OK;
}

/* One that is opened again is the same. */
static struct psi_port *
port_at(struct psi_conduit *pair, uint32_t index)
{
	if (index < PSI_PORTS_MOST && !pair->ports[index])
		pair->ports[index] = calloc(1, sizeof **pair->ports);
	return index < PSI_PORTS_MOST ? pair->ports[index] : NULL;
}

static int
pair_port_open(struct psi_conduit *pair, uint32_t place, bool serial, void *owner,
               struct psi_port **port_out)
{
	struct psi_port *port = port_at(pair, place / pair->places);
	int result;

	if (!port) {
		pair->services->log("no memory");
		return PSI_FAILED;
	}
	port->pair = pair;
	if ((result = local_ops->port_open(pair->local, place, serial, owner, &port->local)) !=
	            PSI_OK ||
	    (result = network_ops->port_open(pair->network, place, serial, owner,
	                                     &port->network)) != PSI_OK)
		return result;
	*port_out = port;
	return PSI_OK;
}

/* Both are called whatever the first says: the other processes wait in the second's exchanges. */
static int
pair_connect(struct psi_conduit *pair)
{
	const int local = local_ops->connect(pair->local);
	const int network = network_ops->connect(pair->network);

	return local == PSI_OK ? network : local;
}

/* -- active messages --------------------------------------------------------------------------- */

static size_t
pair_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	return goes_local(port, peer)
	               ? local_ops->am_max_medium(port->local, peer, network, nargs)
	               : network_ops->am_max_medium(port->network, peer, network, nargs);
}

static int
pair_send(struct psi_port *port, const struct psi_am *am)
{
	return goes_local(port, am->peer) ? local_ops->am_send(port->local, am)
	                                  : network_ops->am_send(port->network, am);
}

static int
pair_send_alone(struct psi_port *port, const struct psi_am *am)
{
	return goes_local(port, am->peer) ? local_ops->am_send_alone(port->local, am)
	                                  : network_ops->am_send(port->network, am);
}

static int
pair_claim(struct psi_port *port, struct psi_claim *claim)
{
	return goes_local(port, claim->peer) ? local_ops->am_claim(port->local, claim)
	                                     : PSI_UNSUPPORTED;
}

/* What was claimed goes by smp. */
static int
pair_publish(struct psi_port *port, const struct psi_claim *claim, const struct psi_am *am)
{
	return local_ops->am_publish(port->local, claim, am);
}

static void
pair_cancel(struct psi_port *port, const struct psi_claim *claim)
{
	local_ops->am_cancel(port->local, claim);
}

/* -- memory of peers --------------------------------------------------------------------------- */

/* Segments of this process get the network's name; smp's peers map them. */
static int
pair_segment_bind(struct psi_conduit *pair, void *base, size_t len_bytes,
                  struct psi_segment_name *name_out, struct psi_registration **registration_out)
{
	return network_ops->segment_bind(pair->network, base, len_bytes, name_out,
	                                 registration_out);
}

static void
pair_segment_release(struct psi_conduit *pair, struct psi_registration *registration)
{
	network_ops->segment_release(pair->network, registration);
}

/* Memory of local peers that is not mapped here is the client's own, which smp does not reach. */
static int
pair_put(struct psi_port *port, const struct psi_transfer *transfer)
{
	int result = PSI_UNSUPPORTED;

	if (!goes_local(port, transfer->remote.peer))
		result = network_ops->put(port->network, transfer);
	return result == PSI_UNSUPPORTED ? reference_ops->put(port, transfer) : result;
}

static int
pair_get(struct psi_port *port, const struct psi_transfer *transfer)
{
	int result = PSI_UNSUPPORTED;

	if (!goes_local(port, transfer->remote.peer))
		result = network_ops->get(port->network, transfer);
	return result == PSI_UNSUPPORTED ? reference_ops->get(port, transfer) : result;
}

static int
pair_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                const struct psi_signal_operation *signal)
{
	int result = PSI_UNSUPPORTED;

	if (!goes_local(port, transfer->remote.peer))
		result = network_ops->put_signal(port->network, transfer, signal);
	return result == PSI_UNSUPPORTED ? reference_ops->put_signal(port, transfer, signal)
	                                 : result;
}

/* To peers that are near, too. */
static int
pair_device_atomic(struct psi_port *port, const struct psi_device_atomic *operation)
{
	return network_ops->device_atomic(port->network, operation);
}

/* The decision is that of every call for the same message. */
static int
pair_long(struct psi_port *port, struct psi_long *message)
{
	int result = PSI_UNSUPPORTED;

	if (!goes_local(port, message->dest.peer))
		result = network_ops->am_long(port->network, message);
	return result == PSI_UNSUPPORTED ? reference_ops->am_long(port, message) : result;
}

/* -- progress ---------------------------------------------------------------------------------- */

/* A look at the network costs a system call or more, so one that smp keeps busy makes it at times
 * only. */
static unsigned
pair_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	const unsigned delivered = local_ops->poll(port->local, networks, budget);
	const uint32_t polls = __atomic_load_n(&port->polls, __ATOMIC_RELAXED) + 1;

	if (delivered && polls < POLLS_PER_LOOK) {
		__atomic_store_n(&port->polls, polls, __ATOMIC_RELAXED);
		return delivered;
	}
	__atomic_store_n(&port->polls, 0, __ATOMIC_RELAXED);
	return delivered + network_ops->poll(port->network, networks, budget);
}

static int
pair_drain(struct psi_conduit *pair)
{
	return network_ops->drain ? network_ops->drain(pair->network) : PSI_OK;
}

/* Another thread's poll may have kept a message of the network for this port.  This looks behind
 * the announcement of the sleep, and that thread wakes behind the message (look_again): D4. */
static bool
network_has_message(struct psi_port *port, unsigned networks)
{
	uint32_t unused;

	return network_ops->arm &&
	       network_ops->arm(port->network, networks, PSI_NO_PEER, &unused) == PSI_AGAIN;
}

static int
pair_arm(struct psi_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out)
{
	const bool room_local = room_peer != PSI_NO_PEER && goes_local(port, room_peer);
	int result = local_ops->arm(port->local, networks, room_local ? room_peer : PSI_NO_PEER,
	                            ticket_out);

	if (result == PSI_OK && network_has_message(port, networks)) {
		local_ops->disarm(port->local);
		result = PSI_AGAIN;
	}
	return result;
}

static void
pair_sleep(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns)
{
	psi_watch_sleep(&port->pair->watch, port->pair->network, port->local, ticket, timeout_ns);
}

static void
pair_disarm(struct psi_port *port)
{
	local_ops->disarm(port->local);
}

static int
pair_arm_more(struct psi_port *port, unsigned networks)
{
	int result = local_ops->arm_more(port->local, networks);

	if (result == PSI_OK && network_has_message(port, networks)) {
		local_ops->disarm_more(port->local);
		result = PSI_AGAIN;
	}
	return result;
}

static void
pair_disarm_more(struct psi_port *port)
{
	local_ops->disarm_more(port->local);
}

static const uint32_t *
pair_sleep_word(struct psi_port *port, uint32_t peer, bool *fence_out)
{
	return local_ops->sleep_word(port->local, peer, fence_out);
}

/* Peers of the network look by themselves. */
static void
pair_wake_peer(struct psi_port *port, uint32_t peer)
{
	if (goes_local(port, peer))
		local_ops->wake_peer(port->local, peer);
}

static void
pair_wake(struct psi_port *port)
{
	local_ops->wake(port->local);
}

static void
pair_wake_host(struct psi_port *port)
{
	local_ops->wake_host(port->local);
}

static void
pair_request_room(struct psi_port *port, uint32_t peer)
{
	if (goes_local(port, peer))
		local_ops->request_room(port->local, peer);
}

/* -- for people -------------------------------------------------------------------------------- */

static void
pair_describe(struct psi_conduit *pair, char *text, size_t text_bytes)
{
	size_t len;

	snprintf(text, text_bytes, "it says nothing of itself");
	if (network_ops->describe)
		network_ops->describe(pair->network, text, text_bytes);
	len = strlen(text);
	len += (size_t)snprintf(text + len, text_bytes - len, "; %s on this host: ",
	                        local_ops->name);
	if (len < text_bytes)
		local_ops->describe(pair->local, text + len, text_bytes - len);
}

static bool
pair_memory_area(struct psi_conduit *pair, unsigned i, struct psi_memory_area *area_out)
{
	return local_ops->memory_area(pair->local, i, area_out);
}

/* ---------------------------------------------------------------------------------------------- */

/* Named for the network: it is what a user has chosen, and what fails. */
const struct psi_conduit_ops *
psi_pair_make(const struct psi_conduit_ops *local, const struct psi_conduit_ops *network,
              const struct psi_conduit_ops *reference)
{
	static struct psi_conduit_ops pair_ops = {
		.abi = PSI_CONDUIT_ABI,
		.size_bytes = sizeof(struct psi_conduit_ops),
		.probe = pair_probe,
		.open = pair_open,
		.port_open = pair_port_open,
		.connect = pair_connect,
		.am_max_medium = pair_max_medium,
		.am_send = pair_send,
		.am_send_alone = pair_send_alone,
		.am_claim = pair_claim,
		.am_publish = pair_publish,
		.am_cancel = pair_cancel,
		.poll = pair_poll,
		.drain = pair_drain,
		.arm = pair_arm,
		.sleep = pair_sleep,
		.disarm = pair_disarm,
		.arm_more = pair_arm_more,
		.disarm_more = pair_disarm_more,
		.sleep_word = pair_sleep_word,
		.wake_peer = pair_wake_peer,
		.wake = pair_wake,
		.wake_host = pair_wake_host,
		.request_room = pair_request_room,
		.describe = pair_describe,
		.memory_area = pair_memory_area,
	};

	pair_ops.name = network->name;
	pair_ops.release = network->release;
	local_ops = local;
	network_ops = network;
	reference_ops = reference;
	pair_ops.put = reference && network->put ? pair_put : NULL;
	pair_ops.get = reference && network->get ? pair_get : NULL;
	pair_ops.put_signal = reference && network->put_signal ? pair_put_signal : NULL;
	pair_ops.device_atomic = network->device_atomic ? pair_device_atomic : NULL;
	pair_ops.am_long = reference && network->am_long ? pair_long : NULL;
	pair_ops.segment_bind = network->segment_bind ? pair_segment_bind : NULL;
	pair_ops.segment_release = network->segment_release ? pair_segment_release : NULL;
	return &pair_ops;
}
