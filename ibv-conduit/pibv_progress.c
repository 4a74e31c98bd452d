/*
 * Progress: completions are read in batches.  A message for the port that is polled, of a network
 * that is asked for, is delivered: a Short from a copy, so that its buffer is free at once, others
 * from the buffer where they arrived.  Any other message is copied and kept for its port.  Credits
 * are taken in either case.
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>
#include <string.h>

enum {
	POLLS_PER_EVENTS = 1024,        /* after so many polls the device is asked for events */
	LOOK_MOST_NS = 100000000,       /* such time counts as polled, at most (pibv_knock.c) */
};

/* A message that a poll is about to deliver: a Short, whose receive buffer is given back already,
 * or one in its buffer. */
struct taken {
	struct psi_arrival arrival;     /* the Short */
	int32_t args[PSI_MAX_ARGS];
	char *message;                  /* NULL: a Short */
	uint32_t index;                 /* of the buffer */
	uint32_t process;               /* that sent it */
};

/* What one poll asks for, and has.  Large, so only what is used is set. */
struct look {
	struct psi_port *port;          /* NULL: all messages are kept */
	unsigned networks;
	uint32_t to;                    /* the port's index */
	bool for_others;                /* there is something that other threads may wait for */
	unsigned count, buffers;        /* messages; those in buffers */
	struct taken taken[PIBV_BATCH];
	struct pibv_done done;
};

/* -- what arrives ------------------------------------------------------------------------------ */

/* Bits of a kind that no Short has, whatever its network, handler and number of arguments. */
static const struct pibv_header not_of_shorts = { .category = 0xff, .network = 0xfe };

/* A connection brings each message once, in their order. */
static inline bool
number_is_due(const struct psi_conduit *conduit, const struct pibv_header *header,
              uint32_t process)
{
	return header->number == (uint8_t)conduit->arrived[process];
}

/* The most frequent message: a sound Short, in its turn, for the port and network that are
 * polled. */
static inline bool
header_is_short_here(const struct psi_conduit *conduit, const struct look *look,
                     const struct pibv_header *header, uint32_t process, size_t len_bytes)
{
	return header->to == look->to && !(header->kind & not_of_shorts.kind) &&
	       look->networks >> header->network & 1 && header->nargs <= PSI_MAX_ARGS &&
	       len_bytes == sizeof *header + header->nargs * sizeof(int32_t) &&
	       header->source < conduit->sources && number_is_due(conduit, header, process);
}

/* A peer of another build may send anything. */
static bool
header_is_sound(const struct psi_conduit *conduit, const struct pibv_header *header,
                size_t len_bytes)
{
	return len_bytes >= sizeof *header && header->nargs <= PSI_MAX_ARGS &&
	       header->network < PSI_NETWORKS && header->category <= PIBV_SIGNAL &&
	       header->to < PSI_PORTS_MOST && conduit->ports[header->to] &&
	       header->source < conduit->sources &&
	       len_bytes == pibv_message_bytes(header->category, header->nargs,
	                                       header->len_bytes);
}

/* The first message on a connection says that the peer's side receives. */
static void
source_is_connected(struct psi_conduit *conduit, uint32_t process)
{
	struct pibv_connection *connection = conduit->connections[process];

	if (connection && connection->state == PIBV_READY)
		pibv_connection_done(connection);
}

