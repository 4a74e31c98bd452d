/*
 * Longs to memory that is not mapped here.  The sender sends a head, which describes the message,
 * and then the payload in pieces; all are Mediums of the same network.  The receiver may handle
 * them in any order, on several threads.  The thread that completes the message runs its handler.
 *
 * A sender that finds no room returns AGAIN, and the descriptor notes how much is sent.  An
 * IMMEDIATE Long is not called again: once its head is sent, it leaves a copy of the remaining
 * payload to polls.
 */
#include "extended-ref/pref.h"
#include "extended-ref/pref_rest.h"

#include "runtime/segment/reach.h"
#include "runtime/util/copy.h"
#include "runtime/util/fence.h"
#include "runtime/util/spinlock.h"

#include "runtime/am/am.h"

#include <stdlib.h>
#include <string.h>

/* A Long without its payload. */
struct head {
	uint64_t offset, len_bytes;     /* of the payload, in the receiver's segment */
	int32_t args[PSI_MAX_ARGS];
	uint8_t handler, nargs;
};

/* A Long of which some messages have arrived. */
struct partial {
	uint32_t source, number;
	uint8_t network;
	bool has_head;
	struct head head;
	size_t got_bytes;
	struct partial *next;
};

static struct psi_spinlock lock;
static struct partial *incoming;        /* under lock */
static _Atomic uint32_t last_number;    /* of the Longs that this process has sent */

/* -- the receiver's side --------------------------------------------------------------------- */

/* Finds the Long of an arrival, or adds it.  The caller holds the lock. */
static struct partial **
partial_find(const struct psi_arrival *arrival, uint32_t number)
{
	struct partial **link = &incoming;

	while (*link && ((*link)->source != arrival->source || (*link)->number != number ||
	                 (*link)->network != arrival->network))
		link = &(*link)->next;
	if (*link)
		return link;
	*link = calloc(1, sizeof **link);
	if (!*link)
		psi_fatal("no memory for a message that comes in pieces");
	(*link)->source = arrival->source;
	(*link)->number = number;
	(*link)->network = arrival->network;
	return link;
}

/* Notes an arrival.  Returns the message, taken off the list, if it is complete. */
static struct partial *
partial_add(const struct psi_arrival *arrival, uint32_t number, const struct head *head,
            size_t len_bytes)
{
	struct partial **link, *whole = NULL;

	psi_spinlock_lock(&lock);
	link = partial_find(arrival, number);
	(*link)->got_bytes += len_bytes;
	if (head) {
		(*link)->head = *head;
		(*link)->has_head = true;
	}
	if ((*link)->has_head && (*link)->got_bytes == (*link)->head.len_bytes) {
		whole = *link;
		*link = whole->next;
	}
	psi_spinlock_unlock(&lock);
	return whole;
}

static void
partial_deliver(gex_Token_t token, struct partial *whole)
{
	const struct head *head = &whole->head;
	const struct psi_arrival arrival = {
		.source = whole->source, .handler = head->handler, .category = PSI_LONG,
		.network = whole->network, .nargs = head->nargs, .args = head->args,
		.payload = psi_reach_owned(token->ep, head->offset),
		.len_bytes = (size_t)head->len_bytes,
	};

	psi_deliver(token->ep, &arrival);
	free(whole);
}

static void
long_on_head(gex_Token_t token, void *payload, size_t len_bytes, gex_AM_Arg_t number)
{
	struct partial *whole;
	struct head head;

	psi_count_internal(token);
	memcpy(&head, payload, len_bytes);
	whole = partial_add(token->arrival, (uint32_t)number, &head, 0);
	if (whole)
		partial_deliver(token, whole);
}

static void
long_on_piece(gex_Token_t token, void *payload, size_t len_bytes, gex_AM_Arg_t number,
              gex_AM_Arg_t offset_low, gex_AM_Arg_t offset_high)
{
	void *dest = psi_reach_owned(token->ep, psi_part_of(offset_low, offset_high));
	struct partial *whole;

	psi_count_internal(token);
	psi_memory_from_process(dest, len_bytes);
	psi_copy(dest, payload, len_bytes);
	psi_memory_to_process(dest, len_bytes);
	whole = partial_add(token->arrival, (uint32_t)number, NULL, len_bytes);
	if (whole)
		partial_deliver(token, whole);
}

/* -- the sender's side ----------------------------------------------------------------------- */

/* A Long that is being sent. */
struct long_sender {
	gex_EP_t ep;
	uint32_t peer;
	gex_AM_Arg_t number;
	uint8_t network;
	size_t most_bytes;              /* of a piece */
	uint64_t offset;                /* of what is left, in the receiver's segment */
	const char *payload;
	size_t left_bytes;
};

/* Sends a message.  The operation itself uses one such function, a poll that advances a rest
 * another. */
typedef int long_send_fn(gex_EP_t ep, const struct psi_am *am);

