/*
 * Ports, and where messages to an endpoint go.
 *
 * The first endpoint of each process has its region in the arena, with both sides of its process's
 * lanes.  The owner of a further endpoint makes the memory of its region with the endpoint; a
 * sender maps it with its first message.
 *
 * A first endpoint has a lane from each process.  The threads of the process share it under a lock;
 * the header of a message says which endpoint sent it.  A further endpoint also has a lane from the
 * endpoints of index 1, 2 and so on of each process, up to a limit (sysvnet_layout.h), so that
 * threads that are ranks do not share a lane.  If the sending endpoint is serial, such a lane has
 * no lock, and another thread that sends for that endpoint takes the lane of the process.
 *
 * Pairs:  Q1 -> Q2   a sending side or a port that a thread of this process has set up, to others
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t further_lock = PTHREAD_MUTEX_INITIALIZER;

/* Sets up the sending side of the lane from `sender' to the region of an endpoint of process
 * `peer'. */
static void
out_set_up(const struct sysvnet_layout *layout, struct sysvnet_out *out, unsigned char *region,
           unsigned network, uint32_t sender, uint32_t peer, uint32_t *data_end)
{
	unsigned char *slots = sysvnet_lane_at(layout, region, network, sender);

	*out = (struct sysvnet_out){
		.host_index = peer, .sender = sender, .mask = layout->slots - 1,
		.shift = (uint32_t)__builtin_ctz(layout->slots), .limit = layout->slots,
		.window = sysvnet_window_all_free(layout->data_bytes, 0), .data_end = data_end,
		.region = region,
		.slots = (struct sysvnet_slot *)(void *)slots,
		.data = slots + (size_t)layout->slots * SYSVNET_SLOT_BYTES,
		.control = sysvnet_control_at(layout, region, network, sender),
		.words = sysvnet_words_of((struct sysvnet_shared *)(void *)region, layout, network),
	};
}

static void
in_set_up(const struct sysvnet_port *port, struct sysvnet_in *in, unsigned network, uint32_t sender)
{
	const struct sysvnet_layout *layout = port->layout;
	unsigned char *region = (unsigned char *)port->shared;
	unsigned char *slots = sysvnet_lane_at(layout, region, network, sender);
	const uint32_t host_index = sender % layout->processes;

	*in = (struct sysvnet_in){
		.place = port->net->place_at[host_index], .host_index = (uint16_t)host_index,
		.mask = layout->slots - 1, .shift = (uint16_t)__builtin_ctz(layout->slots),
		.least_bytes = sysvnet_window_least(layout->data_bytes),
		.slots = (struct sysvnet_slot *)(void *)slots,
		.data = slots + (size_t)layout->slots * SYSVNET_SLOT_BYTES,
		.control = sysvnet_control_at(layout, region, network, sender),
	};
}

/* ------------------------------------------------------------------------------ ports --- */

static void
port_free(struct sysvnet_port *port)
{
	const size_t all = port ? (size_t)SYSVNET_MAX_INDEX * port->net->job.places : 0;

	if (!port)
		return;
	for (size_t i = 0; port->own_further && i < all; i++)
		free(atomic_load_explicit(&port->own_further[i], memory_order_relaxed));
	free(port->own_further);
	free(port->actives);
	free(port->data_ends);
	free(port);
}

/* Does an endpoint of that index have lanes of its own to further ones? */
static bool
port_sends_itself(const struct sysvnet *net, uint32_t index)
{
	return index * net->layout.processes < net->layout_further.senders;
}

static bool
port_take_memory(struct sysvnet_port *port)
{
	const size_t lanes = (size_t)PSI_NETWORKS * port->layout->senders;
	struct sysvnet *net = port->net;

	port->actives = calloc(lanes, sizeof *port->actives);
	if (port->index == 0)   /* of the sending sides to first endpoints */
		port->data_ends = calloc(lanes * port->layout->slots, sizeof *port->data_ends);
	if (port_sends_itself(net, port->index))
		port->own_further = calloc((size_t)SYSVNET_MAX_INDEX * net->job.places,
		                           sizeof *port->own_further);
	return port->actives && (port->index || port->data_ends) &&
	       (!port_sends_itself(net, port->index) || port->own_further);
}

