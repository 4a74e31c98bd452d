/*
 * Transfers by messages that find no room.
 *
 * They wait in a queue of their place, the others of that place behind them, and each poll sends
 * what it can.  So a call that starts a transfer returns without waiting for its peer, until
 * MOST_WAITING wait in this process, in 7 MiB: the next is told AGAIN until there are fewer.  Fewer
 * than that would do for peers that listen; but 65535 are promised to be under way whatever the
 * peer does.  What is IMMEDIATE never waits, since it is refused where there is a queue.
 */
#include "extended-ref/pref.h"

#include "runtime/wait/pollset.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAITING = 65536 };

/* The transfers to one place; there is one only while some wait. */
struct queue {
	uint32_t place;
	struct pref_move *first, *last;
	struct queue *next;
};

static struct psi_spinlock lock;
static struct queue *_Atomic queues;    /* written under lock */
static _Atomic uint32_t waiting;        /* in all of them; written under lock */

static bool
somebody_waits(void)
{
	return atomic_load_explicit(&queues, memory_order_relaxed) != NULL;
}

static void
set_queues(struct queue *first)
{
	atomic_store_explicit(&queues, first, memory_order_relaxed);
}

static bool
are_too_many(void)
{
	return atomic_load_explicit(&waiting, memory_order_relaxed) >= MOST_WAITING;
}

/* The caller holds the lock. */
static void
count_waiting(uint32_t more)
{
	atomic_fetch_add_explicit(&waiting, more, memory_order_relaxed);
}

static struct queue *
queue_of(uint32_t place)
{
	struct queue *queue = atomic_load_explicit(&queues, memory_order_relaxed);

	while (queue && queue->place != place)
		queue = queue->next;
	return queue;
}

static bool
must_queue(uint32_t place)
{
	bool found;

	if (PSI_LIKELY(!somebody_waits()))
		return false;
	psi_spinlock_lock(&lock);
	found = queue_of(place) != NULL;
	psi_spinlock_unlock(&lock);
	return found;
}

/* Copies what is left of the source, which the caller may write to from now on; false: no
 * memory. */
static bool
move_take_source(struct pref_move *move)
{
	struct psi_transfer *t = &move->transfer;

	move->own = malloc(t->len_bytes);
	if (!move->own)
		return false;
	t->here = memcpy(move->own, t->here, t->len_bytes);
	return true;
}

/* NULL: no memory. */
static struct pref_move *
move_new(const struct pref_move *rest)
{
	struct pref_move *move = malloc(sizeof *move);

	if (!move)
		return NULL;
	*move = *rest;
	move->next = NULL;
	if (move->transfer.read_now && !move_take_source(move)) {
		free(move);
		return NULL;
	}
	return move;
}

/* The caller holds the lock.  `spare' is taken where the place has no queue; else it is left. */
static struct queue *
queue_for(uint32_t place, struct queue **spare)
{
	struct queue *queue = queue_of(place);

	if (queue)
		return queue;
	queue = *spare;
	*spare = NULL;
	*queue = (struct queue){
		.place = place, .next = atomic_load_explicit(&queues, memory_order_relaxed),
	};
	set_queues(queue);
	return queue;
}

/* All memory is allocated before the lock is taken, since others poll meanwhile. */
static int
backlog_add(const struct pref_move *rest)
{
	struct queue *spare = malloc(sizeof *spare), *queue;
	struct pref_move *move = spare ? move_new(rest) : NULL;

	if (!move) {
		free(spare);
		return pref_no_memory("a transfer that waits for room");
	}
	psi_progress_begins();
	psi_spinlock_lock(&lock);
	queue = queue_for(move->transfer.remote.peer, &spare);
	if (queue->last)
		queue->last->next = move;
	else
		queue->first = move;
	queue->last = move;
	count_waiting(1);
	psi_spinlock_unlock(&lock);
	free(spare);
	return PSI_OK;
}

/* Sends what there is room for; true when the queue is empty.  *over_out is set if a transfer
 * was. */
static bool
backlog_drain(struct queue *queue, bool *over_out)
{
	while (queue->first) {
		struct pref_move *move = queue->first;

		if (!pref_send_pieces(move)) {
			/* Without room the peer is asked to wake when there is some. */
			psi_request_room(move->transfer.owner, move->transfer.remote.peer);
			if (!pref_send_pieces(move))
				return false;
		}
		queue->first = move->next;
		count_waiting((uint32_t)-1);
		psi_progress_ends();
		free(move);
		*over_out = true;
	}
	return true;
}

/*
 * Called by polls while anything is under way.  It waits for a thread that is at it: that one may
 * have looked for room before the caller was woken.
 */
void
pref_room_advance(void)
{
	struct queue *queue, *kept = NULL;
	bool over = false;

	if (PSI_LIKELY(!somebody_waits()))
		return;
	psi_spinlock_lock(&lock);
	for (queue = atomic_load_explicit(&queues, memory_order_relaxed); queue;) {
		struct queue *next = queue->next;

		if (backlog_drain(queue, &over)) {
			free(queue);
		} else {
			queue->next = kept;
			kept = queue;
		}
		queue = next;
	}
	set_queues(kept);
	psi_spinlock_unlock(&lock);
	if (over)
		psi_wake_own();         /* a source may have been waited for */
}

static int
start(enum pref_kind kind, const struct psi_transfer *transfer)
{
	struct pref_move rest = { .kind = kind, .transfer = *transfer };
	const bool immediate = transfer->immediate;

	if (!immediate && PSI_UNLIKELY(are_too_many()))
		return PSI_AGAIN;
	if (!must_queue(transfer->remote.peer) && pref_send_pieces(&rest))
		return PSI_OK;
	if (immediate && rest.transfer.len_bytes == transfer->len_bytes)
		return PSI_AGAIN;
	if (backlog_add(&rest) != PSI_OK)
		return PSI_FAILED;
	pref_room_advance();
	return PSI_OK;
}

int
pref_put(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	return start(PREF_PUT, transfer);
}

int
pref_get(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	return start(PREF_GET, transfer);
}

int
pref_fill(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	return start(PREF_FILL, transfer);
}
