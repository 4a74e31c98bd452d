/*
 * Operations in flight: from the call to the event.  Lookups go over the list of all, newest first,
 * which is short but for clients that let hundreds run at a time.
 */
#include "coll/cells.h"
#include "coll/coll.h"
#include "coll/parts.h"

#include "runtime/op/event.h"
#include "runtime/team/team.h"
#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>
#include <string.h>

enum { POOL_CHUNK = 16, SCRATCH_ALIGN = 64 };

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
	atomic_store_explicit(&op->stirred, true, memory_order_release); /* X3 */
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
op_enlist(struct pcoll_op *op)
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
	free(op->scratch);
	op->scratch = NULL;
	op->next = engine.free;
	engine.free = op;
	atomic_store_explicit(&op->finished, op->use, memory_order_release); /* X5 */
}

/* -- steps ------------------------------------------------------------------------------------- */

static bool
op_enter(struct pcoll_op *op)
{
	if (op->call.in_all && !pcoll_sync_step(op, &op->enter, PCOLL_ENTER))
		return false;
	op->algorithm->start(op);
	op->stage = PCOLL_MOVING;
	return true;
}

static bool
op_move(struct pcoll_op *op)
{
	if (!op->algorithm->step(op))
		return false;
	op->stage = PCOLL_LEAVING;
	return true;
}

static bool
op_leave(struct pcoll_op *op)
{
	return !op->call.out_all || pcoll_sync_step(op, &op->leave, PCOLL_LEAVE);
}

static bool
op_step(struct pcoll_op *op)
{
	op->blocked = false;
	if (op->stage == PCOLL_ENTERING && !op_enter(op))
		return false;
	if (op->stage == PCOLL_MOVING && !op_move(op))
		return false;
	return op_leave(op);
}

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
		(void)atomic_exchange_explicit(&op->stirred, false, memory_order_acquire); /* X4 */
		done = op_step(op);
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

	return atomic_load_explicit(&op->finished, memory_order_acquire) >= use; /* X6 */
}

static void *
op_make_scratch(size_t len_bytes)
{
	const size_t rounded = (len_bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
	void *scratch = len_bytes ? aligned_alloc(SCRATCH_ALIGN, rounded) : NULL;

	if (len_bytes && !scratch)
		psi_fatal("no memory for a collective, which takes %zu bytes", len_bytes);
	return len_bytes ? memset(scratch, 0, rounded) : NULL;
}

static void
op_fill(struct pcoll_op *op, const struct pcoll_call *call, const struct pcoll_algorithm *algorithm,
     void *scratch)
{
	op->use++;
	op->call = *call;
	op->algorithm = algorithm;
	psi_team_hold(call->tm);
	op->team = call->phase ? call->phase->series : call->tm->id;
	op->number = call->phase ? call->phase->number : call->tm->collectives++;
	op->stage = PCOLL_ENTERING;
	op->blocked = false;
	op->enter = op->leave = (struct pcoll_sync){ .round = 0 };
	op->scratch = scratch;
}

void
pcoll_op_start(const struct pcoll_call *call, struct pcoll_op **op_out, uint64_t *use_out)
{
	const struct pcoll_algorithm *algorithm = pcoll_choose(call);
	void *scratch = op_make_scratch(algorithm->scratch_bytes(call));
	struct pcoll_op *op;

	pcoll_lock();
	op = op_take();
	op_fill(op, call, algorithm, scratch);
	*op_out = op;
	*use_out = op->use;
	op_enlist(op);
	pcoll_notes_claim(op);
	if (op_run(op))
		op_retire(op);
	pcoll_unlock();
}

gex_Event_t
pcoll_start(const struct pcoll_call *call)
{
	const struct pcoll_cells_kind *kind = pcoll_cells_choose(call);
	struct pcoll_op *op;
	uint64_t use;

	if (kind)
		return pcoll_cells_start(call, kind);
	psi_count(psi_block()->count, PSI_COUNT_COLLECTIVES);
	pcoll_op_start(call, &op, &use);
	return pcoll_op_is_finished(op, use)
	               ? GEX_EVENT_INVALID
	               : psi_event_new(pcoll_op_is_finished, op, use, PSI_FOR_COLLECTIVE,
	                               call->tm->ep);
}

static void
engine_register(gex_EP_t ep)
{
	pcoll_notes_register(ep);
	pcoll_transfers_register(ep);
}

const struct psi_module pcoll_module = {
	.name = "collectives", .register_handlers = engine_register, .progress = engine_advance,
	.team_ends = pcoll_notes_team_ends,
};
