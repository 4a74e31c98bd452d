/*
 * Delivering: handlers run, and signals are applied, without the guard, from the buffer where a
 * message arrived or from a copy that was kept.
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>
#include <string.h>

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

void
pibv_message_deliver(struct psi_port *port, char *message)
{
	const struct pibv_header *header = pibv_header_at(message);
	struct psi_arrival arrival = {
		.word = pibv_arrival_word(header),
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

void
pibv_payments_retry(struct psi_port *port)
{
	port->payment_due = false;
	for (uint32_t process = 0; process < port->conduit->places; process++)
		if (pibv_payment_is_due(port, process))
			pibv_pay(port, process);
}

/* The oldest, with what is owed for it. */
static struct psi_kept *
kept_begin(struct psi_port *port, unsigned networks, uint32_t *process_out)
{
	struct psi_conduit *conduit = port->conduit;
	struct psi_kept *kept;

	psi_guard_lock(&conduit->guard);
	kept = psi_kept_take_of(port->kept, networks);
	if (kept) {
		const struct pibv_header *header = pibv_header_at(kept->message);

		*process_out = pibv_process_of(conduit, header->source);
		pibv_credit_owe(port, header, *process_out);
	}
	psi_guard_unlock(&conduit->guard);
	return kept;
}

unsigned
pibv_deliver_kept(struct psi_port *port, unsigned networks, unsigned budget)
{
	struct psi_conduit *conduit = port->conduit;
	unsigned delivered = 0;

	while (delivered < budget && psi_kept_any(port->kept, networks)) {
		uint32_t process = 0;
		struct psi_kept *kept = kept_begin(port, networks, &process);

		if (!kept)
			break;
		pibv_message_deliver(port, kept->message);
		psi_guard_lock(&conduit->guard);
		pibv_credit_pay(port, process);
		psi_guard_unlock(&conduit->guard);
		free(kept);
		delivered++;
	}
	return delivered;
}
