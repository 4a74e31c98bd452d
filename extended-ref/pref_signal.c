/*
 * Signals by message, for peers whose memory is not mapped here.
 *
 * A payload that fits travels with its signal in one Medium.  A larger one, and one of many pieces, is a
 * transfer of its own kind, and the signal a message that is sent when that has come to its end: until
 * then it stands in a list, which a progress function goes through.  The owner applies the signal in
 * the handler, behind the payload; who waits for that gets a reply.
 *
 * Words of a message: what, whether a reply is wanted, n; key or word; value; part; dst of a payload.
 */
#include "runtime/put_signal.h"

#include "runtime/op.h"
#include "runtime/reference.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNAL_ARGS = 7, PUT_ARGS = 9 };

/* A signal that is to be sent, behind a payload that may still be on its way. */
struct behind {
	struct behind *next;
	struct psi_target target;
	pst_signal_t sig;
	const char *call;
	gex_Event_t moved;      /* root event of the payload; GEX_EVENT_INVALID: it is there */
	gex_Event_t leaf;       /* of its local completion, likewise */
	uint64_t part;          /* of the call's operation, or 0 */
	uint64_t read;          /* done with leaf; 0: nobody asks */
	bool with_leaf;         /* part is done with leaf, */
	bool with_moved;        /* with moved, or else when the signal is applied */
};

static struct {
	struct psi_spinlock lock;
	struct behind *first, **last;
	_Atomic size_t count;
} list = { .last = &list.first };

/* -- messages -------------------------------------------------------------------------------- */

static gex_AM_Arg_t low(uint64_t word) { return (gex_AM_Arg_t)(uint32_t)word; }
static gex_AM_Arg_t high(uint64_t word) { return (gex_AM_Arg_t)(uint32_t)(word >> 32); }

static uint64_t
joined(gex_AM_Arg_t low_half, gex_AM_Arg_t high_half)
{
	return (uint64_t)(uint32_t)high_half << 32 | (uint32_t)low_half;
}

static void
fill(gex_AM_Arg_t args[SIGNAL_ARGS], const pst_signal_t *sig, uint64_t part)
{
	const uint64_t name = sig->pst_what == PST_SIGNAL_SEM ? sig->pst_ref.pst_w[0]
	                                                      : (uintptr_t)sig->pst_word;

	args[0] = (gex_AM_Arg_t)(sig->pst_what | (uint32_t)(part != 0) << 8 | sig->pst_n << 16);
	args[1] = low(name), args[2] = high(name);
	args[3] = low(sig->pst_value), args[4] = high(sig->pst_value);
	args[5] = low(part), args[6] = high(part);
}

static struct psi_am
signal_message(const struct psi_target *target, const gex_AM_Arg_t *args)
{
	return (struct psi_am){
		.peer = target->place, .handler = PSI_HANDLER_SIGNAL, .category = PSI_SHORT,
		.network = PSI_REQUESTS, .nargs = SIGNAL_ARGS, .args = args,
	};
}

/* Sends, waiting for room unless `immediate'; false if there is none then. */
static bool
send(gex_EP_t ep, const struct psi_am *am, bool immediate)
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
	psi_count_internal(token);
	memcpy((void *)(uintptr_t)joined(dst0, dst1), payload, nbytes);
	apply(token, head, joined(name0, name1), joined(value0, value1), psi_part_of(part0, part1));
}

/* -- signals behind payloads ----------------------------------------------------------------- */

static bool
is_done(gex_Event_t event)
{
	return event == GEX_EVENT_INVALID || event->done(event->object, event->number);
}

static void
finish_part(uint64_t *part)
{
	if (*part)
		psi_part_done(*part);
	*part = 0;
}

/* Without room the peer is asked to ring this process when there is some: no wait may be under way. */
static bool
try_signal(struct behind *b)
{
	gex_AM_Arg_t args[SIGNAL_ARGS] = { 0 };
	struct psi_am am = signal_message(&b->target, args);

	if (psi_signal_reaches(b->target.place, &b->sig, b->call)) {
		psi_signal_apply(b->target, &b->sig, b->call);
		finish_part(&b->part);
		return true;
	}
	fill(args, &b->sig, b->part);
	if (send(b->target.ep, &am, true))
		return true;
	psi.ops->want(b->target.ep->port, am.peer);
	return send(b->target.ep, &am, true);
}

/* One step; true when it is over. */
static bool
step(struct behind *b)
{
	if (is_done(b->leaf)) {
		b->leaf = GEX_EVENT_INVALID;
		finish_part(&b->read);
		if (b->with_leaf)
			finish_part(&b->part);
	}
	if (!is_done(b->moved))
		return false;
	if (b->moved != GEX_EVENT_INVALID)
		psi_op_retire(b->moved);
	b->moved = b->leaf = GEX_EVENT_INVALID;
	finish_part(&b->read);
	if (b->with_leaf || b->with_moved)
		finish_part(&b->part);
	return try_signal(b);
}