/* Reports that memory is lacking.  The callback reports a lack of shared memory. */
static void
port_tell_lack(const struct sysvnet *net, uint32_t index)
{
	const struct sysvnet_layout *layout = index ? &net->layout_further : &net->layout;
	const size_t lanes = (size_t)PSI_NETWORKS * layout->senders;
	const size_t further = (size_t)SYSVNET_MAX_INDEX * net->job.places;
	const struct sysvnet_port *port;
	size_t len_bytes = sizeof *port + lanes * sizeof *port->actives;

	if (index == 0)
		len_bytes += lanes * layout->slots * sizeof *port->data_ends;
	if (port_sends_itself(net, index))
		len_bytes += further * sizeof *port->own_further;
	net->calls.log("smp: endpoint %u: no %zu bytes of heap for its ends of the lanes "
	               "from and to %u ranks; free memory, or raise the limit of address space "
	               "(ulimit -v)",
	               index, len_bytes, net->layout.processes);
}

static void
port_set_up_further(struct sysvnet_port *port, bool serial)
{
	struct sysvnet_port *first = port->index ? port->net->port : port;

	port->alone = port->own_further ? port->own_further : first->further;
	port->further = serial ? first->further : port->alone;
}

static struct sysvnet_port *
port_new(struct sysvnet *net, uint32_t index)
{
	struct sysvnet_port *port = calloc(1, sizeof *port);

	if (port) {
		port->net = net;
		port->index = index;
		port->layout = index ? &net->layout_further : &net->layout;
	}
	if (!port || !port_take_memory(port)) {
		port_tell_lack(net, index);
		port_free(port);
		return NULL;
	}
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		port->active[network] = port->actives + network * port->layout->senders;
	return port;
}

/* A page lies near the CPU that writes to it first: the block that this rank polls lies near it. */
static void
port_touch(const struct sysvnet_port *port)
{
	unsigned char *at = (unsigned char *)port->shared;
	size_t offset;

	for (offset = 0; offset < port->layout->controls; offset += SYSVNET_PAGE_BYTES)
		atomic_fetch_or_explicit((_Atomic unsigned char *)(at + offset), 0,
		                         memory_order_relaxed);
}

static void
port_set_up_outs(struct sysvnet *net, struct sysvnet_port *port, unsigned network)
{
	const struct sysvnet_layout *layout = &net->layout;

	port->out[network] = sysvnet_outs_of((unsigned char *)port->shared, layout, network);
	for (uint32_t peer = 0; peer < layout->processes; peer++) {
		const size_t lane = sysvnet_layout_lane(layout, network, peer);

		out_set_up(layout, &port->out[network][peer], sysvnet_region_of(net, peer), network,
		           port->host_index, peer,
		           port->data_ends + lane * layout->slots);
		port->out[network][peer].needs_lock = net->job.threaded;
	}
}

void __attribute__((cold))
sysvnet_port_set_up_lanes(struct sysvnet_port *port)
{
	struct sysvnet *net = port->net;

	for (unsigned network = 0; network < PSI_NETWORKS; network++) {
		if (port->index == 0)
			port_set_up_outs(net, port, network);
		else
			port->out[network] = net->port->out[network];
		port->in[network] =
			sysvnet_ins_of((unsigned char *)port->shared, port->layout, network);
		for (uint32_t sender = 0; sender < port->layout->senders; sender++)
			in_set_up(port, &port->in[network][sender], network, sender);
	}
}

static unsigned char *
port_region(struct sysvnet *net, uint32_t place)
{
	if (place < net->job.places)
		return sysvnet_region_of(net, net->job.host_index[place]);
	return net->calls.endpoint_memory(place, net->layout_further.region_bytes);
}