static struct long_sender
long_sender_of(struct psi_port *port, const struct psi_long *message, uint32_t number)
{
	const struct psi_am *am = message->am;
	const gex_EP_t ep = message->owner;

	return (struct long_sender){
		.ep = ep, .peer = am->peer, .number = (gex_AM_Arg_t)number,
		.network = am->network,
		.most_bytes = ep->ops->am_max_medium(port, am->peer, am->network, 3),
		.offset = message->dest.offset, .payload = am->payload, .left_bytes = am->len_bytes,
	};
}

static int
long_send_head(const struct long_sender *s, const struct psi_am *of)
{
	struct head head = { .offset = s->offset, .len_bytes = of->len_bytes,
		             .handler = of->handler, .nargs = of->nargs };
	const struct psi_am am = {
		.peer = s->peer, .handler = PSI_HANDLER_LONG_HEAD, .category = PSI_MEDIUM,
		.network = s->network, .nargs = 1, .args = &s->number, .payload = &head,
		.len_bytes = sizeof head,
	};

	if (of->nargs)
		memcpy(head.args, of->args, of->nargs * sizeof *head.args);
	return psi_am_try(s->ep, &am);
}

/* Sends as many pieces as there is room for.  Returns AGAIN if some are left. */
static int
long_send_pieces(struct long_sender *s, long_send_fn *send)
{
	while (s->left_bytes) {
		const size_t len_bytes =
			s->left_bytes < s->most_bytes ? s->left_bytes : s->most_bytes;
		const gex_AM_Arg_t args[] = { s->number, PSI_PART_ARGS(s->offset) };
		const struct psi_am am = {
			.peer = s->peer, .handler = PSI_HANDLER_LONG_PIECE,
			.category = PSI_MEDIUM, .network = s->network,
			.nargs = sizeof args / sizeof *args, .args = args,
			.payload = s->payload, .len_bytes = len_bytes,
		};

		if (send(s->ep, &am) != PSI_OK)
			return PSI_AGAIN;
		s->offset += len_bytes;
		s->payload += len_bytes;
		s->left_bytes -= len_bytes;
	}
	return PSI_OK;
}

/* What is left of an IMMEDIATE Long, with a copy of the unsent payload. */
struct long_rest {
	struct pref_rest rest;
	struct long_sender sender;
	char payload[];
};

static bool
long_rest_advance(struct pref_rest *of)
{
	struct long_rest *rest = (struct long_rest *)of;

	if (long_send_pieces(&rest->sender, psi_am_try_or_request) != PSI_OK)
		return false;
	free(rest);
	return true;
}

/* Sends an IMMEDIATE Long.  The memory for a rest is allocated before anything is sent, since
 * without it the Long must be refused. */
static int
long_send_or_leave(struct long_sender *s, const struct psi_am *am)
{
	struct long_rest *rest;

	if (pref_rests_are_many() || !(rest = malloc(sizeof *rest + am->len_bytes)))
		return PSI_AGAIN;
	if (long_send_head(s, am) != PSI_OK) {
		free(rest);
		return PSI_AGAIN;
	}
	if (long_send_pieces(s, psi_am_try) == PSI_OK) {
		free(rest);
		return PSI_OK;
	}
	rest->rest.advance = long_rest_advance;
	memcpy(rest->payload, s->payload, s->left_bytes);
	rest->sender = *s;
	rest->sender.payload = rest->payload;
	pref_rest_add(&rest->rest);
	return PSI_OK;
}

/* Sends what there is room for.  message->state[0] is 0 until the head is sent; then it holds the
 * Long's number, with bit 32 set.  state[1] counts the bytes of the payload that are sent. */
static int
long_send_some(struct long_sender *s, struct psi_long *message)
{
	const size_t sent_bytes = (size_t)message->state[1];
	int result;

	if (!message->state[0]) {
		if (long_send_head(s, message->am) != PSI_OK)
			return PSI_AGAIN;
		message->state[0] = (uint64_t)1 << 32 | (uint32_t)s->number;
	}
	s->offset += sent_bytes;
	s->payload += sent_bytes;
	s->left_bytes -= sent_bytes;
	result = long_send_pieces(s, psi_am_try);
	message->state[1] = message->am->len_bytes - s->left_bytes;
	return result;
}

int
pref_long(struct psi_port *port, struct psi_long *message)
{
	const bool begun = message->state[0] != 0;
	const uint32_t number = begun ? (uint32_t)message->state[0]
	                              : atomic_fetch_add_explicit(&last_number, 1,
	                                                          memory_order_relaxed);
	struct long_sender s = long_sender_of(port, message, number);

	return message->immediate ? long_send_or_leave(&s, message->am)
	                          : long_send_some(&s, message);
}

void
pref_long_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_LONG_HEAD, (gex_AM_Fn_t)long_on_head);
	psi_handler_set_internal(ep, PSI_HANDLER_LONG_PIECE, (gex_AM_Fn_t)long_on_piece);
}
