/*
 * Signals by message, for peers whose memory is not mapped here.
 *
 * A payload that fits travels with its signal in one Medium.  The owner applies the signal in the
 * handler, behind the payload.  A sender that waits for that gets a reply.
 *
 * Words of a message: what, whether a reply is wanted, n; key or offset of the word; value; cookie;
 * offset of a payload.
 */
#include "extended-ref/pref.h"

#include "runtime/am/am.h"
#include "runtime/op/op.h"
#include "runtime/segment/reach.h"

#include <string.h>

enum { SIGNAL_ARGS = 7, PUT_ARGS = SIGNAL_ARGS + 2 };

/* -- messages -------------------------------------------------------------------------------- */

static gex_AM_Arg_t
word_low(uint64_t word)
{
	return (gex_AM_Arg_t)(uint32_t)word;
}
static gex_AM_Arg_t
word_high(uint64_t word)
{
	return (gex_AM_Arg_t)(uint32_t)(word >> 32);
}

static uint64_t
signal_joined(gex_AM_Arg_t low_half, gex_AM_Arg_t high_half)
{
	return (uint64_t)(uint32_t)high_half << 32 | (uint32_t)low_half;
}

/* The words of a message. */
static void
signal_fill(gex_AM_Arg_t args[SIGNAL_ARGS], const struct psi_signal_operation *s)
{
	const uint64_t name = s->what == PST_SIGNAL_SEM ? s->sem : s->remote.offset;

	args[0] = (gex_AM_Arg_t)(s->what | (uint32_t)(s->cookie != 0) << 8 | s->n << 16);
	args[1] = word_low(name), args[2] = word_high(name);
	args[3] = word_low(s->value), args[4] = word_high(s->value);
	args[5] = word_low(s->cookie), args[6] = word_high(s->cookie);
}

static int
signal_send_counted(gex_EP_t ep, const struct psi_am *am)
{
	const int result = psi_am_try(ep, am);

	if (result == PSI_OK)
		psi_count(psi_block()->count, PSI_COUNT_SIGNAL_MSG);
	return result;
}

int
pref_signal(struct psi_port *port, const struct psi_signal_operation *s)
{
	gex_AM_Arg_t args[SIGNAL_ARGS];
	const struct psi_am am = {
		.peer = s->remote.peer, .handler = PSI_HANDLER_SIGNAL, .category = PSI_SHORT,
		.network = PSI_REQUESTS, .nargs = SIGNAL_ARGS, .args = args,
	};

	(void)port;
	signal_fill(args, s);
	return signal_send_counted(s->owner, &am);
}

int
pref_put_signal(struct psi_port *port, const struct psi_transfer *t,
                const struct psi_signal_operation *s)
{
	const gex_EP_t ep = t->owner;
	gex_AM_Arg_t args[PUT_ARGS];
	const struct psi_am am = {
		.peer = t->remote.peer, .handler = PSI_HANDLER_PUT_SIGNAL, .category = PSI_MEDIUM,
		.network = PSI_REQUESTS, .nargs = PUT_ARGS, .args = args, .payload = t->here,
		.len_bytes = t->len_bytes,
	};

	if (!t->read_now ||
	    t->len_bytes > ep->ops->am_max_medium(port, t->remote.peer, PSI_REQUESTS, PUT_ARGS))
		return PSI_UNSUPPORTED;
	signal_fill(args, s);
	args[SIGNAL_ARGS] = word_low(t->remote.offset);
	args[SIGNAL_ARGS + 1] = word_high(t->remote.offset);
	return signal_send_counted(ep, &am);
}

/* -- the owner's side ------------------------------------------------------------------------ */

static void
signal_apply(gex_Token_t token, gex_AM_Arg_t head, uint64_t name, uint64_t value, uint64_t part)
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
		sig.pst_word = psi_reach_owned(token->ep, name);
		sig.pst_value = value;
	}
	psi_signal_apply_own(token->ep, &sig, token->arrival->source, "pst_sem_post");
	if ((uint32_t)head >> 8 & 1)
		psi_am_inject(token->ep, &reply, 0);
}

static void
signal_on_signal(gex_Token_t token, gex_AM_Arg_t head, gex_AM_Arg_t name0, gex_AM_Arg_t name1,
                 gex_AM_Arg_t value0, gex_AM_Arg_t value1, gex_AM_Arg_t part0, gex_AM_Arg_t part1)
{
	psi_count_internal(token);
	signal_apply(token, head, signal_joined(name0, name1), signal_joined(value0, value1),
	             psi_part_of(part0, part1));
}

static void
signal_on_put_signal(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t head,
                     gex_AM_Arg_t name0, gex_AM_Arg_t name1, gex_AM_Arg_t value0,
                     gex_AM_Arg_t value1, gex_AM_Arg_t part0, gex_AM_Arg_t part1, gex_AM_Arg_t dst0,
                     gex_AM_Arg_t dst1)
{
	void *dst = psi_reach_owned(token->ep, signal_joined(dst0, dst1));

	psi_count_internal(token);
	psi_memory_from_process(dst, nbytes);
	memcpy(dst, payload, nbytes);
	psi_memory_to_process(dst, nbytes);
	signal_apply(token, head, signal_joined(name0, name1), signal_joined(value0, value1),
	             psi_part_of(part0, part1));
}

void
pref_signal_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_SIGNAL, (gex_AM_Fn_t)signal_on_signal);
	psi_handler_set_internal(ep, PSI_HANDLER_PUT_SIGNAL, (gex_AM_Fn_t)signal_on_put_signal);
}
