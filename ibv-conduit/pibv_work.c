/*
 * The send queue of a connection, and when a request asks for a completion.
 *
 * Requests of one connection complete in their order, so one completion tells of all before it.  A
 * request asks for one if a thread waits for what it does, or if a quarter of the queue has none.
 * So a put on which a thread waits has a completion of its own, and a stream of puts has one for
 * each quarter.  Others, for which somebody may wait later, ask if nothing that would tell is under
 * way, unless they come in a stream: the runtime polls once behind each, and a device that is as
 * fast as the stream would tell of each.
 *
 * When a thread polls while the last request that somebody waits for has asked for none, a write of
 * no bytes behind it asks.  The first poll behind a request does not: the runtime makes it for
 * every request.  A thread that waits polls again, or is about to sleep.
 *
 * Soft-RoCE of Linux 6.3 and later cannot answer a read once more, as it has to where a packet was
 * lost, if a write of no bytes has come since: that is a remote access error.  So there, behind
 * reads that have not completed, what asks is a read of one byte of theirs.
 */
#include "ibv-conduit/pibv.h"

#include <stdio.h>
#include <string.h>

/* This many requests in a row, with at most one poll behind each, are a stream. */
enum { STREAM = 4 };

/* Who waits for what a chain does: who may ask later, or a thread that polls from now on. */
enum waiter { NOBODY, SOMEBODY, A_THREAD };

/* Counts wrap, so they are compared by their distance. */
static bool
is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* -- posting ----------------------------------------------------------------------------------- */

static void
wanting_enlist(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	if (connection->in_wanting)
		return;
	connection->in_wanting = true;
	connection->next_wanting = conduit->wanting;
	conduit->wanting = connection;
}

/* Notes the moment of a request that somebody waits for. */
static bool
is_streamed(const struct psi_conduit *conduit, struct pibv_connection *connection)
{
	if (conduit->polls - connection->polls_then > 1)
		connection->streak = 0;
	else if (connection->streak < STREAM)
		connection->streak++;
	connection->polls_then = conduit->polls;
	return connection->streak == STREAM;
}

/* Who has a buffer alone waits only when there are none left. */
static bool
is_signaled(const struct psi_conduit *conduit, struct pibv_connection *connection,
            const struct ibv_send_wr *last, enum waiter waiter)
{
	const bool streamed = waiter != NOBODY && is_streamed(conduit, connection);

	return last->send_flags & IBV_SEND_SIGNALED || pibv_work_asks(conduit, connection) ||
	       waiter == A_THREAD ||
	       (waiter == SOMEBODY && !streamed && connection->signaled == connection->retired);
}

/* Members that mean nothing are not copied. */
static void
work_enter(struct pibv_work *entry, const struct pibv_work *work)
{
	if (!work)
		return;
	if (work->what == PIBV_ALL) {
		*entry = *work;
	} else {
		entry->what = work->what;
		entry->buffer = work->buffer;
	}
}

static enum waiter
chain_waiter(enum waiter waiter, const struct pibv_work *work)
{
	if (work->what != PIBV_ALL || waiter == A_THREAD)
		return waiter;
	return work->waited ? A_THREAD : SOMEBODY;
}

/* The entries of a chain; returns the last request. */
static struct ibv_send_wr *
chain_enter(const struct psi_conduit *conduit, struct pibv_connection *connection,
            struct ibv_send_wr *first, const struct pibv_work *const *works,
            enum waiter *waiter_out)
{
	enum waiter waiter = NOBODY;
	struct ibv_send_wr *at = first;

	for (;; at = at->next, works++) {
		work_enter(&connection->works[connection->posted & conduit->depth_mask], *works);
		connection->posted++;
		at->wr_id = pibv_wr_id(PIBV_OF_SEND, connection->rail, connection->process,
		                       connection->posted);
		if (*works && (*works)->what != PIBV_NOTHING) {
			connection->worked = connection->posted;
			waiter = chain_waiter(waiter, *works);
		}
		if (!at->next)
			break;
	}
	*waiter_out = waiter;
	return at;
}

bool
pibv_work_refused(struct psi_conduit *conduit, struct pibv_connection *connection, int code)
{
	char why[PIBV_REASON_BYTES];

	snprintf(why, sizeof why, "device %s takes no work request: %s",
	         pibv_device_of(conduit, connection->rail)->name, strerror(code));
	pibv_connection_break(conduit, connection, why);
	return false;
}

static inline bool
chain_post(struct psi_conduit *conduit, struct pibv_connection *connection,
           struct ibv_send_wr *first)
{
	struct ibv_send_wr *bad = NULL;
	const int code = ibv_post_send(connection->qp, first, &bad);

	if (!code)
		return true;
	for (; bad; bad = bad->next)
		if (bad->send_flags & IBV_SEND_SIGNALED)
			conduit->signals--;
	return pibv_work_refused(conduit, connection, code);
}

