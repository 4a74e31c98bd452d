/*
 * Transfers by messages that find no room.
 *
 * They wait in a queue of their place, the others of that place behind them, and each poll sends
 * what it can.  So a call that starts a transfer returns without waiting for its peer, until
 * MOST_WAITING wait in this process, in 6 MiB: the next waits until there are fewer.  Fewer than
 * that would do for peers that listen; but 65535 are promised to be under way whatever the peer
 * does.  What is IMMEDIATE never waits, since it is refused where there is a queue.
 */
#include "extended-ref/pref.h"

#include "runtime/wait/serve.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>

enum { MOST_WAITING = 65536 };

/* The transfers to one place; there is one only while some wait. */
struct queue {
	uint32_t place;
	struct psi_ref *first, *last;
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

static void
enqueue(const struct psi_ref *rest)
{
	struct psi_ref *ref = malloc(sizeof *ref);
	struct queue *queue;

	if (!ref)
		psi_fatal("no memory for a transfer that waits for room");
	*ref = *rest;
	ref->next = NULL;
	psi_progress_begins();
	psi_spinlock_lock(&lock);
	queue = queue_of(ref->place);
	if (!queue) {
		queue = calloc(1, sizeof *queue);
		if (!queue)
			psi_fatal("no memory for a transfer that waits for room");
		queue->place = ref->place;
		queue->next = atomic_load_explicit(&queues, memory_order_relaxed);
		set_queues(queue);
	}
	if (queue->last)
		queue->last->next = ref;
	else
		queue->first = ref;
	queue->last = ref;
	count_waiting(1);
	psi_spinlock_unlock(&lock);
}

/* Sends what there is room for; true when the queue is empty.  *over_out is set if a transfer
 * was. */
static bool
drain(struct queue *queue, bool *over_out)
{
	while (queue->first) {
		struct psi_ref *ref = queue->first;

		if (!pref_send_pieces(ref)) {
			/* Without room the peer is asked to ring when there is some. */
			psi_want_room(ref->ep, ref->place);
			if (!pref_send_pieces(ref))
				return false;
		}
		queue->first = ref->next;
		count_waiting((uint32_t)-1);
		psi_progress_ends();
		free(ref);
		*over_out = true;
	}
	return true;
}

/*
 * Called by polls while anything is under way.  It waits for a thread that is at it: that one may
 * have looked for room before the caller was rung.
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

		if (drain(queue, &over)) {
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

/* Polls meanwhile, which sends what there is room for. */
static void
wait_for_fewer(uint32_t place)
{
	const struct psi_reason reason = { .kind = PSI_FOR_ROOM, .category = PSI_MEDIUM,
		                           .network = PSI_REQUESTS, .peer = place };
	struct psi_wait wait = PSI_WAIT_FOR("", &reason);

	psi_count(psi_block()->count, PSI_COUNT_ROOM_WAITS);
	do
		psi_wait_for_room(&wait, PSI_REQUESTS, place);
	while (are_too_many());
	psi_wait_end(&wait);
}

bool
pref_start(const struct psi_ref *ref, bool immediate)
{
	struct psi_ref rest = *ref;

	if (!immediate && PSI_UNLIKELY(are_too_many()))
		wait_for_fewer(ref->place);
	if (!must_queue(ref->place) && pref_send_pieces(&rest))
		return true;
	if (immediate && rest.left_bytes == ref->left_bytes)
		return false;
	enqueue(&rest);
	pref_room_advance();
	return true;
}
