/*
 * Messages: each is one work request.  A small one is composed on the stack and sent inline, a
 * larger one where it is sent from.
 *
 * The payload of a Long travels in its message if it is small; the receiver copies it to its place.
 * That of a larger one is put there by a write, behind which the message comes on the same
 * connection, so the bytes are there when it is delivered.
 */
#include "ibv-conduit/pibv.h"

#include <string.h>

size_t
pibv_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	(void)peer, (void)network, (void)nargs;
	return port->conduit->medium_bytes;
}

/* -- composing --------------------------------------------------------------------------------- */

/* Bytes between the parts are sent too; they are of no meaning, and of no client. */
static void
message_compose(const struct pibv_message *message, char *bytes)
{
	const struct pibv_header *header = &message->header;
	const size_t args_bytes = header->nargs * sizeof *message->args;

	memcpy(bytes, header, sizeof *header);
	if (args_bytes)
		memcpy(bytes + sizeof *header, message->args, args_bytes);
	if (message->tail)
		memcpy(bytes + pibv_tail_at(header->nargs), message->tail, sizeof *message->tail);
	if (header->len_bytes)
		memcpy(bytes + pibv_payload_at(header->category, header->nargs), message->payload,
		       header->len_bytes);
}

static struct pibv_header
header_of(const struct psi_port *port, uint32_t peer)
{
	const struct psi_conduit *conduit = port->conduit;

	return (struct pibv_header){
		.source = port->place, .to = (uint16_t)pibv_index_of(conduit, peer),
		.credits = (uint8_t)port->owed[pibv_process_of(conduit, peer)],
	};
}

static struct pibv_message
message_of(const struct psi_port *port, const struct psi_am *am)
{
	struct pibv_message message = { .header = header_of(port, am->peer), .args = am->args };

	message.header.kind = pibv_kind_of(am);
	if (am->category == PSI_MEDIUM) {
		message.header.len_bytes = (uint32_t)am->len_bytes;
		message.payload = am->payload;
	}
	return message;
}

struct pibv_message
pibv_message_of_signal(const struct psi_port *port, uint32_t peer, const struct pibv_tail *tail,
                       const void *payload, size_t len_bytes)
{
	struct pibv_message message = {
		.header = header_of(port, peer), .tail = tail, .payload = payload,
	};

	message.header.category = PIBV_SIGNAL;
	message.header.len_bytes = (uint32_t)len_bytes;
	return message;
}

static size_t
message_bytes(const struct pibv_message *message)
{
	return pibv_message_bytes(message->header.category, message->header.nargs,
	                          message->header.len_bytes);
}

/* -- sending ----------------------------------------------------------------------------------- */

/* A message as it is sent: inline, or from a send buffer. */
struct composed {
	struct ibv_sge sge;
	struct pibv_buffer *buffer;     /* NULL: inline */
	_Alignas(8) char small[PIBV_INLINE_BYTES];
};

/* Where a message of that length is to be composed; NULL: there is no buffer now. */
static inline char *
composed_place(struct psi_conduit *conduit, struct pibv_connection *connection,
               struct composed *composed, size_t len_bytes)
{
	char *bytes = composed->small;

	composed->buffer = NULL;
	if (len_bytes > conduit->inline_bytes) {
		composed->buffer = pibv_buffer_take(conduit, connection);
		if (!composed->buffer)
			return NULL;
		bytes = composed->buffer->bytes;
		composed->sge.lkey = conduit->buffers.mr->lkey;
	}
	composed->sge.addr = (uintptr_t)bytes;
	composed->sge.length = (uint32_t)len_bytes;
	return bytes;
}

static bool
composed_make(struct psi_conduit *conduit, struct pibv_connection *connection,
              struct composed *composed, const struct pibv_message *message)
{
	char *bytes = composed_place(conduit, connection, composed, message_bytes(message));

	if (bytes)
		message_compose(message, bytes);
	return bytes;
}

static void
composed_drop(struct psi_conduit *conduit, const struct composed *composed)
{
	if (composed->buffer)
		pibv_buffer_give(conduit, composed->buffer);
}

