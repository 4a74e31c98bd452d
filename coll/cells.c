/*
 * Collectives by cells that are under way.  The thread that asks whether an operation is over
 * advances it; polls advance those of which other members wait for more than has been done.
 *
 * A member's side is never given back to the system, so that an event may ask at any time, and its
 * operations go on counting when another team takes it.
 */
#include "coll/cells_piece.h"
#include "coll/device.h"

#include "runtime/op/event.h"
#include "runtime/segment/reach.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/fence.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct psi_spinlock lock;
	struct pcoll_cells *free, *behind;
	_Atomic uint32_t behind_count;
	uint64_t walks;
} all;

/* -- advancing --------------------------------------------------------------------------------- */

static uint32_t
sleeper_word(const struct pcoll_sleeper *sleeper)
{
	return __atomic_load_n(sleeper->word, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void
sleepers_wake(const struct pcoll_cells *cells)
{
	for (gex_Rank_t i = 0; i < cells->sleeper_count; i++)
		if (sleeper_word(&cells->sleepers[i]) & 1)
			psi.ops->wake_peer(psi.ep->port, cells->sleepers[i].place);
}

/* Members that sleep look again.  Those of this process are woken as its other threads are. */
static void
cells_wake(const struct pcoll_cells *cells)
{
	uint32_t words = 0;

	psi_store_load_fence(); /* D4_WAKE: between V1, V3 or V13 and the look at wake words */
	for (gex_Rank_t i = 0; i < cells->sleeper_count; i++)
		words |= sleeper_word(&cells->sleepers[i]);
	if (PSI_UNLIKELY(words & 1))
		sleepers_wake(cells);
	if (psi.threaded)
		psi_wake_own();
}

/* A phase that is not passed yet, behind one that is not either, with direct cells or with
 * messages; a direct cell that others have not read, and may refuse; or a cell that is not
 * filled. */
static bool
cells_lag(const struct pcoll_cells *cells)
{
	const struct cells_op *newest = cells->newest;

	return cells->filling || cells->direct ||
	       (cells->oldest && (newest->first + newest->phases - cells->taken > 1 ||
	                          cells_op_is_awaited(newest)));
}

/* Functions of clients may run while a thread is at it, so nobody waits for that.  A thread that
 * finds another at it is woken when that one is done, if it sleeps by then, and looks itself. */
static bool
turn_take(struct pcoll_cells *cells)
{
	bool taken;

	cells_lock(cells);
	taken = !cells->busy;
	cells->busy = true;
	if (!taken)
		cells->others_look = true;
	cells_unlock(cells);
	return taken;
}

/* Gives the turn back where other threads may have looked for it, and wakes them. */
static __attribute__((noinline)) void
turn_hand_on(struct pcoll_cells *cells)
{
	bool others_look;

	psi_spinlock_lock(&cells->lock);
	others_look = cells->others_look;
	cells->others_look = cells->busy = false;
	psi_spinlock_unlock(&cells->lock);
	if (others_look)
		psi_wake_own();
}

static inline void
turn_give(struct pcoll_cells *cells)
{
	if (PSI_UNLIKELY(psi.threaded))
		turn_hand_on(cells);
	else
		cells->others_look = cells->busy = false;
}

/* Members that sleep read large cells at the same time as this one.  Those of lists may be. */
static bool
cells_are_large(const struct pcoll_cells *cells)
{
	return cells->oldest && (cells->oldest->call->len_bytes > PSI_CELL_MORE_BYTES ||
	                         pcoll_call_has_lists(cells->oldest->call));
}

static void
cells_step(struct pcoll_cells *cells)
{
	bool filled, read, untold = false;

	do {
		pcoll_cells_inbox_take(cells);
		filled = pcoll_cells_fill(cells);
		untold = untold || filled;
		if (filled && cells_are_large(cells)) {
			cells_wake(cells);
			untold = false;
		}
		read = pcoll_cells_read(cells);
		untold = untold || read;
	} while (filled || read);
	if (cells->direct && pcoll_cells_answer(cells))
		untold = true;
	if (untold)
		cells_wake(cells);
	atomic_store_explicit(&cells->lags, cells_lag(cells), memory_order_relaxed);
	atomic_store_explicit(&cells->awaited,
	                      cells->filling || cells->direct ? 0 : cells->missing,
	                      memory_order_relaxed);
}

/* The only operation has been carried out as far as can be, so there is nothing to step. */
static void
cells_tell(struct pcoll_cells *cells)
{
	cells->is_carried_out = false;
	cells_wake(cells);
	atomic_store_explicit(&cells->awaited, cells->missing, memory_order_relaxed);
}

/* False: another thread is at it. */
static bool
cells_advance(struct pcoll_cells *cells)
{
	if (!turn_take(cells))
		return false;
	cells_step(cells);
	turn_give(cells);
	return true;
}

/* A look that is cheaper than to advance: has the cell come for which all wait?  It comes after all
 * that the wait before it has armed, so whoever sleeps now is woken by who fills the cell (D4). */
static bool
cells_may_advance(struct pcoll_cells *cells)
{
	const uint64_t awaited = atomic_load_explicit(&cells->awaited, memory_order_relaxed);
	const uint64_t phase = (awaited >> CELLS_HEAD_PHASE_AT) - 1;
	const struct peer *peer = &cells->peers[awaited & CELLS_AWAITED_RANK_MASK];

	if (!awaited || atomic_load_explicit(&cells->has_inbox, memory_order_relaxed))
		return true;
	return atomic_load_explicit(&peer->cells->line[phase % PSI_CELLS].head,
	                            memory_order_relaxed) >> CELLS_HEAD_PHASE_AT ==
	       awaited >> CELLS_HEAD_PHASE_AT;
}

static bool
cells_is_over(const void *object, uint64_t number)
{
	struct pcoll_cells *cells = (struct pcoll_cells *)(uintptr_t)object;

	if (pcoll_cells_finished(cells) >= number)
		return true;
	if (PSI_LIKELY(!cells_may_advance(cells)))
		return false;
	(void)cells_advance(cells);
	return pcoll_cells_finished(cells) >= number;
}

/* -- those behind ------------------------------------------------------------------------------ */

static void
behind_add(struct pcoll_cells *cells)
{
	psi_spinlock_lock(&all.lock);
	if (!cells->is_behind) {
		psi_progress_begins();
		cells->is_behind = true;
		cells->next = all.behind;
		all.behind = cells;
		atomic_fetch_add_explicit(&all.behind_count, 1, memory_order_relaxed);
	}
	psi_spinlock_unlock(&all.lock);
}

/* The caller holds the lock of the list, where it is. */
static void
behind_drop(struct pcoll_cells *cells)
{
	struct pcoll_cells **at = &all.behind;

	while (*at != cells)
		at = &(*at)->next;
	*at = cells->next;
	cells->is_behind = false;
	atomic_fetch_sub_explicit(&all.behind_count, 1, memory_order_relaxed);
	psi_progress_ends();
}

/* The next one that this walk has not come by; NULL: it is over. */
static struct pcoll_cells *
behind_next(uint64_t walk)
{
	struct pcoll_cells *cells;

	psi_spinlock_lock(&all.lock);
	cells = all.behind;
	while (cells && cells->walk >= walk)
		cells = cells->next;
	if (cells)
		cells->walk = walk;
	psi_spinlock_unlock(&all.lock);
	return cells;
}

static void
behind_drop_if_done(struct pcoll_cells *cells)
{
	psi_spinlock_lock(&all.lock);
	if (cells->is_behind && !atomic_load_explicit(&cells->lags, memory_order_relaxed) &&
	    !atomic_load_explicit(&cells->has_inbox, memory_order_relaxed))
		behind_drop(cells);
	psi_spinlock_unlock(&all.lock);
}

/* Polls call this while an operation is under way, so it costs one load if none is behind.  No lock
 * is held while cells are read, since functions of clients may run there. */
static void
behind_advance(void)
{
	struct pcoll_cells *cells;
	uint64_t walk;

	if (PSI_LIKELY(!atomic_load_explicit(&all.behind_count, memory_order_relaxed)))
		return;
	psi_spinlock_lock(&all.lock);
	walk = ++all.walks;
	psi_spinlock_unlock(&all.lock);
	while ((cells = behind_next(walk)) != NULL)
		if (cells_advance(cells))
			behind_drop_if_done(cells);
}

/* -- a team's ---------------------------------------------------------------------------------- */

static struct pcoll_sleeper
sleeper_of(gex_TM_t tm, uint32_t place)
{
	static const uint32_t always_asleep = 1;
	bool fence;
	const uint32_t *word = tm->ep->ops->sleep_word(tm->ep->port, place, &fence);

	return (struct pcoll_sleeper){ word ? word : &always_asleep, place };
}

static void
peers_open(struct pcoll_cells *cells, gex_TM_t tm)
{
	struct peer *peers = calloc(tm->size, sizeof *peers);
	struct pcoll_sleeper *sleepers = calloc(tm->size, sizeof *sleepers);

	if (!peers || !sleepers)
		psi_fatal("no memory for collectives of a team of %u", tm->size);
	cells->sleeper_count = 0;
	cells->all_near = true;
	for (gex_Rank_t rank = 0; rank < tm->size; rank++) {
		const uint32_t place = tm->places ? tm->places[rank] : rank;

		peers[rank] = (struct peer){
			.cells = pcoll_cells_of_member(tm, rank),
			.is_here = psi_jobrank_of(place) == psi.boot.rank, .place = place,
		};
		cells->all_near &= psi_in_my_nbrhd(psi_jobrank_of(place));
		if (!peers[rank].is_here)
			sleepers[cells->sleeper_count++] = sleeper_of(tm, place);
	}
	cells->peers = peers;
	cells->sleepers = sleepers;
}

static void
groups_open(struct pcoll_cells *cells)
{
	cells->groups = pcoll_groups_of(cells->tm);
	if (cells->groups.count == 1 || !pcoll_groups_leads(&cells->groups, cells->rank))
		return;
	cells->partial = malloc(CELLS_DIRECT_BYTES);
	if (!cells->partial)
		psi_fatal("no memory for collectives of a team of %u", cells->size);
}

static struct pcoll_cells *
cells_open(gex_TM_t tm)
{
	struct pcoll_cells *cells;

	psi_spinlock_lock(&all.lock);
	cells = all.free;
	if (cells)
		all.free = cells->next;
	psi_spinlock_unlock(&all.lock);
	if (!cells)
		cells = calloc(1, sizeof *cells);
	if (!cells)
		psi_fatal("no memory for collectives of a team of %u", tm->size);
	cells->tm = tm;
	cells->size = tm->size;
	cells->rank = tm->rank;
	cells->filled = cells->taken = cells->ahead = psi_first_phase;
	cells->room_until = psi_first_phase + PSI_CELLS;
	cells->inbox_last = &cells->inbox;
	memset(cells->paces, 0, sizeof cells->paces);
	cells->paced_end = 0;
	peers_open(cells, tm);
	cells->own = cells->peers[cells->rank].cells;
	cells->all_here = cells->sleeper_count == 0;
	groups_open(cells);
	cells->is_refused = false;
	return cells;
}

static struct pcoll_cells *
cells_of(gex_TM_t tm)
{
	if (!tm->cells)
		tm->cells = cells_open(tm);
	return tm->cells;
}

static void
op_describe(const struct cells_op *op, char text_out[PSI_WHERE_BYTES])
{
	struct pcoll_call whole;

	pcoll_call_copy(&whole, op->call);
	if (!pcoll_call_has_lists(op->call))
		whole.len_bytes = op->call_bytes;
	pcoll_call_describe(&whole, op->number, text_out);
}

/* The operation with that number, counted from 1: the oldest one is the next to be finished.  The
 * list holds still while this thread has the turn. */
static void
cells_describe(const void *object, uint64_t number, char text_out[PSI_WHERE_BYTES])
{
	struct pcoll_cells *cells = (struct pcoll_cells *)(uintptr_t)object;
	char team[PSI_WHERE_BYTES / 2];
	const struct cells_op *op;
	uint64_t before;

	psi_team_describe(cells->tm, team, sizeof team);
	snprintf(text_out, PSI_WHERE_BYTES, "a collective on %s", team);
	if (!turn_take(cells))
		return;
	op = pcoll_cells_finished(cells) < number ? cells->oldest : NULL;
	for (before = pcoll_cells_finished(cells) + 1; op && before < number; before++)
		op = op->next;
	if (op)
		op_describe(op, text_out);
	turn_give(cells);
}

gex_Event_t
pcoll_cells_start(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	struct pcoll_cells *cells = cells_of(call->tm);
	gex_Event_t event;
	const bool has_turn = turn_take(cells);
	uint64_t number;
	bool advanced;

	psi_count(psi_block()->count, PSI_COUNT_COLLECTIVES);
	if (has_turn)
		pcoll_cells_inbox_take(cells);      /* calls before this one come first */
	number = pcoll_cells_ops_start(cells, call, kind, has_turn);
	call->tm->collectives++;
	if (PSI_LIKELY(has_turn)) {
		if (PSI_LIKELY(cells->is_carried_out))
			cells_tell(cells);
		else
			cells_step(cells);
		turn_give(cells);
		advanced = true;
	} else {
		advanced = cells_advance(cells);
	}
	if (PSI_LIKELY(pcoll_cells_finished(cells) >= number))
		return GEX_EVENT_INVALID;
	if (!advanced || atomic_load_explicit(&cells->lags, memory_order_relaxed))
		behind_add(cells);
	event = psi_event_new(cells_is_over, cells, number, PSI_FOR_COLLECTIVE, call->tm->ep);
	event->describe = cells_describe;
	return event;
}

/* Has another member made a call that this one has not made? */
static bool
cells_are_ahead(gex_TM_t tm)
{
	const uint64_t ahead = tm->cells ? tm->cells->ahead : 0;

	for (gex_Rank_t rank = 0; rank < tm->size; rank++)
		if ((int32_t)(atomic_load_explicit(&tm->group->cells[rank]->started,
		                                   memory_order_relaxed) -
		              (uint32_t)ahead) > 0)
			return true;
	return false;
}

/* Does the work of `team_ends' of the module.  Nothing is under way. */
static void
cells_team_ends(gex_TM_t tm, const char *call)
{
	struct pcoll_cells *cells = tm->cells;

	if (!tm->group || !tm->group->cells)
		return;
	if (PSI_UNLIKELY(cells_are_ahead(tm)))
		psi_team_in_use(call);
	if (cells) {
		/* a thread that has ended the last call may still be waking others */
		while (!turn_take(cells))
			sched_yield();
		free(cells->peers);
		free(cells->sleepers);
		free(cells->bounce);
		free(cells->partial);
		free(cells->groups.first);
		cells->peers = NULL;
		cells->sleepers = NULL;
		cells->bounce = cells->partial = NULL;
		turn_give(cells);
		psi_spinlock_lock(&all.lock);
		if (cells->is_behind)
			behind_drop(cells);
		cells->next = all.free;
		all.free = cells;
		psi_spinlock_unlock(&all.lock);
	}
	pcoll_cells_leave(tm->group->cells, tm->size);
}

const struct psi_module pcoll_cells_module = {
	.name = "cells", .progress = behind_advance, .team_ends = cells_team_ends,
};
