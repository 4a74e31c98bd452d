/*
 * Puts and gets by operations of the provider's.
 *
 * A put is a write that completes when its bytes are at the target (FI_DELIVERY_COMPLETE), or one
 * whose completion data tells the target (FI_REMOTE_CQ_DATA); a get is a read.  Small puts are
 * injected.  Where the provider wants local memory registered (FI_MR_LOCAL), memory in a segment of
 * this process is; other memory goes by the slot's buffer if it is small, and is registered for the
 * one transfer if not.  Puts whose caller waits for local completion go by the buffer too, so that
 * it comes at once; that of larger ones comes with the remote one.
 */
#include "ofi-conduit/pofi.h"

#include <stdlib.h>
#include <string.h>

/* -- slots ------------------------------------------------------------------------------------- */

struct pofi_slot *
pofi_slot_of(const struct psi_conduit *conduit, void *context)
{
	const uintptr_t at = (uintptr_t)context, first = (uintptr_t)conduit->rma.slots;

	return at - first < conduit->rma.made * sizeof *conduit->rma.slots ? context : NULL;
}

/* A process gets a slot only while it has fewer than are free.  So one that does not poll leaves
 * about half of them to the others. */
static struct pofi_slot *
slot_take(struct psi_conduit *conduit, uint32_t process)
{
	struct pofi_slot *slot = conduit->rma.free;

	if (conduit->peers[process].slots >= conduit->rma.made - conduit->rma.flying)
		return NULL;
	conduit->rma.free = slot->next;
	conduit->rma.flying++;
	conduit->peers[process].slots++;
	slot->process = process;
	slot->mr = NULL;
	return slot;
}

static void
slot_give(struct psi_conduit *conduit, struct pofi_slot *slot)
{
	if (slot->mr)
		fi_close(&slot->mr->fid);
	slot->mr = NULL;
	slot->move.transfer.len_bytes = 0;
	conduit->rma.flying--;
	conduit->peers[slot->process].slots--;
	slot->next = conduit->rma.free;
	conduit->rma.free = slot;
}

/* False: no memory.  The transfer waits until others have ended; where there are none, the job
 * ends. */
static bool
slot_has_buffer(struct psi_conduit *conduit, struct pofi_slot *slot)
{
	if (slot->buffer)
		return true;
	slot->buffer = malloc(POFI_BOUNCE_BYTES);
	if (slot->buffer && conduit->rma.needs_local &&
	    pofi_register_quietly(conduit, slot->buffer, POFI_BOUNCE_BYTES, FI_READ | FI_WRITE,
	                          &slot->buffer_mr) != 0) {
		free(slot->buffer);
		slot->buffer = NULL;
	}
	if (!slot->buffer && conduit->rma.flying == 1) {
		conduit->services->log("ofi: no memory for a buffer of a transfer, of %d bytes",
		                       POFI_BOUNCE_BYTES);
		pofi_lose(conduit);
	}
	return slot->buffer != NULL;
}

/* -- memory of a piece ------------------------------------------------------------------------- */

/* What the provider is given. */
struct piece {
	void *memory, *desc;
	size_t len_bytes;
	bool inject;
	bool read;                      /* the source may change when the call returns */
};

static bool
piece_by_buffer(struct psi_conduit *conduit, struct pofi_slot *slot, struct piece *piece)
{
	if (piece->len_bytes > POFI_BOUNCE_BYTES)
		piece->len_bytes = POFI_BOUNCE_BYTES;
	if (!slot_has_buffer(conduit, slot))
		return false;
	if (slot->move.is_put)
		memcpy(slot->buffer, slot->move.transfer.here, piece->len_bytes);
	slot->bounced = true;
	piece->memory = slot->buffer;
	piece->desc = slot->buffer_mr ? fi_mr_desc(slot->buffer_mr) : NULL;
	piece->read = piece->len_bytes == slot->move.transfer.len_bytes;
	return true;
}

