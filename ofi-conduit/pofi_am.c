/*
 * Sending: a message is composed in memory of the conduit and handed to the provider.
 */
#include "ofi-conduit/pofi.h"

#include "runtime/util/clock.h"

#include <stdlib.h>
#include <string.h>

/* How long sends to a lost peer say AGAIN.  Whoever watches the processes of the job has ended it
 * by then, and has named the cause. */
static const uint64_t broken_grace_ns = 2000000000;

size_t
pofi_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	(void)peer, (void)network, (void)nargs;
	return port->conduit->medium_bytes;
}

/* -- peers ------------------------------------------------------------------------------------- */

struct pofi_peer *
pofi_peer_of(struct psi_conduit *conduit, uint32_t place)
{
	const uint32_t index = pofi_index_of(conduit, place);

	if (index >= POFI_ENDPOINTS)
		return NULL;
	if (!conduit->peers[index])
		conduit->peers[index] = calloc(conduit->places, sizeof **conduit->peers);
	return conduit->peers[index]
	               ? &conduit->peers[index][pofi_process_of(conduit, place)] : NULL;
}

void
pofi_peer_break(struct psi_conduit *conduit, uint32_t place)
{
	struct pofi_peer *peer = pofi_peer_of(conduit, place);

	if (peer && !peer->broken) {
		peer->broken = true;
		peer->broken_ns = psi_now_ns();
	}
}

/* -- composing --------------------------------------------------------------------------------- */

static struct pofi_header
header_of(const struct psi_port *port, uint32_t to)
{
	const struct psi_conduit *conduit = port->conduit;

	return (struct pofi_header){
		.tag = conduit->tag, .source = port->place,
		.to = (uint16_t)pofi_index_of(conduit, to),
		.credits = port->owed[pofi_process_of(conduit, to)],
	};
}

/* The bytes between the parts are sent too, and are zero. */
static void
message_compose(const struct psi_port *port, const struct psi_am *am, char *bytes, size_t len_bytes)
{
	struct pofi_header header = header_of(port, am->peer);
	const size_t args_bytes = am->nargs * sizeof *am->args;
	const size_t payload_at = pofi_payload_at(am->nargs);
	size_t end = payload_at;

	header.dest = (uint64_t)(uintptr_t)(am->category == PSI_LONG ? am->dest : NULL);
	header.len_bytes = am->category == PSI_SHORT ? 0 : (uint32_t)am->len_bytes;
	header.handler = am->handler;
	header.category = am->category;
	header.network = am->network;
	header.nargs = am->nargs;
	memcpy(bytes, &header, sizeof header);
	if (args_bytes)
		memcpy(bytes + sizeof header, am->args, args_bytes);
	memset(bytes + sizeof header + args_bytes, 0, payload_at - sizeof header - args_bytes);
	if (am->category == PSI_MEDIUM && am->len_bytes) {
		memcpy(bytes + payload_at, am->payload, am->len_bytes);
		end += am->len_bytes;
	}
	memset(bytes + end, 0, len_bytes - end);
}

/* -- handing over ------------------------------------------------------------------------------ */

static int
result_of(struct psi_conduit *conduit, uint32_t place, ssize_t code)
{
	if (code == 0)
		return PSI_OK;
	if (code != -FI_EAGAIN && code != -FI_ENOMEM)
		pofi_peer_break(conduit, place);
	return PSI_AGAIN;
}

/* The bytes may change when this returns; no completion says when they have left. */
static int
message_inject(struct psi_conduit *conduit, uint32_t place, const void *bytes, size_t len_bytes)
{
	fi_addr_t address;
	int result = pofi_address_of(conduit, pofi_process_of(conduit, place), &address);

	if (result == PSI_OK)
		result = result_of(conduit, place,
		                   fi_inject(conduit->ep, bytes, len_bytes, address));
	if (result == PSI_OK)
		pofi_peer_of(conduit, place)->injected = true;
	return result;
}

