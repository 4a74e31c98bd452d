/*
 * Ports, and where messages to an endpoint go.
 *
 * The first endpoint of each process has its region in the arena, and there both sides of its process's
 * lanes.  A further endpoint has a region in memory that its owner makes with it; who sends to it maps
 * that with the first message.
 *
 * To a first endpoint there is a lane from each process, which its threads share under a lock; which
 * endpoint of the process it was stands in the message's header.  To a further endpoint there is one
 * from each of the first endpoints of index 1 and so on as well (sysvnet_layout.h), so that threads that are
 * ranks do not meet there.  If such an endpoint is for one thread at a time, its lanes have no lock, and
 * who else sends in its name takes the lane of the process.
 *
 * Pairs:  Q1 -> Q2   a sending side or a port that a thread of this process has set up, to the others
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t further_lock = PTHREAD_MUTEX_INITIALIZER;

/* Of the lane from sender to the region of an endpoint of process `peer'. */
static void
set_up_out(const struct psmp_layout *layout, struct psmp_out *out, unsigned char *region,
           unsigned network, uint32_t sender, uint32_t peer, uint32_t *data_end)
{
	unsigned char *slots = psmp_lane_at(layout, region, network, sender);

	*out = (struct psmp_out){
		.place = peer, .sender = sender, .mask = layout->slots - 1,
		.shift = (uint32_t)__builtin_ctz(layout->slots), .limit = layout->slots,
		.window = psmp_window_all_free(layout->data_bytes, 0), .data_end = data_end,
		.region = region,
		.slots = (struct psmp_slot *)(void *)slots,
		.data = slots + (size_t)layout->slots * PSMP_SLOT_BYTES,
		.control = psmp_control_at(layout, region, network, sender),
		.words = psmp_words_of((struct psmp_shared *)(void *)region, layout, network),
	};
}

static void
set_up_in(const struct psi_port *port, struct psmp_in *in, unsigned network, uint32_t sender)
{
	const struct psmp_layout *layout = port->layout;
	unsigned char *region = (unsigned char *)port->shared;
	unsigned char *slots = psmp_lane_at(layout, region, network, sender);

	*in = (struct psmp_in){
		.place = sender % layout->places, .mask = layout->slots - 1,
		.shift = (uint32_t)__builtin_ctz(layout->slots),
		.least_bytes = psmp_window_least(layout->data_bytes),
		.slots = (struct psmp_slot *)(void *)slots,
		.data = slots + (size_t)layout->slots * PSMP_SLOT_BYTES,
		.control = psmp_control_at(layout, region, network, sender),
	};
}

/* ------------------------------------------------------------------------------ ports --- */

static void
free_port(struct psi_port *port)
{
	const size_t all = port ? (size_t)PSMP_MAX_INDEX * port->conduit->job.places : 0;

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
sends_itself(const struct psi_conduit *conduit, uint32_t index)
{
	return index * conduit->layout.places < conduit->layout_further.senders;
}

static bool
take_memory(struct psi_port *port)
{
	const size_t lanes = (size_t)PSI_NETWORKS * port->layout->senders;
	struct psi_conduit *conduit = port->conduit;

	port->actives = calloc(lanes, sizeof *port->actives);
	if (port->index == 0)   /* of the sending sides to first endpoints */
		port->data_ends = calloc(lanes * port->layout->slots, sizeof *port->data_ends);
	if (sends_itself(conduit, port->index))
		port->own_further = calloc((size_t)PSMP_MAX_INDEX * conduit->job.places,
		                           sizeof *port->own_further);
	return port->actives && (port->index || port->data_ends) &&
	       (!sends_itself(conduit, port->index) || port->own_further);
}

/* Of shared memory the service tells. */
static void
tell_lack(const struct psi_conduit *conduit, uint32_t index)
{
	const struct psmp_layout *layout = index ? &conduit->layout_further : &conduit->layout;
	const size_t lanes = (size_t)PSI_NETWORKS * layout->senders;
	const struct psi_port *port;
	size_t len_bytes = sizeof *port + lanes * sizeof *port->actives;

	if (index == 0)
		len_bytes += lanes * layout->slots * sizeof *port->data_ends;
	if (sends_itself(conduit, index))
		len_bytes += (size_t)PSMP_MAX_INDEX * conduit->job.places * sizeof *port->own_further;
	conduit->services->log("smp: endpoint %u: no %zu bytes of heap for its ends of the lanes from and to "
	                       "%u ranks; free memory, or raise the limit of address space (ulimit -v)",
	                       index, len_bytes, conduit->layout.places);
}

static void
set_up_further_lists(struct psi_port *port, bool serial)
{
	struct psi_port *first = port->index ? port->conduit->port : port;

	port->alone = port->own_further ? port->own_further : first->further;
	port->further = serial ? first->further : port->alone;
}

static struct psi_port *
new_port(struct psi_conduit *conduit, uint32_t index)
{
	struct psi_port *port = calloc(1, sizeof *port);

	if (port) {
		port->conduit = conduit;
		port->index = index;
		port->layout = index ? &conduit->layout_further : &conduit->layout;
	}
	if (!port || !take_memory(port)) {
		tell_lack(conduit, index);
		free_port(port);
		return NULL;
	}
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		port->active[network] = port->actives + network * port->layout->senders;
	return port;
}

/* A page lies near the CPU that writes to it first: the block that this rank polls lies near it. */
static void
touch_own(const struct psi_port *port)
{
	unsigned char *at = (unsigned char *)port->shared;
	size_t offset;

	for (offset = 0; offset < port->layout->controls; offset += PSMP_PAGE_BYTES)
		atomic_fetch_or_explicit((_Atomic unsigned char *)(at + offset), 0,
		                         memory_order_relaxed);
}

static void
set_up_sending(struct psi_conduit *conduit, struct psi_port *port, unsigned network)
{
	const struct psmp_layout *layout = &conduit->layout;

	port->out[network] = psmp_outs_of((unsigned char *)port->shared, layout, network);
	for (uint32_t peer = 0; peer < layout->places; peer++) {
		set_up_out(layout, &port->out[network][peer], psmp_region_of(conduit, peer), network,
		           port->place, peer,
		           port->data_ends + psmp_layout_lane(layout, network, peer) * layout->slots);
		port->out[network][peer].locked = conduit->job.threaded;
	}
}

void
psmp_port_set_up_lanes(struct psi_port *port)
{
	struct psi_conduit *conduit = port->conduit;

	for (unsigned network = 0; network < PSI_NETWORKS; network++) {
		if (port->index == 0)
			set_up_sending(conduit, port, network);
		else
			port->out[network] = conduit->port->out[network];
		port->in[network] = psmp_ins_of((unsigned char *)port->shared, port->layout, network);
		for (uint32_t sender = 0; sender < port->layout->senders; sender++)
			set_up_in(port, &port->in[network][sender], network, sender);
	}
}

static unsigned char *
own_region(struct psi_conduit *conduit, uint32_t place)
{
	if (place < conduit->job.places)
		return psmp_region_of(conduit, conduit->job.host_index[place]);
	return conduit->services->endpoint_memory(place, conduit->layout_further.region_bytes);
}

int
psmp_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
               struct psi_port **port_out)
{
	const uint32_t index = place / conduit->job.places;
	unsigned char *region;
	struct psi_port *port;