static void
advance(void)
{
	struct behind **at;
	bool changed = false;

	if (PSI_LIKELY(!atomic_load_explicit(&list.count, memory_order_relaxed)))
		return;
	psi_spinlock_lock(&list.lock);
	for (at = &list.first; *at;) {
		struct behind *b = *at;
		const uint64_t part = b->part, read = b->read;
		const bool over = step(b);

		changed = changed || b->part != part || b->read != read;
		if (!over) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		if (!*at)
			list.last = at;
		atomic_fetch_sub_explicit(&list.count, 1, memory_order_relaxed);
		free(b);
	}
	psi_spinlock_unlock(&list.lock);
	if (changed)
		psi_wake_own();
}

static void
append(const struct behind *what)
{
	struct behind *b = malloc(sizeof *b);

	if (!b)
		psi_fatal("%s: no memory for a signal", what->call);
	*b = *what;
	psi_spinlock_lock(&list.lock);
	*list.last = b;
	list.last = &b->next;
	atomic_fetch_add_explicit(&list.count, 1, memory_order_relaxed);
	psi_spinlock_unlock(&list.lock);
}

/* -- calls ----------------------------------------------------------------------------------- */

static bool
is_immediate(const struct psi_signalled *s)
{
	return s->flags & GEX_FLAG_IMMEDIATE;
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

static gex_Event_t
refused(struct psi_op *op, uint64_t part)
{
	if (op) {
		psi_part_done(part);
		psi_op_refused(op);
	}
	return psi_signal_refused();
}

/* The payload is there, and the signal goes now; where it may not wait for room, by a later poll. */
static gex_Event_t
signal_now(const struct psi_signalled *s)
{
	struct psi_op *op = s->local_only || s->is_get ? NULL
	                                               : psi_op_begin(s->how == PSI_SIGNAL_NBI);
	const uint64_t part = op ? psi_op_part(op, PSI_PART_PUT) : 0;
	gex_AM_Arg_t args[SIGNAL_ARGS];
	const struct psi_am am = signal_message(&s->target, args);

	fill(args, s->sig, part);
	if (!send(s->target.ep, &am, is_immediate(s))) {
		if (s->may_refuse)
			return refused(op, part);
		append(&(struct behind){ .target = s->target, .sig = *s->sig, .call = s->call,
		                         .part = part });
	}
	if (!is_immediate(s))
		psi_poll();
	if (op)
		return started(s, op);
	psi_signal_leaf_done(s);
	return GEX_EVENT_INVALID;
}

gex_Event_t
psi_reference_signal_behind(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf)
{
	struct behind b = {
		.target = s->target, .sig = *s->sig, .call = s->call, .moved = moved, .leaf = leaf,
		.with_leaf = s->local_only, .with_moved = s->is_get,
	};
	struct psi_op *op;

	if (moved == GEX_EVENT_INVALID)
		return signal_now(s);
	if (s->local_only && leaf == GEX_EVENT_INVALID) {
		append(&b);
		return GEX_EVENT_INVALID;
	}
	op = psi_op_begin(s->how == PSI_SIGNAL_NBI);
	b.part = psi_op_part(op, s->is_get ? PSI_PART_GET : PSI_PART_PUT);
	b.read = leaf != GEX_EVENT_INVALID ? psi_op_part(op, PSI_PART_LC) : 0;
	append(&b);
	return started(s, op);
}

static gex_Event_t
put_in_message(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	struct psi_op *op = s->local_only ? NULL : psi_op_begin(s->how == PSI_SIGNAL_NBI);
	const uint64_t part = op ? psi_op_part(op, PSI_PART_PUT) : 0;
	gex_AM_Arg_t args[PUT_ARGS];
	const struct psi_am am = {
		.peer = s->target.place, .handler = PSI_HANDLER_PUT_SIGNAL, .category = PSI_MEDIUM,
		.network = PSI_REQUESTS, .nargs = PUT_ARGS, .args = args, .payload = src,
		.len_bytes = nbytes,
	};

	fill(args, s->sig, part);
	args[SIGNAL_ARGS] = low((uintptr_t)dst);
	args[SIGNAL_ARGS + 1] = high((uintptr_t)dst);
	if (!send(s->target.ep, &am, is_immediate(s)))
		return refused(op, part);
	if (!is_immediate(s))
		psi_poll();
	if (op)
		return started(s, op);
	psi_signal_leaf_done(s);
	return GEX_EVENT_INVALID;
}

gex_Event_t
psi_reference_put_signal(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
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
		return psi_signal_refused();
	return psi_reference_signal_behind(s, moved, leaf);
}

gex_Event_t
psi_reference_get_signal(const struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	const gex_Event_t moved = gex_RMA_GetNB(s->tm, dst, s->rank, src, nbytes, s->flags);

	if (moved == GEX_EVENT_NO_OP)
		return psi_signal_refused();
	return psi_reference_signal_behind(s, moved, GEX_EVENT_INVALID);
}

void
psi_reference_signal_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_SIGNAL, (gex_AM_Fn_t)on_signal);
	psi_handler_set_internal(ep, PSI_HANDLER_PUT_SIGNAL, (gex_AM_Fn_t)on_put_signal);
}

void
psi_reference_signal_open(void)
{
	psi_progress_add(advance);
}