/* The request was entered last.  A chain has no read but its last one. */
static void
read_note(struct pibv_connection *connection, const struct ibv_send_wr *wr)
{
	if (wr->opcode != IBV_WR_RDMA_READ)
		return;
	connection->read = connection->posted;
	connection->read_address = wr->wr.rdma.remote_addr;
	connection->read_key = wr->wr.rdma.rkey;
}

bool
pibv_work_post(struct psi_conduit *conduit, struct pibv_connection *connection,
               struct ibv_send_wr *first, const struct pibv_work *const *works)
{
	enum waiter waiter;
	struct ibv_send_wr *last = chain_enter(conduit, connection, first, works, &waiter);

	read_note(connection, last);
	if (is_signaled(conduit, connection, last, waiter)) {
		pibv_work_ask(conduit, connection, last);
	} else if (waiter != NOBODY) {
		connection->wanted = connection->posted;
		wanting_enlist(conduit, connection);
	}
	return chain_post(conduit, connection, first);
}

/* -- asking ------------------------------------------------------------------------------------ */

static bool
flush_has_to_read(const struct psi_conduit *conduit, const struct pibv_connection *connection)
{
	enum { SOFT_ROCE = 0xffffff };

	return conduit->devices[0].limits.vendor_id == SOFT_ROCE &&
	       is_before(connection->retired, connection->read);
}

/* A write of no bytes needs no key.  One entry is always free for it (pibv_work_fits). */
static void
flush(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	struct ibv_sge byte = { (uintptr_t)conduit->buffers.spare, 1, conduit->buffers.mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };
	static const struct pibv_work *const nothing = NULL;
	enum waiter waiter;

	if (connection->posted - connection->retired >= conduit->depth)
		return;
	if (flush_has_to_read(conduit, connection))
		wr = (struct ibv_send_wr){
			.opcode = IBV_WR_RDMA_READ, .sg_list = &byte, .num_sge = 1,
			.wr.rdma = { connection->read_address, connection->read_key },
		};
	(void)chain_enter(conduit, connection, &wr, &nothing, &waiter);
	read_note(connection, &wr);
	pibv_work_ask(conduit, connection, &wr);
	(void)chain_post(conduit, connection, &wr);
}

static void
flush_if_none(struct psi_conduit *conduit, struct pibv_connection *connection, uint32_t wanted)
{
	if (!connection->broken && is_before(connection->signaled, wanted))
		flush(conduit, connection);
}

void
pibv_work_flush_wanted(struct psi_conduit *conduit, bool now)
{
	struct pibv_connection **at = &conduit->wanting, *connection;

	while ((connection = *at)) {
		if (!now && conduit->polls - connection->polls_then <= 1) {
			at = &connection->next_wanting;
			continue;
		}
		*at = connection->next_wanting;
		connection->in_wanting = false;
		flush_if_none(conduit, connection, connection->wanted);
	}
	if (conduit->buffers.lacking) {
		conduit->buffers.lacking = false;
		pibv_work_flush_all(conduit);
	}
}

void
pibv_work_flush_all(struct psi_conduit *conduit)
{
	for (struct pibv_connection *at = conduit->made; at; at = at->next_made)
		flush_if_none(conduit, at, at->posted);
}

/* -- completing -------------------------------------------------------------------------------- */

static void
work_finish(struct psi_conduit *conduit, const struct pibv_work *work, struct pibv_done *done)
{
	if (work->what == PIBV_ALL) {
		if (work->copy_to)
			memcpy(work->copy_to, work->buffer->bytes, work->copy_bytes);
		if (work->mr)
			ibv_dereg_mr(work->mr);
		if (work->read_word)
			*work->read_word = PIBV_READ;
		if (work->stripe)
			pibv_stripe_finish(conduit, work->stripe, done);
		pibv_done_add(done, work->read_cookie);
		pibv_done_add(done, work->cookie);
	}
	if (work->buffer)
		pibv_buffer_give(conduit, work->buffer);
}

void
pibv_work_retire(struct psi_conduit *conduit, struct pibv_connection *connection, uint32_t number,
                 struct pibv_done *done)
{
	conduit->signals--;
	if (connection->broken && connection->rail)
		return;         /* what it had has begun anew on another rail */
	if (connection->rail)
		pibv_rail_moved(connection);
	while (is_before(connection->retired, connection->worked) &&
	       is_before(connection->retired, number)) {
		struct pibv_work *work =
			&connection->works[connection->retired & conduit->depth_mask];

		if (work->what != PIBV_NOTHING)
			work_finish(conduit, work, done);
		work->what = PIBV_NOTHING;
		connection->retired++;
	}
	if (is_before(connection->retired, number))
		connection->retired = number;
	if (is_before(connection->read, connection->retired))
		connection->read = connection->retired;
}

bool
pibv_work_pending(const struct psi_conduit *conduit)
{
	for (const struct pibv_connection *at = conduit->made; at; at = at->next_made)
		if (!at->broken && (at->posted != at->retired || at->first))
			return true;
	return false;
}
