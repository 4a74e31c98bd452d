/*
 * Operations and their pools.  The calls for implicit operations are in nbi.c.
 *
 * Each thread has a list of spare operations.  It takes operations from it, and puts those back
 * whose root event it synchronises.  A thread that synchronises events of other threads would
 * gather operations for ever; so when its list has more than MOST_SPARE, half of it goes to a list
 * that all threads share.  A thread looks there before it allocates new ones.  Operations are never
 * freed: a part that is done late always finds its operation.
 *
 * If psi.checks is set, the list is a queue of at least QUARANTINE operations.  Then an event that
 * is used after it was synchronised most likely still belongs to no operation, and is reported.
 */
#include "runtime/op/op.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 32, MOST_SPARE = 1024, QUARANTINE = 256 };

struct chunk {
	struct psi_op ops[CHUNK];
	struct chunk *before;
};

static struct psi_spinlock shared_lock;
static struct psi_op *shared_spare;     /* under shared_lock */
/* Root events that clients have not synchronised; counted if psi.checks is set. */
static _Atomic uint32_t unsynced;
/* All chunks, under shared_lock.  The list tells leak checkers that they are in use. */
static struct chunk *chunks;

/* -- pools ----------------------------------------------------------------------------------- */

static bool
root_done(const void *object, uint64_t number)
{
	(void)number;
	return psi_op_is_done(object);
}

static bool
leaf_done(const void *object, uint64_t number)
{
	(void)number;
	return psi_op_has_done(object, PSI_PART_LC);
}

static void
spare_add_last(struct psi_op_pool *pool, struct psi_op *op)
{
	op->next = NULL;
	if (pool->last)
		pool->last->next = op;
	else
		pool->first = op;
	pool->last = op;
	pool->spare++;
}

/* The operation that was used last is likely in a cache, so it is taken first. */
static void
spare_add_first(struct psi_op_pool *pool, struct psi_op *op)
{
	op->next = pool->first;
	pool->first = op;
	if (!pool->last)
		pool->last = op;
	pool->spare++;
}

static struct psi_op *
spare_take(struct psi_op_pool *pool)
{
	struct psi_op *op = pool->first;

	pool->first = op->next;
	if (!pool->first)
		pool->last = NULL;
	pool->spare--;
	return op;
}

static void
shared_take(struct psi_op_pool *pool)
{
	struct psi_op *op;

	psi_spinlock_lock(&shared_lock);
	for (unsigned i = 0; i < MOST_SPARE / 2 && (op = shared_spare); i++) {
		shared_spare = op->next;
		spare_add_last(pool, op);
	}
	psi_spinlock_unlock(&shared_lock);
}

static void
shared_give(struct psi_op_pool *pool, unsigned keep)
{
	psi_spinlock_lock(&shared_lock);
	while (pool->spare > keep) {
		struct psi_op *op = spare_take(pool);

		op->next = shared_spare;
		shared_spare = op;
	}
	psi_spinlock_unlock(&shared_lock);
}

static void
chunk_make(struct psi_op_pool *pool)
{
	struct chunk *chunk = aligned_alloc(_Alignof(struct chunk), sizeof *chunk);

	if (!chunk)
		psi_fatal("no memory for operations");
	memset(chunk, 0, sizeof *chunk);
	for (unsigned i = 0; i < CHUNK; i++)
		spare_add_last(pool, &chunk->ops[i]);
	psi_spinlock_lock(&shared_lock);
	chunk->before = chunks;
	chunks = chunk;
	psi_spinlock_unlock(&shared_lock);
}

static void __attribute__((noinline))
pool_refill(struct psi_op_pool *pool, unsigned least)
{
	shared_take(pool);
	while (pool->spare <= least)
		chunk_make(pool);
}

/* The number of operations that always stay in the list. */
static inline unsigned
spare_least(void)
{
	return psi.checks ? QUARANTINE : 0;
}

static inline struct psi_op *
pool_take(struct psi_op_pool *pool)
{
	const unsigned least = spare_least();

	if (PSI_UNLIKELY(pool->spare <= least))
		pool_refill(pool, least);
	return spare_take(pool);
}

static void
pool_give(struct psi_op *op)
{
	struct psi_op_pool *pool = &psi_thread_self()->ops;

	op->root.done = op->leaf.done = NULL;
	if (PSI_UNLIKELY(psi.checks))
		spare_add_last(pool, op);
	else
		spare_add_first(pool, op);
	if (PSI_UNLIKELY(pool->spare > MOST_SPARE))
		shared_give(pool, MOST_SPARE / 2);
}

static void
root_count(uint32_t amount)
{
	if (PSI_UNLIKELY(psi.checks))
		atomic_fetch_add_explicit(&unsynced, amount, memory_order_relaxed);
}

/* -- one operation --------------------------------------------------------------------------- */