/* It leaves as the next of its connection. */
static inline void
composed_number(struct pibv_connection *connection, const struct composed *composed)
{
	char *bytes = (void *)(uintptr_t)composed->sge.addr;

	bytes[offsetof(struct pibv_header, number)] = (char)connection->sent++;
}

/* Posts it, in one chain behind a piece of a put, unless that is NULL.  What a send has no use for
 * is not set. */
static int
composed_post(struct psi_conduit *conduit, struct pibv_connection *connection,
              struct composed *composed, struct pibv_piece *before)
{
	const struct pibv_work *works[2], **last = works;
	struct ibv_send_wr wr, *first = &wr;
	struct pibv_work work;

	composed_number(connection, composed);
	wr.next = NULL;
	wr.sg_list = &composed->sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = composed->buffer ? 0 : IBV_SEND_INLINE;
	if (before) {
		first = &before->wr;
		first->next = &wr;
		*last++ = &before->work;
	}
	*last = NULL;
	if (composed->buffer) {
		work.what = PIBV_BUFFER;
		work.buffer = composed->buffer;
		*last = &work;
	}
	return pibv_work_post(conduit, connection, first, works) ? PSI_OK : PSI_FATAL;
}

int
pibv_message_send(struct psi_conduit *conduit, struct pibv_connection *connection,
                  const struct pibv_message *message, struct pibv_piece *before)
{
	struct composed composed;

	if ((!before && !pibv_work_fits(conduit, connection, 1)) ||
	    !composed_make(conduit, connection, &composed, message))
		return PSI_AGAIN;
	return composed_post(conduit, connection, &composed, before);
}

/* The port that the message is from pays what it owes by now. */
int
pibv_message_resend(struct psi_conduit *conduit, struct pibv_connection *connection,
                    const char *message, size_t len_bytes)
{
	const uint32_t process = connection->process;
	struct composed composed;
	struct pibv_header header;
	uint16_t *owed;
	char *bytes;

	if (!pibv_work_fits(conduit, connection, 1))
		return PSI_AGAIN;
	bytes = composed_place(conduit, connection, &composed, len_bytes);
	if (!bytes)
		return PSI_AGAIN;
	memcpy(bytes, message, len_bytes);
	memcpy(&header, bytes, sizeof header);
	owed = &conduit->ports[pibv_index_of(conduit, header.source)]->owed[process];
	header.credits = (uint8_t)*owed;
	*owed = 0;
	memcpy(bytes, &header, sizeof header);
	return composed_post(conduit, connection, &composed, NULL);
}

void
pibv_pay(struct psi_port *port, uint32_t process)
{
	struct psi_conduit *conduit = port->conduit;
	struct pibv_connection *connection = conduit->connections[process];
	struct pibv_message message = { .header = header_of(port, process) };

	message.header.category = PIBV_CREDIT;
	if (!connection)        /* a peer that is none has named it as the source */
		return;
	if (!connection->first &&
	    pibv_message_send(conduit, connection, &message, NULL) == PSI_OK)
		port->owed[process] = 0;
	else if (!connection->broken)
		port->payment_due = true;
}

/* -- requests and replies ---------------------------------------------------------------------- */

/* Replies that nobody has taken bound requests too: their senders gave the credit back already. */
static bool
may_request(const struct psi_port *port, const struct pibv_connection *connection,
            const uint16_t *spent)
{
	return spent && !connection->first && *spent < port->conduit->credits &&
	       psi_kept_count(&port->kept[PSI_REPLIES]) < PIBV_CREDITS_MOST;
}

static int
reply_keep(struct psi_port *port, struct pibv_connection *connection,
           const struct pibv_message *message)
{
	char *bytes = pibv_backlog_reply(port->conduit, connection, message_bytes(message));

	if (!bytes)
		return PSI_AGAIN;
	message_compose(message, bytes);
	return PSI_OK;
}

