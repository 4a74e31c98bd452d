/*
 * Longs whose payload is a put of the provider's.  Where there is a place for a record, one write
 * brings all (pofi_record.h).  Else one write brings the bytes, and the Long's number as completion
 * data; one message, the *head*, brings the arguments and the number too.  The two come in either
 * order.  What has come first is a *half*; the Long is delivered with the second.
 *
 * The write begins before the head, so a Long that finds no room has not begun.  The head is sent,
 * or kept until it can be.  A number is the sender's process and a count of 24 bits, and has none
 * of PSI_SIGNAL_BITS.  A process may have as many Longs on their way as credits, so no number comes
 * again while it is used.
 */
#include "ofi-conduit/pofi_record.h"

#include <stdlib.h>
#include <string.h>

enum {
	HALVES = 65536,         /* more are strangers' */
	PROCESS_SHIFT = 40,     /* of a number, whose lowest 16 bits are 0 */
	COUNT_SHIFT = 16,
	COUNT_BITS = 24,
	BEGUN = 1,              /* of the state; POFI_READ follows */
};

/* A Long of which one half is here. */
struct pofi_half {
	struct pofi_half *next;
	uint64_t number;
	struct psi_kept *head;         /* NULL: its payload is here, its head is not */
};

/* -- receiving --------------------------------------------------------------------------------- */

/* The half with that number, or where another is to be added. */
static struct pofi_half **
half_find(struct psi_conduit *conduit, uint64_t number)
{
	struct pofi_half **link = &conduit->longs.halves;

	while (*link && (*link)->number != number)
		link = &(*link)->next;
	return link;
}

static void
half_add(struct psi_conduit *conduit, struct pofi_half **link, uint64_t number,
         struct psi_kept *head)
{
	struct pofi_half *half = malloc(sizeof *half);

	if (!half) {
		conduit->services->log("ofi: no memory for a Long that has come in part");
		pofi_lose(conduit);
		free(head);
		return;
	}
	*half = (struct pofi_half){ .number = number, .head = head };
	*link = half;
	conduit->longs.half_count++;
}

static void
half_drop(struct psi_conduit *conduit, struct pofi_half **link)
{
	struct pofi_half *half = *link;

	*link = half->next;
	conduit->longs.half_count--;
	free(half);
}

bool
pofi_long_head(struct psi_conduit *conduit, const char *message, size_t len_bytes)
{
	struct pofi_header header;
	struct pofi_half **link;
	struct psi_kept *head;
	uint64_t number;

	memcpy(&header, message, POFI_HEADER_BYTES);
	memcpy(&number, message + pofi_payload_at(header.category, header.sizes),
	       sizeof number);
	link = half_find(conduit, number);
	if (*link) {
		half_drop(conduit, link);
		return true;
	}
	head = pofi_kept_new(conduit, message, len_bytes);
	if (head)
		half_add(conduit, link, number, head);
	return false;
}

/* Only a sender that has the key of a segment can write.  Data without the job's tag gives a number
 * that names another process, or none.  What names none is dropped. */
bool
pofi_long_written(struct psi_conduit *conduit, uint64_t number)
{
	struct pofi_half **link = half_find(conduit, number);

	if (*link && (*link)->head) {
		pofi_kept_add(conduit, (*link)->head);
		half_drop(conduit, link);
		return true;
	}
	if (*link || number >> PROCESS_SHIFT >= conduit->places ||
	    number & ((1 << COUNT_SHIFT) - 1) || conduit->longs.half_count >= HALVES)
		pofi_count(conduit, PSI_COUNT_DROPPED);
	else
		half_add(conduit, link, number, NULL);
	return false;
}

void
pofi_longs_free(struct psi_conduit *conduit)
{
	while (conduit->longs.halves) {
		free(conduit->longs.halves->head);
		half_drop(conduit, &conduit->longs.halves);
	}
}

/* -- sending ----------------------------------------------------------------------------------- */

static uint64_t
number_next(struct psi_conduit *conduit)
{
	const uint32_t count = conduit->longs.sent++ & ((1 << COUNT_BITS) - 1);

	return (uint64_t)conduit->place << PROCESS_SHIFT | (uint64_t)count << COUNT_SHIFT;
}

static void
head_send(struct psi_port *port, const struct psi_am *am, uint64_t number)
{
	const struct pofi_tail tail = { .number = number, .len_bytes = (uint32_t)am->len_bytes };
	struct psi_am head = *am;

	head.category = POFI_LONG_HEAD;
	head.payload = &tail;
	head.len_bytes = sizeof tail;
	pofi_am_send_or_keep(port, &head);
}

