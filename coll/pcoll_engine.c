/*
 * Operations in flight: from the call to the event.  Lookups go over the list of all, newest first,
 * which is short but for clients that let hundreds run at a time.
 */
#include "coll/cells.h"
#include "coll/coll.h"
#include "coll/device.h"
#include "coll/schedule_cache.h"

#include "runtime/op/event.h"
#include "runtime/team/team.h"
#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/spinlock.h"

#include <stdio.h>
#include <stdlib.h>

enum { POOL_CHUNK = 16 };

static struct {
	struct psi_spinlock lock;
	struct pcoll_op *newest, *oldest;       /* in flight: the newest's `before' is older */
	struct pcoll_op *free;
	_Atomic uint32_t in_flight;
} engine;

void
pcoll_lock(void)
{
	psi_spinlock_lock(&engine.lock);
}

void
pcoll_unlock(void)
{
	psi_spinlock_unlock(&engine.lock);
}

struct pcoll_op *
pcoll_find(uint64_t team, uint32_t number, gex_Rank_t rank)
{
	for (struct pcoll_op *op = engine.newest; op; op = op->before)
		if (op->number == number && op->team == team && op->call.tm->rank == rank)
			return op;
	return NULL;
}

void
pcoll_op_changed(struct pcoll_op *op)
{
	atomic_store_explicit(&op->stirred, true,
	                      memory_order_release); /* X3: release, to X4 in op_run */
}

/* -- beginning and end, under the lock --------------------------------------------------------- */

static struct pcoll_op *
op_take(void)
{
	struct pcoll_op *op = engine.free;

	if (!op) {
		struct pcoll_op *chunk = calloc(POOL_CHUNK, sizeof *chunk);

		if (!chunk)
			psi_fatal("no memory for collectives in flight");
		for (unsigned i = 0; i < POOL_CHUNK; i++) {
			chunk[i].next = op;
			op = &chunk[i];
		}
	}
	engine.free = op->next;
	return op;
}

static void
list_add(struct pcoll_op *op)
{
	op->next = NULL;
	op->before = engine.newest;
	if (engine.newest)
		engine.newest->next = op;
	else
		engine.oldest = op;
	engine.newest = op;
	psi_progress_begins();
	atomic_fetch_add_explicit(&engine.in_flight, 1, memory_order_relaxed);
}

/* The event may be asked, and the memory taken again, from here on. */
static void
op_retire(struct pcoll_op *op)
{
	*(op->before ? &op->before->next : &engine.oldest) = op->next;
	*(op->next ? &op->next->before : &engine.newest) = op->before;
	atomic_fetch_sub_explicit(&engine.in_flight, 1, memory_order_relaxed);
	psi_progress_ends();
	psi_team_release(op->call.tm);
	op->next = engine.free;
	engine.free = op;
	atomic_store_explicit(&op->finished, op->use,
	                      memory_order_release); /* X5: release, to X6 in
	                                              * pcoll_op_is_finished */
}

/* -- steps ------------------------------------------------------------------------------------- */

/*
 * Steps the operation.  The caller holds the lock, which is released meanwhile.  Returns true if
 * the operation has ended.  A change that comes meanwhile is seen here: the thread that makes it
 * finds the operation busy and leaves it to this one.
 *
 * The same holds for a thread that steps all operations without room again.  It clears the flag
 * "room is missing", then takes the lock and finds this operation busy.  This thread takes the lock
 * later and sets the flag again, which wakes a thread that went to sleep on another endpoint in
 * between.  A thread that takes the lock after that finds the operation here, and steps it.
 */
static bool
op_run(struct pcoll_op *op)
{
	bool done;

	op->busy = true;
	do {
		pcoll_unlock();
		(void)atomic_exchange_explicit(
			&op->stirred, false,
			memory_order_acquire); /* X4: acquire, from X3 in pcoll_op_changed */
		op->blocked = false;
		done = pcoll_executor_step(op);
		if (done)
			pcoll_executor_close(op);
		pcoll_lock();
	} while (!done && atomic_load_explicit(&op->stirred, memory_order_relaxed));
	op->busy = false;
	if (!done && op->blocked && !psi_is_room_missing())
		psi_room_still_missing();
	return done;
}

/* Called by polls while anything is under way, so it costs a load when no collective is. */
static void
engine_advance(void)
{
	bool ended = false;

	if (PSI_LIKELY(atomic_load_explicit(&engine.in_flight, memory_order_relaxed) == 0))
		return;
	pcoll_lock();
	for (struct pcoll_op *op = engine.oldest, *next; op; op = next) {
		bool done = false;

		if (!op->busy &&
		    (op->blocked || atomic_load_explicit(&op->stirred, memory_order_relaxed)))
			done = op_run(op);
		next = op->next;
		if (done)
			op_retire(op);
		ended = ended || done;
	}
	pcoll_unlock();
	if (ended)
		psi_wake_own();
}

/* -- calls ------------------------------------------------------------------------------------- */

bool
pcoll_op_is_finished(const void *object, uint64_t use)
{
	const struct pcoll_op *op = object;

	return atomic_load_explicit(&op->finished,
	                            memory_order_acquire) >= use; /* X6: acquire, from X5 in
	                                                           * op_retire */
}

