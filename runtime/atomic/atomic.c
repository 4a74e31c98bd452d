/*
 * Operations of atomic domains that the headers' inlines leave to the library: the compiler did not
 * know the operation's code, the memory is not mapped, an argument is wrong, or checks are on.  Now
 * and then an ordinary operation comes here too, so that a process which does nothing else polls.
 */
#include "runtime/atomic/atomic.h"

#include "runtime/op/begin.h"
#include "runtime/process/rules.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

#include <string.h>

static const uint8_t width_bytes[] = {
#define WIDTH(DT, type, width) [PSI_ATOMIC_INDEX(DT)] = width / 8,
	PSI_ATOMIC_TYPES(WIDTH)
#undef WIDTH
};

/* -- by the processor ------------------------------------------------------------------------ */

#define APPLY(DT, type, width) \
	static uint64_t \
	apply##DT(void *there, gex_OP_t op, uint64_t operand1, uint64_t operand2, \
	          gex_Flags_t flags) \
	{ \
		return psi_atomic_bits##DT(psi_atomic_apply##DT( \
			there, op, psi_atomic_value##DT((uint##width##_t)operand1), \
			psi_atomic_value##DT((uint##width##_t)operand2), flags)); \
	}
PSI_ATOMIC_TYPES(APPLY)
#undef APPLY

uint64_t
psi_atomic_apply(unsigned type, void *there, gex_OP_t op, uint64_t operand1, uint64_t operand2,
                 gex_Flags_t flags)
{
	static uint64_t (*const apply[])(void *, gex_OP_t, uint64_t, uint64_t, gex_Flags_t) = {
#define ENTRY(DT, type, width) [PSI_ATOMIC_INDEX(DT)] = apply##DT,
		PSI_ATOMIC_TYPES(ENTRY)
#undef ENTRY
	};

	return apply[type](there, op, operand1, operand2, flags);
}

void
psi_atomic_answer(unsigned type, gex_OP_t op, void *result, uint64_t before)
{
	const uint32_t low = (uint32_t)before;

	if (!(op & PSI_ATOMIC_OPS_REPLY))
		return;
	if (width_bytes[type] == sizeof low)
		memcpy(result, &low, sizeof low);
	else
		memcpy(result, &before, sizeof before);
}

/* -- what is asked for ----------------------------------------------------------------------- */

static const char *
atomic_op_name(gex_OP_t op)
{
	static const char *const by_bit[32] = {
		"AND",  "OR",   "XOR",  "ADD",  "SUB",   "MULT", "MIN",  "MAX",
		"INC",  "DEC",  "SET",  "CAS",  "?",     "?",    "?",    "FAND",
		"FOR",  "FXOR", "FADD", "FSUB", "FMULT", "FMIN", "FMAX", "FINC",
		"FDEC", "SWAP", "FCAS", "GET",  "?",     "?",    "USER", "USER_NC",
	};

	return by_bit[__builtin_ctz(op)];
}

static void
atomic_check_operation(const struct psi_atomic *op)
{
	const struct psi_domain *domain = op->domain;
	const char *kind = strstr(op->call, "NBI") ? "NBI" : "NB";

	if (PSI_UNLIKELY(domain->dt != 1u << op->type))
		psi_fatal("%s: the domain's type is %s; call gex_AD_Op%s_%s", op->call,
		          psi_domain_type_name(domain->dt), kind,
		          psi_domain_type_name(domain->dt) + 7);
	if (PSI_UNLIKELY(!op->op || (op->op & (op->op - 1))))
		psi_fatal("%s: operation 0x%x is not one code; pass exactly one of GEX_OP_*",
		          op->call, op->op);
	if (PSI_UNLIKELY(!(op->op & domain->ops)))
		psi_fatal("%s: GEX_OP_%s is not among the operations 0x%x of the domain; name it "
		          "when the domain is created",
		          op->call, atomic_op_name(op->op), domain->ops);
	psi_check_flags(op->flags, PSI_ATOMIC_PLAIN_FLAGS | GEX_FLAG_RANK_IS_JOBRANK, op->call);
	if (PSI_UNLIKELY((op->op & PSI_ATOMIC_OPS_REPLY) &&
	                 (!op->result || (uintptr_t)op->result % width_bytes[op->type])))
		psi_fatal("%s: GEX_OP_%s writes to result_p, which is %p; pass the address of a "
		          "variable of the type",
		          op->call, atomic_op_name(op->op), op->result);
}

