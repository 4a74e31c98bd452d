/*
 * Ports, and where messages to an endpoint go.
 *
 * The first endpoint of each process has its region in the arena, and there both sides of its process's
 * lanes.  A further endpoint has a region of the same layout in memory that its owner makes with it;
 * who sends to it maps that with the first message.  A lane has a process as its sender, so an endpoint
 * more costs its own region and nothing elsewhere; which endpoint of the process it was stands in the
 * message's header.
 *
 * Pairs:  Q1 -> Q2   a sending side or a port that a thread of this process has set up, to the others
 */
#include "smp-conduit/psmp.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t further_lock = PTHREAD_MUTEX_INITIALIZER;

/* Towards one further endpoint, made by the first thread that needs it. */
struct psmp_further {
	struct psmp_out out[PSI_NETWORKS];
	uint32_t data_ends[];
};

static void
set_up_out(const struct psi_conduit *conduit, struct psmp_out *out, unsigned char *region,
           unsigned network, uint32_t peer, uint32_t *data_end)
{
	const struct psmp_layout *layout = &conduit->layout;
	unsigned char *slots = psmp_lane_at(layout, region, network, conduit->port->place);

	*out = (struct psmp_out){
		.place = peer, .mask = layout->slots - 1,
		.shift = (uint32_t)__builtin_ctz(layout->slots), .limit = layout->slots,
		.data_mask = layout->data_bytes - 1, .data_end = data_end, .region = region,
		.slots = (struct psmp_slot *)(void *)slots,
		.data = slots + (size_t)layout->slots * PSMP_SLOT_BYTES,
		.control = psmp_control_at(layout, region, network, conduit->port->place),
	};
}

static void
set_up_in(const struct psi_port *port, struct psmp_in *in, unsigned network, uint32_t peer)
{
	const struct psmp_layout *layout = &port->conduit->layout;
	unsigned char *region = (unsigned char *)port->shared;
	unsigned char *slots = psmp_lane_at(layout, region, network, peer);

	*in = (struct psmp_in){
		.place = peer, .mask = layout->slots - 1,
		.shift = (uint32_t)__builtin_ctz(layout->slots), .data_bytes = layout->data_bytes,
		.slots = (struct psmp_slot *)(void *)slots,
		.data = slots + (size_t)layout->slots * PSMP_SLOT_BYTES,
		.control = psmp_control_at(layout, region, network, peer),
	};
}

/* ------------------------------------------------------------------------------ ports --- */

static void
free_port(struct psi_port *port)
{
	if (!port)
		return;
	free(port->actives);
	free(port->data_ends);
	free(port);
}

/* The first port of a process has the sending sides; its data_ends are theirs. */
static struct psi_port *
new_port(const struct psmp_layout *layout, bool is_first)
{
	const size_t lanes = (size_t)PSI_NETWORKS * layout->places;
	struct psi_port *port = calloc(1, sizeof *port);

	if (!port)
		return NULL;
	port->actives = calloc(lanes, sizeof *port->actives);
	port->data_ends = calloc(is_first ? lanes * layout->slots : 1, sizeof *port->data_ends);
	if (!port->actives || !port->data_ends) {
		free_port(port);
		return NULL;
	}
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		port->active[network] = port->actives + network * layout->places;
	return port;
}

/* A page lies near the CPU that writes to it first: the block that this rank polls lies near it. */
static void
touch_own(const struct psi_port *port)
{
	unsigned char *at = (unsigned char *)port->shared;
	size_t offset;

	for (offset = 0; offset < port->conduit->layout.controls; offset += PSMP_PAGE_BYTES)
		atomic_fetch_or_explicit((_Atomic unsigned char *)(at + offset), 0,
		                         memory_order_relaxed);
}

static void
set_up_sending(struct psi_conduit *conduit, struct psi_port *port, unsigned network)
{
	const struct psmp_layout *layout = &conduit->layout;

	port->out[network] = psmp_outs_of((unsigned char *)port->shared, layout, network);
	for (uint32_t peer = 0; peer < layout->places; peer++)
		set_up_out(conduit, &port->out[network][peer], psmp_region_of(conduit, peer), network,
		           peer, port->data_ends +
		           psmp_layout_lane(layout, network, peer) * layout->slots);
}