/* What the port owed is paid with the message. */
static int
message_try(struct psi_port *port, struct pibv_connection *connection,
            const struct pibv_message *message, uint32_t peer)
{
	struct psi_conduit *conduit = port->conduit;
	const bool is_reply = message->header.network == PSI_REPLIES;
	uint16_t *spent = is_reply ? NULL : pibv_spent_at(conduit, peer);
	int result = PSI_AGAIN;

	if (!is_reply && !may_request(port, connection, spent))
		return PSI_AGAIN;
	if (!connection->first)
		result = pibv_message_send(conduit, connection, message, NULL);
	if (result == PSI_OK) {
		port->owed[connection->process] = 0;
		if (spent)
			++*spent;
	}
	return is_reply && result == PSI_AGAIN ? reply_keep(port, connection, message) : result;
}

/* Whatever the message, and whatever is in its way.  The payload of a Long travels with it, or is
 * there already. */
static int
am_try(struct psi_port *port, const struct psi_am *am, bool long_travels)
{
	struct psi_conduit *conduit = port->conduit;
	struct pibv_connection *connection =
		pibv_connection_of(conduit, pibv_process_of(conduit, am->peer));
	struct pibv_message message = message_of(port, am);
	const struct pibv_tail tail = { .dest = (uintptr_t)am->dest, .long_bytes = am->len_bytes };

	if (!connection)
		return conduit->lost ? PSI_FATAL : PSI_AGAIN;
	if (am->category == PSI_LONG)
		message.tail = &tail;
	if (long_travels) {
		message.payload = am->payload;
		message.header.len_bytes = (uint32_t)am->len_bytes;
	}
	return message_try(port, connection, &message, am->peer);
}

/* Sends a Short without a detour; nothing is in its way, and its header's `to' is always 0.  For
 * two arguments, 64 bits, no function is called. */
static inline int
short_post(struct psi_port *port, struct pibv_connection *connection, const struct psi_am *am)
{
	enum { TWO = 2 };
	struct psi_conduit *conduit = port->conduit;
	struct pibv_short *to = &conduit->sends;
	uint16_t *owed = &port->owed[am->peer];

	to->header.source = port->place;
	to->header.credits = (uint8_t)*owed;
	to->header.number = (uint8_t)connection->sent++;
	to->header.kind = pibv_kind_of(am);
	*owed = 0;
	if (am->nargs == TWO)
		memcpy(to->args, am->args, TWO * sizeof *am->args);
	else if (am->nargs)
		memcpy(to->args, am->args, am->nargs * sizeof *am->args);
	to->sge.length = (uint32_t)(sizeof to->header + am->nargs * sizeof *am->args);
	to->wr.send_flags = IBV_SEND_INLINE;
	return pibv_work_post_plain(conduit, connection, &to->wr) ? PSI_OK : PSI_FATAL;
}

/* The most frequent message, a Short to the first endpoint of a process, has a way of its own while
 * nothing is in it. */
static inline int
short_try(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	struct pibv_connection *connection =
		am->peer < conduit->places ? conduit->connections[am->peer] : NULL;

	if (!connection || connection->first || !pibv_work_fits(conduit, connection, 1) ||
	    !conduit->shorts_are_inline)
		return am_try(port, am, false);
	if (am->network == PSI_REQUESTS) {
		uint16_t *spent = conduit->spent[0] ? &conduit->spent[0][am->peer]
		                                    : pibv_spent_at(conduit, am->peer);

		if (!may_request(port, connection, spent))
			return PSI_AGAIN;
		++*spent;
	}
	return short_post(port, connection, am);
}

int
pibv_am_send(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	int result;

	psi_guard_lock(&conduit->guard);
	result = am->category == PSI_SHORT ? short_try(port, am) : am_try(port, am, false);
	psi_guard_unlock(&conduit->guard);
	if (result == PSI_OK)
		return result;
	if (result == PSI_AGAIN)
		pibv_count(conduit, PSI_COUNT_REFUSED);
	return result == PSI_FATAL && !conduit->lost ? PSI_AGAIN : result;
}

/* -- Longs ------------------------------------------------------------------------------------- */

/* What stands in a Long's state: 0, or that its write and its message are posted, or wait.  In the
 * other word PIBV_READ, when the payload has been read. */
enum { LONG_BEGUN = 1 };

/* Where no more memory can be registered, the payload goes through buffers as there are some, and
 * the message behind it: both wait in the backlog. */
