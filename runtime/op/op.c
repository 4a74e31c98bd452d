/*
 * Operations and their pools; what threads start without an event is in nbi.c.
 *
 * Each thread takes operations from a list of its own, and gives those whose root event it
 * synchronises back to it.  A thread that synchronises what others start would gather them for
 * ever, so from MOST_SPARE on half of a list goes to one that all threads share, where a thread
 * looks before it makes new ones.  Operations are never freed: a part that is done late always
 * finds its operation.
 *
 * Where psi.checks is set a list is a queue of at least QUARANTINE operations, so that an event
 * which is used again after it was synchronised is most likely known for what it is.
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
static _Atomic uint32_t unsynced;        /* root events that clients have; where psi.checks is
                                          * set */
static struct chunk *chunks;            /* under shared_lock; holds them for leak checkers */

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
put_spare(struct psi_op_pool *pool, struct psi_op *op)
{
	op->next = NULL;
	if (pool->last)
		pool->last->next = op;
	else
		pool->first = op;
	pool->last = op;
	pool->spare++;
}

/* The newest is the one in a cache. */
static void
put_spare_first(struct psi_op_pool *pool, struct psi_op *op)
{
	op->next = pool->first;
	pool->first = op;
	if (!pool->last)
		pool->last = op;
	pool->spare++;
}

static struct psi_op *
take_spare(struct psi_op_pool *pool)
{
	struct psi_op *op = pool->first;

	pool->first = op->next;
	if (!pool->first)
		pool->last = NULL;
	pool->spare--;
	return op;
}

static void
take_shared(struct psi_op_pool *pool)
{
	struct psi_op *op;

	psi_spinlock_lock(&shared_lock);
	for (unsigned i = 0; i < MOST_SPARE / 2 && (op = shared_spare); i++) {
		shared_spare = op->next;
		put_spare(pool, op);
	}
	psi_spinlock_unlock(&shared_lock);
}

static void
give_shared(struct psi_op_pool *pool, unsigned keep)
{
	psi_spinlock_lock(&shared_lock);
	while (pool->spare > keep) {
		struct psi_op *op = take_spare(pool);

		op->next = shared_spare;
		shared_spare = op;
	}
	psi_spinlock_unlock(&shared_lock);
}

static void
make_chunk(struct psi_op_pool *pool)
{
	struct chunk *chunk = aligned_alloc(_Alignof(struct chunk), sizeof *chunk);

	if (!chunk)
		psi_fatal("no memory for operations");
	memset(chunk, 0, sizeof *chunk);
	for (unsigned i = 0; i < CHUNK; i++)
		put_spare(pool, &chunk->ops[i]);
	psi_spinlock_lock(&shared_lock);
	chunk->before = chunks;
	chunks = chunk;
	psi_spinlock_unlock(&shared_lock);
}

static void __attribute__((noinline))
pool_refill(struct psi_op_pool *pool, unsigned least)
{
	take_shared(pool);
	while (pool->spare <= least)
		make_chunk(pool);
}

/* So many stay in the queue. */
static inline unsigned
least_spare(void)
{
	return psi.checks ? QUARANTINE : 0;
}

static inline struct psi_op *
pool_take(struct psi_op_pool *pool)
{
	const unsigned least = least_spare();

	if (PSI_UNLIKELY(pool->spare <= least))
		pool_refill(pool, least);
	return take_spare(pool);
}

static void
give_back(struct psi_op *op)
{
	struct psi_op_pool *pool = &psi_thread_self()->ops;

	op->root.done = op->leaf.done = NULL;
	if (PSI_UNLIKELY(psi.checks))
		put_spare(pool, op);
	else
		put_spare_first(pool, op);
	if (PSI_UNLIKELY(pool->spare > MOST_SPARE))
		give_shared(pool, MOST_SPARE / 2);
}

static void
count_root(uint32_t amount)
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
	count_root(1);
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

/* The starting call is over.  True if nothing is left to be done. */
static bool
is_over(struct psi_op *op)
{
	return atomic_fetch_sub_explicit(&op->open, 1, memory_order_acquire) == 1; /* O2 */
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
	if (is_over(op)) {
		give_back(op);
		return GEX_EVENT_INVALID;
	}
	if (wants_leaf && !psi_op_has_done(op, PSI_PART_LC))
		*leaf_out = &op->leaf;
	count_root(1);
	return &op->root;
}

void
psi_op_refused(struct psi_op *op)
{
	if (op->implicit)
		return;
	is_over(op);
	give_back(op);
}

void
psi_op_finish(struct psi_op *op, const char *call)
{
	const struct psi_reason reason = { .kind = PSI_FOR_EVENTS, .ep = op->root.ep };
	struct psi_wait wait = PSI_WAIT_FOR(call, &reason);

	if (!is_over(op)) {
		while (!psi_op_is_done(op))
			psi_wait_step(&wait);
		psi_wait_end(&wait);
	}
	give_back(op);
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
	count_root((uint32_t)-1);
	give_back((struct psi_op *)event);
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

	/* Only operations that are still pending refer to the set now. */
	if (pool->set &&
	    atomic_load_explicit(&pool->set->open, memory_order_acquire) == 1) { /* O2 */
		pool->set->root.done = NULL;
		put_spare(pool, pool->set);
	}
	give_shared(pool, 0);
}

/* The first operations of the thread that calls init: a client that has used up its memory later
 * can still be told so by calls that need one. */
static void
reserve(void)
{
	pool_refill(&psi_thread_self()->ops, least_spare());
}

const struct psi_module psi_ops_module = {
	.name = "operations", .open = reserve, .thread_ends = psi_ops_thread_ends,
	.close = psi_ops_report_leaks,
};
