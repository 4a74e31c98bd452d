/*
 * The end of pibv.h: what lies on the way of every message, and so is inline.  The caller of each
 * holds the guard.
 */
#ifndef PIBV_INLINE_H
#define PIBV_INLINE_H

static inline uint32_t
pibv_process_of(const struct psi_conduit *conduit, uint32_t place)
{
	return place < conduit->places ? place : place % conduit->places;
}

static inline uint32_t
pibv_index_of(const struct psi_conduit *conduit, uint32_t place)
{
	return place < conduit->places ? 0 : place / conduit->places;
}

/* The connection to a process, which is begun if there is none; NULL: it cannot be.  It may not be
 * connected yet. */
static inline struct pibv_connection *
pibv_connection_of(struct psi_conduit *conduit, uint32_t process)
{
	struct pibv_connection *connection = conduit->connections[process];

	return connection ? connection : pibv_connection_begin(conduit, process);
}

/* The credits of a place that are spent; NULL: no memory. */
static inline uint16_t *
pibv_spent_at(struct psi_conduit *conduit, uint32_t place)
{
	const uint32_t index = pibv_index_of(conduit, place);
	uint16_t *all = index < PSI_PORTS_MOST ? conduit->spent[index] : NULL;

	if (!all)
		all = pibv_spent_make(conduit, index);
	return all ? &all[pibv_process_of(conduit, place)] : NULL;
}

/* 0: nobody asks. */
static inline void
pibv_done_add(struct pibv_done *done, uint64_t cookie)
{
	if (cookie)
		done->cookies[done->count++] = cookie;
}

/* A receive buffer waits to be posted. */
static inline void
pibv_receive_free(struct psi_conduit *conduit, uint32_t index)
{
	struct ibv_recv_wr *wr = &conduit->receives.wrs[index];

	wr->next = NULL;
	*conduit->receives.free_last = wr;
	conduit->receives.free_last = &wr->next;
	conduit->receives.free_count++;
}

/* One has been read; those that were are posted again once there are several. */
static inline void
pibv_receive_give(struct psi_conduit *conduit, uint32_t index)
{
	pibv_receive_free(conduit, index);
	if (conduit->receives.free_count >= conduit->receive_batch)
		pibv_receives_post(conduit);
}

/* Buffers are aligned, and handlers do not write to headers. */
static inline const struct pibv_header *
pibv_header_at(const char *message)
{
	return (const void *)message;
}

/* Its handler is about to run, so its sender may send another. */
static inline void
pibv_credit_owe(struct psi_port *port, const struct pibv_header *header, uint32_t process)
{
	if (header->network == PSI_REQUESTS && header->category != PIBV_SIGNAL)
		port->owed[process]++;
}

/* Half of what the process may have is a payment of its own. */
static inline bool
pibv_payment_is_due(const struct psi_port *port, uint32_t process)
{
	return port->owed[process] >= port->conduit->payment;
}

static inline void
pibv_credit_pay(struct psi_port *port, uint32_t process)
{
	if (pibv_payment_is_due(port, process))
		pibv_pay(port, process);
}

/* Is there room for that many requests?  One more is kept for pibv_work_flush. */
static inline bool
pibv_work_fits(const struct psi_conduit *conduit, const struct pibv_connection *connection,
               uint32_t count)
{
	return connection->state == PIBV_CONNECTED && !connection->broken &&
	       connection->posted - connection->retired + count < conduit->depth &&
	       conduit->signals < conduit->signals_most;
}

/* How many requests a put of so many bytes is. */
static inline uint32_t
pibv_pieces_of(const struct psi_conduit *conduit, size_t len_bytes)
{
	return (uint32_t)((len_bytes + conduit->piece_bytes - 1) / conduit->piece_bytes);
}

/* Has a quarter of the queue no completion? */
static inline bool
pibv_work_asks(const struct psi_conduit *conduit, const struct pibv_connection *connection)
{
	return connection->posted - connection->signaled >= conduit->interval;
}

/* The request that was entered last has a completion. */
static inline void
pibv_work_ask(struct psi_conduit *conduit, struct pibv_connection *connection,
              struct ibv_send_wr *wr)
{
	wr->send_flags |= IBV_SEND_SIGNALED;
	connection->signaled = connection->posted;
	conduit->signals++;
}

/* The same as pibv_work_post for one request that has no work. */
static inline bool
pibv_work_post_plain(struct psi_conduit *conduit, struct pibv_connection *connection,
                     struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int code;

	connection->posted++;
	wr->wr_id = pibv_wr_id(PIBV_OF_SEND, 0, connection->process, connection->posted);
	if (pibv_work_asks(conduit, connection))
		pibv_work_ask(conduit, connection, wr);
	code = ibv_post_send(connection->qp, wr, &bad);
	return !code || pibv_work_refused(conduit, connection, code);
}

#endif
