/*
 * What the provider makes of puts and gets, in pieces of which size; and their slots.
 */
#include "ofi-conduit/pofi.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 30 };

static bool
info_has(const struct fi_info *info, uint64_t caps)
{
	return (info->caps & caps) == caps;
}

/* A stream of Longs of 1 MiB takes 150 to 200 us for each if a socket is given all of one at once,
 * and 110 to 130 in pieces of 256 KiB, of which the next begins when the last is in the socket.
 * Puts, for which the target says when they have come, lose by that (docs/performance.md). */
static bool
goes_over_tcp(const struct fi_info *info)
{
	return strncmp(info->fabric_attr->prov_name, "tcp", 3) == 0;
}

static void
rma_limits(struct psi_conduit *conduit)
{
	const struct fi_info *info = conduit->info;
	const size_t most = info->ep_attr->max_msg_size, queue = info->tx_attr->size / 4;

	conduit->rma.puts = info_has(info, FI_RMA | FI_WRITE | FI_REMOTE_WRITE) &&
	                    info->tx_attr->op_flags & FI_DELIVERY_COMPLETE;
	conduit->rma.data = conduit->rma.puts &&
	                    info->domain_attr->cq_data_size >= sizeof(uint64_t);
	conduit->rma.gets = info_has(info, FI_RMA | FI_READ | FI_REMOTE_READ);
	conduit->rma.needs_local = info->domain_attr->mr_mode & FI_MR_LOCAL;
	conduit->rma.piece_bytes = most < PIECE_BYTES ? most : PIECE_BYTES;
	conduit->rma.long_bytes = conduit->rma.piece_bytes;
	if (goes_over_tcp(info) && conduit->rma.long_bytes > POFI_TCP_PIECE_BYTES)
		conduit->rma.long_bytes = POFI_TCP_PIECE_BYTES;
	conduit->rma.in_order =
		info->tx_attr->msg_order & info->rx_attr->msg_order & FI_ORDER_WAW &&
		info->ep_attr->max_order_waw_size >= conduit->rma.piece_bytes;
	conduit->rma.inject_bytes = info->tx_attr->inject_size < POFI_INJECT_BYTES
	                                    ? info->tx_attr->inject_size : POFI_INJECT_BYTES;
	conduit->rma.made = queue < 2 ? 2 : queue < POFI_SLOTS ? (uint32_t)queue : POFI_SLOTS;
}

/* The flag asks of all operations what puts alone need. */
bool
pofi_rma_open(struct psi_conduit *conduit)
{
	rma_limits(conduit);
	conduit->info->tx_attr->op_flags &= ~FI_DELIVERY_COMPLETE;
	conduit->rma.slots = calloc(conduit->rma.made, sizeof *conduit->rma.slots);
	if (!conduit->rma.slots) {
		conduit->services->log("ofi: no memory");
		return false;
	}
	for (uint32_t i = 0; i < conduit->rma.made; i++) {
		conduit->rma.slots[i].next = conduit->rma.free;
		conduit->rma.free = &conduit->rma.slots[i];
	}
	return true;
}

/* The endpoint is closed before this. */
void
pofi_rma_close(struct psi_conduit *conduit)
{
	for (uint32_t i = 0; conduit->rma.slots && i < conduit->rma.made; i++) {
		struct pofi_slot *slot = &conduit->rma.slots[i];

		if (slot->mr)
			fi_close(&slot->mr->fid);
		if (slot->buffer_mr)
			fi_close(&slot->buffer_mr->fid);
		free(slot->buffer);
	}
	free(conduit->rma.slots);
	pofi_segments_close(conduit);
}
