/*
 * One-sided transfers that the headers' inlines leave to the library: the memory is not mapped
 * here, or an argument is wrong.  Now and then an ordinary transfer comes
 * here too, so that a process which does nothing else polls.
 */
#include "runtime/op/begin.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"
#include "runtime/team/team_rules.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/copy.h"

#include <string.h>

void
psi_rma_value_bad(size_t nbytes)
{
	psi_fatal("gex_RMA_PutBlockingVal or GetBlockingVal: a value of %zu bytes; it has 1 to %d",
	          nbytes, SIZEOF_GEX_RMA_VALUE_T);
}

/* -- one transfer, as it was called ---------------------------------------------------------- */

enum move { MOVE_PUT, MOVE_GET, MOVE_FILL };

struct transfer {
	const char *call;
	enum move kind;
	unsigned char fill;
	gex_Flags_t flags;
	char *there, *here;             /* at the owner; of the caller */
	size_t nbytes;
	struct psi_target target; /* filled in by rma_move_here */
};

/* -- counts ---------------------------------------------------------------------------------- */

static enum psi_counter
rma_calls_of(const struct transfer *t)
{
	return t->kind == MOVE_GET ? PSI_COUNT_GETS : PSI_COUNT_PUTS;
}

static enum psi_counter
rma_called_of(const struct transfer *t)
{
	return t->kind == MOVE_GET ? PSI_COUNT_GETS_CALLED : PSI_COUNT_PUTS_CALLED;
}

static enum psi_counter
rma_bytes_of(const struct transfer *t)
{
	return t->kind == MOVE_GET ? PSI_COUNT_GET_BYTES : PSI_COUNT_PUT_BYTES;
}

/* The inlines have counted the call and its bytes, except a thread's first call in PAR. */
static void
rma_count_call(const struct transfer *t)
{
	const bool first = !psi.block && !psi_counts_self;
	struct psi_block *block = psi_block();

	if (first) {
		psi_count(block->count, rma_calls_of(t));
		psi_count_add(block->count, rma_bytes_of(t), t->nbytes);
	}
	psi_count(block->count, rma_called_of(t));
	psi_moved_note(&block->moved, rma_calls_of(t));
}

static void
rma_count_refused(const struct transfer *t)
{
	uint64_t *counts = psi_block()->count;

	psi_count_back(counts, rma_calls_of(t), 1);
	psi_count_back(counts, rma_called_of(t), 1);
	psi_count_back(counts, rma_bytes_of(t), t->nbytes);
}

/* -- where the memory is mapped -------------------------------------------------------------- */

static void
rma_copy_here(const struct transfer *t, void *there)
{
	switch (t->kind) {
	case MOVE_PUT:
		psi_copy(there, t->here, t->nbytes);
		break;
	case MOVE_GET:
		psi_copy(t->here, there, t->nbytes);
		break;
	case MOVE_FILL:
		memset(there, t->fill, t->nbytes);
		break;
	}
}

/* Fills are left to the owner, which needs no source and is three times as fast. */
static bool
rma_goes_by_kernel(const struct transfer *t)
{
	const enum psi_way way = t->kind == MOVE_GET ? PSI_WAY_GET : PSI_WAY_PUT;

	return t->kind != MOVE_FILL && psi_reach_road(way, t->target.place) == PSI_BY_KERNEL;
}

static bool
rma_copy_by_kernel(const struct transfer *t)
{
	if (!rma_goes_by_kernel(t))
		return false;
	return t->kind == MOVE_GET ? psi_reach_read(t->target.place, t->here, t->there, t->nbytes)
	                           : psi_reach_write(t->target.place, t->there, t->here, t->nbytes);
}

/* False where an operation has to make it. */
static bool
rma_is_here(const struct transfer *t, const void *there)
{
	return there || !t->nbytes || rma_goes_by_kernel(t);
}

