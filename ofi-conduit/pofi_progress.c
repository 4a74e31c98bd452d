/*
 * Progress: completions are read in batches.  A message for the port that is polled, of a network
 * that is asked for, is delivered from the buffer where it arrived, which is pinned meanwhile.  Any
 * other message is copied and kept for its port.  Credits are taken in either case.
 */
#include "ofi-conduit/pofi_record.h"

#include <stdlib.h>
#include <string.h>

/* Batches of one poll, though they hold nothing for its port. */
enum { LOOKS = 4 };

/* -- completions ------------------------------------------------------------------------------- */

/* NULL: the context is that of a message that was sent, or of a transfer. */
static struct pofi_inbound *
inbound_of(const struct psi_conduit *conduit, void *context)
{
	const uintptr_t at = (uintptr_t)context, first = (uintptr_t)conduit->inbound;

	return at - first < conduit->inbound_made * sizeof *conduit->inbound ? context : NULL;
}

/* What came with a write of a peer's. */
static void
data_take(struct psi_conduit *conduit, struct pofi_look *look, uint64_t data)
{
	if (data & PSI_SIGNAL_BITS)
		look->signals[look->signal_count++] = data;
	else if (data & POFI_IS_RECORD)
		pofi_record_arrives(conduit, look, data);
	else if (pofi_long_written(conduit, data))
		look->for_others = true;
}

static void
completion_take(struct psi_conduit *conduit, struct pofi_look *look,
                const struct fi_cq_data_entry *entry)
{
	struct pofi_inbound *inbound = inbound_of(conduit, entry->op_context);
	struct pofi_slot *slot = pofi_slot_of(conduit, entry->op_context);

	if (entry->flags & FI_REMOTE_WRITE && entry->flags & FI_REMOTE_CQ_DATA) {
		data_take(conduit, look, entry->data ^ conduit->tag);
		return;
	}
	if (slot)
		pofi_slot_completed(conduit, slot, &look->done);
	else if (!inbound)
		pofi_send_give(conduit, entry->op_context);
	if (!inbound) {
		look->for_others = true;        /* a slot or a buffer is free */
		return;
	}
	if (entry->flags & FI_RECV)
		pofi_message_arrives(conduit, look, inbound, entry->buf, entry->len);
	if (entry->flags & FI_MULTI_RECV)
		pofi_inbound_released(conduit, inbound);
}

/* A message that could not be received was a stranger's: peers know the sizes. */
static void
error_of_inbound(struct psi_conduit *conduit, struct pofi_inbound *inbound, uint64_t flags)
{
	pofi_count(conduit, PSI_COUNT_DROPPED);
	if (flags & FI_MULTI_RECV)
		pofi_inbound_released(conduit, inbound);
}

static void
error_of_process(struct psi_conduit *conduit, uint32_t process, const struct fi_cq_err_entry *error)
{
	char text[POFI_WHY_BYTES];
	const char *detail = fi_cq_strerror(conduit->cq, error->prov_errno, error->err_data, text,
	                                    sizeof text);

	pofi_peer_break(conduit, process, error->err, detail);
}

/* A message that could not be sent is lost, and its peer with it: though it had only credits, that
 * peer might wait for them. */
static void
error_of_send(struct psi_conduit *conduit, struct pofi_send *send,
              const struct fi_cq_err_entry *error)
{
	error_of_process(conduit, send->process, error);
	pofi_send_give(conduit, send);
}

/* A transfer that failed never ends, so its peer is lost. */
static void
error_of_slot(struct psi_conduit *conduit, struct pofi_slot *slot,
              const struct fi_cq_err_entry *error)
{
	error_of_process(conduit, slot->process, error);
	pofi_slot_failed(conduit, slot);
}

static void
error_take(struct psi_conduit *conduit)
{
	struct fi_cq_err_entry error = { .err_data_size = 0 };
	struct pofi_inbound *inbound;
	struct pofi_slot *slot;

	if (fi_cq_readerr(conduit->cq, &error, 0) != 1)
		return;
	if (!error.op_context) {        /* an injected message has none */
		if (error.flags & FI_SEND)
			error_of_process(conduit, PSI_NO_PEER, &error);
		return;
	}
	inbound = inbound_of(conduit, error.op_context);
	slot = pofi_slot_of(conduit, error.op_context);
	if (inbound)
		error_of_inbound(conduit, inbound, error.flags);
	else if (slot)
		error_of_slot(conduit, slot, &error);
	else
		error_of_send(conduit, error.op_context, &error);
}

bool
pofi_completions_read(struct psi_conduit *conduit, struct pofi_look *look, unsigned most)
{
	struct fi_cq_data_entry entries[POFI_BATCH];
	const ssize_t count = fi_cq_read(conduit->cq, entries, most);

	if (count == -FI_EAVAIL) {
		error_take(conduit);
		look->for_others = true;
	} else if (count < 0 && count != -FI_EAGAIN && !conduit->lost) {
		conduit->services->log("ofi: the completion queue cannot be read: %s",
		                       fi_strerror((int)-count));
		pofi_lose(conduit);
	}
	for (ssize_t i = 0; i < count; i++)
		completion_take(conduit, look, &entries[i]);
	pofi_inbound_refill(conduit);
	return count > 0 || count == -FI_EAVAIL;
}

/* -- delivering -------------------------------------------------------------------------------- */