	if (index > PSMP_MAX_INDEX)
		return PSI_FAILED;
	port = atomic_load_explicit(&conduit->ports[index], memory_order_relaxed);
	if (port) {     /* its owner is the same again, and as serial */
		*port_out = port;
		return PSI_OK;
	}
	port = new_port(conduit, index);
	region = port ? own_region(conduit, place) : NULL;
	if (!region) {
		free_port(port);
		return PSI_FAILED;
	}
	port->owner = owner;
	port->counts = conduit->job.counts;
	port->place = conduit->job.host_index[place % conduit->job.places];
	port->locked = conduit->job.threaded && !serial;
	port->shared = (struct psmp_shared *)(void *)region;
	if (index == 0)
		conduit->port = port;
	set_up_further_lists(port, serial);
	touch_own(port);
	psmp_port_set_up_lanes(port);
	atomic_store_explicit(&conduit->ports[index], port, memory_order_release); /* Q1 */
	*port_out = port;
	return PSI_OK;
}

void
psmp_ports_close(struct psi_conduit *conduit)
{
	for (unsigned index = 0; index <= PSMP_MAX_INDEX; index++)
		free_port(atomic_load_explicit(&conduit->ports[index], memory_order_relaxed));
}

/* ------------------------------------------------------------------- further endpoints --- */

/* NULL if its process has not made it. */
static unsigned char *
region_of_further(struct psi_conduit *conduit, uint32_t place)
{
	struct psi_port *own;

	if (place % conduit->job.places != conduit->job.place)
		return conduit->services->endpoint_memory(place, conduit->layout_further.region_bytes);
	own = atomic_load_explicit(&conduit->ports[place / conduit->job.places],
	                           memory_order_acquire); /* Q2 */
	return own ? (unsigned char *)own->shared : NULL;
}

/* From a port whose own such lanes these are. */
static struct psmp_further *
set_up_further(struct psi_port *port, uint32_t place)
{
	const struct psi_conduit *conduit = port->conduit;
	const struct psmp_layout *layout = &conduit->layout_further;
	unsigned char *region = region_of_further(port->conduit, place);
	struct psmp_further *further;

	if (!region)
		return NULL;
	further = calloc(1, sizeof *further +
	                    (size_t)PSI_NETWORKS * layout->slots * sizeof further->data_ends[0]);
	for (unsigned network = 0; further && network < PSI_NETWORKS; network++) {
		set_up_out(layout, &further->out[network], region, network,
		           psmp_layout_sender(layout, port->place, port->index),
		           conduit->job.host_index[place % conduit->job.places],
		           further->data_ends + network * layout->slots);
		further->out[network].locked = conduit->job.threaded && port->further == port->alone;
	}
	return further;
}

struct psmp_out *
psmp_out_make(struct psi_port *port, psmp_further_ref *at, uint32_t place, unsigned network)
{
	const size_t all = (size_t)PSMP_MAX_INDEX * port->conduit->job.places;
	struct psmp_further *further;

	if (!port->own_further || at < port->own_further || at >= port->own_further + all)
		port = port->conduit->port;
	pthread_mutex_lock(&further_lock);
	further = atomic_load_explicit(at, memory_order_relaxed);
	if (!further) {
		further = set_up_further(port, place);
		atomic_store_explicit(at, further, memory_order_release); /* Q1 */
	}
	pthread_mutex_unlock(&further_lock);
	return further ? &further->out[network] : NULL;
}