/* With checks, the team counts this thread as inside the call while it copies. */
static void __attribute__((noinline, cold))
copy_checked(const struct transfer *t, void *there)
{
	psi_rules_team_enter();
	rma_copy_here(t, there);
	psi_rules_team_leave();
}

/* The copy in this process; false where an operation has to make it. */
static bool
rma_copy_now(const struct transfer *t, void *there)
{
	if (t->nbytes && !there)
		return rma_copy_by_kernel(t);
	if (PSI_UNLIKELY(psi.checks) && t->nbytes)
		copy_checked(t, there);
	else if (t->nbytes)
		rma_copy_here(t, there);
	return true;
}

/* Checks the call, counts it, and makes the copy where the memory is mapped or the kernel
 * copies; false where an operation has to.  A copy that may wait polls: a get before it, so that
 * who gets the same word again and again makes progress. */
static bool
rma_move_here(struct transfer *t, gex_TM_t tm, gex_Rank_t rank)
{
	const bool is_get = t->kind == MOVE_GET;
	void *there = NULL;

	t->target = psi_rule_target(tm, rank, t->call);
	psi_check_flags(t->flags, PSI_TRANSFER_FLAGS, t->call);
	if (t->nbytes)
		there = psi_reach(is_get ? PSI_WAY_GET : PSI_WAY_PUT, t->target.place, t->there,
		                  t->nbytes, t->call);
	if (t->kind != MOVE_FILL)
		psi_rule_transfer(t->here, there, t->nbytes, t->flags, t->call);
	rma_count_call(t);
	if (is_get && !(t->flags & GEX_FLAG_IMMEDIATE) && rma_is_here(t, there))
		psi_poll();
	if (!rma_copy_now(t, there))
		return false;
	if (!(t->flags & GEX_FLAG_IMMEDIATE) && !is_get)
		psi_poll();
	return true;
}

/* -- by the conduit or by messages ------------------------------------------------------------ */

/* When the source is read: at any time, which read_cookie tells, or before the transfer has
 * begun. */
enum source { SOURCE_READ_LATER, SOURCE_READ_NOW };

static int
rma_call_operation(const struct transfer *t, const struct psi_transfer *transfer)
{
	const gex_EP_t ep = t->target.ep;

	switch (t->kind) {
	case MOVE_PUT:
		return ep->ops->put(ep->port, transfer);
	case MOVE_GET:
		return ep->ops->get(ep->port, transfer);
	case MOVE_FILL:
		break;
	}
	return ep->ops->fill(ep->port, transfer);
}

/* read is the part that is done when the caller's memory has been read, or 0. */
static bool
rma_start(const struct transfer *t, struct psi_op *op, uint64_t read, enum source source,
          bool waited)
{
	static const char *const operations[] = { "put", "get", "fill" };
	const struct psi_transfer transfer = {
		.remote = psi_reach_remote(t->target.place, t->there), .owner = t->target.ep,
		.here = t->here, .len_bytes = t->nbytes,
		.cookie = psi_op_part(op, t->kind == MOVE_GET ? PSI_PART_GET : PSI_PART_PUT),
		.read_cookie = read, .byte = t->fill,
		.immediate = t->flags & GEX_FLAG_IMMEDIATE, .read_now = source == SOURCE_READ_NOW,
		.waited = waited,
	};
	struct psi_begin begin = PSI_BEGIN(t->call, operations[t->kind], t->target.place,
	                                   transfer.immediate);

	psi_op_at(op, t->target.ep);
	while (!psi_begin_over(&begin, rma_call_operation(t, &transfer)))
		;
	if (begin.begun)
		return true;
	psi_part_done(transfer.cookie);
	rma_count_refused(t);
	return false;
}

static int
rma_blocking(const struct transfer *t)
{
	struct psi_op *op = psi_op_begin(false);

	if (!rma_start(t, op, 0, SOURCE_READ_LATER, true)) {
		psi_op_refused(op);
		return GASNET_ERR_NOT_READY;
	}
	psi_op_finish(op, t->call);
	return GASNET_OK;
}