static void
message_deliver(struct psi_port *port, const struct pofi_message *message)
{
	const struct pofi_header *header = &message->header;
	const struct psi_arrival arrival = {
		.word = psi_arrival_word(header->source, header->handler, header->category,
		                         header->network, header->nargs),
		.args = message->args, .payload = message->payload,
		.len_bytes = header->len_bytes,
	};

	port->conduit->services->deliver(port->owner, &arrival);
}

/* Its handler is about to run, so its sender may send another. */
static void
credit_owe(struct psi_port *port, const struct pofi_header *header)
{
	if (header->network == PSI_REQUESTS)
		port->owed[pofi_process_of(port->conduit, header->source)]++;
}

/* Half of what the process may have is a payment of its own. */
static bool
payment_is_due(const struct psi_port *port, uint32_t process)
{
	return port->owed[process] >= port->conduit->credits / 2;
}

static void
credit_pay(struct psi_port *port, const struct pofi_header *header)
{
	const uint32_t process = pofi_process_of(port->conduit, header->source);

	if (payment_is_due(port, process))
		pofi_pay(port, process);
}

/* Sends the payments that found no room.  The caller holds the guard. */
static void
payments_retry(struct psi_port *port)
{
	port->payment_due = false;
	for (uint32_t process = 0; process < port->conduit->places; process++)
		if (payment_is_due(port, process))
			pofi_pay(port, process);
}

static unsigned
deliver_kept(struct psi_port *port, unsigned networks, unsigned budget)
{
	struct psi_conduit *conduit = port->conduit;
	unsigned delivered = 0;

	while (delivered < budget && psi_kept_any(port->kept, networks)) {
		struct pofi_message message;
		struct psi_kept *kept;

		psi_guard_lock(&conduit->guard);
		kept = psi_kept_take_of(port->kept, networks);
		if (kept)
			credit_owe(port, pofi_header_of(kept));
		psi_guard_unlock(&conduit->guard);
		if (!kept)
			break;
		pofi_message_read(kept->message, &message);
		message_deliver(port, &message);
		psi_guard_lock(&conduit->guard);
		credit_pay(port, pofi_header_of(kept));
		psi_guard_unlock(&conduit->guard);
		free(kept);
		delivered++;
	}
	return delivered;
}

/* Tells of the transfers that have ended. */
static void
deliver_done(const struct psi_conduit *conduit, const struct pofi_done *done)
{
	for (unsigned i = 0; i < done->count; i++)
		conduit->services->completed(done->cookies[i]);
}

/* What has lacked the job's tag names nothing. */
static void
deliver_signals(struct psi_conduit *conduit, const struct pofi_look *look)
{
	for (unsigned i = 0; i < look->signal_count; i++)
		if (!conduit->services->signal_arrived(look->signals[i]))
			pofi_count(conduit, PSI_COUNT_DROPPED);
}

/* Runs the handlers of what was taken, and unpins its buffers. */
static void
deliver_taken(struct pofi_look *look)
{
	struct psi_conduit *conduit = look->port->conduit;

	for (unsigned i = 0; i < look->count; i++)
		message_deliver(look->port, &look->taken[i].message);
	psi_guard_lock(&conduit->guard);
	for (unsigned i = 0; i < look->count; i++) {
		if (look->taken[i].pinned)
			look->taken[i].pinned->pins--;
		credit_pay(look->port, &look->taken[i].message.header);
	}
	psi_guard_unlock(&conduit->guard);
}

/* Takes at most `most' messages; false if no completion was there, or another thread reads them. */
static bool
look_take(struct pofi_look *look, unsigned most)
{
	struct psi_conduit *conduit = look->port->conduit;
	bool found;

	if (!psi_guard_trylock(&conduit->guard))
		return false;
	if (conduit->left) {
		psi_guard_unlock(&conduit->guard);
		return false;
	}
	pofi_backlog_flush(conduit);
	pofi_waiting_flush(conduit);
	if (atomic_load_explicit(&conduit->reach.asks, memory_order_relaxed))
		pofi_reach_step(conduit);
	if (look->port->payment_due)
		payments_retry(look->port);
	found = pofi_completions_read(conduit, look, most < POFI_BATCH ? most : POFI_BATCH);
	for (unsigned i = 0; i < look->count; i++)
		credit_owe(look->port, &look->taken[i].message.header);
	psi_guard_unlock(&conduit->guard);
	return found;
}

/* A look costs a system call or more, and the caller may have waited for what was just found: a
 * message, or the end of a transfer.  So a poll looks on behind that only in a stream, where polls
 * find something each time, and nothing is sent between them. */
unsigned
pofi_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	const bool streams = atomic_load_explicit(&port->streams, memory_order_relaxed);
	unsigned delivered = deliver_kept(port, networks, budget);
	bool found = delivered > 0;

	for (unsigned looks = 0; delivered < budget && looks < LOOKS && (!found || streams);
	     looks++) {
		struct pofi_look look;

		look.port = port;
		look.networks = networks;
		look.count = look.signal_count = look.done.count = 0;
		look.for_others = false;
		if (!look_take(&look, budget - delivered))
			break;
		found = found || look.count || look.signal_count || look.done.count;
		if (found)
			atomic_store_explicit(&port->streams, true, memory_order_relaxed);
		if (look.for_others)
			port->conduit->services->look_again();
		deliver_done(port->conduit, &look.done);
		deliver_signals(port->conduit, &look);
		delivered += look.signal_count + look.count;
		if (look.count)
			deliver_taken(&look);
		if (look.for_others && delivered < budget)
			delivered += deliver_kept(port, networks, budget - delivered);
		found = found || delivered;
	}
	if (!found)
		pofi_ends_stream(port);
	pofi_tell_broken(port->conduit);
	return delivered;
}
