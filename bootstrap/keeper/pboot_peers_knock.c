/*
 * Knocks between hosts (rank/pboot_knock.c).  The keeper of the rank that is knocked at writes who
 * knocks to its word in the exchange area.
 */
#include "bootstrap/keeper/pboot_peers.h"

enum { KNOCK_BYTES = 8 };	/* who knocks, and at whom: ranks of the job, 4 bytes each */

static void
knock_write(struct pboot_keeper *keeper, uint32_t from, uint32_t to)
{
	struct pboot_area *area = pboot_peers_area(keeper);

	if (area)
		atomic_store_explicit(pboot_area_knock(area, keeper->peers->job_size, to), 1 + from,
		                      memory_order_relaxed);
}

void
pboot_peers_knock(struct pboot_keeper *keeper, uint32_t local_rank, uint32_t to)
{
	struct pboot_peers *peers = keeper->peers;
	uint8_t bytes[KNOCK_BYTES];

	if (!peers || peers->closing || peers->closed || to >= peers->job_size)
		return;
	if (peers->host_of[to] == peers->host_index) {
		knock_write(keeper, peers->job_rank[local_rank], to);
		return;
	}
	pboot_store_32(bytes, peers->job_rank[local_rank]);
	pboot_store_32(bytes + 4, to);
	(void)pboot_overlay_send(peers->net, peers->host_of[to], PBOOT_FRAME_KNOCK, bytes,
	                         sizeof bytes);
}

void
pboot_peers_knocked(struct pboot_keeper *keeper, const struct pboot_overlay_event *event)
{
	const struct pboot_peers *peers = keeper->peers;
	uint32_t from, to;

	if (event->len_bytes != KNOCK_BYTES)
		return;
	from = pboot_load_32(event->bytes);
	to = pboot_load_32(event->bytes + 4);
	if (from < peers->job_size && to < peers->job_size &&
	    peers->host_of[from] == event->host && peers->host_of[to] == peers->host_index)
		knock_write(keeper, from, to);
}
