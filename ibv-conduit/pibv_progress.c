/*
 * Progress: completions are read in batches.  A message for the port that is polled, of a network
 * that is asked for, is delivered from the buffer where it arrived.  Any other message is copied
 * and kept for its port.  Credits are taken in either case.
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>
#include <string.h>

enum {
	LOOKS = 4,              /* batches of one poll, though they hold nothing for its port */
	POLLS_PER_EVENTS = 1024,        /* after so many polls the device is asked for events */
};

/* A message that a poll is about to deliver, in a receive buffer. */
struct taken {
	struct pibv_header header;
	uint32_t index;
};

/* What one poll asks for, and has. */
struct look {
	struct psi_port *port;          /* NULL: all messages are kept */
	unsigned networks, count;
	bool for_others;                /* there is something that other threads may wait for */
	struct taken taken[PIBV_BATCH];
	struct pibv_done done;
};

/* -- what arrives ------------------------------------------------------------------------------ */

/* A peer of another build may send anything. */
static bool
header_is_sound(const struct psi_conduit *conduit, const struct pibv_header *header,
                size_t len_bytes)
{
	return header->nargs <= PSI_MAX_ARGS && header->network < PSI_NETWORKS &&
	       header->category <= PIBV_SIGNAL && header->to < PIBV_ENDPOINTS &&
	       conduit->ports[header->to] &&
	       header->source < (uint64_t)conduit->places * PIBV_ENDPOINTS &&
	       len_bytes == pibv_message_bytes(header->category, header->nargs,
	                                       header->len_bytes);
}

/* The first message on a connection says that the peer's side receives. */
static void
source_is_connected(struct psi_conduit *conduit, uint32_t source)
{
	struct pibv_connection *connection =
		conduit->connections[pibv_process_of(conduit, source)];

	if (connection && connection->state == PIBV_READY)
		pibv_connection_done(connection);
}

static void
credits_take(struct psi_conduit *conduit, struct look *look, const struct pibv_header *header)
{
	uint16_t *spent = header->credits ? pibv_spent_at(conduit, header->source) : NULL;

	if (!spent)
		return;
	look->for_others = true;
	*spent = (uint16_t)(*spent > header->credits ? *spent - header->credits : 0);
}

static void
message_keep(struct psi_conduit *conduit, const struct pibv_header *header, const char *message,
             size_t len_bytes)
{
	struct psi_kept *kept = psi_kept_new(len_bytes);

	if (!kept) {
		conduit->services->log("ibv: no memory to keep a message of %zu bytes", len_bytes);
		pibv_lose(conduit);
		return;
	}
	memcpy(kept->message, message, len_bytes);
	psi_kept_add(&conduit->ports[header->to]->kept[header->network], kept);
}

/* Some buffers stay with the device, so that messages always arrive, whatever the handlers of other
 * threads do. */
static bool
may_deliver_here(const struct psi_conduit *conduit, const struct look *look,
                 const struct pibv_header *header)
{
	return look->port && conduit->receives.posted > PIBV_BATCH &&
	       (header->category == PIBV_SIGNAL ||
	        (conduit->ports[header->to] == look->port &&
	         look->networks >> header->network & 1));
}

/* True: the buffer is to be delivered from.  A signal that nobody can apply now is one of a process
 * that ends. */
static bool
message_arrives(struct psi_conduit *conduit, struct look *look, uint32_t index, size_t len_bytes)
{
	const char *message = pibv_receive_bytes(conduit, index);
	struct pibv_header header;

	if (len_bytes < sizeof header) {
		pibv_count(conduit, PSI_COUNT_DROPPED);
		return false;
	}
	memcpy(&header, message, sizeof header);
	if (!header_is_sound(conduit, &header, len_bytes)) {
		pibv_count(conduit, PSI_COUNT_DROPPED);
		return false;
	}
	source_is_connected(conduit, header.source);
	credits_take(conduit, look, &header);
	if (header.category == PIBV_CREDIT)
		return false;
	if (may_deliver_here(conduit, look, &header)) {
		look->taken[look->count++] = (struct taken){ header, index };
		return true;
	}
	message_keep(conduit, &header, message, len_bytes);
	look->for_others = true;
	return false;
}

/* -- completions ------------------------------------------------------------------------------- */

static void
receive_take(struct psi_conduit *conduit, struct look *look, const struct ibv_wc *wc)
{
	const uint32_t index = pibv_wr_number(wc->wr_id);
	bool taken = false;

	conduit->receives.posted--;
	if (wc->status == IBV_WC_SUCCESS)
		taken = message_arrives(conduit, look, index, wc->byte_len);
	else
		pibv_completion_failed(conduit, wc);
	if (!taken)
		pibv_receive_give(conduit, index);
}