/* All that is left of the transfer is registered at once.  A host that lets no more memory be
 * locked has the buffer. */
static bool
piece_by_registration(struct psi_conduit *conduit, struct pofi_slot *slot, struct piece *piece)
{
	const struct psi_transfer *t = &slot->move.transfer;

	if (!slot->mr && pofi_register_quietly(conduit, t->here, t->len_bytes,
	                                       slot->move.is_put ? FI_WRITE : FI_READ,
	                                       &slot->mr) != 0)
		return piece_by_buffer(conduit, slot, piece);
	piece->desc = fi_mr_desc(slot->mr);
	return true;
}

static bool
piece_local(struct psi_conduit *conduit, struct pofi_slot *slot, struct piece *piece)
{
	if (pofi_segment_desc(conduit, piece->memory, piece->len_bytes, &piece->desc))
		return true;
	if (!slot->mr && slot->move.transfer.len_bytes <= POFI_BOUNCE_BYTES)
		return piece_by_buffer(conduit, slot, piece);
	return piece_by_registration(conduit, slot, piece);
}

bool
pofi_fits_buffer(const struct psi_conduit *conduit, const struct psi_transfer *transfer)
{
	return transfer->len_bytes <= POFI_BOUNCE_BYTES &&
	       transfer->len_bytes <= conduit->rma.long_bytes;
}

/* False: no memory. */
static bool
piece_choose(struct psi_conduit *conduit, struct pofi_slot *slot, struct piece *piece)
{
	const struct psi_transfer *t = &slot->move.transfer;
	const size_t most = slot->move.has_data ? conduit->rma.long_bytes
	                                        : conduit->rma.piece_bytes;
	const bool reads_early = slot->move.is_put && (t->read_now || t->read_cookie);

	slot->bounced = false;
	*piece = (struct piece){
		.memory = t->here, .len_bytes = t->len_bytes < most ? t->len_bytes : most,
	};
	if (slot->move.is_put && !slot->move.record_bytes &&
	    t->len_bytes <= conduit->rma.inject_bytes) {
		piece->inject = piece->read = true;
		return true;
	}
	if (reads_early && pofi_fits_buffer(conduit, t))
		return piece_by_buffer(conduit, slot, piece);
	return !conduit->rma.needs_local || piece_local(conduit, slot, piece);
}

/* -- starting ---------------------------------------------------------------------------------- */

static bool
piece_is_last(const struct pofi_slot *slot, const struct piece *piece)
{
	return piece->len_bytes == slot->move.transfer.len_bytes;
}

/* Where the data tells the target, nobody here asks when the last piece has come there.  Where
 * writes arrive in order the last one tells of all. */
static uint64_t
piece_flags(const struct psi_conduit *conduit, const struct pofi_slot *slot,
            const struct piece *piece)
{
	const bool is_last = piece_is_last(slot, piece);
	uint64_t flags = FI_COMPLETION;

	if (!slot->move.is_put)
		return flags;
	if (piece->inject)
		flags |= FI_INJECT;
	if (is_last && slot->move.has_data)
		flags |= FI_REMOTE_CQ_DATA;
	else if (is_last || !conduit->rma.in_order)
		flags |= FI_DELIVERY_COMPLETE;
	return flags;
}

static struct fi_rma_iov
rma_iov_of(const struct psi_remote *remote, size_t len_bytes)
{
	return (struct fi_rma_iov){
		.addr = remote->name.origin + remote->offset, .len = len_bytes,
		.key = remote->name.key,
	};
}