int __attribute__((cold))
sysvnet_port_open(struct sysvnet *net, uint32_t place, bool serial, void *owner,
                  struct sysvnet_port **port_out)
{
	const uint32_t index = place / net->job.places;
	unsigned char *region;
	struct sysvnet_port *port;

	if (index > SYSVNET_MAX_INDEX)
		return PSI_FAILED;
	port = atomic_load_explicit(&net->ports[index], memory_order_relaxed);
	if (port) {     /* its owner is the same again, and as serial */
		*port_out = port;
		return PSI_OK;
	}
	port = port_new(net, index);
	region = port ? port_region(net, place) : NULL;
	if (!region) {
		port_free(port);
		return PSI_FAILED;
	}
	port->owner = owner;
	port->counts = net->job.counts;
	port->host_index = net->job.host_index[place % net->job.places];
	port->needs_lock = net->job.threaded && !serial;
	port->shared = (struct sysvnet_shared *)(void *)region;
	if (index == 0)
		net->port = port;
	port_set_up_further(port, serial);
	port_touch(port);
	sysvnet_port_set_up_lanes(port);
	atomic_store_explicit(&net->ports[index], port,
	                      memory_order_release); /* Q1: release, to each Q2 of net->ports */
	*port_out = port;
	return PSI_OK;
}

void
sysvnet_ports_close(struct sysvnet *net)
{
	for (unsigned index = 0; index <= SYSVNET_MAX_INDEX; index++)
		port_free(atomic_load_explicit(&net->ports[index], memory_order_relaxed));
}

/* ------------------------------------------------------------------- further endpoints --- */

/* NULL if its process has not made it. */
static unsigned char *
further_region(struct sysvnet *net, uint32_t place)
{
	struct sysvnet_port *own;

	if (place % net->job.places != net->job.place)
		return net->calls.endpoint_memory(place, net->layout_further.region_bytes);
	own = atomic_load_explicit(
		&net->ports[place / net->job.places],
		memory_order_acquire); /* Q2: acquire, from Q1 in sysvnet_port_open */
	return own ? (unsigned char *)own->shared : NULL;
}

/* Sets up the port's own lanes to the endpoint at that place. */
static struct sysvnet_further *
further_set_up(struct sysvnet_port *port, uint32_t place)
{
	const struct sysvnet *net = port->net;
	const struct sysvnet_layout *layout = &net->layout_further;
	unsigned char *region = further_region(port->net, place);
	struct sysvnet_further *further;

	if (!region)
		return NULL;
	further = calloc(1, sizeof *further +
	                    (size_t)PSI_NETWORKS * layout->slots * sizeof further->data_ends[0]);
	for (unsigned network = 0; further && network < PSI_NETWORKS; network++) {
		out_set_up(layout, &further->out[network], region, network,
		           sysvnet_layout_sender(layout, port->host_index, port->index),
		           net->job.host_index[place % net->job.places],
		           further->data_ends + network * layout->slots);
		further->out[network].needs_lock =
			net->job.threaded && port->further == port->alone;
	}
	return further;
}

struct sysvnet_out *
sysvnet_out_make(struct sysvnet_port *port, sysvnet_further_ref *at, uint32_t place,
                 unsigned network)
{
	const size_t all = (size_t)SYSVNET_MAX_INDEX * port->net->job.places;
	struct sysvnet_further *further;

	if (!port->own_further || at < port->own_further || at >= port->own_further + all)
		port = port->net->port;
	pthread_mutex_lock(&further_lock);
	further = atomic_load_explicit(at, memory_order_relaxed);
	if (!further) {
		further = further_set_up(port, place);
		atomic_store_explicit(
			at, further,
			memory_order_release); /* Q1: release, to Q2 in sysvnet_out_made */
	}
	pthread_mutex_unlock(&further_lock);
	return further ? &further->out[network] : NULL;
}