/* Success: the buffer is the provider's, until its completion. */
static int
message_send(struct psi_conduit *conduit, struct pofi_send *send, size_t len_bytes)
{
	fi_addr_t address;
	int result = pofi_address_of(conduit, pofi_process_of(conduit, send->place), &address);

	if (result == PSI_OK)
		result = result_of(conduit, send->place,
		                   fi_send(conduit->ep, send->bytes, len_bytes, send->desc,
		                           address, &send->context));
	if (result == PSI_OK)
		atomic_fetch_add_explicit(&conduit->in_flight, 1, memory_order_relaxed);
	else
		pofi_send_give(conduit, send);
	return result;
}

/* -- active messages --------------------------------------------------------------------------- */

static int
am_hand_over(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	const size_t len_bytes = pofi_message_bytes(am->category, am->nargs, am->len_bytes);
	_Alignas(8) char small[POFI_INJECT_BYTES];
	struct pofi_send *send;

	if (len_bytes <= conduit->inject_bytes) {
		message_compose(port, am, small, len_bytes);
		return message_inject(conduit, am->peer, small, len_bytes);
	}
	send = pofi_send_take(conduit, am->network);
	if (!send)
		return PSI_AGAIN;
	send->place = am->peer;
	send->is_data = true;
	message_compose(port, am, send->bytes, len_bytes);
	return message_send(conduit, send, len_bytes);
}

/* Replies that nobody has taken bound requests too: their senders gave the credit back already. */
static bool
may_request(const struct psi_port *port, const struct pofi_peer *peer)
{
	return peer->spent < port->conduit->credits &&
	       atomic_load_explicit(&port->kept_count[PSI_REPLIES], memory_order_relaxed) <
	               POFI_CREDITS_MOST;
}

static int
broken_result(const struct pofi_peer *peer)
{
	return psi_now_ns() - peer->broken_ns < broken_grace_ns ? PSI_AGAIN : PSI_FAILED;
}

/* What the port owed is paid with the message. */
static int
am_try(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	struct pofi_peer *peer = pofi_peer_of(conduit, am->peer);
	int result;

	if (conduit->lost)
		return PSI_FATAL;
	if (!peer)
		return PSI_AGAIN;
	if (peer->broken)
		return broken_result(peer);
	if (am->network == PSI_REQUESTS && !may_request(port, peer))
		return PSI_AGAIN;
	result = am_hand_over(port, am);
	if (result == PSI_OK) {
		peer->spent = (uint16_t)(peer->spent + (am->network == PSI_REQUESTS));
		port->owed[pofi_process_of(conduit, am->peer)] = 0;
	}
	return result;
}

int
pofi_am_send(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	int result;

	pofi_lock(conduit);
	result = am_try(port, am);
	pofi_unlock(conduit);
	if (result == PSI_AGAIN)
		pofi_count(conduit, PSI_COUNT_REFUSED);
	return result;
}

/* -- credits ----------------------------------------------------------------------------------- */

/* A message with a completion, which carries what is owed, or nothing. */
static int
payment_send(struct psi_port *port, uint32_t process)
{
	struct psi_conduit *conduit = port->conduit;
	struct pofi_send *send = pofi_send_take(conduit, PSI_REPLIES);
	struct pofi_header header = header_of(port, process);
	const size_t len_bytes = pofi_message_bytes(POFI_CREDIT, 0, 0);

	if (!send)
		return PSI_AGAIN;
	header.category = POFI_CREDIT;
	send->place = process;
	send->is_data = false;
	memset(send->bytes, 0, len_bytes);
	memcpy(send->bytes, &header, sizeof header);
	return message_send(conduit, send, len_bytes);
}

void
pofi_pay(struct psi_port *port, uint32_t process)
{
	if (payment_send(port, process) == PSI_OK)
		port->owed[process] = 0;
	else
		port->payment_due = true;
}

/* One more message to a process, behind those that were injected; when it has left, they have. */
int
pofi_mark_behind(struct psi_conduit *conduit, uint32_t process)
{
	struct psi_port *port = conduit->ports[0];
	const int result = payment_send(port, process);

	if (result == PSI_OK)
		port->owed[process] = 0;
	return result;
}
