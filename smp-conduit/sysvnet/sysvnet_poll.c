/*
 * Receiving.  A poll looks at one word per network for lanes that became active, then at the lanes
 * that are; silent peers cost nothing.
 *
 * With one thread a handler runs on the message where it lies, and the slot is retired after it.
 * In PAR the message is copied out of the lane under the poll lock (buffers are not copied), so
 * that a handler that takes its time delays no other message; no lock is held while it runs.
 *
 * While a handler runs, lines are on their way that will be wanted (payload_prefetch,
 * lines_prefetch).
 */
#include "smp-conduit/sysvnet/sysvnet_inline.h"

#include <string.h>

enum {
	/* Empty polls after which quiet lanes are dropped: often where that costs a fence, seldom
	 * where it costs a system call. */
	SWEEP_POLLS = 256, SWEEP_POLLS_MEMBARRIER = 16384,
	PREFETCH_BYTES = 2048,
	BACKLOG = 4,                    /* so many of one poll, and more are likely there */
};

#define NO_BUFFER_NAME UINT32_MAX

/* A message taken out of its lane. */
struct message {
	struct psi_arrival arrival;
	uint32_t buffer;                /* to give back after the handler, or NO_BUFFER_NAME */
	int32_t args[PSI_MAX_ARGS];
	/* Up to SYSVNET_COPY_OUT_BYTES. */
	_Alignas(SYSVNET_PAYLOAD_ALIGN) unsigned char payload[];
};


/* Looks at the lane on every poll from now on. */
static void
lane_activate(struct sysvnet_port *port, unsigned network, uint32_t sender)
{
	struct sysvnet_in *in = &port->in[network][sender];
	const uint32_t count = sysvnet_active_count(port, network);

	if (in->active)
		return;
	PSI_DELAY_POINT(activate);
	in->active = 1;
	in->quiet = 0;
	sysvnet_set_active(port, network, count, sender);
	sysvnet_set_active_count(port, network, count + 1);
	atomic_store_explicit(&in->control->polled, 1, memory_order_relaxed);
}

static void
lanes_activate(struct sysvnet_port *port, unsigned network)
{
	struct sysvnet_shared *shared = port->shared;
	_Atomic uint64_t *words = sysvnet_words_of(shared, port->layout, network);
	uint64_t top = atomic_exchange_explicit(
		&shared->top[network], 0,
		memory_order_acquire); /* D2_TAKE_TOP: acquire, from D2_TOP in bitmap_set */

	for (; top; top &= top - 1) {
		uint32_t w = (uint32_t)__builtin_ctzll(top);
		uint64_t bits;

		PSI_DELAY_POINT(collect);
		bits = atomic_exchange_explicit(&words[w], 0, memory_order_relaxed);
		for (; bits; bits &= bits - 1)
			lane_activate(port, network,
			              w * SYSVNET_WORD_BITS + (uint32_t)__builtin_ctzll(bits));
	}
	/* Other threads that sleep on this port counted on being woken for these lanes. */
	if (port->needs_lock)
		sysvnet_wake_port(port);
}

static void
lane_retire(struct sysvnet_port *port, struct sysvnet_in *in, uint64_t header)
{
	if (sysvnet_in_retire(in, header))
		sysvnet_room_made(port, port->shared);
}

static void
buffer_give_back(struct sysvnet_port *port, unsigned network, uint32_t name)
{
	sysvnet_pool_give(&port->shared->busy[network][name >> 16], name & 0xffff);
	sysvnet_room_made(port, port->shared);
}

