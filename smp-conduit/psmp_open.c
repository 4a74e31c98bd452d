/*
 * Opening and closing: the arena is laid out and mapped, the operation table is filled in.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

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

/* The layout is wide unless pages that nobody touches are dear where shared memory is. */
static int
map_arena(struct psi_conduit *conduit, uint32_t places)
{
	const size_t most_bytes = psmp_layout_for(places, true).total_bytes;
	const size_t least_bytes = psmp_layout_for(places, false).total_bytes;
	struct psmp_header *header;
	size_t got_bytes = 0;
	bool wide;

	conduit->arena = conduit->services->host_memory(most_bytes, least_bytes, &got_bytes);
	if (!conduit->arena) {
		conduit->services->log("smp: no shared memory of %zu bytes for the message queues",
		                       least_bytes);
		return PSI_FAILED;
	}
	wide = got_bytes == most_bytes;
	conduit->layout = psmp_layout_for(places, wide);
	conduit->layout_further = psmp_layout_further(places, wide);
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
	if (map_arena(conduit, job->host_places) != PSI_OK) {
		free(conduit);
		return PSI_FAILED;
	}
	*attributes_out = (struct psi_attributes){
		.max_medium_bytes = PSMP_LARGE_BYTES,
		.max_long_bytes = INT32_MAX,
		.shared_bytes = conduit->layout.total_bytes,
	};
	*conduit_out = conduit;
	return PSI_OK;
}

/* Lanes of fewer slots, in the same places.  This process has sent and taken nothing yet.  A peer that is further
 * on may have sent already: what is set up here are this process's own ends, neither slots nor controls. */
static void
shorten_lanes(struct psi_conduit *conduit)
{
	if (conduit->layout.slots > PSMP_ROOMY_SLOTS)
		conduit->layout.slots = PSMP_ROOMY_SLOTS;
	if (conduit->layout_further.slots > PSMP_ROOMY_SLOTS)
		conduit->layout_further.slots = PSMP_ROOMY_SLOTS;
	psmp_port_set_up_lanes(conduit->port);
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
	if (roomy)
		shorten_lanes(conduit);
	if (conduit->job.place == 0)
		atomic_store_explicit(&((struct psmp_header *)(void *)conduit->arena)->slots,
		                      conduit->layout.slots, memory_order_relaxed);
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

void
psmp_close(struct psi_conduit *conduit)
{
	psmp_ports_close(conduit);
	free(conduit);
}

/* ---------------------------------------------------------------------- for people --- */

static void
describe(struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	const struct psmp_layout *layout = &conduit->layout;

	snprintf(text, text_bytes,
	         "%u endpoints, lanes of %u slots and %u to %u bytes, %zu bytes mapped, %s fence (%s)",
	         layout->places, layout->slots, psmp_window_least(layout->data_bytes), layout->data_bytes,
	         layout->total_bytes,
	         conduit->senders_fence ? "senders" : "sleepers", conduit->fence_reason);
}

/* NULL past the last. */
static unsigned char *
region_number(struct psi_conduit *conduit, unsigned number)
{
	const uint32_t places = conduit->layout.places;
	struct psi_port *port;

	if (number < places)
		return psmp_region_of(conduit, number);
	if (number - places >= PSMP_MAX_INDEX)
		return NULL;
	port = atomic_load_explicit(&conduit->ports[1 + number - places],
	                            memory_order_acquire); /* Q2 */
	return port ? (unsigned char *)port->shared : NULL;
}

/* The header, then three parts for each region: the arena's, then those of further endpoints here. */
static bool
parts(struct psi_conduit *conduit, unsigned i, struct psi_memory_part *part_out)
{
	static const enum psi_memory_kind kinds[] = {
		PSI_MEMORY_CONTROL, PSI_MEMORY_QUEUES, PSI_MEMORY_BUFFERS,
	};
	const unsigned part = (i - 1) % 3, region = (i - 1) / 3;
	const struct psmp_layout *layout = region < conduit->layout.places ? &conduit->layout
	                                                                   : &conduit->layout_further;
	const size_t ends[] = { layout->lanes, layout->buffers, layout->region_bytes };
	const size_t from = part ? ends[part - 1] : 0;
	unsigned char *base;

	if (i == 0) {
		*part_out = (struct psi_memory_part){ PSI_MEMORY_CONTROL, conduit->arena,
		                                      conduit->layout.header_bytes };
		return true;
	}
	base = region_number(conduit, region);
	if (!base)
		return false;
	*part_out = (struct psi_memory_part){ kinds[part], base + from, ends[part] - from };
	return true;
}

static size_t
queue_bytes(uint32_t endpoints)
{
	return endpoints > PSMP_MAX_PLACES ? 0 : psmp_layout_for(endpoints, true).total_bytes;
}

const struct psi_conduit_ops psmp_ops = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof(struct psi_conduit_ops),
	.name = "smp",
	.version = "1.0",
	.probe = probe,
	.open = open_conduit,
	.port_open = psmp_port_open,
	.connect = connect_conduit,
	.am_max_medium = psmp_am_max_medium,
	.am_send = psmp_am_send,
	.am_short = psmp_am_short,
	.am_medium = psmp_am_medium,
	.am_send_alone = psmp_am_send_alone,
	.am_claim = psmp_am_claim,
	.am_publish = psmp_am_publish,
	.am_cancel = psmp_am_cancel,
	.poll = psmp_poll,
	.arm = psmp_arm,
	.sleep = psmp_sleep,
	.disarm = psmp_disarm,
	.watch = psmp_watch,
	.unwatch = psmp_unwatch,
	.sleep_word = psmp_sleep_word,
	.ring_peer = psmp_ring_peer,
	.ring = psmp_ring,
	.ring_host = psmp_ring_host,
	.want = psmp_want,
	.describe = describe,
	.queue = psmp_queue,
	.parts = parts,
	.queue_bytes = queue_bytes,
};