/* The source is read by the time that the operation is done, or the caller does not ask for local
 * completion. */
static gex_Event_t
rma_plainly(const struct transfer *t, bool implicit)
{
	struct psi_op *op = psi_op_begin(implicit);

	if (!rma_start(t, op, 0, SOURCE_READ_LATER, false)) {
		psi_op_refused(op);
		return GEX_EVENT_NO_OP;
	}
	return psi_op_started(op, NULL);
}

/* The source is free on return.  What may not wait leaves that to the operation. */
static gex_Event_t
rma_with_source_read(const struct transfer *t, bool implicit)
{
	const bool immediate = t->flags & GEX_FLAG_IMMEDIATE;
	struct psi_op *op = psi_op_begin(implicit), *source = psi_op_begin(false);
	uint64_t read = 0;

	if (!immediate) {
		psi_op_at(source, t->target.ep);
		read = psi_op_part(source, PSI_PART_LC);
	}
	if (!rma_start(t, op, read, immediate ? SOURCE_READ_NOW : SOURCE_READ_LATER, !immediate)) {
		psi_op_refused(source);
		psi_op_refused(op);
		return GEX_EVENT_NO_OP;
	}
	psi_op_finish(source, t->call);
	return psi_op_started(op, NULL);
}

/* Reading the source is a stage of its own. */
static gex_Event_t
rma_with_leaf(const struct transfer *t, bool implicit, gex_Event_t *lc_opt)
{
	struct psi_op *op = psi_op_begin(implicit);
	const uint64_t read = psi_op_part(op, PSI_PART_LC);

	if (!rma_start(t, op, read, SOURCE_READ_LATER, false)) {
		psi_part_done(read);
		psi_op_refused(op);
		return GEX_EVENT_NO_OP;
	}
	return psi_op_started(op, lc_opt);
}

