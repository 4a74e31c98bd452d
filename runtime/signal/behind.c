/*
 * Signals behind payloads which are still on their way, or for which there was no room: they stand
 * in a list, which a progress function goes through.
 */
#include "runtime/signal/behind.h"

#include "runtime/wait/pollset.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>

static struct {
	struct psi_spinlock lock;
	struct psi_behind *first, **last;
	_Atomic size_t count;
} list = { .last = &list.first };

static bool
behind_is_done(gex_Event_t event)
{
	return event == GEX_EVENT_INVALID || event->done(event->object, event->number);
}

static void
behind_finish_part(uint64_t *part)
{
	if (*part)
		psi_part_done(*part);
	*part = 0;
}

/* If there is no room, the peer is asked to wake this process when there is, since no wait may be
 * under way that would ask. */
static bool
behind_try_signal(struct psi_behind *b)
{
	if (psi_signal_reaches(b->target.place, &b->sig, b->call)) {
		psi_signal_apply(b->target, &b->sig, b->call);
		behind_finish_part(&b->part);
		return true;
	}
	if (psi_signal_start(&b->target, &b->sig, b->part, true, b->call))
		return true;
	psi_request_room(b->target.ep, b->target.place);
	return psi_signal_start(&b->target, &b->sig, b->part, true, b->call);
}

/* One step; true when it is over. */
static bool
behind_step(struct psi_behind *b)
{
	if (behind_is_done(b->leaf)) {
		b->leaf = GEX_EVENT_INVALID;
		behind_finish_part(&b->read);
		if (b->with_leaf)
			behind_finish_part(&b->part);
	}
	if (!behind_is_done(b->moved))
		return false;
	if (b->moved != GEX_EVENT_INVALID)
		psi_op_retire(b->moved);
	b->moved = b->leaf = GEX_EVENT_INVALID;
	behind_finish_part(&b->read);
	if (b->with_leaf || b->with_moved)
		behind_finish_part(&b->part);
	return behind_try_signal(b);
}

void
psi_behind_advance(void)
{
	struct psi_behind **at;
	bool changed = false;

	if (PSI_LIKELY(!atomic_load_explicit(&list.count, memory_order_relaxed)))
		return;
	psi_spinlock_lock(&list.lock);
	for (at = &list.first; *at;) {
		struct psi_behind *b = *at;
		const uint64_t part = b->part, read = b->read;
		const bool over = behind_step(b);

		changed = changed || b->part != part || b->read != read;
		if (!over) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		if (!*at)
			list.last = at;
		atomic_fetch_sub_explicit(&list.count, 1, memory_order_relaxed);
		psi_progress_ends();
		free(b);
	}
	psi_spinlock_unlock(&list.lock);
	if (changed)
		psi_wake_own();
}

void
psi_signal_later(const struct psi_behind *what)
{
	struct psi_behind *b = malloc(sizeof *b);

	if (!b)
		psi_fatal("%s: no memory for a signal", what->call);
	*b = *what;
	psi_progress_begins();
	psi_spinlock_lock(&list.lock);
	*list.last = b;
	list.last = &b->next;
	atomic_fetch_add_explicit(&list.count, 1, memory_order_relaxed);
	psi_spinlock_unlock(&list.lock);
}