static void
set_up_lanes(struct psi_conduit *conduit, struct psi_port *port)
{
	const struct psmp_layout *layout = &conduit->layout;

	for (unsigned network = 0; network < PSI_NETWORKS; network++) {
		if (port->index == 0)
			set_up_sending(conduit, port, network);
		else
			port->out[network] = conduit->port->out[network];
		port->in[network] = psmp_ins_of((unsigned char *)port->shared, layout, network);
		for (uint32_t peer = 0; peer < layout->places; peer++)
			set_up_in(port, &port->in[network][peer], network, peer);
	}
}

int
psmp_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
               struct psi_port **port_out)
{
	const struct psmp_layout *layout = &conduit->layout;
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
	port = new_port(layout, index == 0);
	region = index == 0 ? psmp_region_of(conduit, conduit->job.host_index[place])
	                    : conduit->services->endpoint_memory(place, layout->region_bytes);
	if (!port || !region) {
		conduit->services->log("smp: no memory for the lanes of %u ranks", layout->places);
		free_port(port);
		return PSI_FAILED;
	}
	port->conduit = conduit;
	port->owner = owner;
	port->counts = conduit->job.counts;
	port->place = conduit->job.host_index[place % conduit->job.places];
	port->index = index;
	port->locked = conduit->job.threaded && !serial;
	port->shared = (struct psmp_shared *)(void *)region;
	if (index == 0)
		conduit->port = port;
	touch_own(port);
	set_up_lanes(conduit, port);
	atomic_store_explicit(&conduit->ports[index], port, memory_order_release); /* Q1 */
	*port_out = port;
	return PSI_OK;
}

void
psmp_ports_close(struct psi_conduit *conduit)
{
	const size_t all = (size_t)PSMP_MAX_INDEX * conduit->job.places;

	for (unsigned index = 0; index <= PSMP_MAX_INDEX; index++)
		free_port(atomic_load_explicit(&conduit->ports[index], memory_order_relaxed));
	for (size_t i = 0; i < all; i++)
		free(atomic_load_explicit(&conduit->further[i], memory_order_relaxed));
	free(conduit->further);
}

/* ------------------------------------------------------------------- further endpoints --- */

/* NULL if its process has not made it. */
static unsigned char *
region_of_further(struct psi_conduit *conduit, uint32_t place)
{
	struct psi_port *own;

	if (place % conduit->job.places != conduit->job.place)
		return conduit->services->endpoint_memory(place, conduit->layout.region_bytes);
	own = atomic_load_explicit(&conduit->ports[place / conduit->job.places],
	                           memory_order_acquire); /* Q2 */
	return own ? (unsigned char *)own->shared : NULL;
}

static struct psmp_further *
set_up_further(struct psi_conduit *conduit, uint32_t place)
{
	const struct psmp_layout *layout = &conduit->layout;
	unsigned char *region = region_of_further(conduit, place);
	struct psmp_further *further;

	if (!region)
		return NULL;
	further = calloc(1, sizeof *further +
	                    (size_t)PSI_NETWORKS * layout->slots * sizeof further->data_ends[0]);
	for (unsigned network = 0; further && network < PSI_NETWORKS; network++)
		set_up_out(conduit, &further->out[network], region, network,
		           conduit->job.host_index[place % conduit->job.places],
		           further->data_ends + network * layout->slots);
	return further;
}

struct psmp_out *
psmp_out_further(struct psi_conduit *conduit, uint32_t place, unsigned network)
{
	_Atomic(struct psmp_further *) *at = &conduit->further[place - conduit->job.places];
	struct psmp_further *further = atomic_load_explicit(at, memory_order_acquire); /* Q2 */

	if (further)
		return &further->out[network];
	pthread_mutex_lock(&further_lock);
	further = atomic_load_explicit(at, memory_order_relaxed);
	if (!further) {
		further = set_up_further(conduit, place);
		atomic_store_explicit(at, further, memory_order_release); /* Q1 */
	}
	pthread_mutex_unlock(&further_lock);
	return further ? &further->out[network] : NULL;
}