static struct psi_target
atomic_target_of(const struct psi_atomic *op)
{
	const gex_TM_t tm = op->domain->tm;
	gex_Rank_t rank = op->rank;

	if (op->flags & GEX_FLAG_RANK_IS_JOBRANK) {
		rank = gex_TM_TranslateJobrankToRank(tm, rank);
		if (rank == GEX_RANK_INVALID)
			psi_fatal("%s: rank %u of the job is not in the domain's team; name one "
			          "that is",
			          op->call, op->rank);
	}
	return psi_target_of(tm, rank, op->call);
}

static void
atomic_check_assertions(const struct psi_atomic *op, struct psi_target target)
{
	const bool mine = op->flags & GEX_FLAG_AD_MY_RANK, near = op->flags & GEX_FLAG_AD_MY_NBRHD;

	if (!psi.checks)
		return;
	if (mine && near)
		psi_fatal("%s: flags say both GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD; pass "
		          "one at most", op->call);
	if (mine && target.place != target.ep->place)
		psi_fatal("%s: GEX_FLAG_AD_MY_RANK, but the target is rank %u; leave it out",
		          op->call, op->rank);
	if (near && !psi_in_my_nbrhd(psi_jobrank_of(target.place)))
		psi_fatal("%s: GEX_FLAG_AD_MY_NBRHD, but rank %u is in another neighbourhood; "
		          "leave it out",
		          op->call, op->rank);
}

static void
atomic_check_alignment(const struct psi_atomic *op)
{
	const size_t nbytes = width_bytes[op->type];

	if (PSI_UNLIKELY((uintptr_t)op->target % nbytes))
		psi_fatal("%s: the target at %p is not aligned to the %zu bytes of its type; align "
		          "it",
		          op->call, op->target, nbytes);
}

/* -- the calls ------------------------------------------------------------------------------- */

