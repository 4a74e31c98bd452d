/*
 * Sending: a message is composed in memory of the conduit and handed to the provider.
 */
#include "ofi-conduit/pofi.h"

#include <string.h>

size_t
pofi_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	(void)peer, (void)network, (void)nargs;
	return port->conduit->medium_bytes;
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
		.records = conduit->peers[pofi_process_of(conduit, to)].records_taken,
	};
}

size_t
pofi_am_bytes(const struct psi_am *am)
{
	return pofi_message_bytes(am->category, pofi_sizes_of(am->nargs, am->args),
	                          am->len_bytes);
}

/* The bytes between the parts are sent too, and are zero. */
void
pofi_am_compose(const struct psi_port *port, const struct psi_am *am, char *bytes, size_t len_bytes)
{
	struct pofi_header header = header_of(port, am->peer);
	const uint64_t dest = (uint64_t)(uintptr_t)am->dest;
	const size_t args_at = pofi_args_at(am->category);
	char *end;

	header.len_bytes = am->category == PSI_SHORT ? 0 : (uint32_t)am->len_bytes;
	header.handler = am->handler;
	header.category = am->category;
	header.network = am->network;
	header.nargs = am->nargs;
	header.sizes = pofi_sizes_of(am->nargs, am->args);
	memcpy(bytes, &header, POFI_HEADER_BYTES);
	if (pofi_has_dest(am->category))
		memcpy(bytes + POFI_HEADER_BYTES, &dest, sizeof dest);
	end = pofi_args_pack(bytes + args_at, am->nargs, am->args);
	if (pofi_has_payload(am->category) && am->len_bytes) {
		char *payload = bytes + pofi_payload_at(am->category, header.sizes);

		memset(end, 0, (size_t)(payload - end));
		memcpy(payload, am->payload, am->len_bytes);
		end = payload + am->len_bytes;
	}
	memset(end, 0, (size_t)(bytes + len_bytes - end));
}

/* -- handing over ------------------------------------------------------------------------------ */

int
pofi_result_of(struct psi_conduit *conduit, uint32_t process, ssize_t code)
{
	const bool answers = conduit->peers[process].answers;

	if (code == 0) {
		if (!answers)
			pofi_reach_taken(conduit, process);
		return PSI_OK;
	}
	if (code != -FI_EAGAIN && code != -FI_ENOMEM)
		pofi_peer_break(conduit, process, (int)-code, NULL);
	else if (!answers)
		pofi_reach_refused(conduit, process);
	return PSI_AGAIN;
}

/* The bytes may change when this returns; no completion says when they have left. */
static int
message_inject(struct psi_conduit *conduit, uint32_t process, const void *bytes, size_t len_bytes)
{
	fi_addr_t address;
	int result = pofi_address_of(conduit, process, &address);

	if (result == PSI_OK)
		result = pofi_result_of(conduit, process,
		                   fi_inject(conduit->ep, bytes, len_bytes, address));
	if (result == PSI_OK)
		conduit->peers[process].injected = true;
	return result;
}

/* Success: the buffer is the provider's, until its completion. */
static int
send_hand_over(struct psi_conduit *conduit, struct pofi_send *send, size_t len_bytes)
{
	fi_addr_t address;
	int result = pofi_address_of(conduit, send->process, &address);

	if (result == PSI_OK)
		result = pofi_result_of(conduit, send->process,
		                   fi_send(conduit->ep, send->bytes, len_bytes, send->desc,
		                           address, &send->context));
	if (result != PSI_OK)
		pofi_send_give(conduit, send);
	return result;
}

int
pofi_message_send(struct psi_conduit *conduit, uint32_t process, unsigned network,
                  const void *bytes, size_t len_bytes)
{
	struct pofi_send *send;

	if (len_bytes <= conduit->inject_bytes)
		return message_inject(conduit, process, bytes, len_bytes);
	send = pofi_send_take(conduit, network, process);
	if (!send)
		return PSI_AGAIN;
	memcpy(send->bytes, bytes, len_bytes);
	return send_hand_over(conduit, send, len_bytes);
}

/* -- active messages --------------------------------------------------------------------------- */

/* One that is injected is composed on the stack, a larger one where it is sent from. */
static int
am_hand_over(struct psi_port *port, const struct psi_am *am, size_t len_bytes)
{
	struct psi_conduit *conduit = port->conduit;
	const uint32_t process = pofi_process_of(conduit, am->peer);
	_Alignas(8) char small[POFI_INJECT_BYTES];
	struct pofi_send *send;

	if (len_bytes <= conduit->inject_bytes) {
		pofi_am_compose(port, am, small, len_bytes);
		return message_inject(conduit, process, small, len_bytes);
	}
	send = pofi_send_take(conduit, am->network, process);
	if (!send)
		return PSI_AGAIN;
	pofi_am_compose(port, am, send->bytes, len_bytes);
	return send_hand_over(conduit, send, len_bytes);
}

/* Replies that nobody has taken bound requests too: their senders gave the credit back already. */
static bool
may_request(const struct psi_port *port, uint16_t spent)
{
	return spent < port->conduit->credits &&
	       psi_kept_count(&port->kept[PSI_REPLIES]) <
	               POFI_CREDITS_MOST;
}