static int
long_wait(struct psi_port *port, struct pibv_connection *connection,
          const struct pibv_move *move, const struct pibv_message *message)
{
	if (pibv_backlog_move(port->conduit, connection, move) != PSI_OK)
		return PSI_AGAIN;
	if (reply_keep(port, connection, message) != PSI_OK)
		pibv_connection_break(port->conduit, connection,
		                      "no memory for a message that waits");
	return PSI_OK;
}

/* There is room for all of it.  The last write is in one chain with the message. */
static int
long_post(struct psi_port *port, struct pibv_connection *connection, struct pibv_move *move,
          struct composed *message)
{
	struct pibv_piece last;

	if (pibv_writes_begin(port->conduit, connection, move, &last) != PSI_OK ||
	    composed_post(port->conduit, connection, message, &last) != PSI_OK)
		return PSI_FATAL;
	port->owed[connection->process] = 0;
	return PSI_OK;
}

/* The message is composed before anything is posted, since it may find no buffer. */
static int
long_begin(struct psi_port *port, struct psi_long *message)
{
	struct psi_conduit *conduit = port->conduit;
	const struct psi_am *am = message->am;
	const struct pibv_tail tail = { .dest = (uintptr_t)am->dest, .long_bytes = am->len_bytes };
	struct pibv_connection *connection =
		pibv_connection_of(conduit, pibv_process_of(conduit, am->peer));
	const bool is_reply = am->network == PSI_REPLIES;
	uint16_t *spent = is_reply ? NULL : pibv_spent_at(conduit, am->peer);
	struct pibv_message head = message_of(port, am);
	struct pibv_move move = {
		.transfer = { .remote = message->dest, .here = (void *)(uintptr_t)am->payload,
		              .len_bytes = am->len_bytes },
		.is_put = true, .read_word = &message->state[1],
	};
	struct composed composed;
	int result;

	head.tail = &tail;
	if (!connection || connection->first ||
	    !pibv_work_fits(conduit, connection, pibv_pieces_of(conduit, am->len_bytes) + 1) ||
	    (!is_reply && !may_request(port, connection, spent)) ||
	    !composed_make(conduit, connection, &composed, &head))
		return PSI_AGAIN;
	if (pibv_move_has_key(conduit, &move)) {
		result = long_post(port, connection, &move, &composed);
	} else {
		composed_drop(conduit, &composed);
		result = long_wait(port, connection, &move, &head);
	}
	if (result != PSI_OK)
		return result;
	message->state[0] = LONG_BEGUN;
	if (spent)
		++*spent;
	return PSI_AGAIN;
}

/* The same for each call with one message.  What an IMMEDIATE Long leaves behind is copied, which
 * the reference does where it is large. */
static bool
long_is_native(const struct psi_conduit *conduit, const struct psi_long *message)
{
	const size_t len_bytes = message->am->len_bytes;

	return message->dest.name.key != PSI_NO_KEY &&
	       (len_bytes <= conduit->packed_bytes ||
	        (!message->immediate && pibv_writes_fit(conduit, &message->dest, len_bytes)));
}

static int
long_try(struct psi_port *port, struct psi_long *message)
{
	const size_t len_bytes = message->am->len_bytes;

	if (port->conduit->lost)
		return PSI_FATAL;
	if (message->state[0])
		return message->state[1] == PIBV_READ ? PSI_OK : PSI_AGAIN;
	if (len_bytes <= port->conduit->packed_bytes)
		return am_try(port, message->am, true);
	return long_begin(port, message);
}

int
pibv_am_long(struct psi_port *port, struct psi_long *message)
{
	struct psi_conduit *conduit = port->conduit;
	bool refused;
	int result;

	if (!long_is_native(conduit, message))
		return PSI_UNSUPPORTED;
	psi_guard_lock(&conduit->guard);
	result = long_try(port, message);
	refused = result == PSI_AGAIN && !message->state[0];
	psi_guard_unlock(&conduit->guard);
	if (refused)
		pibv_count(conduit, PSI_COUNT_REFUSED);
	return result == PSI_FATAL && !conduit->lost ? PSI_AGAIN : result;
}
