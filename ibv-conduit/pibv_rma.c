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

int
pibv_move_advance(struct psi_conduit *conduit, struct pibv_connection *connection,
                  struct pibv_move *move, uint64_t *read_out)
{
	while (move->transfer.len_bytes) {
		struct pibv_piece piece;
		const struct pibv_work *const work = &piece.work;

		if (!pibv_work_fits(conduit, connection, 1) ||
		    !pibv_piece_make(conduit, connection, move, &piece))
			return connection->broken ? PSI_FATAL : PSI_AGAIN;
		if (!pibv_work_post(conduit, connection, &piece.wr, &work))
			return PSI_FATAL;
		move_shorten(move, piece.sge.length);
		if (!move->transfer.len_bytes && piece.read)
			*read_out = move->transfer.read_cookie;
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

/* -- put with signal --------------------------------------------------------------------------- */

/* One message that has both, or a write and a message behind it in one chain. */
static int
put_signal_try(struct psi_port *port, const struct psi_transfer *transfer, uint64_t packed)
{
	struct psi_conduit *conduit = port->conduit;
	const uint32_t peer = transfer->remote.peer;
	struct pibv_connection *connection =
		pibv_connection_of(conduit, pibv_process_of(conduit, peer));
	const bool in_message = transfer->len_bytes <= conduit->packed_bytes;
	const struct pibv_tail tail = {
		.dest = transfer->remote.name.origin + transfer->remote.offset, .packed = packed,
	};
	struct pibv_message message =
		pibv_message_of_signal(port, peer, &tail, transfer->here,
		                       in_message ? transfer->len_bytes : 0);
	struct pibv_move move = { .transfer = *transfer, .is_put = true };
	struct pibv_piece piece;
	int result;

	if (!connection || connection->first || !pibv_work_fits(conduit, connection, 2))
		return PSI_AGAIN;
	if (in_message) {
		result = pibv_message_send(conduit, connection, &message, NULL);
	} else {
		move.transfer.read_now = true;
		if (!pibv_piece_make(conduit, connection, &move, &piece))
			return PSI_AGAIN;
		result = pibv_message_send(conduit, connection, &message, &piece);
		if (result == PSI_AGAIN)
			pibv_piece_drop(conduit, &piece);
	}
	if (result == PSI_OK)
		port->owed[connection->process] = 0;
	return result;
}

/* Nothing says when the peer has applied the signal, so a caller that asks has a message. */
int
pibv_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                const struct psi_signal_operation *signal)
{
	struct psi_conduit *conduit = port->conduit;
	struct psi_transfer silent = *transfer;
	int result;

	if (signal->cookie || !signal->packed || transfer->remote.name.key == PSI_NO_KEY ||
	    pibv_name_has_parts(transfer->remote.name) ||
	    transfer->len_bytes > conduit->medium_bytes)
		return PSI_UNSUPPORTED;
	silent.cookie = silent.read_cookie = 0;
	psi_guard_lock(&conduit->guard);
	result = conduit->lost ? PSI_FATAL : put_signal_try(port, &silent, signal->packed);
	psi_guard_unlock(&conduit->guard);
	if (result == PSI_AGAIN)
		pibv_count(conduit, PSI_COUNT_REFUSED);
	return result == PSI_FATAL && !conduit->lost ? PSI_AGAIN : result;
}