static struct psi_transfer
payload_of(const struct psi_long *message)
{
	return (struct psi_transfer){
		.remote = message->dest, .here = (void *)(uintptr_t)message->am->payload,
		.len_bytes = message->am->len_bytes,
	};
}

/* A small payload is copied.  The caller of a larger one comes back until it has been read. */
static struct pofi_move
move_of(const struct psi_conduit *conduit, struct psi_long *message)
{
	struct pofi_move move = { .transfer = payload_of(message), .is_put = true,
		                  .has_data = true, .read_word = message->state };

	move.transfer.read_now = pofi_fits_buffer(conduit, &move.transfer);
	if (move.transfer.read_now)
		move.read_word = NULL;
	return move;
}

/* AGAIN: its write has begun or, where the state is 0, found no room. */
static int
write_begin(struct psi_conduit *conduit, struct psi_long *message, const struct pofi_move *move)
{
	const uint32_t process = pofi_process_of(conduit, message->am->peer);

	message->state[0] = BEGUN;
	if (pofi_move_start(conduit, process, move, NULL) != PSI_OK) {
		message->state[0] = 0;
		return PSI_AGAIN;
	}
	return move->transfer.read_now ? PSI_OK : PSI_AGAIN;
}

/* All of it is one write. */
static int
whole_begin(struct psi_port *port, struct psi_long *message)
{
	struct psi_conduit *conduit = port->conduit;
	const uint32_t process = pofi_process_of(conduit, message->am->peer);
	struct pofi_move move = move_of(conduit, message);
	uint64_t data;
	int result;

	move.record_bytes = pofi_am_bytes(message->am);
	move.record_there = pofi_record_next(conduit, process, &data);
	move.data = data ^ conduit->tag;
	pofi_am_compose(port, message->am, move.record, move.record_bytes);
	conduit->peers[process].record_open = true;
	result = write_begin(conduit, message, &move);
	if (!message->state[0]) {
		conduit->peers[process].record_open = false;
	} else {
		pofi_record_sent(conduit, process);
		pofi_am_sent(port, message->am);
	}
	return result;
}

static int
halves_begin(struct psi_port *port, struct psi_long *message)
{
	struct psi_conduit *conduit = port->conduit;
	struct pofi_move move = move_of(conduit, message);
	const uint64_t number = number_next(conduit);
	int result;

	move.data = number ^ conduit->tag;
	result = write_begin(conduit, message, &move);
	if (message->state[0])
		head_send(port, message->am, number);
	return result;
}

static int
long_begin(struct psi_port *port, struct psi_long *message)
{
	struct psi_conduit *conduit = port->conduit;
	const uint32_t process = pofi_process_of(conduit, message->am->peer);

	if (pofi_record_has_room(conduit, process) &&
	    pofi_am_is_free(port, message->am))
		return whole_begin(port, message);
	return pofi_am_has_room(port, message->am) ? halves_begin(port, message) : PSI_AGAIN;
}

static int
long_try(struct psi_port *port, struct psi_long *message)
{
	const struct psi_conduit *conduit = port->conduit;

	if (conduit->lost)
		return PSI_FATAL;
	if (message->state[0])
		return message->state[0] == POFI_READ ? PSI_OK : PSI_AGAIN;
	if (conduit->left || conduit->peers[pofi_process_of(conduit, message->am->peer)].broken)
		return PSI_AGAIN;
	return long_begin(port, message);
}

/* The same for each call with one message.  What an IMMEDIATE Long leaves behind is copied, which
 * the reference does where it is large. */
static bool
goes_by_put(const struct psi_conduit *conduit, const struct psi_long *message)
{
	const struct psi_transfer payload = payload_of(message);

	return conduit->rma.data && message->dest.name.key != PSI_NO_KEY &&
	       conduit->places <= 1 << COUNT_BITS &&
	       (!message->immediate || pofi_fits_buffer(conduit, &payload));
}

int
pofi_am_long(struct psi_port *port, struct psi_long *message)
{
	struct psi_conduit *conduit = port->conduit;
	bool refused;
	int result;

	if (!goes_by_put(conduit, message))
		return PSI_UNSUPPORTED;
	pofi_ends_stream(port);
	psi_guard_lock(&conduit->guard);
	result = long_try(port, message);
	refused = result == PSI_AGAIN && !message->state[0];
	psi_guard_unlock(&conduit->guard);
	if (refused)
		pofi_count(conduit, PSI_COUNT_REFUSED);
	return result;
}
