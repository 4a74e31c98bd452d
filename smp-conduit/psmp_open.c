/*
 * Opening and closing: the arena is laid out and mapped, the two sides of every lane of this
 * process are set up, the operation table is filled in.
 */
#include "smp-conduit/psmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	(void)services;
	if (reason_bytes)
		reason[0] = '\0';
	return true;
}

/* ---------------------------------------------------------------------------- arena --- */

static int
map_arena(struct psi_conduit *conduit)
{
	struct psmp_header *header;

	conduit->arena = conduit->services->host_memory(conduit->layout.total_bytes);
	if (!conduit->arena) {
		conduit->services->log("smp: no shared memory of %zu bytes for the message queues",
		                       conduit->layout.total_bytes);
		return PSI_FAILED;
	}
	header = (struct psmp_header *)(void *)conduit->arena;
	if (conduit->job.place == 0) {
		header->abi = PSI_CONDUIT_ABI;
		header->places = conduit->layout.places;
		header->total_bytes = conduit->layout.total_bytes;
		atomic_store_explicit(&header->magic, PSMP_ARENA_MAGIC, memory_order_release); /* M1 */
	}
	return PSI_OK;
}

/* After every process of the host has opened: do all agree on what the arena is? */
static bool
arena_agrees(const struct psi_conduit *conduit)
{
	const struct psmp_header *header = (const struct psmp_header *)(const void *)conduit->arena;

	return atomic_load_explicit(&header->magic, memory_order_acquire) == PSMP_ARENA_MAGIC && /* M2 */
	       header->abi == PSI_CONDUIT_ABI && header->places == conduit->layout.places &&
	       header->total_bytes == conduit->layout.total_bytes;
}

static int
open_conduit(const struct psi_services *services, const struct psi_conduit_job *job,
             struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	struct psi_conduit *conduit;

	if (services->abi != PSI_CONDUIT_ABI || services->size_bytes < sizeof *services)
		return PSI_FATAL;
	if (job->host_places > PSMP_MAX_PLACES) {
		services->log("smp: %u ranks on one host are more than %d", job->host_places,
		              PSMP_MAX_PLACES);
		return PSI_FAILED;
	}
	conduit = calloc(1, sizeof *conduit);
	if (!conduit) {
		services->log("smp: no memory");
		return PSI_FAILED;
	}
	conduit->services = services;
	conduit->job = *job;
	conduit->layout = psmp_layout_for(job->host_places);
	if (map_arena(conduit) != PSI_OK) {
		free(conduit);
		return PSI_FAILED;
	}
	*attributes_out = (struct psi_attributes){
		.capabilities = PSI_CAP_INJECT_ANY_THREAD | PSI_CAP_CLAIM_IN_PLACE | PSI_CAP_SLEEP,
		.max_medium_bytes = PSMP_LARGE_BYTES,
		.max_long_bytes = INT32_MAX,
		.am_latency_ns = 100, .am_overhead_ns = 20, .bytes_per_ns = 10,
		.shared_bytes = conduit->layout.total_bytes,
	};
	*conduit_out = conduit;
	return PSI_OK;
}

/* ----------------------------------------------------------------------------- port --- */

static unsigned char *
lane_of(const struct psi_conduit *conduit, uint32_t receiver, unsigned network, uint32_t sender)
{
	const struct psmp_layout *layout = &conduit->layout;

	return conduit->arena + psmp_layout_region(layout, receiver) + layout->lanes +
	       psmp_layout_lane(layout, network, sender) * layout->lane_bytes;
}

static struct psmp_control *
control_of(const struct psi_conduit *conduit, uint32_t receiver, unsigned network, uint32_t sender)
{
	const struct psmp_layout *layout = &conduit->layout;
	unsigned char *at = conduit->arena + psmp_layout_region(layout, receiver) +
	                    layout->controls +
	                    psmp_layout_lane(layout, network, sender) * PSMP_LINE_BYTES;

	return (struct psmp_control *)(void *)at;
}

static void
set_up_lane(struct psi_port *port, unsigned network, uint32_t peer, uint32_t *data_ends)
{
	const struct psi_conduit *conduit = port->conduit;
	const struct psmp_layout *layout = &conduit->layout;
	const uint32_t shift = (uint32_t)__builtin_ctz(layout->slots);
	unsigned char *to = lane_of(conduit, peer, network, port->place);
	unsigned char *from = lane_of(conduit, port->place, network, peer);
	const size_t ring_bytes = (size_t)layout->slots * PSMP_SLOT_BYTES;

	port->out[network][peer] = (struct psmp_out){
		.place = peer, .mask = layout->slots - 1, .shift = shift, .limit = layout->slots,
		.data_mask = layout->data_bytes - 1,
		.data_end = data_ends + psmp_layout_lane(layout, network, peer) * layout->slots,
		.slots = (struct psmp_slot *)(void *)to, .data = to + ring_bytes,
		.control = control_of(conduit, peer, network, port->place),
	};
	port->in[network][peer] = (struct psmp_in){
		.place = peer, .mask = layout->slots - 1, .shift = shift,
		.data_bytes = layout->data_bytes,
		.slots = (struct psmp_slot *)(void *)from, .data = from + ring_bytes,
		.control = control_of(conduit, port->place, network, peer),
	};
}

/* A port and those of its tables that are nobody else's. */
struct port_memory {
	struct psi_port port;
	uint32_t *actives, *data_ends;
};

static void
free_port(struct psi_port *port)
{
	struct port_memory *memory = (struct port_memory *)(void *)port;

	if (!memory)
		return;
	free(memory->actives);
	free(memory->data_ends);
	free(memory);
}