static int
piece_hand_over(struct psi_conduit *conduit, struct pofi_slot *slot, struct piece *piece,
                fi_addr_t address)
{
	const struct pofi_move *move = &slot->move;
	const struct iovec here[] = {
		{ .iov_base = piece->memory, .iov_len = piece->len_bytes },
		{ .iov_base = (void *)(uintptr_t)move->record, .iov_len = move->record_bytes },
	};
	const struct fi_rma_iov there[] = {
		rma_iov_of(&move->transfer.remote, piece->len_bytes),
		rma_iov_of(&move->record_there, move->record_bytes),
	};
	const bool has_record = move->record_bytes && piece_is_last(slot, piece);
	const unsigned parts = has_record ? 2 : 1;
	void *desc[] = { piece->desc, NULL };
	const struct fi_msg_rma msg = {
		.msg_iov = here, .desc = desc, .iov_count = parts, .addr = address,
		.rma_iov = there, .rma_iov_count = parts, .context = &slot->context,
		.data = move->data,
	};
	const uint64_t flags = piece_flags(conduit, slot, piece);
	int result;

	slot->piece_bytes = piece->len_bytes;
	result = pofi_result_of(conduit, slot->process,
	                        move->is_put ? fi_writemsg(conduit->ep, &msg, flags)
	                                     : fi_readmsg(conduit->ep, &msg, flags));
	if (result == PSI_OK && has_record)
		conduit->peers[slot->process].record_open = false;
	return result;
}

/* The next piece of what is left. */
static int
slot_start(struct psi_conduit *conduit, struct pofi_slot *slot, bool *read_out)
{
	struct piece piece;
	fi_addr_t address;
	int result = pofi_address_of(conduit, slot->process, &address);

	if (result == PSI_OK && !piece_choose(conduit, slot, &piece))
		result = PSI_AGAIN;
	if (result == PSI_OK)
		result = piece_hand_over(conduit, slot, &piece, address);
	if (result == PSI_OK)
		*read_out = piece.read;
	return result;
}

int
pofi_move_start(struct psi_conduit *conduit, uint32_t process, const struct pofi_move *move,
                uint64_t *read_out)
{
	struct pofi_slot *slot = slot_take(conduit, process);
	bool read = false;
	int result;

	if (!slot)
		return PSI_AGAIN;
	slot->move = *move;
	result = slot_start(conduit, slot, &read);
	if (result != PSI_OK)
		slot_give(conduit, slot);
	else if (read && read_out) {
		*read_out = slot->move.transfer.read_cookie;
		slot->move.transfer.read_cookie = 0;
	}
	return result;
}

/* One that may wait does so in its peer's queue, which nothing overtakes. */
static int
move_try(struct psi_conduit *conduit, const struct pofi_move *move, uint64_t *read_out)
{
	const struct psi_transfer *transfer = &move->transfer;
	const uint32_t process = pofi_process_of(conduit, transfer->remote.peer);
	const struct pofi_peer *peer = &conduit->peers[process];
	int result = PSI_AGAIN;

	if (conduit->lost)
		return PSI_FATAL;
	if (conduit->left || peer->broken)
		return PSI_AGAIN;
	if (!peer->waiting)
		result = pofi_move_start(conduit, process, move, read_out);
	if (result == PSI_AGAIN && !peer->broken && !transfer->immediate && !transfer->read_now &&
	    conduit->rma.waiting < POFI_WAITING)
		result = pofi_waiting_add(conduit, process, move);
	return result;
}

static int
move_begin(struct psi_port *port, const struct pofi_move *move)
{
	struct psi_conduit *conduit = port->conduit;
	uint64_t read_cookie = 0;
	int result;

	pofi_ends_stream(port);
	psi_guard_lock(&conduit->guard);
	result = move_try(conduit, move, &read_cookie);
	psi_guard_unlock(&conduit->guard);
	if (result == PSI_AGAIN)
		pofi_count(conduit, PSI_COUNT_REFUSED);
	if (read_cookie)
		conduit->services->completed(read_cookie);
	return result;
}

static bool
puts_to(const struct psi_conduit *conduit, const struct psi_transfer *transfer)
{
	return conduit->rma.puts && transfer->remote.name.key != PSI_NO_KEY &&
	       (!transfer->read_now || pofi_fits_buffer(conduit, transfer));
}

