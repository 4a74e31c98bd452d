/*
 * Signals that the caller does not apply itself, by operations of the contract.
 *
 * A payload that fits goes with its signal, in one operation.  A larger one, and one of many
 * pieces, is a transfer of its own kind, and the signal an operation that starts when that has come
 * to its end (behind.c).
 */
#include "runtime/signal/behind.h"

#include "runtime/segment/reach.h"

/* -- operations ------------------------------------------------------------------------------- */

static struct psi_signal_operation
carried_operation_of(const struct psi_target *target, const pst_signal_t *sig, uint64_t cookie)
{
	struct psi_signal_operation signal = {
		.remote = { .peer = target->place }, .owner = target->ep, .what = sig->pst_what,
		.n = sig->pst_n, .sem = sig->pst_ref.pst_w[0], .value = sig->pst_value,
		.cookie = cookie, .packed = psi_signal_packed(target->place, sig),
	};

	if (sig->pst_what != PST_SIGNAL_SEM)
		signal.remote = psi_reach_remote(target->place, sig->pst_word);
	return signal;
}

bool
psi_signal_start(const struct psi_target *target, const pst_signal_t *sig, uint64_t cookie,
                 bool immediate, const char *call)
{
	const struct psi_signal_operation signal = carried_operation_of(target, sig, cookie);
	const gex_EP_t ep = target->ep;
	struct psi_begin begin = PSI_BEGIN(call, "signal", target->place, immediate);

	begin.category = PSI_SHORT;
	while (!psi_begin_over(&begin, ep->ops->signal(ep->port, &signal)))
		;
	return begin.begun;
}

/* -- calls ----------------------------------------------------------------------------------- */

static bool
carried_is_immediate(const struct psi_signalled *s)
{
	return s->flags & GEX_FLAG_IMMEDIATE;
}

/* The operation and part by which the caller learns that the signal was applied; both empty if it
 * does not ask. */
struct told {
	struct psi_op *op;
	uint64_t part;
};

static struct told
carried_told_of(const struct psi_signalled *s, bool asks)
{
	struct told told = { NULL, 0 };

	if (!asks)
		return told;
	told.op = psi_op_begin(s->how == PSI_SIGNAL_NBI);
	psi_op_at(told.op, s->target.ep);
	told.part = psi_op_part(told.op, PSI_PART_PUT);
	return told;
}

static void
carried_drop(struct told told)
{
	if (told.op) {
		psi_part_done(told.part);
		psi_op_refused(told.op);
	}
}

static gex_Event_t
carried_refused(const struct psi_signalled *s, struct told told)
{
	carried_drop(told);
	return psi_signal_refused(s);
}

/* The result of the call, whose operation has been started. */
static gex_Event_t
carried_started(const struct psi_signalled *s, struct psi_op *op)
{
	if (s->how != PSI_SIGNAL_BLOCKING)
		return psi_op_started(op, s->lc_opt);
	psi_op_finish(op, s->call);
	return GEX_EVENT_INVALID;
}

/* The signal has been started, or will be. */
static gex_Event_t
carried_sent(const struct psi_signalled *s, struct told told)
{
	if (!carried_is_immediate(s))
		psi_poll();
	if (told.op)
		return carried_started(s, told.op);
	psi_signal_leaf_done(s);
	return GEX_EVENT_INVALID;
}

/* The payload has arrived, and the signal is sent now.  If it may not wait for room, a later poll
 * sends it. */
static gex_Event_t
carried_signal_now(const struct psi_signalled *s)
{
	const struct told told = carried_told_of(s, !s->local_only && !s->is_get);

	if (!psi_signal_start(&s->target, s->sig, told.part, carried_is_immediate(s), s->call)) {
		if (s->may_refuse)
			return carried_refused(s, told);
		psi_signal_later(&(struct psi_behind){ .target = s->target, .sig = *s->sig,
		                                       .call = s->call, .part = told.part });
	}
	return carried_sent(s, told);
}

gex_Event_t
psi_signal_carried(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf)
{
	struct psi_behind b = {
		.target = s->target, .sig = *s->sig, .call = s->call, .moved = moved, .leaf = leaf,
		.with_leaf = s->local_only, .with_moved = s->is_get,
	};
	struct psi_op *op;

	if (moved == GEX_EVENT_INVALID)
		return carried_signal_now(s);
	if (s->local_only && leaf == GEX_EVENT_INVALID) {
		psi_signal_later(&b);
		return GEX_EVENT_INVALID;
	}
	op = psi_op_begin(s->how == PSI_SIGNAL_NBI);
	psi_op_at(op, s->target.ep);
	b.part = psi_op_part(op, s->is_get ? PSI_PART_GET : PSI_PART_PUT);
	b.read = leaf != GEX_EVENT_INVALID ? psi_op_part(op, PSI_PART_LC) : 0;
	psi_signal_later(&b);
	return carried_started(s, op);
}

