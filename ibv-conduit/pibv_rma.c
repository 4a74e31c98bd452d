/*
 * Puts and gets: RDMA writes and reads, piece by piece where they are larger than the device's
 * messages.  A put completes when the peer's device has taken its bytes, which is what the
 * completion of a write on a reliable connection says.
 */
#include "ibv-conduit/pibv.h"

static void
move_shorten(struct pibv_move *move, size_t len_bytes)
{
	struct psi_transfer *t = &move->transfer;

	t->here = (char *)t->here + len_bytes;
	t->remote.offset += len_bytes;
	t->len_bytes -= len_bytes;
}

static bool
piece_post(struct psi_conduit *conduit, struct pibv_connection *connection, struct pibv_move *move,
           struct pibv_piece *piece)
{
	const struct pibv_work *const work = &piece->work;

	if (!pibv_work_post(conduit, connection, &piece->wr, &work))
		return false;
	move->unread = move->unread || !piece->read;
	move_shorten(move, piece->sge.length);
	return true;
}

/* All of it lies in buffers, or in requests. */
static void
move_is_read(const struct pibv_move *move, uint64_t *read_out)
{
	*read_out = move->transfer.read_cookie;
	if (move->read_word)
		*move->read_word = PIBV_READ;
}

int
pibv_move_advance(struct psi_conduit *conduit, struct pibv_connection *connection,
                  struct pibv_move *move, uint64_t *read_out)
{
	while (move->transfer.len_bytes) {
		struct pibv_piece piece;

		if (!pibv_work_fits(conduit, connection, 1) ||
		    !pibv_piece_make(conduit, connection, move, &piece))
			return connection->broken ? PSI_FATAL : PSI_AGAIN;
		if (!piece_post(conduit, connection, move, &piece))
			return PSI_FATAL;
		if (!move->transfer.len_bytes && !move->unread)
			move_is_read(move, read_out);
	}
	return PSI_OK;
}

/* -- starting ---------------------------------------------------------------------------------- */

static bool
move_may_wait(const struct psi_conduit *conduit, const struct pibv_move *move)
{
	return !move->transfer.immediate && !move->transfer.read_now &&
	       conduit->moves < PIBV_BACKLOG;
}

/* Nothing can say of one that has begun that it has not. */
static int
move_rest_waits(struct psi_conduit *conduit, struct pibv_connection *connection,
                const struct pibv_move *move, bool begun)
{
	if (!begun && !move_may_wait(conduit, move))
		return PSI_AGAIN;
	if (pibv_backlog_move(conduit, connection, move) == PSI_OK)
		return PSI_OK;
	if (!begun)
		return PSI_AGAIN;
	pibv_connection_break(conduit, connection, "no memory for a transfer that waits");
	return PSI_OK;
}

static int
move_try(struct psi_conduit *conduit, struct pibv_move *move, uint64_t *read_out)
{
	const size_t len_bytes = move->transfer.len_bytes;
	const uint32_t process = pibv_process_of(conduit, move->transfer.remote.peer);
	struct pibv_connection *connection = pibv_connection_of(conduit, process);
	int result = PSI_AGAIN;

	if (conduit->lost)
		return PSI_FATAL;
	if (!connection || connection->broken)
		return PSI_AGAIN;
	if (!connection->first && pibv_stripes_start(conduit, connection, move))
		return PSI_OK;
	if (!connection->first)
		result = pibv_move_advance(conduit, connection, move, read_out);
	if (result == PSI_FATAL)
		return PSI_OK;          /* its peer is lost: it never completes, and the job ends */
	return result == PSI_OK ? PSI_OK
	       : move_rest_waits(conduit, connection, move, move->transfer.len_bytes < len_bytes);
}

static int
move_begin(struct psi_conduit *conduit, struct pibv_move *move)
{
	uint64_t read_cookie = 0;
	int result;

	psi_guard_lock(&conduit->guard);
	result = move_try(conduit, move, &read_cookie);
	psi_guard_unlock(&conduit->guard);
	if (result == PSI_AGAIN)
		pibv_count(conduit, PSI_COUNT_REFUSED);
	if (read_cookie)
		conduit->services->completed(read_cookie);
	return result;
}

int
pibv_put(struct psi_port *port, const struct psi_transfer *transfer)
{
	struct psi_conduit *conduit = port->conduit;
	struct pibv_move move = { .transfer = *transfer, .is_put = true };

	if (transfer->remote.name.key == PSI_NO_KEY ||
	    (transfer->read_now && transfer->len_bytes > conduit->message_bytes))
		return PSI_UNSUPPORTED;
	return move_begin(conduit, &move);
}