struct psi_op *
psi_op_new(struct psi_op_pool *pool, bool implicit)
{
	struct psi_op *op = pool_take(pool);

	op->root = (struct gex_Event_s){ .done = root_done, .object = op, .kind = PSI_FOR_EVENTS };
	op->leaf = (struct gex_Event_s){ .done = leaf_done, .object = op, .kind = PSI_FOR_EVENTS,
	                                 .leaf = true };
	op->implicit = implicit;
	op->has_leaf = false;
	atomic_store_explicit(&op->open, 1, memory_order_relaxed);
	return op;
}

gex_Event_t
psi_event_new(bool (*done)(const void *, uint64_t), const void *object, uint64_t number,
              enum psi_wait_kind kind, gex_EP_t ep)
{
	struct psi_op *op = psi_op_new(&psi_thread_self()->ops, false);

	atomic_store_explicit(&op->open, 0, memory_order_relaxed);
	op->root = (struct gex_Event_s){ .done = done, .object = object, .number = number,
	                                 .kind = kind, .ep = ep };
	root_count(1);
	return &op->root;
}

struct psi_op *
psi_op_begin(bool implicit)
{
	struct psi_op_pool *pool = &psi_thread_self()->ops;

	if (!implicit)
		return psi_op_new(pool, false);
	if (pool->region)
		return pool->region;
	if (PSI_UNLIKELY(!pool->set))
		pool->set = psi_op_new(pool, true);
	return pool->set;
}

/* The starting call is over.  Returns true if the operation is done. */
static bool
op_end_call(struct psi_op *op)
{
	return atomic_fetch_sub_explicit(
		       &op->open, 1,
		       memory_order_acquire) == 1; /* O2: acquire, from O1 in psi_part_done */
}

gex_Event_t
psi_op_started(struct psi_op *op, gex_Event_t *leaf_out)
{
	const bool wants_leaf = leaf_out && leaf_out != GEX_EVENT_NOW &&
	                        leaf_out != GEX_EVENT_DEFER && leaf_out != GEX_EVENT_GROUP;

	if (wants_leaf)
		*leaf_out = GEX_EVENT_INVALID;
	if (op->implicit)
		return GEX_EVENT_INVALID;
	if (op_end_call(op)) {
		pool_give(op);
		return GEX_EVENT_INVALID;
	}
	if (wants_leaf && !psi_op_has_done(op, PSI_PART_LC))
		*leaf_out = &op->leaf;
	root_count(1);
	return &op->root;
}

void
psi_op_refused(struct psi_op *op)
{
	if (op->implicit)
		return;
	op_end_call(op);
	pool_give(op);
}

void
psi_op_finish(struct psi_op *op, const char *call)
{
	const struct psi_reason reason = { .kind = PSI_FOR_EVENTS, .ep = op->root.ep };
	struct psi_wait wait = PSI_WAIT_FOR(call, &reason);

	if (!op_end_call(op)) {
		while (!psi_op_is_done(op))
			psi_wait_step(&wait);
		psi_wait_end(&wait);
	}
	pool_give(op);
}

bool
psi_event_is_op(const struct gex_Event_s *root)
{
	return root->done == root_done;
}

/* The root is an operation's first member. */
void
psi_op_retire(gex_Event_t event)
{
	if (event->leaf)
		return;
	root_count((uint32_t)-1);
	pool_give((struct psi_op *)event);
}

void
psi_ops_report_leaks(const char *call)
{
	const struct psi_thread *known = psi_thread_known();
	const uint32_t left = atomic_load_explicit(&unsynced, memory_order_relaxed);

	if (!psi.checks)
		return;
	if (known && known->ops.region)
		psi_log("%s: an access region is open in this thread; end it, and synchronise its "
		        "event",
		        call);
	if (left)
		psi_log("%s: %u event%s been synchronised; wait for each root event, or test it "
		        "until it is done", call, left, left == 1 ? " has not" : "s have not");
}

void
psi_ops_thread_ends(struct psi_thread *thread)
{
	struct psi_op_pool *pool = &thread->ops;

	/* If parts of the set are pending, they still refer to it, and it stays out of the list. */
	if (pool->set &&
	    atomic_load_explicit(
		    &pool->set->open,
		    memory_order_acquire) == 1) { /* O2: acquire, from O1 in psi_part_done */
		pool->set->root.done = NULL;
		spare_add_last(pool, pool->set);
	}
	shared_give(pool, 0);
}

/* Makes the first operations during init.  If a client runs out of memory later, calls that need an
 * operation can still report that. */
static void
pool_reserve(void)
{
	pool_refill(&psi_thread_self()->ops, spare_least());
}

const struct psi_module psi_ops_module = {
	.name = "operations", .open = pool_reserve, .thread_ends = psi_ops_thread_ends,
	.close = psi_ops_report_leaks,
};