static uint64_t
payload_word(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/* Asks for the lines of a payload that lies elsewhere, which come while its handler is being
 * called. */
static inline void
payload_prefetch(const void *payload, size_t len_bytes)
{
	const char *at = payload,
		   *end = at + (len_bytes < PREFETCH_BYTES ? len_bytes : PREFETCH_BYTES);

	for (; at < end; at += SYSVNET_LINE_BYTES)
		__builtin_prefetch(at);
}

/* Finds payload and arguments of a message that is no Short, nor a Medium in its slot; returns
 * the buffer that holds its payload, or NO_BUFFER_NAME. */
static uint32_t __attribute__((noinline))
slot_decode_elsewhere(struct sysvnet_port *port, unsigned network, const struct sysvnet_in *in,
                      struct sysvnet_slot *slot, struct sysvnet_header_fields fields,
                      struct psi_arrival *arrival)
{
	const uint64_t word = payload_word(slot->body);

	arrival->args = (const int32_t *)(void *)(slot->body + 8);
	if (fields.category == PSI_LONG) {
		arrival->payload = (void *)(uintptr_t)word;
		arrival->len_bytes = (size_t)payload_word(slot->body + 8);
		arrival->args = (const int32_t *)(void *)(slot->body + 16);
		return NO_BUFFER_NAME;
	}
	if (fields.where == SYSVNET_DATA_RING) {
		arrival->payload = in->data + word;
		payload_prefetch(arrival->payload, arrival->len_bytes);
		return NO_BUFFER_NAME;
	}
	/* another process may have filled what a thread of this one had and gave back unsent */
	psi_back_from_process(&port->shared->busy[network][word >> 16]);
	arrival->payload =
		sysvnet_buffers_at(port->layout, (unsigned char *)port->shared, network) +
		sysvnet_buffer_offset((uint32_t)word);
	payload_prefetch(arrival->payload, arrival->len_bytes);
	return (uint32_t)word;
}

/* Describes the message in a slot; returns the buffer that holds its payload, or NO_BUFFER_NAME. */
static inline uint32_t
slot_decode(struct sysvnet_port *port, unsigned network, const struct sysvnet_in *in,
            struct sysvnet_slot *slot, uint64_t header, struct psi_arrival *arrival_out)
{
	const struct sysvnet_header_fields fields = sysvnet_header_unpack(header);

	*arrival_out = (struct psi_arrival){
		.word = psi_arrival_word(in->place + fields.index * port->net->job.places,
		                         fields.handler, fields.category, network, fields.nargs),
		.args = (const int32_t *)(void *)slot->body,
		.payload = (unsigned char *)slot + sysvnet_inline_offset(fields.nargs),
		.len_bytes = fields.len_bytes,
	};
	if (fields.category != PSI_LONG && fields.where == SYSVNET_INLINE)
		return NO_BUFFER_NAME;
	return slot_decode_elsewhere(port, network, in, slot, fields, arrival_out);
}

/* Now and then drops lanes that have been quiet from the list.  The caller holds poll_lock. */
static void
lanes_sweep(struct sysvnet_port *port, unsigned network)
{
	unsigned period = port->net->senders_fence ? SWEEP_POLLS : SWEEP_POLLS_MEMBARRIER;

	if (++port->idle_polls[network] < period)
		return;
	port->idle_polls[network] = 0;
	sysvnet_unpoll_quiet(port, network);
}

void
sysvnet_found_nothing(struct sysvnet_port *port, unsigned network)
{
	if (port->needs_lock && !psi_spinlock_try(&port->poll_lock[network]))
		return;
	lanes_sweep(port, network);
	if (port->needs_lock)
		psi_spinlock_unlock(&port->poll_lock[network]);
}

/* Fetches two lines while the handler runs: that of the slot which an answer would take and, if
 * this lane has given BACKLOG messages in this poll, that of a later message. */
static inline void
lines_prefetch(struct sysvnet_port *port, unsigned network, const struct sysvnet_in *in,
              const struct psi_arrival *arrival, unsigned before)
{
	if (before >= BACKLOG)
		sysvnet_in_prefetch(in);
	if (arrival->source < port->net->job.places)        /* others are answered by other lanes */
		sysvnet_out_own_slot(&port->out[network ^ 1][in->host_index]);
}

/* --------------------------------------------------------------- one thread at a time --- */

static unsigned
lane_drain(struct sysvnet_port *port, unsigned network, struct sysvnet_in *in, unsigned budget)
{
	unsigned delivered = 0;
	struct sysvnet_slot *slot;
	uint64_t header;

	while (delivered < budget && (slot = sysvnet_in_peek(in, &header))) {
		struct psi_arrival arrival;
		uint32_t name = slot_decode(port, network, in, slot, header, &arrival);

		sysvnet_in_take(in);
		lines_prefetch(port, network, in, &arrival, delivered);
		port->net->calls.deliver(port->owner, &arrival);
		if (name != NO_BUFFER_NAME)
			buffer_give_back(port, network, name);
		lane_retire(port, in, header);
		delivered++;
	}
	return delivered;
}

/* Starts at the cursor.  The cursor stays behind the lane that used up the budget, so that a sender
 * that never pauses does not starve the others. */
static unsigned
lanes_drain(struct sysvnet_port *port, unsigned network, unsigned budget)
{
	uint32_t at = port->cursor[network];
	unsigned delivered = 0;

	for (uint32_t left = sysvnet_active_count(port, network); left; left--) {
		if (at >= sysvnet_active_count(port, network))
			at = 0;
		delivered += lane_drain(port, network,
		                        sysvnet_active_lane(port, network, at++),
		                        budget - delivered);
		if (delivered >= budget) {
			port->cursor[network] = at;
			break;
		}
	}
	return delivered;
}

unsigned
sysvnet_receive_in_place(struct sysvnet_port *port, unsigned network, unsigned budget)
{
	unsigned delivered;

	port->polled[network] = true;
	if (atomic_load_explicit(&port->shared->top[network], memory_order_relaxed))
		lanes_activate(port, network);
	delivered = lanes_drain(port, network, budget);
	port->polled[network] = false;
	return delivered;
}

/* ---------------------------------------------------------------------- many threads --- */

/* Messages of one lane that came one behind the other, in one poll. */
struct run {
	const struct sysvnet_in *in;
	unsigned length;
};

static void
message_copy_out(struct sysvnet_port *port, struct sysvnet_in *in, uint64_t header,
                 struct message *message)
{
	struct psi_arrival *arrival = &message->arrival;

	memcpy(message->args, arrival->args, arrival->nargs * sizeof(int32_t));
	arrival->args = message->args;
	if (arrival->category == PSI_MEDIUM && message->buffer == NO_BUFFER_NAME) {
		memcpy(message->payload, arrival->payload, arrival->len_bytes);
		arrival->payload = message->payload;
		sysvnet_count(port, SYSVNET_COUNT_COPIED_OUT);
	}
	lane_retire(port, in, header);
}

/* Takes one message of any active lane, going round; false if there is none.  The caller holds
 * poll_lock. */
static bool
message_take(struct sysvnet_port *port, unsigned network, struct run *run,
             struct message *message_out)
{
	const uint32_t count = sysvnet_active_count(port, network);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (port->cursor[network] + i) % count;
		struct sysvnet_in *in = sysvnet_active_lane(port, network, at);
		struct sysvnet_slot *slot;
		uint64_t header;

		if (!(slot = sysvnet_in_peek(in, &header)))
			continue;
		message_out->buffer = slot_decode(port, network, in, slot, header,
		                                  &message_out->arrival);
		sysvnet_in_take(in);
		*run = (struct run){ in, run->in == in ? run->length + 1 : 0 };
		lines_prefetch(port, network, in, &message_out->arrival, run->length);
		port->cursor[network] = at + 1;
		message_copy_out(port, in, header, message_out);
		return true;
	}
	return false;
}

unsigned
sysvnet_receive_threaded(struct sysvnet_port *port, unsigned network, unsigned budget)
{
	_Alignas(struct message) unsigned char
		space[sizeof(struct message) + SYSVNET_COPY_OUT_BYTES];
	struct message *message = (struct message *)(void *)space;
	struct run run = { NULL, 0 };
	unsigned delivered = 0;

	while (delivered < budget && sysvnet_has_any(port, network) &&
	       psi_spinlock_try(&port->poll_lock[network])) {
		bool found;

		if (atomic_load_explicit(&port->shared->top[network], memory_order_relaxed))
			lanes_activate(port, network);
		found = message_take(port, network, &run, message);
		psi_spinlock_unlock(&port->poll_lock[network]);
		if (!found)
			break;
		port->net->calls.deliver(port->owner, &message->arrival);
		if (message->buffer != NO_BUFFER_NAME)
			buffer_give_back(port, network, message->buffer);
		delivered++;
	}
	return delivered;
}
