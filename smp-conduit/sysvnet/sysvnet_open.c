/*
 * Opening and closing: the arena is laid out, and what all agree on is put in force.
 *
 * Pairs:  M1 -> M2   what the arena is, from the process of host index 0 to all that map it
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include <stdio.h>
#include <stdlib.h>

size_t
sysvnet_arena_bytes(uint32_t processes, bool wide)
{
	if (processes > SYSVNET_MAX_PROCESSES)
		return 0;
	return sysvnet_layout_for(processes, wide).total_bytes;
}

static struct sysvnet_header *
arena_header(const struct sysvnet *net)
{
	return (struct sysvnet_header *)(void *)net->arena;
}

/* Is this the process of host index 0, which tells what the arena is?  Place 0 may be on another
 * host. */
static bool
is_first_of_host(const struct sysvnet *net)
{
	return net->job.host_index[net->job.place] == 0;
}

/* The table of places by host index; NULL: no memory. */
static uint32_t *
host_table(const struct sysvnet_job *job)
{
	uint32_t *place_at = calloc(job->host_places, sizeof *place_at);

	for (uint32_t place = 0; place_at && place < job->places; place++)
		if (job->local[place])
			place_at[job->host_index[place]] = place;
	return place_at;
}

struct sysvnet * __attribute__((cold))
sysvnet_open(const struct sysvnet_job *job, const struct sysvnet_callbacks *calls, void *arena,
             bool wide)
{
	struct sysvnet *net = calloc(1, sizeof *net);
	struct sysvnet_header *header;

	if (!net || !(net->place_at = host_table(job))) {
		free(net);
		return NULL;
	}
	net->job = *job;
	net->calls = *calls;
	net->arena = arena;
	net->layout = sysvnet_layout_for(job->host_places, wide);
	net->layout_further = sysvnet_layout_further(job->host_places, wide);
	header = arena_header(net);
	if (is_first_of_host(net)) {
		header->abi = SYSVNET_ABI;
		header->processes = net->layout.processes;
		header->total_bytes = net->layout.total_bytes;
		atomic_store_explicit(
			&header->magic, SYSVNET_ARENA_MAGIC,
			memory_order_release); /* M1: release, to M2 in sysvnet_agrees */
	}
	return net;
}

void
sysvnet_close(struct sysvnet *net)
{
	sysvnet_ports_close(net);
	free(net->place_at);
	free(net);
}

bool
sysvnet_agrees(const struct sysvnet *net)
{
	const struct sysvnet_header *header = arena_header(net);
	uint32_t magic = atomic_load_explicit(
		&header->magic, memory_order_acquire); /* M2: acquire, from M1 in sysvnet_open */

	return magic == SYSVNET_ARENA_MAGIC && header->abi == SYSVNET_ABI &&
	       header->processes == net->layout.processes &&
	       header->total_bytes == net->layout.total_bytes;
}

/* Makes lanes of fewer slots, at the same offsets.  This process has sent and taken nothing yet.
 * A peer that is further on may have sent already: what is set up here are this process's own
 * ends, neither slots nor controls. */
static void
lanes_shorten(struct sysvnet *net)
{
	if (net->layout.slots > SYSVNET_ROOMY_SLOTS)
		net->layout.slots = SYSVNET_ROOMY_SLOTS;
	if (net->layout_further.slots > SYSVNET_ROOMY_SLOTS)
		net->layout_further.slots = SYSVNET_ROOMY_SLOTS;
	sysvnet_port_set_up_lanes(net->port);
}

void
sysvnet_connect(struct sysvnet *net, bool roomy, bool senders_fence)
{
	if (roomy)
		lanes_shorten(net);
	if (is_first_of_host(net))
		atomic_store_explicit(&arena_header(net)->slots, net->layout.slots,
		                      memory_order_relaxed);
	net->senders_fence = senders_fence;
}

/* ---------------------------------------------------------------------- for people --- */

void
sysvnet_describe(const struct sysvnet *net, char *text, size_t text_bytes)
{
	const struct sysvnet_layout *layout = &net->layout;

	snprintf(text, text_bytes,
	         "%u endpoints, lanes of %u slots and %u to %u bytes, %zu bytes mapped, %s fence",
	         layout->processes, layout->slots, sysvnet_window_least(layout->data_bytes),
	         layout->data_bytes, layout->total_bytes,
	         net->senders_fence ? "senders" : "sleepers");
}

/* NULL past the last. */
static unsigned char *
region_number(struct sysvnet *net, unsigned number)
{
	const uint32_t processes = net->layout.processes;
	struct sysvnet_port *port;

	if (number < processes)
		return sysvnet_region_of(net, number);
	if (number - processes >= SYSVNET_MAX_INDEX)
		return NULL;
	port = atomic_load_explicit(
		&net->ports[1 + number - processes],
		memory_order_acquire); /* Q2: acquire, from Q1 in sysvnet_port_open */
	return port ? (unsigned char *)port->shared : NULL;
}

/* The header, then three areas for each region: the arena's, then those of further endpoints
 * here. */
bool
sysvnet_area(struct sysvnet *net, unsigned i, struct sysvnet_area *area_out)
{
	static const enum sysvnet_area_kind kinds[] = {
		SYSVNET_AREA_CONTROL, SYSVNET_AREA_LANES, SYSVNET_AREA_BUFFERS,
	};
	const unsigned number = (i - 1) % 3, region = (i - 1) / 3;
	const struct sysvnet_layout *layout = region < net->layout.processes ? &net->layout
	                                                                  : &net->layout_further;
	const size_t ends[] = { layout->lanes, layout->buffers, layout->region_bytes };
	const size_t from = number ? ends[number - 1] : 0;
	unsigned char *base;

	if (i == 0) {
		*area_out = (struct sysvnet_area){ SYSVNET_AREA_CONTROL, net->arena,
			                           net->layout.header_bytes };
		return true;
	}
	base = region_number(net, region);
	if (!base)
		return false;
	*area_out = (struct sysvnet_area){ kinds[number], base + from,
	                                   ends[number] - from };
	return true;
}
