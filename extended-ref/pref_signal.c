/*
 * Signals by message, for peers whose memory is not mapped here.
 *
 * A payload that fits travels with its signal in one Medium.  A larger one, and one of many pieces,
 * is a transfer of its own kind, and the signal a message that is sent when that has come to its
 * end (pref_signal_behind.c).  The owner applies the signal in the handler, behind the payload; who
 * waits for that gets a reply.
 *
 * Words of a message: what, whether a reply is wanted, n; key or word; value; part; dst of a
 * payload.
 */
#include "extended-ref/pref_signal.h"

#include "runtime/am/am.h"
#include "runtime/op/op.h"
#include "runtime/rma/reference.h"

#include <string.h>

enum { PUT_ARGS = PREF_SIGNAL_ARGS + 2 };

/* -- messages -------------------------------------------------------------------------------- */

static gex_AM_Arg_t low(uint64_t word) { return (gex_AM_Arg_t)(uint32_t)word; }
static gex_AM_Arg_t high(uint64_t word) { return (gex_AM_Arg_t)(uint32_t)(word >> 32); }

static uint64_t
joined(gex_AM_Arg_t low_half, gex_AM_Arg_t high_half)
{
	return (uint64_t)(uint32_t)high_half << 32 | (uint32_t)low_half;
}

void
pref_signal_fill(gex_AM_Arg_t args[PREF_SIGNAL_ARGS], const pst_signal_t *sig, uint64_t part)
{
	const uint64_t name = sig->pst_what == PST_SIGNAL_SEM ? sig->pst_ref.pst_w[0]
	                                                      : (uintptr_t)sig->pst_word;

	args[0] = (gex_AM_Arg_t)(sig->pst_what | (uint32_t)(part != 0) << 8 | sig->pst_n << 16);
	args[1] = low(name), args[2] = high(name);
	args[3] = low(sig->pst_value), args[4] = high(sig->pst_value);
	args[5] = low(part), args[6] = high(part);
}

struct psi_am
pref_signal_message(const struct psi_target *target, const gex_AM_Arg_t *args)
{
	return (struct psi_am){
		.peer = target->place, .handler = PSI_HANDLER_SIGNAL, .category = PSI_SHORT,
		.network = PSI_REQUESTS, .nargs = PREF_SIGNAL_ARGS, .args = args,
	};
}

bool
pref_signal_send(gex_EP_t ep, const struct psi_am *am, bool immediate)
{
	const struct psi_reason reason = {
		.kind = PSI_FOR_ROOM, .category = am->category, .network = am->network,
		.peer = am->peer,
	};
	struct psi_wait wait = PSI_WAIT_FOR("", &reason);

	while (psi_am_try(ep, am) != PSI_OK) {
		if (immediate)
			return false;
		psi_wait_for_room(&wait, am->network, am->peer);
	}
	psi_wait_end(&wait);
	psi_count(psi_block()->count, PSI_COUNT_SIGNAL_MSG);
	return true;
}

static void
apply(gex_Token_t token, gex_AM_Arg_t head, uint64_t name, uint64_t value, uint64_t part)
{
	const uint32_t what = (uint32_t)head & 0xff;
	const gex_AM_Arg_t args[] = { PSI_PART_ARGS(part) };
	const struct psi_am reply = {
		.peer = token->arrival->source, .handler = PSI_HANDLER_PART_DONE,
		.category = PSI_SHORT, .network = PSI_REPLIES, .nargs = 2, .args = args,
	};
	pst_signal_t sig = { .pst_what = what, .pst_n = (uint32_t)head >> 16 };

	if (what == PST_SIGNAL_SEM) {
		sig.pst_ref.pst_w[0] = name;
	} else {
		sig.pst_word = (uint64_t *)(uintptr_t)name;
		sig.pst_value = value;
	}
	psi_signal_apply_own(token->ep, &sig, token->arrival->source, "pst_sem_post");
	if ((uint32_t)head >> 8 & 1)
		psi_am_inject(token->ep, &reply, 0);
}

static void
on_signal(gex_Token_t token, gex_AM_Arg_t head, gex_AM_Arg_t name0, gex_AM_Arg_t name1,
          gex_AM_Arg_t value0, gex_AM_Arg_t value1, gex_AM_Arg_t part0, gex_AM_Arg_t part1)
{
	psi_count_internal(token);
	apply(token, head, joined(name0, name1), joined(value0, value1), psi_part_of(part0, part1));
}

static void
on_put_signal(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t head,
              gex_AM_Arg_t name0, gex_AM_Arg_t name1, gex_AM_Arg_t value0, gex_AM_Arg_t value1,
              gex_AM_Arg_t part0, gex_AM_Arg_t part1, gex_AM_Arg_t dst0, gex_AM_Arg_t dst1)
{
	void *dst = (void *)(uintptr_t)joined(dst0, dst1);

	psi_count_internal(token);
	psi_memory_from_process(dst, nbytes);
	memcpy(dst, payload, nbytes);
	psi_memory_to_process(dst, nbytes);
	apply(token, head, joined(name0, name1), joined(value0, value1), psi_part_of(part0, part1));
}

/* -- calls ----------------------------------------------------------------------------------- */

static bool
is_immediate(const struct psi_signalled *s)
{
	return s->flags & GEX_FLAG_IMMEDIATE;
}