/* The caller does not hold the lock, since schedules and scratch memory may have to be made. */
static struct pcoll_op *
op_prepare(const struct pcoll_call *call)
{
	struct pcoll_op *op;

	psi_team_hold(call->tm);
	pcoll_lock();
	op = op_take();
	pcoll_unlock();
	op->use++;
	pcoll_call_copy(&op->call, call);
	op->team = call->phase ? call->phase->series : call->tm->id;
	op->number = call->phase          ? call->phase->number
	             : call->is_remainder ? call->remainder_of
	                                  : call->tm->collectives;
	pcoll_executor_open(op);
	return op;
}

/* From here on notes find the operation.  The client orders the calls on a team, so its number has
 * stayed.  One that tries a device, or is the remainder of a call, has the number of the call by
 * cells, which is counted there. */
static void
op_enlist(struct pcoll_op *op)
{
	if (!op->call.phase && !op->call.attempt && !op->call.is_remainder)
		op->call.tm->collectives++;
	list_add(op);
	pcoll_notes_claim(op);
}

void
pcoll_op_start(const struct pcoll_call *call, struct pcoll_op **op_out, uint64_t *use_out)
{
	struct pcoll_op *op = op_prepare(call);

	*op_out = op;
	*use_out = op->use;
	pcoll_lock();
	op_enlist(op);
	if (op_run(op))
		op_retire(op);
	pcoll_unlock();
}

void
pcoll_call_describe(const struct pcoll_call *call, uint32_t number, char text_out[PSI_WHERE_BYTES])
{
	const enum pcoll_operation operation = call->what.operation;
	char team[PSI_WHERE_BYTES / 2], passed[64] = "";

	psi_team_describe(call->tm, team, sizeof team);
	if (pcoll_operation_has_root(operation))
		snprintf(passed, sizeof passed, ": root %u, %zu bytes", call->root,
		         call->len_bytes);
	else if (operation != PCOLL_BARRIER)
		snprintf(passed, sizeof passed, ": %zu bytes", call->len_bytes);
	snprintf(text_out, PSI_WHERE_BYTES, "%s, call %u on %s%s", pcoll_call_name(call->what),
	         number, team, passed);
}

/* The lock keeps what the operation is for, and its team, as long as it is not finished. */
static void
op_describe(const void *object, uint64_t use, char text_out[PSI_WHERE_BYTES])
{
	const struct pcoll_op *op = object;

	snprintf(text_out, PSI_WHERE_BYTES, "a collective that is over");
	pcoll_lock();
	if (!pcoll_op_is_finished(op, use))
		pcoll_call_describe(&op->call, op->number, text_out);
	pcoll_unlock();
}

/* The device is tried in the background, and cells wait for what becomes of that. */
static gex_Event_t
start_with_device(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	struct pcoll_call tried;
	struct pcoll_op *op;
	uint64_t use;

	if (!pcoll_device_serves_call(call))
		return pcoll_cells_start(call, kind);
	pcoll_call_copy(&tried, call);
	tried.attempt = calloc(1, sizeof *tried.attempt);
	if (!tried.attempt)
		psi_fatal("no memory for collectives in flight");
	tried.attempt->parts = 1;
	pcoll_op_start(&tried, &op, &use);
	return pcoll_cells_start(&tried, kind);
}

/* With checks, barriers of the job come here too (pcoll_barrier.h). */
static enum psi_counter
counter_of(const struct pcoll_call *call)
{
	return call->what.operation == PCOLL_BARRIER && call->tm == psi.tm ? PSI_COUNT_BARRIERS
	                                                                   : PSI_COUNT_COLLECTIVES;
}

/* Apart, since calls by cells feel each register that is saved for this. */
static gex_Event_t __attribute__((noinline))
start_by_messages(const struct pcoll_call *call)
{
	struct pcoll_op *op;
	gex_Event_t event;
	uint64_t use;

	psi_count(psi_block()->count, counter_of(call));
	pcoll_op_start(call, &op, &use);
	if (pcoll_op_is_finished(op, use))
		return GEX_EVENT_INVALID;
	event = psi_event_new(pcoll_op_is_finished, op, use, PSI_FOR_COLLECTIVE, call->tm->ep);
	event->describe = op_describe;
	return event;
}

gex_Event_t
pcoll_start(const struct pcoll_call *call)
{
	const struct pcoll_cells_kind *kind = pcoll_cells_choose(call);

	if (kind && PSI_LIKELY(!pcoll_device))
		return pcoll_cells_start(call, kind);
	if (kind)
		return start_with_device(call, kind);
	return start_by_messages(call);
}

static void
engine_register(gex_EP_t ep)
{
	pcoll_notes_register(ep);
	pcoll_data_register(ep);
}

static void
engine_team_ends(gex_TM_t tm, const char *call)
{
	pcoll_notes_team_ends(tm, call);
	pcoll_schedules_free(tm);
}

const struct psi_module pcoll_module = {
	.name = "collectives", .register_handlers = engine_register,
	.progress = engine_advance, .team_ends = engine_team_ends,
};