static struct psi_port *
new_port(const struct psmp_layout *layout)
{
	const size_t lanes = (size_t)PSI_NETWORKS * layout->places;
	struct port_memory *memory = calloc(1, sizeof *memory);

	if (!memory)
		return NULL;
	memory->actives = calloc(lanes, sizeof *memory->actives);
	memory->data_ends = calloc(lanes * layout->slots, sizeof *memory->data_ends);
	if (!memory->actives || !memory->data_ends) {
		free_port(&memory->port);
		return NULL;
	}
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		memory->port.active[network] = memory->actives + network * layout->places;
	return &memory->port;
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

static int
port_open(struct psi_conduit *conduit, uint32_t place, void *owner, struct psi_port **port_out)
{
	struct psi_port *port = new_port(&conduit->layout);

	if (!port) {
		conduit->services->log("smp: no memory for the lanes of %u ranks",
		                       conduit->layout.places);
		return PSI_FAILED;
	}
	port->conduit = conduit;
	port->owner = owner;
	port->counts = conduit->job.counts;
	port->place = conduit->job.host_index[place];
	port->shared = psmp_shared_of(conduit, port->place);
	touch_own(port);
	for (unsigned network = 0; network < PSI_NETWORKS; network++) {
		port->out[network] = psmp_outs_of(conduit->arena, &conduit->layout, port->place, network);
		port->in[network] = psmp_ins_of(conduit->arena, &conduit->layout, port->place, network);
		for (uint32_t peer = 0; peer < conduit->layout.places; peer++)
			set_up_lane(port, network, peer,
			            ((struct port_memory *)(void *)port)->data_ends);
	}
	conduit->port = port;
	*port_out = port;
	return PSI_OK;
}

/* With more ranks than CPUs a sleeper is woken all the time, and a fence in each send is cheaper than
 * a system call with an interrupt in each sleep. */
static int
connect_conduit(struct psi_conduit *conduit)
{
	const struct psi_services *services = conduit->services;
	uint32_t registered = services->agree_least(psmp_fence_register(services));
	uint32_t roomy = services->agree_least(!conduit->job.crowded);

	if (!arena_agrees(conduit)) {
		services->log("smp: the ranks' libraries disagree on the layout of shared memory; use "
		              "one build of the library for all");
		return PSI_FATAL;
	}
	conduit->senders_fence = !registered || !roomy;
	conduit->fence_reason = !registered ? "no membarrier"
	                        : !roomy ? "more ranks than CPUs" : "membarrier";
	if (!conduit->senders_fence) {
		if (conduit->job.host_index[conduit->job.place] < 2)
			psmp_fence_settle();
		services->agree_least(true);    /* before anybody sends */
	}
	return PSI_OK;
}

static void
quiesce(struct psi_conduit *conduit)
{
	(void)conduit;  /* what was sent lies in the receiver's memory already */
}

static void
close_conduit(struct psi_conduit *conduit)
{
	free_port(conduit->port);
	free(conduit);
}

static void
abort_conduit(struct psi_conduit *conduit)
{
	(void)conduit;  /* shared memory has no name, and goes with the last process */
}

/* ---------------------------------------------------------------------- for people --- */

static void
describe(struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	const struct psmp_layout *layout = &conduit->layout;

	snprintf(text, text_bytes,
	         "%u endpoints, lanes of %u slots and %u bytes, %zu bytes mapped, %s fence (%s)",
	         layout->places, layout->slots, layout->data_bytes, layout->total_bytes,
	         conduit->senders_fence ? "senders" : "sleepers", conduit->fence_reason);
}

/* The header, then three parts for each region. */
static bool
parts(struct psi_conduit *conduit, unsigned i, struct psi_memory_part *part_out)
{
	const struct psmp_layout *layout = &conduit->layout;
	const size_t ends[] = { layout->lanes, layout->buffers, layout->region_bytes };
	static const enum psi_memory_kind kinds[] = {
		PSI_MEMORY_CONTROL, PSI_MEMORY_QUEUES, PSI_MEMORY_BUFFERS,
	};
	const unsigned part = (i - 1) % 3, region = (i - 1) / 3;
	size_t from = part ? ends[part - 1] : 0;

	if (i == 0) {
		*part_out = (struct psi_memory_part){ PSI_MEMORY_CONTROL, conduit->arena,
		                                      layout->header_bytes };
		return true;
	}
	if (region >= layout->places)
		return false;
	*part_out = (struct psi_memory_part){
		kinds[part], conduit->arena + psmp_layout_region(layout, region) + from,
		ends[part] - from,
	};
	return true;
}

static size_t
queue_bytes(uint32_t endpoints)
{
	return endpoints > PSMP_MAX_PLACES ? 0 : psmp_layout_for(endpoints).total_bytes;
}

const struct psi_conduit_ops psmp_ops = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof(struct psi_conduit_ops),
	.name = "smp",
	.version = "1.0",
	.probe = probe,
	.open = open_conduit,
	.port_open = port_open,
	.connect = connect_conduit,
	.quiesce = quiesce,
	.close = close_conduit,
	.abort = abort_conduit,
	.am_max_medium = psmp_am_max_medium,
	.am_send = psmp_am_send,
	.am_claim = psmp_am_claim,
	.am_publish = psmp_am_publish,
	.am_cancel = psmp_am_cancel,
	.poll = psmp_poll,
	.arm = psmp_arm,
	.sleep = psmp_sleep,
	.disarm = psmp_disarm,
	.ring = psmp_ring,
	.want = psmp_want,
	.describe = describe,
	.queue = psmp_queue,
	.parts = parts,
	.queue_bytes = queue_bytes,
};
