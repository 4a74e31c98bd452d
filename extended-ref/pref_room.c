/*
 * The backlog: transfers by messages that have found no room.
 *
 * Each place has a queue while transfers to it wait.  Later transfers to that place go to the end
 * of the queue.  Polls send what there is room for.  So a call that starts a transfer returns
 * without waiting for its peer, until MOST_WAITING transfers of this process wait, which take 7
 * MiB.  Then calls return AGAIN.  The limit is so high because 65535 transfers may be under way
 * whatever the peer does.  An IMMEDIATE transfer never waits: it is refused if its place has a
 * queue.
 */
#include "extended-ref/pref.h"

#include "runtime/wait/pollset.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAITING = 65536 };

/* The transfers that wait for room at one place.  It exists only while there are some. */
struct queue {
	uint32_t place;
	struct pref_move *first, *last;
	struct queue *next;
};

static struct psi_spinlock lock;
static struct queue *_Atomic queues;    /* written under lock */
static _Atomic uint32_t waiting;        /* in all of them; written under lock */

static bool
backlog_is_empty(void)
{
	return atomic_load_explicit(&queues, memory_order_relaxed) == NULL;
}

static void
queues_set(struct queue *first)
{
	atomic_store_explicit(&queues, first, memory_order_relaxed);
}

static bool
backlog_is_full(void)
{
	return atomic_load_explicit(&waiting, memory_order_relaxed) >= MOST_WAITING;
}

/* Counts waiting transfers.  The caller holds the lock. */
static void
backlog_count(uint32_t more)
{
	atomic_fetch_add_explicit(&waiting, more, memory_order_relaxed);
}

static struct queue *
queue_find(uint32_t place)
{
	struct queue *queue = atomic_load_explicit(&queues, memory_order_relaxed);

	while (queue && queue->place != place)
		queue = queue->next;
	return queue;
}

static bool
queue_is_there(uint32_t place)
{
	bool found;

	if (PSI_LIKELY(backlog_is_empty()))
		return false;
	psi_spinlock_lock(&lock);
	found = queue_find(place) != NULL;
	psi_spinlock_unlock(&lock);
	return found;
}

/* Copies the unsent part of the source, to which the caller may write from now on.  Returns false
 * if memory is missing. */
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

/* Returns a copy that outlives the call; NULL if memory is missing. */
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

/* Returns the queue of the place.  If it has none, *spare becomes its queue; without a spare queue
 * the result is NULL.  The caller holds the lock. */
static struct queue *
queue_find_or_add(uint32_t place, struct queue **spare)
{
	struct queue *queue = queue_find(place);

	if (queue || !*spare)
		return queue;
	queue = *spare;
	*spare = NULL;
	*queue = (struct queue){
		.place = place, .next = atomic_load_explicit(&queues, memory_order_relaxed),
	};
	queues_set(queue);
	return queue;
}

/* Returns false if the place has no queue and there is no spare one. */
static bool
backlog_append(struct pref_move *move, struct queue **spare)
{
	struct queue *queue;

	psi_spinlock_lock(&lock);
	queue = queue_find_or_add(move->transfer.remote.peer, spare);
	if (queue) {
		if (queue->last)
			queue->last->next = move;
		else
			queue->first = move;
		queue->last = move;
		backlog_count(1);
	}
	psi_spinlock_unlock(&lock);
	return queue != NULL;
}

/* Adds a transfer to the backlog.  Memory is allocated without the lock, since other threads poll
 * meanwhile.  Most transfers find a queue, so one is allocated only if there is none. */
static int
backlog_add(const struct pref_move *rest)
{
	struct pref_move *move = move_new(rest);
	struct queue *spare = NULL;

	if (!move)
		return pref_no_memory("a transfer that waits for room");
	psi_progress_begins();
	while (!backlog_append(move, &spare)) {
		spare = malloc(sizeof *spare);
		if (!spare) {
			psi_progress_ends();
			free(move->own);
			free(move);
			return pref_no_memory("a transfer that waits for room");
		}
	}
	free(spare);
	return PSI_OK;
}

/* Sends what there is room for; returns true when the queue is empty.  Sets *over_out if a transfer
 * was sent to its end. */
static bool
backlog_drain(struct queue *queue, bool *over_out)
{
	while (queue->first) {
		struct pref_move *move = queue->first;

		if (!pref_send_pieces(move)) {
			/* Ask the peer to wake this process when there is room; then try once
			 * more, since there may be some by now. */
			psi_request_room(move->transfer.owner, move->transfer.remote.peer);
			if (!pref_send_pieces(move))
				return false;
		}
		queue->first = move->next;
		backlog_count((uint32_t)-1);
		psi_progress_ends();
		free(move);
		*over_out = true;
	}
	return true;
}

/*
 * Polls call this while anything is under way.  It takes the lock even if another thread works on
 * the queues: that thread may have looked for room before the caller was woken.
 */
void
pref_room_advance(void)
{
	struct queue *queue, *kept = NULL;
	bool over = false;

	if (PSI_LIKELY(backlog_is_empty()))
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
	queues_set(kept);
	psi_spinlock_unlock(&lock);
	if (over)
		psi_wake_own();         /* a thread may wait until a source is read */
}

static int
move_start(enum pref_kind kind, const struct psi_transfer *transfer)
{
	struct pref_move rest = { .kind = kind, .transfer = *transfer };
	const bool immediate = transfer->immediate;

	if (!immediate && PSI_UNLIKELY(backlog_is_full()))
		return PSI_AGAIN;
	if (!queue_is_there(transfer->remote.peer) && pref_send_pieces(&rest))
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
	return move_start(PREF_PUT, transfer);
}

int
pref_get(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	return move_start(PREF_GET, transfer);
}

int
pref_fill(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	return move_start(PREF_FILL, transfer);
}