static gex_Event_t
rma_put_later(const struct transfer *t, bool implicit, gex_Event_t *lc_opt)
{
	gex_Event_t event;

	if (lc_opt == GEX_EVENT_NOW)
		event = rma_with_source_read(t, implicit);
	else if (lc_opt == GEX_EVENT_DEFER)
		event = rma_plainly(t, implicit);
	else
		event = rma_with_leaf(t, implicit, lc_opt);
	if (!(t->flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	return event;
}

static gex_Event_t
rma_get_later(const struct transfer *t, bool implicit)
{
	gex_Event_t event = rma_plainly(t, implicit);

	if (!(t->flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	return event;
}

static int
rma_code_of(gex_Event_t event)
{
	return event == GEX_EVENT_NO_OP ? GASNET_ERR_NOT_READY : GASNET_OK;
}

/* -- put ------------------------------------------------------------------------------------- */

static struct transfer
rma_put_of(const char *call, void *dest, const void *src, size_t nbytes, gex_Flags_t flags)
{
	return (struct transfer){ .call = call,
		                  .kind = MOVE_PUT,
		                  .there = dest,
		                  .here = (char *)(uintptr_t)src,
		                  .nbytes = nbytes,
		                  .flags = flags };
}

int
psi_rma_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
            gex_Flags_t flags)
{
	struct transfer t = rma_put_of("gex_RMA_PutBlocking", dest, src, nbytes, flags);

	return rma_move_here(&t, tm, rank) ? GASNET_OK : rma_blocking(&t);
}

static void __attribute__((noreturn, cold))
bad_lc(gex_Event_t *lc_opt, const char *call, const char *allowed)
{
	psi_fatal("%s: lc_opt is %s, which this call does not allow; pass GEX_EVENT_NOW, "
	          "GEX_EVENT_DEFER or %s",
	          call,
	          !lc_opt                     ? "NULL"
	          : lc_opt == GEX_EVENT_GROUP ? "GEX_EVENT_GROUP"
	                                      : "an address",
	          allowed);
}

static gex_Event_t
rma_put_now_or_later(struct transfer *t, gex_TM_t tm, gex_Rank_t rank, bool implicit,
                     gex_Event_t *lc_opt)
{
	if (!rma_move_here(t, tm, rank))
		return rma_put_later(t, implicit, lc_opt);
	if (!implicit)
		psi_lc_done(lc_opt);
	return GEX_EVENT_INVALID;
}

gex_Event_t
psi_rma_put_nb(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
               gex_Event_t *lc_opt, gex_Flags_t flags)
{
	struct transfer t = rma_put_of("gex_RMA_PutNB", dest, src, nbytes, flags);

	if (PSI_UNLIKELY(!psi_lc_is_explicit(lc_opt)))
		bad_lc(lc_opt, t.call, "the address of an event");
	return rma_put_now_or_later(&t, tm, rank, false, lc_opt);
}

int
psi_rma_put_nbi(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                gex_Event_t *lc_opt, gex_Flags_t flags)
{
	struct transfer t = rma_put_of("gex_RMA_PutNBI", dest, src, nbytes, flags);

	if (PSI_UNLIKELY(!psi_lc_is_implicit(lc_opt)))
		bad_lc(lc_opt, t.call, "GEX_EVENT_GROUP");
	return rma_code_of(rma_put_now_or_later(&t, tm, rank, true, lc_opt));
}

/* -- get ------------------------------------------------------------------------------------- */

static struct transfer
rma_get_of(const char *call, void *dest, const void *src, size_t nbytes, gex_Flags_t flags)
{
	return (struct transfer){ .call = call,
		                  .kind = MOVE_GET,
		                  .there = (char *)(uintptr_t)src,
		                  .here = dest,
		                  .nbytes = nbytes,
		                  .flags = flags };
}

int
psi_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
            gex_Flags_t flags)
{
	struct transfer t = rma_get_of("gex_RMA_GetBlocking", dest, src, nbytes, flags);

	return rma_move_here(&t, tm, rank) ? GASNET_OK : rma_blocking(&t);
}

gex_Event_t
psi_rma_get_nb(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
               gex_Flags_t flags)
{
	struct transfer t = rma_get_of("gex_RMA_GetNB", dest, src, nbytes, flags);

	return rma_move_here(&t, tm, rank) ? GEX_EVENT_INVALID : rma_get_later(&t, false);
}

int
psi_rma_get_nbi(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
                gex_Flags_t flags)
{
	struct transfer t = rma_get_of("gex_RMA_GetNBI", dest, src, nbytes, flags);

	return rma_move_here(&t, tm, rank) ? GASNET_OK : rma_code_of(rma_get_later(&t, true));
}

/* -- fill ------------------------------------------------------------------------------------ */

static struct transfer
rma_fill_of(const char *call, void *dest, int val, size_t nbytes)
{
	return (struct transfer){ .call = call, .kind = MOVE_FILL, .there = dest,
	                          .fill = (unsigned char)val, .nbytes = nbytes };
}

void
psi_rma_fill(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	struct transfer t = rma_fill_of("gasnet_memset", dest, val, nbytes);

	if (!rma_move_here(&t, PSI_TM_LEGACY, node))
		(void)rma_blocking(&t);
}

gasnet_handle_t
psi_rma_fill_nb(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	struct transfer t = rma_fill_of("gasnet_memset_nb", dest, val, nbytes);

	return rma_move_here(&t, PSI_TM_LEGACY, node) ? GEX_EVENT_INVALID
	                                              : rma_put_later(&t, false, GEX_EVENT_DEFER);
}

void
psi_rma_fill_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	struct transfer t = rma_fill_of("gasnet_memset_nbi", dest, val, nbytes);

	if (!rma_move_here(&t, PSI_TM_LEGACY, node))
		(void)rma_put_later(&t, true, GEX_EVENT_DEFER);
}