/* Who was refused for lack of credits waits for the first that comes. */
static inline void
credits_take(struct psi_conduit *conduit, struct look *look, const struct pibv_header *header)
{
	uint16_t *spent = pibv_spent_at(conduit, header->source);

	if (!spent)
		return;
	look->for_others |= *spent >= conduit->credits;
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
static inline bool
may_deliver_here(const struct psi_conduit *conduit, const struct look *look,
                 const struct pibv_header *header)
{
	return conduit->receives.posted > PIBV_BATCH &&
	       (header->category == PIBV_SIGNAL ? look->port != NULL
	        : header->to == look->to && look->networks >> header->network & 1);
}

/* Takes it out of its buffer.  For two arguments, 64 bits, no function is called. */
static inline void
short_take(struct psi_conduit *conduit, struct look *look, const struct pibv_header *header,
           uint32_t process, uint32_t index)
{
	enum { TWO = 2 };
	struct taken *taken = &look->taken[look->count++];
	const void *args = header + 1;

	taken->message = NULL;
	taken->arrival.word = pibv_arrival_word(header);
	taken->arrival.args = taken->args;
	taken->arrival.payload = NULL;
	taken->arrival.len_bytes = 0;
	if (header->nargs == TWO)
		memcpy(taken->args, args, TWO * sizeof *taken->args);
	else if (header->nargs)
		memcpy(taken->args, args, header->nargs * sizeof *taken->args);
	if (header->network == PSI_REQUESTS) {
		look->port->owed[process]++;
		pibv_credit_pay(look->port, process);
	}
	pibv_receive_give(conduit, index);
}

/* What every message says of its sender. */
static inline void
source_take(struct psi_conduit *conduit, struct look *look, const struct pibv_header *header,
            uint32_t process)
{
	conduit->arrived[process]++;
	if (conduit->hello.first)
		source_is_connected(conduit, process);
	if (header->credits)
		credits_take(conduit, look, header);
}

/* Any message; a buffer from which it is not to be delivered is given back. */
static void
message_take(struct psi_conduit *conduit, struct look *look, uint32_t index, size_t len_bytes)
{
	char *message = pibv_receive_bytes(conduit, index);
	const struct pibv_header *header = pibv_header_at(message);
	const uint32_t process = pibv_process_of(conduit, header->source);

	if (!header_is_sound(conduit, header, len_bytes)) {
		pibv_count(conduit, PSI_COUNT_DROPPED);
		pibv_receive_give(conduit, index);
		return;
	}
	if (!number_is_due(conduit, header, process)) {
		pibv_message_is_out_of_turn(conduit, header);
		pibv_receive_give(conduit, index);
		return;
	}
	source_take(conduit, look, header, process);
	if (header->category != PIBV_CREDIT && may_deliver_here(conduit, look, header)) {
		struct taken *taken = &look->taken[look->count++];

		taken->message = message;
		taken->index = index;
		taken->process = process;
		pibv_credit_owe(look->port, header, taken->process);
		look->buffers++;
		return;
	}
	if (header->category != PIBV_CREDIT) {
		message_keep(conduit, header, message, len_bytes);
		look->for_others = true;
	}
	pibv_receive_give(conduit, index);
}

/* -- completions ------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
receive_take(struct psi_conduit *conduit, struct look *look, const struct ibv_wc *wc)
{
	const uint32_t index = pibv_wr_number(wc->wr_id);
	const struct pibv_header *header = pibv_header_at(pibv_receive_bytes(conduit, index));
	const uint32_t process = pibv_process_of(conduit, header->source);

	conduit->receives.posted--;
	if (wc->status != IBV_WC_SUCCESS) {
		pibv_completion_failed(conduit, wc);
		pibv_receive_give(conduit, index);
	} else if (header_is_short_here(conduit, look, header, process, wc->byte_len)) {
		source_take(conduit, look, header, process);
		short_take(conduit, look, header, process, index);
	} else {
		message_take(conduit, look, index, wc->byte_len);
	}
}

/* All requests of a further rail have asked for their completions.  The first rail's are not
 * counted, since they end the job. */
static void
send_failed(struct psi_conduit *conduit, const struct ibv_wc *wc)
{
	if (pibv_wr_rail(wc->wr_id))
		conduit->signals--;
	pibv_completion_failed(conduit, wc);
}

static inline __attribute__((always_inline)) void
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
			send_failed(conduit, wc);
		break;
	case PIBV_OF_HELLO_RECEIVE:
		look->for_others = true;
		pibv_hello_arrived(conduit, wc);
		break;
	default:
		pibv_hello_left(conduit, wc);
	}
}

static void
queue_is_broken(struct psi_conduit *conduit)
{
	conduit->read.count = 0;
	if (conduit->lost)
		return;
	conduit->services->log("ibv: the completion queue of %s cannot be read",
	                       conduit->devices[conduit->read.device].name);
	pibv_lose(conduit);
}

/* Where there are queues of several devices: each in turn is the first to be asked, so that none
 * waits for another to be empty. */
static int
queues_read(struct psi_conduit *conduit)
{
	int count = 0;

	for (unsigned i = 0; i < conduit->device_count && !count; i++) {
		const unsigned device = (conduit->polls + i) % conduit->device_count;

		conduit->read.device = device;
		count = ibv_poll_cq(conduit->devices[device].cq, PIBV_BATCH, conduit->read.wcs);
	}
	return count;
}

/* Returns how many there are; they begin at read.next. */
static inline int
completions_read(struct psi_conduit *conduit)
{
	int count = conduit->read.count;

	if (conduit->read.next < count)
		return count;
	count = conduit->device_count > 1
	                ? queues_read(conduit)
	                : ibv_poll_cq(conduit->devices[0].cq, PIBV_BATCH, conduit->read.wcs);
	conduit->read.next = 0;
	conduit->read.count = count;
	if (count < 0)
		queue_is_broken(conduit);
	return count;
}