/* Starts a put with its signal, in one operation; UNSUPPORTED: the conduit has none for it. */
static int
carried_put_start(const struct psi_signalled *s, const struct psi_transfer *transfer,
                  uint64_t cookie)
{
	const struct psi_signal_operation signal = carried_operation_of(&s->target, s->sig, cookie);
	const gex_EP_t ep = s->target.ep;
	struct psi_begin begin =
		PSI_BEGIN(s->call, "put_signal", s->target.place, carried_is_immediate(s));
	int result;

	do      /* UNSUPPORTED ends the wait as well: there is another way */
		result = ep->ops->put_signal(ep->port, transfer, &signal);
	while (!psi_begin_over(&begin, result == PSI_UNSUPPORTED ? PSI_OK : result));
	return result == PSI_UNSUPPORTED ? result : begin.begun ? PSI_OK : PSI_AGAIN;
}

/* The source is read later, and all that the caller learns is when it has been.  False: there is no
 * such operation, and nothing was done. */
static bool
carried_put_unread(const struct psi_signalled *s, struct psi_transfer *transfer,
                   gex_Event_t *event_out)
{
	struct psi_op *op;
	int result;

	if (!s->local_only || (s->how != PSI_SIGNAL_BLOCKING && s->lc_opt == GEX_EVENT_NOW))
		return false;
	op = psi_op_begin(s->how == PSI_SIGNAL_NBI);
	psi_op_at(op, s->target.ep);
	transfer->read_now = false;
	transfer->waited = s->how == PSI_SIGNAL_BLOCKING;
	transfer->cookie = psi_op_part(op, PSI_PART_PUT);
	transfer->read_cookie = psi_op_part(op, PSI_PART_LC);
	result = carried_put_start(s, transfer, 0);
	if (result == PSI_OK) {
		*event_out = carried_sent(s, (struct told){ .op = op });
		return true;
	}
	psi_part_done(transfer->cookie);
	psi_part_done(transfer->read_cookie);
	psi_op_refused(op);
	if (result == PSI_AGAIN)
		*event_out = psi_signal_refused(s);
	return result == PSI_AGAIN;
}

/* Too large for one operation. */
static gex_Event_t
carried_put_and_signal(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	const bool now = s->lc_opt == GEX_EVENT_NOW || s->how == PSI_SIGNAL_BLOCKING;
	const bool deferred = s->lc_opt == GEX_EVENT_DEFER && !s->local_only;
	gex_Event_t leaf = GEX_EVENT_INVALID, moved;

	moved = gex_RMA_PutNB(s->tm, s->rank, dst, src, nbytes,
	                      now ? GEX_EVENT_NOW : deferred ? GEX_EVENT_DEFER : &leaf, s->flags);
	if (moved == GEX_EVENT_NO_OP)
		return psi_signal_refused(s);
	return psi_signal_carried(s, moved, leaf);
}

gex_Event_t
psi_put_carried(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	const struct told told = carried_told_of(s, !s->local_only);
	struct psi_transfer transfer = {
		.remote = psi_reach_remote(s->target.place, dst),
		.owner = s->target.ep,
		.here = (void *)(uintptr_t)src,
		.len_bytes = nbytes,
		.immediate = carried_is_immediate(s),
		.read_now = true,
	};
	gex_Event_t event;

	switch (carried_put_start(s, &transfer, told.part)) {
	case PSI_OK:
		return carried_sent(s, told);
	case PSI_AGAIN:
		return carried_refused(s, told);
	default:
		carried_drop(told);
		return carried_put_unread(s, &transfer, &event)
		               ? event : carried_put_and_signal(s, dst, src, nbytes);
	}
}

gex_Event_t
psi_get_carried(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	const gex_Event_t moved = gex_RMA_GetNB(s->tm, dst, s->rank, src, nbytes, s->flags);

	if (moved == GEX_EVENT_NO_OP)
		return psi_signal_refused(s);
	return psi_signal_carried(s, moved, GEX_EVENT_INVALID);
}
