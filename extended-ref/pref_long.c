/*
 * Longs to memory that is not mapped here.  The payload travels in Mediums of the same network,
 * behind one that has the message itself; they may be handled in any order, by several threads, and
 * the one that finds the payload complete runs the handler.
 */
#include "extended-ref/pref.h"

#include "runtime/util/copy.h"
#include "runtime/util/fence.h"
#include "runtime/util/spinlock.h"

#include "runtime/am/am.h"

#include <stdlib.h>
#include <string.h>

/* A Long without its payload. */
struct head {
	uint64_t dest, len_bytes;
	int32_t args[PSI_MAX_ARGS];
	uint8_t handler, nargs;
};

/* One that has come in part. */
struct carried {
	uint32_t source, number;
	uint8_t network;
	bool has_head;
	struct head head;
	size_t got_bytes;
	struct carried *next;
};

static struct psi_spinlock lock;
static struct carried *incoming;        /* under lock */
static _Atomic uint32_t last_number;

/* -- the receiver's side --------------------------------------------------------------------- */

/* The caller holds the lock. */
static struct carried **
landing_find(const struct psi_arrival *arrival, uint32_t number)
{
	struct carried **link = &incoming;

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

/* Adds what has come; returns the message if nothing is missing any more. */
static struct carried *
landing_add(const struct psi_arrival *arrival, uint32_t number, const struct head *head,
            size_t len_bytes)
{
	struct carried **link, *whole = NULL;

	psi_spinlock_lock(&lock);
	link = landing_find(arrival, number);
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
landing_deliver(gex_Token_t token, struct carried *whole)
{
	const struct head *head = &whole->head;
	const struct psi_arrival arrival = {
		.source = whole->source, .handler = head->handler, .category = PSI_LONG,
		.network = whole->network, .nargs = head->nargs, .args = head->args,
		.payload = (void *)(uintptr_t)head->dest, .len_bytes = (size_t)head->len_bytes,
	};

	psi_deliver(token->ep, &arrival);
	free(whole);
}

static void
on_head(gex_Token_t token, void *payload, size_t len_bytes, gex_AM_Arg_t number)
{
	struct carried *whole;
	struct head head;

	psi_count_internal(token);
	memcpy(&head, payload, len_bytes);
	whole = landing_add(token->arrival, (uint32_t)number, &head, 0);
	if (whole)
		landing_deliver(token, whole);
}

static void
on_piece(gex_Token_t token, void *payload, size_t len_bytes, gex_AM_Arg_t number,
         gex_AM_Arg_t dest_low, gex_AM_Arg_t dest_high)
{
	void *dest = (void *)(uintptr_t)psi_part_of(dest_low, dest_high);
	struct carried *whole;

	psi_count_internal(token);
	psi_memory_from_process(dest, len_bytes);
	psi_copy(dest, payload, len_bytes);
	psi_memory_to_process(dest, len_bytes);
	whole = landing_add(token->arrival, (uint32_t)number, NULL, len_bytes);
	if (whole)
		landing_deliver(token, whole);
}

/* -- the sender's side ----------------------------------------------------------------------- */

/* False if `immediate' and there is no room. */
static bool
send_head(gex_EP_t ep, const struct psi_am *of, const struct head *head, gex_AM_Arg_t number,
          bool immediate)
{
	const struct psi_am am = {
		.peer = of->peer, .handler = PSI_HANDLER_LONG_HEAD, .category = PSI_MEDIUM,
		.network = of->network, .nargs = 1, .args = &number, .payload = head,
		.len_bytes = sizeof *head,
	};

	if (immediate)
		return psi_am_try(ep, &am) == PSI_OK;
	psi_am_inject(ep, &am, 0);
	return true;
}

static void
send_piece(gex_EP_t ep, const struct psi_am *of, gex_AM_Arg_t number, size_t offset,
           size_t len_bytes)
{
	const uint64_t dest = (uintptr_t)of->dest + offset;
	const gex_AM_Arg_t args[] = { number, PSI_PART_ARGS(dest) };
	const struct psi_am am = {
		.peer = of->peer, .handler = PSI_HANDLER_LONG_PIECE, .category = PSI_MEDIUM,
		.network = of->network, .nargs = sizeof args / sizeof *args, .args = args,
		.payload = (const char *)of->payload + offset, .len_bytes = len_bytes,
	};

	psi_am_inject(ep, &am, 0);
}

int
pref_long(struct psi_port *port, const struct psi_am *am, void *owner, bool immediate)
{
	const gex_EP_t ep = owner;
	const uint32_t number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed);
	const size_t most = ep->ops->am_max_medium(port, am->peer, am->network, 3);
	struct head head = { .dest = (uintptr_t)am->dest, .len_bytes = am->len_bytes,
		             .handler = am->handler, .nargs = am->nargs };
	const gex_AM_Arg_t name = (gex_AM_Arg_t)number;

	if (am->nargs)
		memcpy(head.args, am->args, am->nargs * sizeof *head.args);
	if (!send_head(ep, am, &head, name, immediate))
		return PSI_AGAIN;
	for (size_t done = 0; done < am->len_bytes;) {
		const size_t left = am->len_bytes - done, len_bytes = left < most ? left : most;

		send_piece(ep, am, name, done, len_bytes);
		done += len_bytes;
	}
	return PSI_OK;
}

void
pref_long_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_LONG_HEAD, (gex_AM_Fn_t)on_head);
	psi_handler_set_internal(ep, PSI_HANDLER_LONG_PIECE, (gex_AM_Fn_t)on_piece);
}