bool pibv_completions_read(struct psi_conduit *conduit) { return completions_read(conduit) > 0; }

/* Takes those that have room in what the poll remembers, `most' messages among them; the others
 * stay read.  The messages of one batch have room. */
static inline __attribute__((always_inline)) void
completions_take(struct psi_conduit *conduit, struct look *look, unsigned most)
{
	const int count = completions_read(conduit);
	int next = conduit->read.next;

	if (count <= 0)
		return;
	do
		completion_take(conduit, look, &conduit->read.wcs[next++]);
	while (next < count && look->count < most &&
	       look->done.count <= PIBV_DONE - 2 * PIBV_DEPTH_MOST);
	conduit->read.next = next;
}

/* -- delivering -------------------------------------------------------------------------------- */

/* Tells of the transfers that have ended. */
static void
deliver_done(const struct psi_conduit *conduit, const struct pibv_done *done)
{
	for (unsigned i = 0; i < done->count; i++)
		conduit->services->completed(done->cookies[i]);
}

/* Gives back the buffers that were delivered from. */
static void
buffers_give(struct psi_conduit *conduit, const struct look *look)
{
	psi_guard_lock(&conduit->guard);
	for (unsigned i = 0; i < look->count; i++) {
		if (!look->taken[i].message)
			continue;
		pibv_credit_pay(look->port, look->taken[i].process);
		pibv_receive_give(conduit, look->taken[i].index);
	}
	psi_guard_unlock(&conduit->guard);
}

/* Runs the handlers of what was taken. */
static inline void
deliver_taken(struct psi_port *port, struct psi_conduit *conduit, const struct look *look)
{
	const struct taken *end = look->taken + look->count;

	for (const struct taken *at = look->taken; at != end; at++)
		if (at->message)
			pibv_message_deliver(port, at->message);
		else
			conduit->services->deliver(port->owner, &at->arrival);
	if (look->buffers)
		buffers_give(conduit, look);
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
		pibv_work_flush_wanted(conduit, false);
	if (conduit->polls % POLLS_PER_EVENTS)
		return;
	pibv_events_read(conduit);
	pibv_knock_look(conduit, LOOK_MOST_NS);
	if (conduit->striped)
		pibv_stripes_watch(conduit);
}

static inline bool
chores_are_due(struct psi_conduit *conduit)
{
	const bool is_time = ++conduit->polls % POLLS_PER_EVENTS == 0;

	return is_time || ((uintptr_t)conduit->hello.first | (uintptr_t)conduit->backlog |
	                   (uintptr_t)conduit->wanting | conduit->buffers.lacking);
}

/* Takes at most `most' messages; false: another thread reads them. */
static inline bool
look_take(struct psi_port *port, struct psi_conduit *conduit, struct look *look, unsigned most)
{
	look->count = look->buffers = look->done.count = 0;
	look->for_others = false;
	if (!psi_guard_trylock(&conduit->guard))
		return false;
	if (chores_are_due(conduit))
		chores_do(conduit, &look->done);
	if (port->payment_due)
		pibv_payments_retry(port);
	completions_take(conduit, look, most);
	psi_guard_unlock(&conduit->guard);
	return true;
}

/* One batch of completions, so one question to the device.  Who waits polls again. */
unsigned
pibv_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	unsigned delivered = 0;
	struct psi_conduit *conduit = port->conduit;
	struct look look;

	if (psi_kept_any(port->kept, PSI_BOTH_NETWORKS))
		delivered = pibv_deliver_kept(port, networks, budget);
	look.port = port;
	look.networks = networks;
	look.to = port->index;
	if (delivered < budget && look_take(port, conduit, &look, budget - delivered)) {
		if (look.for_others)
			conduit->services->look_again();
		if (look.done.count)
			deliver_done(conduit, &look.done);
		deliver_taken(port, conduit, &look);
		delivered += look.count;
		if (look.for_others && delivered < budget &&
		    psi_kept_any(port->kept, PSI_BOTH_NETWORKS))
			delivered += pibv_deliver_kept(port, networks, budget - delivered);
	}
	if (psi_lost_peer_any(&conduit->lost_peer))
		pibv_tell_lost(conduit);
	return delivered;
}

void
pibv_progress_alone(struct psi_conduit *conduit)
{
	struct look look;

	look.port = NULL;
	look.networks = look.count = look.done.count = 0;
	look.to = PSI_PORTS_MOST;
	look.for_others = false;
	if (chores_are_due(conduit))
		chores_do(conduit, &look.done);
	completions_take(conduit, &look, PIBV_BATCH);
}