int
pibv_get(struct psi_port *port, const struct psi_transfer *transfer)
{
	struct pibv_move move = { .transfer = *transfer };

	if (transfer->remote.name.key == PSI_NO_KEY)
		return PSI_UNSUPPORTED;
	return move_begin(port->conduit, &move);
}

/* -- writes with a message behind them --------------------------------------------------------- */

/* Where parts are small, the source may lie in many of them, and would be more pieces than its
 * length says. */
bool
pibv_puts_longs(const struct psi_conduit *conduit)
{
	return conduit->part_bytes > INT32_MAX;
}

bool
pibv_writes_fit(const struct psi_conduit *conduit, const struct psi_remote *remote,
                size_t len_bytes)
{
	return !pibv_name_has_parts(remote->name) && pibv_puts_longs(conduit) &&
	       pibv_pieces_of(conduit, len_bytes) < conduit->depth / 2;
}

int
pibv_writes_begin(struct psi_conduit *conduit, struct pibv_connection *connection,
                  struct pibv_move *move, struct pibv_piece *last)
{
	for (;;) {
		if (!pibv_piece_make(conduit, connection, move, last))
			return PSI_AGAIN;
		if (last->sge.length == move->transfer.len_bytes)
			return PSI_OK;
		if (!piece_post(conduit, connection, move, last))
			return PSI_FATAL;
	}
}

/* -- put with signal --------------------------------------------------------------------------- */

/* There is room for all of it.  The last write is in one chain with the message.  AGAIN: there is
 * no buffer; then the write is the only one, and has not been posted. */
static int
put_then_signal(struct psi_conduit *conduit, struct pibv_connection *connection,
                const struct psi_transfer *transfer, const struct pibv_message *message)
{
	struct pibv_move move = { .transfer = *transfer, .is_put = true };
	struct pibv_piece last;
	int result;

	if (!transfer->read_now && !pibv_move_has_key(conduit, &move))
		return PSI_UNSUPPORTED;
	result = pibv_writes_begin(conduit, connection, &move, &last);
	if (result != PSI_OK)
		return result;
	result = pibv_message_send(conduit, connection, message, &last);
	if (result == PSI_AGAIN)
		pibv_piece_drop(conduit, &last);
	return result;
}

/* One message that has both, or writes and a message behind them. */
static int
put_signal_try(struct psi_port *port, const struct psi_transfer *transfer, uint64_t packed)
{
	struct psi_conduit *conduit = port->conduit;
	const uint32_t peer = transfer->remote.peer;
	struct pibv_connection *connection =
		pibv_connection_of(conduit, pibv_process_of(conduit, peer));
	const bool in_message = transfer->read_now && transfer->len_bytes <= conduit->packed_bytes;
	const struct pibv_tail tail = {
		.dest = transfer->remote.name.origin + transfer->remote.offset, .packed = packed,
	};
	struct pibv_message message =
		pibv_message_of_signal(port, peer, &tail, transfer->here,
		                       in_message ? transfer->len_bytes : 0);
	int result;

	if (!connection || connection->first ||
	    !pibv_work_fits(conduit, connection, pibv_pieces_of(conduit, transfer->len_bytes) + 1))
		return PSI_AGAIN;
	if (in_message)
		result = pibv_message_send(conduit, connection, &message, NULL);
	else
		result = put_then_signal(conduit, connection, transfer, &message);
	if (result == PSI_OK)
		port->owed[connection->process] = 0;
	return result;
}

/* One of several writes needs no buffer, so it comes to its end once it is begun. */
static bool
put_signal_is_native(const struct psi_conduit *conduit, const struct psi_transfer *transfer)
{
	if (transfer->remote.name.key == PSI_NO_KEY || pibv_name_has_parts(transfer->remote.name))
		return false;
	if (transfer->read_now)
		return transfer->len_bytes <= conduit->medium_bytes &&
		       transfer->len_bytes <= conduit->piece_bytes;
	return pibv_writes_fit(conduit, &transfer->remote, transfer->len_bytes) &&
	       pibv_message_bytes(PIBV_SIGNAL, 0, 0) <= conduit->inline_bytes;
}

/* Nothing says when the peer has applied the signal, so a caller that asks has a message. */
int
pibv_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                const struct psi_signal_operation *signal)
{
	struct psi_conduit *conduit = port->conduit;
	int result;

	if (signal->cookie || !signal->packed || !put_signal_is_native(conduit, transfer))
		return PSI_UNSUPPORTED;
	psi_guard_lock(&conduit->guard);
	result = conduit->lost ? PSI_FATAL : put_signal_try(port, transfer, signal->packed);
	psi_guard_unlock(&conduit->guard);
	if (result == PSI_AGAIN)
		pibv_count(conduit, PSI_COUNT_REFUSED);
	return result == PSI_FATAL && !conduit->lost ? PSI_AGAIN : result;
}
