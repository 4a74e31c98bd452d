/*
 * Barriers and exchanges of all ranks.  The ranks of this host have met in the exchange area.  The
 * overlay gathers the blocks of all hosts, and the keeper writes them to the area before it wakes
 * the ranks.
 *
 * The block of a host has len_bytes from each of its ranks, in the order of their numbers.
 */
#include "bootstrap/keeper/pboot_peers.h"

#include "runtime/util/futex.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

_Static_assert((int)PBOOT_AREA_HOST_BYTES <= (int)PBOOT_FRAME_BLOB_BYTES,
    "the block of a host fits into one blob");

static void *
area_map(const struct pboot_keeper *keeper, size_t bytes)
{
	void *base;

	if (keeper->memory.kind == PBOOT_SHM_SYSV) {
		base = shmat(keeper->memory.exchange_id, NULL, 0);
		return base == (void *)-1 ? NULL : base;
	}
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
	    keeper->files[PBOOT_FILE_EXCHANGE].fd, 0);
	return base == MAP_FAILED ? NULL : base;
}

struct pboot_area *
pboot_peers_area(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (!peers->area)
		peers->area = area_map(keeper, pboot_area_bytes(peers->job_size));
	return peers->area;
}

/* All ranks of this host have arrived.  They wrote to the area before they sent the message.  The
 * keeper reads the numbers once, since a faulty rank may change them. */
void
pboot_peers_arrived(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (!peers || peers->gather_due || peers->gathering)
		return;
	if (!pboot_peers_area(keeper)) {
		pboot_keeper_event(keeper, PBOOT_EV_NO_START, 0, ENOMEM);
		return;
	}
	peers->gather_len = atomic_load_explicit(&peers->area->len_bytes, memory_order_relaxed);
	peers->gather_half = atomic_load_explicit(&peers->area->half, memory_order_relaxed) % 2;
	if ((uint64_t)peers->gather_len * keeper->plan->size > PBOOT_AREA_HOST_BYTES ||
	    peers->gather_len > PBOOT_EXCHANGE_MAX)
		peers->gather_len = 0;
	peers->gather_due = true;
}

static bool
block_collect(const struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;
	const uint32_t len = peers->gather_len;
	uint32_t rank;

	if (peers->block)
		return true;
	peers->block = malloc((size_t)len * keeper->plan->size);
	for (rank = 0; peers->block && rank < keeper->plan->size; rank++)
		memcpy(peers->block + (size_t)rank * len,
		    pboot_area_block(peers->area, peers->job_size, peers->gather_half, len,
		                     peers->job_rank[rank]),
		    len);
	return peers->block;
}

static enum pboot_overlay_result
gather_begin(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (peers->gather_len == 0)
		return pboot_overlay_barrier(peers->net);
	if (!block_collect(keeper))
		return PBOOT_OVERLAY_NO_MEMORY;
	return pboot_overlay_allgather(peers->net, peers->block,
	    peers->gather_len * keeper->plan->size);
}

void
pboot_peers_gather_tell(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (!peers->gather_due)
		return;
	switch (gather_begin(keeper)) {
	case PBOOT_OVERLAY_OK:
		peers->gathering = true;
		break;
	case PBOOT_OVERLAY_AGAIN:
		return;
	case PBOOT_OVERLAY_GONE:	/* a host is lost: the job ends */
		break;
	case PBOOT_OVERLAY_MISUSE:
	case PBOOT_OVERLAY_NO_MEMORY:
		pboot_keeper_event(keeper, PBOOT_EV_NO_START, 0, ENOMEM);
		break;
	}
	peers->gather_due = false;
	free(peers->block);
	peers->block = NULL;
}

/* Copies the blobs of other hosts to the area.  at[] holds how much of each host's blob has been
 * read. */
static bool
blobs_scatter(struct pboot_peers *peers, const struct pboot_overlay_blob *blobs)
{
	const uint32_t len = peers->gather_len;
	uint32_t *at = calloc(peers->host_count, sizeof *at), rank, host;
	bool whole = at != NULL;

	for (rank = 0; whole && rank < peers->job_size; rank++) {
		host = peers->host_of[rank];
		whole = blobs[host].len_bytes - at[host] >= len;
		if (whole && host != peers->host_index)
			memcpy(pboot_area_block(peers->area, peers->job_size, peers->gather_half,
			                        len, rank),
			    blobs[host].bytes + at[host], len);
		at[host] += len;
	}
	free(at);
	return whole;
}

/* If a host gave another length, its ranks are in another exchange, and the job fails. */
void
pboot_peers_gathered(struct pboot_keeper *keeper, const struct pboot_overlay_blob *blobs)
{
	struct pboot_peers *peers = keeper->peers;
	struct pboot_area *area = peers->area;

	if (!peers->gathering)
		return;
	peers->gathering = false;
	if (blobs && !blobs_scatter(peers, blobs)) {
		pboot_keeper_event(keeper, PBOOT_EV_NO_START, 0, EPROTO);
		return;
	}
	atomic_fetch_add_explicit(&area->turn, 1,
	                          memory_order_release); /* B1: release, to B2 in area_await_turn */
	psi_futex_wake(&area->turn, INT_MAX);
}
