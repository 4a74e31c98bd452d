/*
 * Atomics by message.  The owner of the target makes the operation, with the processor's atomics,
 * in the handler of a request, and sends back the old value.  It needs to know nothing of domains.
 * Handlers have the library's own indices, so that their messages are not counted as the client's.
 *
 * Order: the request publishes what the initiator did before, and what it has seen of others by
 * synchronising.  The handler that makes the operation sees all of that.  The reply does the same
 * in the other direction.  So the flags for fences need nothing more.
 */
#include "extended-ref/pref.h"
#include "runtime/am/am.h"
#include "runtime/atomic/atomic.h"
#include "runtime/segment/reach.h"

#include "runtime/util/fence.h"

/* -- on the wire: part, code, result, then offset and operands, or what was there before ------ */

#define WORD_ARGS(word) \
	(gex_AM_Arg_t)(uint32_t)(word), (gex_AM_Arg_t)(uint32_t)((uint64_t)(word) >> 32)
#define WORD_TAKES(name)   gex_AM_Arg_t name##_low, gex_AM_Arg_t name##_high
#define WORD_OF(name)      ((uint64_t)(uint32_t)name##_high << 32 | (uint32_t)name##_low)
#define WORD_ADDRESS(name) ((void *)(uintptr_t)WORD_OF(name))

static gex_AM_Arg_t
atomic_code_of(unsigned type, gex_OP_t op)
{
	return (gex_AM_Arg_t)((unsigned)__builtin_ctz(op) << 8 | type);
}

static unsigned
atomic_type_of(gex_AM_Arg_t code)
{
	return (unsigned)code & 0xff;
}
static gex_OP_t
atomic_op_of(gex_AM_Arg_t code)
{
	return 1u << ((unsigned)code >> 8);
}

static void
atomic_on_request(gex_Token_t token, WORD_TAKES(part), gex_AM_Arg_t code, WORD_TAKES(result),
                  WORD_TAKES(offset), WORD_TAKES(operand1), WORD_TAKES(operand2))
{
	const uint64_t before =
		psi_atomic_apply(atomic_type_of(code), psi_reach_owned(token->ep, WORD_OF(offset)),
	                         atomic_op_of(code), WORD_OF(operand1), WORD_OF(operand2), 0);
	const gex_AM_Arg_t args[] = {
		part_low, part_high, code, result_low, result_high, WORD_ARGS(before),
	};
	struct psi_am am = {
		.peer = token->arrival->source, .handler = PSI_HANDLER_ATOMIC_DONE,
		.category = PSI_SHORT, .network = PSI_REPLIES, .nargs = 7, .args = args,
	};

	psi_count_internal(token);
	psi_am_inject(token->ep, &am, 0);
}

static void
atomic_on_reply(gex_Token_t token, WORD_TAKES(part), gex_AM_Arg_t code, WORD_TAKES(result),
                WORD_TAKES(before))
{
	psi_count_internal(token);
	if (atomic_op_of(code) & PSI_ATOMIC_OPS_REPLY)
		psi_back_from_process(WORD_ADDRESS(result));
	psi_atomic_answer(atomic_type_of(code), atomic_op_of(code), WORD_ADDRESS(result),
	                  WORD_OF(before));
	psi_completed_in_handler(WORD_OF(part));
}

void
pref_atomic_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_ATOMIC, (gex_AM_Fn_t)atomic_on_request);
	psi_handler_set_internal(ep, PSI_HANDLER_ATOMIC_DONE, (gex_AM_Fn_t)atomic_on_reply);
}

/* -- the initiator --------------------------------------------------------------------------- */

int
pref_atomic(struct psi_port *port, const struct psi_word_operation *op)
{
	const gex_AM_Arg_t args[] = {
		PSI_PART_ARGS(op->cookie),        atomic_code_of(op->type, op->op),
		WORD_ARGS((uintptr_t)op->result), WORD_ARGS(op->remote.offset),
		WORD_ARGS(op->operand1),          WORD_ARGS(op->operand2),
	};
	const struct psi_am am = {
		.peer = op->remote.peer, .handler = PSI_HANDLER_ATOMIC, .category = PSI_SHORT,
		.network = PSI_REQUESTS, .nargs = 11, .args = args,
	};

	(void)port;
	if (op->op & PSI_ATOMIC_OPS_REPLY)
		psi_handed_to_process(op->result);
	return psi_am_try(op->owner, &am);
}
