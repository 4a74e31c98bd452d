/*
 * Operations that outlive the call which starts them.
 *
 * An operation is a set of *parts*, each of one category (GEX_EC_PUT, GET, RMW, AM, or LC for
 * sources that are still to be read).  A part is a number of 64 bits that may travel in a message.
 * When a part is done, psi_part_done is called once, on any thread, in a handler or elsewhere.  The
 * operation is done when all its parts are.
 *
 * An *explicit* operation has a root event, and perhaps a leaf event for GEX_EC_LC.  Parts of an
 * *implicit* operation join the calling thread's access region, if one is open, else its implicit
 * set.  A region is one operation, whose root event gex_NBI_EndAccessRegion returns.
 *
 * A transfer to memory that is mapped here needs no operation: it is done when its call returns
 * GEX_EVENT_INVALID.  A call that needs one looks like this:
 *
 *     struct psi_op *op = psi_op_begin(implicit);
 *     uint64_t put = psi_op_part(op, PSI_PART_PUT);    one part for each reply to come
 *     uint64_t read = psi_op_part(op, PSI_PART_LC);    if the source is still to be read
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
 * psi_op_refused, before any other thread knows a part of it.  The holder of a part that is not
 * done may add further parts of the same operation, on any thread.
 *
 * Outside handlers, psi_wake_own() follows the last psi_part_done, since a thread may sleep until
 * the operation is done.  After a handler the runtime calls it.
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
	/* Parts that are not done, and one more while the starting call is under way.  The last
	 * field that is written: when it is 0, only the owner uses the operation. */
	_Atomic uint32_t open;
	_Atomic uint32_t pending[PSI_PART_CATEGORIES];
	bool implicit;                  /* a thread's set, or a region */
	bool has_leaf;                  /* it ever had a part of PSI_PART_LC */
	struct psi_op *next;            /* in a pool */
};

/* Returns a new operation of the calling thread, or the region or set that an implicit transfer
 * joins. */
struct psi_op *psi_op_begin(bool implicit);

struct psi_op_pool;
/* Returns a new operation, or an empty set, of the thread that owns the pool. */
struct psi_op *psi_op_new(struct psi_op_pool *pool, bool implicit);

/* Replies of the operation arrive at this endpoint; threads that wait for it poll this endpoint
 * too. A set may have several. */
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

/* Adds a part to the operation of `part', which is not done yet. */
static inline uint64_t
psi_part_another(uint64_t part, enum psi_part_category category)
{
	return psi_op_part(psi_part_op(part), category);
}

/* Another process has sent the part back.  Tells ThreadSanitizer so, before memory of the
 * starter is touched. */
static inline void
psi_part_back(uint64_t part)
{
	psi_back_from_process(psi_part_op(part));
}

/* The part is done.  It may not be used after that. */
static inline void
psi_part_done(uint64_t part)
{
	struct psi_op *op = psi_part_op(part);

	psi_part_back(part);
	atomic_fetch_sub_explicit(&op->pending[psi_part_category(part)], 1,
	                          memory_order_release); /* O1: release, to O2 in psi_op_has_done */
	atomic_fetch_sub_explicit(&op->open, 1,
	                          memory_order_release); /* O1: release, to O2 in psi_op_is_done */
}

/* A part as two arguments of a message, and back. */
#define PSI_PART_ARGS(part) (gex_AM_Arg_t)(uint32_t)(part), (gex_AM_Arg_t)(uint32_t)((part) >> 32)

static inline uint64_t
psi_part_of(gex_AM_Arg_t low, gex_AM_Arg_t high)
{
	return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

/* Are all parts done, and has the starting call returned? */
static inline bool
psi_op_is_done(const struct psi_op *op)
{
	return atomic_load_explicit(
		       &op->open,
		       memory_order_acquire) == 0; /* O2: acquire, from O1 in psi_part_done */
}

/* Are all parts of this category done? */
static inline bool
psi_op_has_done(const struct psi_op *op, enum psi_part_category category)
{
	return atomic_load_explicit(
		       &op->pending[category],
		       memory_order_acquire) == 0; /* O2: acquire, from O1 in psi_part_done */
}

/* Ends the starting call, which returns what this returns: the root event, or GEX_EVENT_INVALID if
 * all parts are done or the operation is implicit.  leaf_out gets the leaf event, unless it is NULL
 * or one of the GEX_EVENT_ constants. */
gex_Event_t psi_op_started(struct psi_op *op, gex_Event_t *leaf_out);
/* The same for a blocking call: waits until the operation is done. */
void psi_op_finish(struct psi_op *op, const char *call);
/* The same for a refused call: it has added no part, or all are done. */
void psi_op_refused(struct psi_op *op);

/* Is the root event that of an operation? */
bool psi_event_is_op(const struct gex_Event_s *root);
/* The event was synchronised.  If it is a root, its operation is over; a leaf changes nothing. */
void psi_op_retire(gex_Event_t event);

/* Reports events and regions that the client left open, at a normal end and if psi.checks is
 * set. */
void psi_ops_report_leaks(const char *call);

extern const struct psi_module psi_ops_module;

/* The thread ends: its operations go to the shared list. */
struct psi_thread;
void psi_ops_thread_ends(struct psi_thread *thread);

#endif