/* Counts, and polls once in a while. */
static void
atomic_count_call(gex_Flags_t flags)
{
	uint64_t *counts = psi_block()->count;

	psi_count(counts, PSI_COUNT_ATOMICS);
	psi_count(counts, PSI_COUNT_ATOMICS_CALLED);
	if (counts[PSI_COUNT_ATOMICS] % PSI_RMA_CALLS_PER_POLL == 0 &&
	    !(flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
}

static void
atomic_count_refused(void)
{
	uint64_t *counts = psi_block()->count;

	psi_count_back(counts, PSI_COUNT_ATOMICS, 1);
	psi_count_back(counts, PSI_COUNT_ATOMICS_CALLED, 1);
}

static enum psi_part_category
atomic_category_of(gex_OP_t op)
{
	if (op == GEX_OP_SET)
		return PSI_PART_PUT;
	return op == GEX_OP_GET ? PSI_PART_GET : PSI_PART_RMW;
}

/* As the device makes it: all but compare and swap are additions. */
static struct psi_device_atomic
atomic_device_form(const struct psi_atomic *op)
{
	struct psi_device_atomic form = { .add = op->operand1 };

	if (op->op & (GEX_OP_SUB | GEX_OP_FSUB))
		form.add = 0 - op->operand1;
	else if (op->op & (GEX_OP_INC | GEX_OP_FINC))
		form.add = 1;
	else if (op->op & (GEX_OP_DEC | GEX_OP_FDEC))
		form.add = UINT64_MAX;
	else if (op->op == GEX_OP_GET)
		form.add = 0;
	form.is_swap = op->op & (GEX_OP_CAS | GEX_OP_FCAS);
	form.compare = op->operand1;
	form.swap = op->operand2;
	form.result = op->op & PSI_ATOMIC_OPS_REPLY ? op->result : NULL;
	return form;
}

static int
atomic_by_device(const struct psi_atomic *op, const struct psi_word_operation *operation)
{
	struct psi_device_atomic form = atomic_device_form(op);

	form.remote = operation->remote;
	form.cookie = operation->cookie;
	return psi.ops->device_atomic(((gex_EP_t)operation->owner)->port, &form);
}

/* Starts it as an operation of the contract: the device's, the conduit's, or by messages. */
static gex_Event_t
atomic_start(const struct psi_atomic *op, struct psi_target target)
{
	struct psi_op *started = psi_op_begin(op->implicit);
	const struct psi_word_operation operation = {
		.remote = psi_reach_remote(target.place, op->target),
		.owner = target.ep,
		.type = op->type,
		.op = op->op,
		.operand1 = op->operand1,
		.operand2 = op->operand2,
		.result = op->result,
		.cookie = psi_op_part(started, atomic_category_of(op->op)),
		.immediate = op->flags & GEX_FLAG_IMMEDIATE,
	};
	struct psi_begin begin = PSI_BEGIN(op->call, "atomic", target.place, operation.immediate);

	begin.category = PSI_SHORT;
	psi_op_at(started, target.ep);
	while (!psi_begin_over(&begin, op->domain->by_device
	                                       ? atomic_by_device(op, &operation)
	                                       : target.ep->ops->atomic(target.ep->port,
	                                                                &operation)))
		;
	if (begin.begun)
		return psi_op_started(started, NULL);
	psi_count(psi_block()->count, PSI_COUNT_IMMEDIATE_REFUSED);
	psi_part_done(operation.cookie);
	psi_op_refused(started);
	atomic_count_refused();
	return GEX_EVENT_NO_OP;
}

static gex_Event_t
atomic_make(gex_AD_t ad, struct psi_atomic *op)
{
	struct psi_target target;
	void *there = NULL;

	psi_rule_call(op->call);
	op->domain = psi_domain_live(ad, op->call);
	atomic_check_operation(op);
	target = atomic_target_of(op);
	atomic_check_assertions(op, target);
	atomic_check_alignment(op);
	if (!op->domain->by_device)
		there = psi_reach(PSI_WAY_ATOMIC, target.place, op->target, width_bytes[op->type],
		                  op->call);
	atomic_count_call(op->flags);
	if (!there)
		return atomic_start(op, target);
	psi_atomic_answer(op->type, op->op, op->result,
	                  psi_atomic_apply(op->type, there, op->op, op->operand1, op->operand2,
	                                   op->flags));
	return GEX_EVENT_INVALID;
}

#define OPERATION(kind, is_implicit, DT) \
	{ \
		.call = "gex_AD_" #kind #DT, .result = result_p, .target = tgt_addr, \
		.operand1 = psi_atomic_bits##DT(operand1), \
		.operand2 = psi_atomic_bits##DT(operand2), \
		.rank = tgt_rank, .op = opcode, .flags = flags, .type = PSI_ATOMIC_INDEX(DT), \
		.implicit = is_implicit, \
	}
#define CALLS(DT, type, width) \
	gex_Event_t \
	psi_AD_OpNB##DT(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr, \
	                 gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags) \
	{ \
		struct psi_atomic op = OPERATION(OpNB, false, DT); \
\
		return atomic_make(ad, &op); \
	} \
	int \
	psi_AD_OpNBI##DT(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr, \
	                  gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags) \
	{ \
		struct psi_atomic op = OPERATION(OpNBI, true, DT); \
\
		return atomic_make(ad, &op) == GEX_EVENT_NO_OP; \
	}
PSI_ATOMIC_TYPES(CALLS)
