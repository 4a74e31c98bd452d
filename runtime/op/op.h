/*
 * Operations that outlive the call which starts them.
 *
 * An operation is a set of *parts*, each of one category (GEX_EC_PUT, GET, RMW, AM, or LC for
 * sources that are still to be read).  A part is 64 bits that may travel in a message; whoever does
 * it says so once, on any thread, in a handler or elsewhere.  The operation is done when all its
 * parts are.
 *
 * It is *explicit*, with a root event and perhaps a leaf for GEX_EC_LC, or *implicit*: then the
 * parts join the calling thread's access region, if one is open, or else its implicit set.  A
 * region is one operation, whose root event gex_NBI_EndAccessRegion returns.
 *
 * A transfer that is mapped here needs none of this: it is over when its call returns, with
 * GEX_EVENT_INVALID.  What needs it looks so:
 *
 *     struct psi_op *op = psi_op_begin(implicit);
 *     uint64_t put = psi_op_part(op, PSI_PART_PUT);            one part for each reply to come
 *     uint64_t read = psi_op_part(op, PSI_PART_LC);            if the source is still to be read
 *
 *     send, with PSI_PART_ARGS(put) among the arguments; the other side sends them back
 *     return psi_op_started(op, lc_opt);
 *
 *     on_reply(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high)
 *     {
 *             psi_part_done(psi_part_of(low, high));
 *     }
 *
 * A blocking call ends with psi_op_finish instead.  A call that IMMEDIATE refuses ends with
 * psi_op_refused, before any part of it was made known to others.  Who keeps a part may ask for
 * further ones of the same operation, from any thread, until it says that its own is done.
 *
 * Outside handlers psi_wake_own() comes after the last psi_part_done, since a thread may sleep
 * until that; after a handler the runtime calls it.
 *
 * Pairs: O1 (psi_part_done) -> O2 (psi_op_is_done, psi_op_has_done)   what the part moved
 */
#ifndef PSI_OP_H
#define PSI_OP_H

#include "runtime/op/event.h"
#include "runtime/process/thread.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/fence.h"

enum psi_part_category {
	PSI_PART_PUT,
	PSI_PART_GET,
	PSI_PART_RMW,
	PSI_PART_AM,
	PSI_PART_LC,
	PSI_PART_CATEGORIES
};

struct psi_op {
	_Alignas(64) struct gex_Event_s root;
	struct gex_Event_s leaf;        /* GEX_EC_LC; lives as long as the root */
	/* Parts to be done, and one more while the call that starts them is under way.  Written
	 * last, so that nobody looks at an operation of which `open' is 0, but its owner. */
	_Atomic uint32_t open;
	_Atomic uint32_t pending[PSI_PART_CATEGORIES];
	bool implicit;                  /* a thread's set, or a region */
	bool has_leaf;                  /* it ever had a part of PSI_PART_LC */
	struct psi_op *next;            /* in a pool */
};

/* An operation of the calling thread, or the set that the next implicit one joins. */
struct psi_op *psi_op_begin(bool implicit);

struct psi_op_pool;
/* An operation, or an empty set, of the thread whose pool it is. */
struct psi_op *psi_op_new(struct psi_op_pool *pool, bool implicit);

/* Its replies arrive at this endpoint, which waits for it poll too; of sets, at all that were
 * named. */
static inline void
psi_op_at(struct psi_op *op, gex_EP_t ep)
{
	if (op->root.ep && op->root.ep != ep)
		ep = PSI_EP_SEVERAL;
	op->root.ep = op->leaf.ep = ep;
}

/* Adds a part. */
static inline uint64_t
psi_op_part(struct psi_op *op, enum psi_part_category category)
{
	if (category == PSI_PART_LC)
		op->has_leaf = true;
	atomic_fetch_add_explicit(&op->open, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&op->pending[category], 1, memory_order_relaxed);
	psi_handed_to_process(op);
	return (uint64_t)(uintptr_t)op | category;
}

static inline struct psi_op *
psi_part_op(uint64_t part)
{
	return (struct psi_op *)(uintptr_t)(part & ~(uint64_t)63);
}

static inline enum psi_part_category
psi_part_category(uint64_t part)
{
	return (enum psi_part_category)(part & 63);
}

/* A further part of the operation that a part is of, which its holder has not done yet. */
static inline uint64_t
psi_part_another(uint64_t part, enum psi_part_category category)
{
	return psi_op_part(psi_part_op(part), category);
}

/* The part was away with another process, and comes back: for ThreadSanitizer, before memory of its
 * starter is touched. */
static inline void
psi_part_back(uint64_t part)
{
	psi_back_from_process(psi_part_op(part));
}

/* The part is done, and is nothing any more. */
static inline void
psi_part_done(uint64_t part)
{
	struct psi_op *op = psi_part_op(part);

	psi_part_back(part);
	atomic_fetch_sub_explicit(&op->pending[psi_part_category(part)], 1,
	                          memory_order_release); /* O1 */
	atomic_fetch_sub_explicit(&op->open, 1, memory_order_release); /* O1 */
}

/* As arguments of a message, and back. */
#define PSI_PART_ARGS(part) (gex_AM_Arg_t)(uint32_t)(part), (gex_AM_Arg_t)(uint32_t)((part) >> 32)

static inline uint64_t
psi_part_of(gex_AM_Arg_t low, gex_AM_Arg_t high)
{
	return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

/* Every part is done, the starting call too. */
static inline bool
psi_op_is_done(const struct psi_op *op)
{
	return atomic_load_explicit(&op->open, memory_order_acquire) == 0; /* O2 */
}

/* Those of a category are. */
static inline bool
psi_op_has_done(const struct psi_op *op, enum psi_part_category category)
{
	return atomic_load_explicit(&op->pending[category], memory_order_acquire) == 0; /* O2 */
}

/* The starting call returns what this returns: the root event, or GEX_EVENT_INVALID if all is done
 * or the operation is implicit.  leaf_out, unless NULL or one of the constants, gets the leaf. */
gex_Event_t psi_op_started(struct psi_op *op, gex_Event_t *leaf_out);
/* The call that starts it returns when it is done. */
void psi_op_finish(struct psi_op *op, const char *call);
/* The starting call was refused: no part was added, or all are done. */
void psi_op_refused(struct psi_op *op);

/* Is the root event that of an operation? */
bool psi_event_is_op(const struct gex_Event_s *root);
/* The event was synchronised; only by its root does an operation end. */
void psi_op_retire(gex_Event_t event);

/* The job ends well: says, where psi.checks is set, what its client has left undone. */
void psi_ops_report_leaks(const char *call);

extern const struct psi_module psi_ops_module;

/* The thread that ends gives its pool back. */
struct psi_thread;
void psi_ops_thread_ends(struct psi_thread *thread);

#endif