static void
completion_take(struct psi_conduit *conduit, struct look *look, const struct ibv_wc *wc)
{
	switch (pibv_wr_whose(wc->wr_id)) {
	case PIBV_OF_RECEIVE:
		receive_take(conduit, look, wc);
		break;
	case PIBV_OF_SEND:
		look->for_others = true;
		if (wc->status == IBV_WC_SUCCESS)
			pibv_work_retire(conduit, pibv_wr_connection(conduit, wc->wr_id),
			                 pibv_wr_number(wc->wr_id), &look->done);
		else
			pibv_completion_failed(conduit, wc);
		break;
	case PIBV_OF_HELLO_RECEIVE:
		look->for_others = true;
		pibv_hello_arrived(conduit, wc);
		break;
	default:
		pibv_hello_left(conduit);
	}
}

bool
pibv_completions_read(struct psi_conduit *conduit)
{
	int count;

	if (conduit->read.next < conduit->read.count)
		return true;
	conduit->read.next = conduit->read.count = 0;
	count = ibv_poll_cq(conduit->cq, PIBV_BATCH, conduit->read.wcs);
	if (count < 0 && !conduit->lost) {
		conduit->services->log("ibv: the completion queue of %s cannot be read",
		                       conduit->device.name);
		pibv_lose(conduit);
	}
	if (count <= 0 && conduit->device_count > 1)
		count = pibv_rails_read(conduit, conduit->read.wcs, PIBV_BATCH);
	conduit->read.count = count > 0 ? count : 0;
	return count > 0;
}

/* Takes those that have room in what the poll remembers, `most' messages among them; the others
 * stay read. */
static bool
completions_take(struct psi_conduit *conduit, struct look *look, unsigned most)
{
	if (!pibv_completions_read(conduit))
		return false;
	while (conduit->read.next < conduit->read.count && look->count < most &&
	       look->done.count <= PIBV_DONE - 2 * PIBV_DEPTH_MOST)
		completion_take(conduit, look, &conduit->read.wcs[conduit->read.next++]);
	return true;
}

/* -- delivering -------------------------------------------------------------------------------- */

static void
long_deliver(struct psi_arrival *arrival, const struct pibv_header *header, char *message)
{
	struct pibv_tail tail;

	memcpy(&tail, message + pibv_tail_at(header->nargs), sizeof tail);
	arrival->payload = (void *)(uintptr_t)tail.dest;
	arrival->len_bytes = tail.long_bytes;
	if (header->len_bytes)
		memcpy(arrival->payload, message + pibv_payload_at(PSI_LONG, header->nargs),
		       header->len_bytes);
}

/* The bytes are there before the signal. */
static void
signal_deliver(struct psi_conduit *conduit, const struct pibv_header *header, const char *message)
{
	struct pibv_tail tail;

	memcpy(&tail, message + pibv_tail_at(0), sizeof tail);
	if (header->len_bytes)
		memcpy((void *)(uintptr_t)tail.dest, message + pibv_payload_at(PIBV_SIGNAL, 0),
		       header->len_bytes);
	if (!conduit->services->signal_arrived(tail.packed))
		pibv_count(conduit, PSI_COUNT_DROPPED);
}

static void
message_deliver(struct psi_port *port, const struct pibv_header *header, char *message)
{
	struct psi_arrival arrival = {
		.word = psi_arrival_word(header->source, header->handler, header->category,
		                         header->network, header->nargs),
		.args = (const int32_t *)(void *)(message + sizeof *header),
		.payload = message + pibv_tail_at(header->nargs),
		.len_bytes = header->len_bytes,
	};

	if (header->category == PIBV_SIGNAL) {
		signal_deliver(port->conduit, header, message);
		return;
	}
	if (header->category == PSI_LONG)
		long_deliver(&arrival, header, message);
	port->conduit->services->deliver(port->owner, &arrival);
}

/* Its handler is about to run, so its sender may send another. */
static void
credit_owe(struct psi_port *port, const struct pibv_header *header)
{
	if (header->network == PSI_REQUESTS && header->category != PIBV_SIGNAL)
		port->owed[pibv_process_of(port->conduit, header->source)]++;
}

/* Half of what the process may have is a payment of its own. */
static bool
payment_is_due(const struct psi_port *port, uint32_t process)
{
	return port->owed[process] >= port->conduit->credits / 2;
}

static void
credit_pay(struct psi_port *port, const struct pibv_header *header)
{
	const uint32_t process = pibv_process_of(port->conduit, header->source);

	if (payment_is_due(port, process))
		pibv_pay(port, process);
}