int
pofi_put(struct psi_port *port, const struct psi_transfer *transfer)
{
	const struct pofi_move move = { .transfer = *transfer, .is_put = true };

	return puts_to(port->conduit, transfer) ? move_begin(port, &move) : PSI_UNSUPPORTED;
}

/* The peer's completion queue has the signal behind the bytes.  Nothing says when the peer has
 * looked there, so a caller that asks has a message. */
int
pofi_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                const struct psi_signal_operation *signal)
{
	struct psi_conduit *conduit = port->conduit;
	struct pofi_move move = {
		.transfer = *transfer, .is_put = true, .has_data = true,
		.data = signal->packed ^ conduit->tag,
	};

	if (!conduit->rma.data || signal->cookie || !signal->packed || !transfer->read_now ||
	    !puts_to(conduit, transfer))
		return PSI_UNSUPPORTED;
	return move_begin(port, &move);
}

int
pofi_get(struct psi_port *port, const struct psi_transfer *transfer)
{
	const struct pofi_move move = { .transfer = *transfer };

	if (!port->conduit->rma.gets || transfer->remote.name.key == PSI_NO_KEY)
		return PSI_UNSUPPORTED;
	return move_begin(port, &move);
}

/* -- ending ------------------------------------------------------------------------------------ */

static void
done_add(struct pofi_done *done, uint64_t cookie)
{
	if (cookie)
		done->cookies[done->count++] = cookie;
}

/* True: nothing is left. */
static bool
slot_advance(struct pofi_slot *slot)
{
	struct psi_transfer *t = &slot->move.transfer;

	if (slot->bounced && !slot->move.is_put)
		memcpy(t->here, slot->buffer, slot->piece_bytes);
	t->here = (char *)t->here + slot->piece_bytes;
	t->remote.offset += slot->piece_bytes;
	t->len_bytes -= slot->piece_bytes;
	return t->len_bytes == 0;
}

/* Pieces that find no room wait like others. */
static void
slot_go_on(struct psi_conduit *conduit, struct pofi_slot *slot)
{
	bool read;

	if (slot_start(conduit, slot, &read) == PSI_OK)
		return;
	if (!conduit->peers[slot->process].broken &&
	    pofi_waiting_add(conduit, slot->process, &slot->move) != PSI_OK) {
		conduit->services->log("ofi: no memory for a transfer that waits for room");
		pofi_lose(conduit);
	}
	slot_give(conduit, slot);
}

void
pofi_slot_completed(struct psi_conduit *conduit, struct pofi_slot *slot, struct pofi_done *done)
{
	if (!slot_advance(slot)) {
		slot_go_on(conduit, slot);
		return;
	}
	if (slot->move.read_word)
		*slot->move.read_word = POFI_READ;
	done_add(done, slot->move.transfer.read_cookie);
	done_add(done, slot->move.transfer.cookie);
	slot_give(conduit, slot);
}

void
pofi_slot_failed(struct psi_conduit *conduit, struct pofi_slot *slot)
{
	slot_give(conduit, slot);
}

/* -- what is under way ------------------------------------------------------------------------- */

bool
pofi_transfers_pending(const struct psi_conduit *conduit)
{
	return conduit->rma.flying || conduit->rma.waiting;
}

bool
pofi_puts_pending(const struct psi_conduit *conduit)
{
	const struct pofi_peer *peer = conduit->rma.peers;

	for (uint32_t i = 0; conduit->rma.flying && i < conduit->rma.made; i++) {
		const struct pofi_slot *slot = &conduit->rma.slots[i];

		if (slot->move.transfer.len_bytes && slot->move.is_put &&
		    !conduit->peers[slot->process].broken)
			return true;
	}
	while (peer && peer->broken)
		peer = peer->next_waiting;
	return peer != NULL;
}
