/* The calls of gasnet_coll.h, and barriers of teams.  Each checks its arguments and starts the
 * call: by flags, by cells or by the engine. */
#include "coll/coll.h"
#include "coll/pcoll_barrier.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

#include "runtime/util/copy.h"

static void
coll_check_team(gex_TM_t tm, gex_Flags_t flags, const char *call)
{
	psi_need_init(call);
	psi_rule_call(call);
	(void)psi_team_live(tm, call);
	psi_check_flags(flags, 0, call);
}

static void
coll_check_root(gex_TM_t tm, gex_Rank_t root, const char *call)
{
	if (PSI_UNLIKELY(root >= tm->size))
		psi_fatal("%s: root is %u, and the team has %u members; pass a rank of the team",
		          call, root, tm->size);
}

/* Either the same or apart. */
static void
coll_check_overlap(const void *dst, const void *src, size_t len_bytes, const char *call)
{
	const uintptr_t to = (uintptr_t)dst, from = (uintptr_t)src;

	if (PSI_UNLIKELY(psi.checks) && to != from && to < from + len_bytes &&
	    from < to + len_bytes)
		psi_fatal(
			"%s: dst %p and src %p of %zu bytes overlap; pass the same address "
			"twice, or memory apart",
			call, dst, src, len_bytes);
}

gex_Event_t
gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags)
{
	const struct pcoll_call call = { .operation = PCOLL_BARRIER, .tm = tm };

	coll_check_team(tm, flags, "gex_Coll_BarrierNB");
	if (tm != psi.tm && !tm->group->barrier_area)
		return tm->size == 1 ? GEX_EVENT_INVALID : pcoll_start(&call);
	pcoll_pass(tm);
	return pcoll_barrier_start(tm);
}

gex_Event_t
gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
                     gex_Flags_t flags)
{
	const struct pcoll_call call = {
		.operation = PCOLL_BROADCAST, .tm = tm, .root = root, .dst = dst, .src = src,
		.len_bytes = nbytes,
	};
	const char *name = "gex_Coll_BroadcastNB";

	coll_check_team(tm, flags, name);
	coll_check_root(tm, root, name);
	if (nbytes == 0)
		return GEX_EVENT_INVALID;
	psi_check_bytes(nbytes, 1, name);
	psi_check_buffer(dst, nbytes, "dst", name);
	if (tm->rank == root) {
		psi_check_buffer(src, nbytes, "src", name);
		coll_check_overlap(dst, src, nbytes, name);
	}
	if (tm->size > 1)
		return pcoll_start(&call);
	if (dst != src)
		psi_copy(dst, src, nbytes);
	return GEX_EVENT_INVALID;
}

/* -- reductions -------------------------------------------------------------------------------- */

/* The arguments that both have. */
struct reduction {
	void *dst;
	const void *src;
	gex_DT_t dt;
	size_t dt_sz, dt_cnt;
	gex_OP_t op;
	gex_Coll_ReduceFn_t user_op;
	void *user_cdata;
};

static bool
op_is_user(gex_OP_t op)
{
	return op == GEX_OP_USER || op == GEX_OP_USER_NC;
}

static void
coll_check_type(const struct reduction *in, const char *call)
{
	const size_t bytes = pcoll_type_bytes(in->dt);

	if (PSI_UNLIKELY(!bytes && in->dt != GEX_DT_USER))
		psi_fatal("%s: dt 0x%x is no type; pass one of GEX_DT_*", call, in->dt);
	if (PSI_UNLIKELY(!in->dt_sz || (bytes && in->dt_sz != bytes)))
		psi_fatal("%s: dt_sz is %zu, and the type has %s; pass its sizeof", call, in->dt_sz,
		          !bytes ? "at least one byte" : bytes == 4 ? "4 bytes" : "8 bytes");
	if (PSI_UNLIKELY(!in->dt_cnt || !psi_fits_memory(in->dt_cnt, in->dt_sz)))
		psi_fatal(
			"%s: dt_cnt is %zu elements of %zu bytes; pass at least one, and no more "
			"than fit in memory",
			call, in->dt_cnt, in->dt_sz);
	if (PSI_UNLIKELY(psi.checks && bytes &&
	                 ((uintptr_t)in->src | (uintptr_t)in->dst) % bytes != 0))
		psi_fatal(
			"%s: dst %p or src %p is not aligned for elements of %zu bytes; align them",
			call, in->dst, in->src, bytes);
}

static void
coll_check_op(const struct reduction *in, const char *call)
{
	if (op_is_user(in->op)) {
		if (PSI_UNLIKELY(!in->user_op))
			psi_fatal("%s: user_op is NULL, and op is the user's; pass a function",
			          call);
		return;
	}
	if (PSI_UNLIKELY(!pcoll_builtin(in->dt, in->op)))
		psi_fatal(
			"%s: op 0x%x cannot reduce type 0x%x; pass ADD, MULT, MIN or MAX, "
			"with integers also AND, OR or XOR, else GEX_OP_USER",
			call, in->op, in->dt);
}

static gex_Event_t
reduction_start(enum pcoll_operation operation, gex_TM_t tm, gex_Rank_t root,
                const struct reduction *in, const char *name)
{
	const bool gets = operation == PCOLL_REDUCE_TO_ALL || tm->rank == root;
	const size_t len_bytes = in->dt_sz * in->dt_cnt;
	const struct pcoll_call call = {
		.operation = operation, .tm = tm, .root = root, .dst = gets ? in->dst : NULL,
		.src = in->src, .len_bytes = len_bytes,
		.reduction = {
			.elem_bytes = in->dt_sz,
			.combine = op_is_user(in->op) ? in->user_op : pcoll_builtin(in->dt, in->op),
			.cdata = in->user_cdata,
			.ordered = in->op == GEX_OP_USER_NC,
		},
	};

	psi_check_buffer(in->src, len_bytes, "src", name);
	if (gets) {
		psi_check_buffer(in->dst, len_bytes, "dst", name);
		coll_check_overlap(in->dst, in->src, len_bytes, name);
	}
	if (tm->size > 1)
		return pcoll_start(&call);
	if (in->dst != in->src)
		psi_copy(in->dst, in->src, len_bytes);
	return GEX_EVENT_INVALID;
}

gex_Event_t
gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt,
                       size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                       void *user_cdata, gex_Flags_t flags)
{
	const char *name = "gex_Coll_ReduceToOneNB";
	struct reduction in = { dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata };

	coll_check_team(tm, flags, name);
	coll_check_root(tm, root, name);
	if (tm->rank != root)
		in.dst = NULL;
	coll_check_type(&in, name);
	coll_check_op(&in, name);
	return reduction_start(PCOLL_REDUCE_TO_ONE, tm, root, &in, name);
}

gex_Event_t
gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz,
                       size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata,
                       gex_Flags_t flags)
{
	const char *name = "gex_Coll_ReduceToAllNB";
	const struct reduction in = { dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata };

	coll_check_team(tm, flags, name);
	coll_check_type(&in, name);
	coll_check_op(&in, name);
	return reduction_start(PCOLL_REDUCE_TO_ALL, tm, 0, &in, name);
}