/* What tells the caller that the signal has been applied; nothing does where it does not ask. */
struct told {
	struct psi_op *op;
	uint64_t part;
};

static struct told
told_of(const struct psi_signalled *s, bool asks)
{
	struct told told = { NULL, 0 };

	if (!asks)
		return told;
	told.op = psi_op_begin(s->how == PSI_SIGNAL_NBI);
	psi_op_at(told.op, s->target.ep);
	told.part = psi_op_part(told.op, PSI_PART_PUT);
	return told;
}

static gex_Event_t
refused(const struct psi_signalled *s, struct told told)
{
	if (told.op) {
		psi_part_done(told.part);
		psi_op_refused(told.op);
	}
	return psi_signal_refused(s);
}

/* What the call returns when its operation has been started. */
static gex_Event_t
started(const struct psi_signalled *s, struct psi_op *op)
{
	if (s->how != PSI_SIGNAL_BLOCKING)
		return psi_op_started(op, s->lc_opt);
	psi_op_finish(op, s->call);
	return GEX_EVENT_INVALID;
}

/* The message that carries the signal is sent, or will be. */
static gex_Event_t
sent(const struct psi_signalled *s, struct told told)
{
	if (!is_immediate(s))
		psi_poll();
	if (told.op)
		return started(s, told.op);
	psi_signal_leaf_done(s);
	return GEX_EVENT_INVALID;
}

/* The payload is there, and the signal goes now; where it may not wait for room, by a later
 * poll. */
static gex_Event_t
signal_now(const struct psi_signalled *s)
{
	const struct told told = told_of(s, !s->local_only && !s->is_get);
	gex_AM_Arg_t args[PREF_SIGNAL_ARGS];
	const struct psi_am am = pref_signal_message(&s->target, args);

	pref_signal_fill(args, s->sig, told.part);
	if (!pref_signal_send(s->target.ep, &am, is_immediate(s))) {
		if (s->may_refuse)
			return refused(s, told);
		pref_signal_later(&(struct pref_behind){ .target = s->target, .sig = *s->sig,
		                                         .call = s->call, .part = told.part });
	}
	return sent(s, told);
}

gex_Event_t
pref_signal_behind(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf)
{
	struct pref_behind b = {
		.target = s->target, .sig = *s->sig, .call = s->call, .moved = moved, .leaf = leaf,
		.with_leaf = s->local_only, .with_moved = s->is_get,
	};
	struct psi_op *op;

	if (moved == GEX_EVENT_INVALID)
		return signal_now(s);
	if (s->local_only && leaf == GEX_EVENT_INVALID) {
		pref_signal_later(&b);
		return GEX_EVENT_INVALID;
	}
	op = psi_op_begin(s->how == PSI_SIGNAL_NBI);
	psi_op_at(op, s->target.ep);
	b.part = psi_op_part(op, s->is_get ? PSI_PART_GET : PSI_PART_PUT);
	b.read = leaf != GEX_EVENT_INVALID ? psi_op_part(op, PSI_PART_LC) : 0;
	pref_signal_later(&b);
	return started(s, op);
}

static gex_Event_t
put_in_message(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	const struct told told = told_of(s, !s->local_only);
	gex_AM_Arg_t args[PUT_ARGS];
	const struct psi_am am = {
		.peer = s->target.place, .handler = PSI_HANDLER_PUT_SIGNAL, .category = PSI_MEDIUM,
		.network = PSI_REQUESTS, .nargs = PUT_ARGS, .args = args, .payload = src,
		.len_bytes = nbytes,
	};

	pref_signal_fill(args, s->sig, told.part);
	args[PREF_SIGNAL_ARGS] = low((uintptr_t)dst);
	args[PREF_SIGNAL_ARGS + 1] = high((uintptr_t)dst);
	return pref_signal_send(s->target.ep, &am, is_immediate(s)) ? sent(s, told)
	                                                            : refused(s, told);
}

gex_Event_t
pref_put_signal(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	const bool now = s->lc_opt == GEX_EVENT_NOW || s->how == PSI_SIGNAL_BLOCKING;
	const bool deferred = s->lc_opt == GEX_EVENT_DEFER && !s->local_only;
	gex_Event_t leaf = GEX_EVENT_INVALID, moved;

	if (nbytes <= psi.ops->am_max_medium(s->target.ep->port, s->target.place, PSI_REQUESTS,
	                                     PUT_ARGS))
		return put_in_message(s, dst, src, nbytes);
	moved = gex_RMA_PutNB(s->tm, s->rank, dst, src, nbytes,
	                      now ? GEX_EVENT_NOW : deferred ? GEX_EVENT_DEFER : &leaf, s->flags);
	if (moved == GEX_EVENT_NO_OP)
		return psi_signal_refused(s);
	return pref_signal_behind(s, moved, leaf);
}

gex_Event_t
pref_get_signal(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	const gex_Event_t moved = gex_RMA_GetNB(s->tm, dst, s->rank, src, nbytes, s->flags);

	if (moved == GEX_EVENT_NO_OP)
		return psi_signal_refused(s);
	return pref_signal_behind(s, moved, GEX_EVENT_INVALID);
}

void
pref_signal_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_SIGNAL, (gex_AM_Fn_t)on_signal);
	psi_handler_set_internal(ep, PSI_HANDLER_PUT_SIGNAL, (gex_AM_Fn_t)on_put_signal);
}