/* What the port owed is paid with the message. */
static int
request_try(struct psi_port *port, const struct psi_am *am, size_t len_bytes)
{
	struct psi_conduit *conduit = port->conduit;
	const uint32_t process = pofi_process_of(conduit, am->peer);
	uint16_t *spent = pofi_spent_at(conduit, am->peer);
	int result;

	if (!spent || conduit->peers[process].first || !may_request(port, *spent))
		return PSI_AGAIN;
	result = am_hand_over(port, am, len_bytes);
	if (result == PSI_OK) {
		++*spent;
		port->owed[process] = 0;
	}
	return result;
}

/* One that is kept pays when it is sent. */
static int
am_keep(struct psi_port *port, const struct psi_am *am, size_t len_bytes)
{
	struct psi_conduit *conduit = port->conduit;
	const uint32_t process = pofi_process_of(conduit, am->peer);
	char *bytes = pofi_backlog_room(conduit, process, len_bytes);

	if (!bytes)
		return PSI_AGAIN;
	pofi_am_compose(port, am, bytes, len_bytes);
	return PSI_OK;
}

static int
send_or_keep(struct psi_port *port, const struct psi_am *am, size_t len_bytes)
{
	const uint32_t process = pofi_process_of(port->conduit, am->peer);
	int result = PSI_AGAIN;

	if (!port->conduit->peers[process].first)
		result = am_hand_over(port, am, len_bytes);
	if (result == PSI_OK)
		port->owed[process] = 0;
	return result == PSI_AGAIN ? am_keep(port, am, len_bytes) : result;
}

bool
pofi_am_has_room(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	const struct pofi_peer *peer = &conduit->peers[pofi_process_of(conduit, am->peer)];
	const uint16_t *spent = pofi_spent_at(conduit, am->peer);

	if (am->network == PSI_REPLIES)
		return peer->queued < conduit->credits;
	return spent && !peer->first && may_request(port, *spent);
}

bool
pofi_am_is_free(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	const uint16_t *spent = pofi_spent_at(conduit, am->peer);

	return !conduit->peers[pofi_process_of(conduit, am->peer)].first &&
	       (am->network == PSI_REPLIES || (spent && may_request(port, *spent)));
}

void
pofi_am_sent(struct psi_port *port, const struct psi_am *am)
{
	if (am->network == PSI_REQUESTS)
		++*pofi_spent_at(port->conduit, am->peer);
	port->owed[pofi_process_of(port->conduit, am->peer)] = 0;
}

void
pofi_am_send_or_keep(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	const size_t len_bytes = pofi_am_bytes(am);

	if (am->network == PSI_REQUESTS)
		++*pofi_spent_at(conduit, am->peer);
	if (send_or_keep(port, am, len_bytes) == PSI_OK ||
	    conduit->peers[pofi_process_of(conduit, am->peer)].broken)
		return;
	conduit->services->log("ofi: no memory for a message that waits for room");
	pofi_lose(conduit);
}

/* Nothing is sent to a peer that is lost.  A poll tells the runtime of it when it is time. */
static int
am_try(struct psi_port *port, const struct psi_am *am)
{
	const struct psi_conduit *conduit = port->conduit;
	const size_t len_bytes = pofi_am_bytes(am);

	if (conduit->lost)
		return PSI_FATAL;
	if (conduit->left || conduit->peers[pofi_process_of(conduit, am->peer)].broken)
		return PSI_AGAIN;
	return am->network == PSI_REQUESTS ? request_try(port, am, len_bytes)
	                                   : send_or_keep(port, am, len_bytes);
}

int
pofi_am_send(struct psi_port *port, const struct psi_am *am)
{
	struct psi_conduit *conduit = port->conduit;
	int result;

	pofi_ends_stream(port);
	psi_guard_lock(&conduit->guard);
	result = am_try(port, am);
	psi_guard_unlock(&conduit->guard);
	if (result == PSI_AGAIN)
		pofi_count(conduit, PSI_COUNT_REFUSED);
	return result;
}

/* -- credits ----------------------------------------------------------------------------------- */

/* A message with a completion, which carries what is owed, or nothing.  A backlog goes first: its
 * messages pay. */
static int
payment_send(struct psi_port *port, uint32_t process)
{
	struct psi_conduit *conduit = port->conduit;
	const size_t len_bytes = pofi_message_bytes(POFI_CREDIT, 0, 0);
	struct pofi_header header = header_of(port, process);
	struct pofi_send *send;
	int result;

	if (conduit->peers[process].broken)
		return PSI_OK;
	send = conduit->peers[process].first ? NULL
	                                     : pofi_send_take(conduit, PSI_REPLIES, process);
	if (!send)
		return PSI_AGAIN;
	header.category = POFI_CREDIT;
	memset(send->bytes, 0, len_bytes);
	memcpy(send->bytes, &header, POFI_HEADER_BYTES);
	result = send_hand_over(conduit, send, len_bytes);
	if (result == PSI_OK)
		port->owed[process] = 0;
	return result;
}

void
pofi_pay(struct psi_port *port, uint32_t process)
{
	if (payment_send(port, process) != PSI_OK)
		port->payment_due = true;
}

/* One more message to a process, behind those that were injected; when it has left, they have. */
int
pofi_mark_behind(struct psi_conduit *conduit, uint32_t process)
{
	return payment_send(conduit->ports[0], process);
}
