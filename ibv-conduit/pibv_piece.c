/*
 * Pieces: the work requests of puts and gets, and the memory of this process that they read or
 * write.
 *
 * Small puts are sent inline.  Memory in a segment of this process is registered already.  Other
 * memory goes by a send buffer if it is small, and is registered for the one transfer if not; where
 * the host lets no more memory be locked, it goes by buffers piece by piece.  Puts whose caller
 * waits for local completion go by a buffer too, so that it comes at once.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/bounds.h"

#include <string.h>

static bool
piece_by_buffer(struct psi_conduit *conduit, struct pibv_connection *connection,
                const struct pibv_move *move, struct pibv_piece *piece)
{
	const struct psi_transfer *t = &move->transfer;
	struct pibv_buffer *buffer = pibv_buffer_take(conduit, connection);

	if (!buffer)
		return false;
	if (piece->sge.length > conduit->message_bytes)
		piece->sge.length = (uint32_t)conduit->message_bytes;
	piece->sge.addr = (uintptr_t)buffer->bytes;
	piece->sge.lkey = conduit->buffers.mr->lkey;
	piece->work.buffer = buffer;
	piece->work.what = PIBV_BUFFER;
	if (move->is_put) {
		memcpy(buffer->bytes, t->here, piece->sge.length);
		piece->read = true;
	} else {
		piece->work.what = PIBV_ALL;
		piece->work.copy_to = t->here;
		piece->work.copy_bytes = piece->sge.length;
	}
	return true;
}

/* All that is left of the transfer is registered at once. */
static bool
move_register(struct psi_conduit *conduit, struct pibv_move *move)
{
	move->mr = pibv_register_quietly(conduit, 0, move->transfer.here, move->transfer.len_bytes,
	                                 move->is_put ? 0 : IBV_ACCESS_LOCAL_WRITE);
	return move->mr;
}

bool
pibv_move_has_key(struct psi_conduit *conduit, struct pibv_move *move)
{
	size_t len_bytes = move->transfer.len_bytes;
	uint32_t key;

	return pibv_segment_key(conduit, 0, move->transfer.here, &len_bytes, &key) ||
	       move_register(conduit, move);
}

static bool
piece_by_registration(struct psi_conduit *conduit, struct pibv_connection *connection,
                      struct pibv_move *move, struct pibv_piece *piece)
{
	if (!move_register(conduit, move))
		return piece_by_buffer(conduit, connection, move, piece);
	piece->sge.lkey = move->mr->lkey;
	return true;
}

/* Finds where the bytes are read from or written to. */
static bool
piece_place(struct psi_conduit *conduit, struct pibv_connection *connection,
            struct pibv_move *move, struct pibv_piece *piece)
{
	const struct psi_transfer *t = &move->transfer;
	const bool reads_early = move->is_put && !move->unread && (t->read_now || t->read_cookie);
	const bool fits_buffer = t->len_bytes <= conduit->message_bytes;
	size_t len = piece->sge.length;

	if (move->stripe) {
		piece->sge.lkey = pibv_stripe_key(conduit, move->stripe, connection);
		return true;
	}
	if (move->mr) {
		piece->sge.lkey = move->mr->lkey;
		return true;
	}
	if (move->is_put && t->len_bytes <= conduit->inline_bytes) {
		piece->wr.send_flags = IBV_SEND_INLINE;
		piece->read = true;
		return true;
	}
	if (reads_early && fits_buffer)
		return piece_by_buffer(conduit, connection, move, piece);
	if (pibv_segment_key(conduit, 0, t->here, &len, &piece->sge.lkey)) {
		piece->sge.length = (uint32_t)len;
		return true;
	}
	return fits_buffer ? piece_by_buffer(conduit, connection, move, piece)
	                   : piece_by_registration(conduit, connection, move, piece);
}

/* The last piece completes the transfer. */
static void
piece_completes(struct pibv_move *move, struct pibv_piece *piece)
{
	const struct psi_transfer *t = &move->transfer;

	piece->work.mr = move->mr;
	piece->work.cookie = t->cookie;
	piece->work.stripe = move->stripe;
	piece->work.waited = t->waited || move->read_word;
	if (!piece->read || move->unread) {
		piece->work.read_cookie = t->read_cookie;
		piece->work.read_word = move->read_word;
	}
	if (piece->work.mr || piece->work.cookie || piece->work.read_cookie ||
	    piece->work.read_word || piece->work.stripe)
		piece->work.what = PIBV_ALL;
}

/* Sets only those members of the request that reads and writes use.  Each piece of a stripe has a
 * completion, which says that its rail does not stand still. */
bool
pibv_piece_make(struct psi_conduit *conduit, struct pibv_connection *connection,
                struct pibv_move *move, struct pibv_piece *piece)
{
	const struct psi_transfer *t = &move->transfer;
	size_t len = psi_least(t->len_bytes, move->stripe ? conduit->stripe_piece_bytes
	                                                  : conduit->piece_bytes);
	uint64_t address;
	uint32_t key;

	if (!pibv_remote_find(conduit, connection, &t->remote, &len, &address, &key))
		return false;
	piece->wr.next = NULL;
	piece->wr.sg_list = &piece->sge;
	piece->wr.num_sge = 1;
	piece->wr.opcode = move->is_put ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
	piece->wr.send_flags = move->stripe ? IBV_SEND_SIGNALED : 0;
	piece->wr.wr.rdma.remote_addr = address;
	piece->wr.wr.rdma.rkey = key;
	piece->sge = (struct ibv_sge){ .addr = (uintptr_t)t->here, .length = (uint32_t)len };
	piece->work = (struct pibv_work){ .what = PIBV_NOTHING };
	piece->read = false;
	if (!piece_place(conduit, connection, move, piece))
		return false;
	if (piece->sge.length == t->len_bytes)
		piece_completes(move, piece);
	return true;
}

void
pibv_piece_drop(struct psi_conduit *conduit, struct pibv_piece *piece)
{
	if (piece->work.buffer)
		pibv_buffer_give(conduit, piece->work.buffer);
}