/* Sends the payments that found no room.  The caller holds the guard. */
static void
payments_retry(struct psi_port *port)
{
	port->payment_due = false;
	for (uint32_t process = 0; process < port->conduit->places; process++)
		if (payment_is_due(port, process))
			pibv_pay(port, process);
}

/* Replies first. */
static struct psi_kept *
kept_take(struct psi_port *port, unsigned networks)
{
	for (unsigned network = PSI_NETWORKS; network-- > 0;)
		if (networks >> network & 1 && port->kept[network].first)
			return psi_kept_take(&port->kept[network]);
	return NULL;
}

bool
pibv_has_kept(const struct psi_port *port, unsigned networks)
{
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		if (networks >> network & 1 && psi_kept_count(&port->kept[network]))
			return true;
	return false;
}

static unsigned
deliver_kept(struct psi_port *port, unsigned networks, unsigned budget)
{
	struct psi_conduit *conduit = port->conduit;
	unsigned delivered = 0;

	while (delivered < budget && pibv_has_kept(port, networks)) {
		struct pibv_header header;
		struct psi_kept *kept;

		psi_guard_lock(&conduit->guard);
		kept = kept_take(port, networks);
		if (kept) {
			memcpy(&header, kept->message, sizeof header);
			credit_owe(port, &header);
		}
		psi_guard_unlock(&conduit->guard);
		if (!kept)
			break;
		message_deliver(port, &header, kept->message);
		psi_guard_lock(&conduit->guard);
		credit_pay(port, &header);
		psi_guard_unlock(&conduit->guard);
		free(kept);
		delivered++;
	}
	return delivered;
}

/* Tells of the transfers that have ended. */
static void
deliver_done(const struct psi_conduit *conduit, const struct pibv_done *done)
{
	for (unsigned i = 0; i < done->count; i++)
		conduit->services->completed(done->cookies[i]);
}

/* Runs the handlers of what was taken, and gives its buffers back. */
static void
deliver_taken(struct look *look)
{
	struct psi_port *port = look->port;
	struct psi_conduit *conduit = port->conduit;

	for (unsigned i = 0; i < look->count; i++)
		message_deliver(port, &look->taken[i].header,
		                pibv_receive_bytes(conduit, look->taken[i].index));
	psi_guard_lock(&conduit->guard);
	for (unsigned i = 0; i < look->count; i++) {
		pibv_receive_give(conduit, look->taken[i].index);
		credit_pay(port, &look->taken[i].header);
	}
	psi_guard_unlock(&conduit->guard);
}

/* -- polling ----------------------------------------------------------------------------------- */

/* What waits: for room, for a completion that nobody has asked for, for an answer.  The caller
 * holds the guard. */
static void
chores_do(struct psi_conduit *conduit, struct pibv_done *done)
{
	if (conduit->hello.first)
		pibv_hello_advance(conduit);
	if (conduit->backlog)
		pibv_backlog_advance(conduit, done);
	if (conduit->wanting || conduit->buffers.lacking)
		pibv_work_flush_wanted(conduit);
	if (++conduit->polls % POLLS_PER_EVENTS == 0)
		pibv_events_read(conduit);
}

/* Takes at most `most' messages; false if no completion was there, or another thread reads them. */
static bool
look_take(struct look *look, unsigned most)
{
	struct psi_conduit *conduit = look->port->conduit;
	bool found;

	if (!psi_guard_trylock(&conduit->guard))
		return false;
	chores_do(conduit, &look->done);
	if (look->port->payment_due)
		payments_retry(look->port);
	found = completions_take(conduit, look, most < PIBV_BATCH ? most : PIBV_BATCH);
	for (unsigned i = 0; i < look->count; i++)
		credit_owe(look->port, &look->taken[i].header);
	psi_guard_unlock(&conduit->guard);
	return found || look->done.count;
}

unsigned
pibv_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	unsigned delivered = deliver_kept(port, networks, budget);

	for (unsigned looks = 0; looks < LOOKS && delivered < budget; looks++) {
		struct look look;

		look.port = port;
		look.networks = networks;
		look.count = look.done.count = 0;
		look.for_others = false;
		if (!look_take(&look, budget - delivered))
			break;
		if (look.for_others)
			port->conduit->services->look_again();
		deliver_done(port->conduit, &look.done);
		delivered += look.count;
		if (look.count)
			deliver_taken(&look);
		if (look.for_others && delivered < budget)
			delivered += deliver_kept(port, networks, budget - delivered);
	}
	pibv_tell_lost(port->conduit);
	return delivered;
}

void
pibv_progress_alone(struct psi_conduit *conduit)
{
	struct look look;

	look.port = NULL;
	look.networks = look.count = look.done.count = 0;
	look.for_others = false;
	chores_do(conduit, &look.done);
	(void)completions_take(conduit, &look, PIBV_BATCH);
}
