/* The calls of gasnet_coll.h, and barriers of teams.  Each checks its arguments and starts the
 * call: by flags, by cells or by the engine. */
#include "coll/checks.h"
#include "coll/pcoll_barrier.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

#include "runtime/util/copy.h"

/* A barrier that is a call of the engine. */
static gex_Event_t
barrier_by_messages(gex_TM_t tm, enum pcoll_api api)
{
	const struct pcoll_call call = { .what = { PCOLL_BARRIER, api }, .tm = tm };

	return tm->size == 1 ? GEX_EVENT_INVALID : pcoll_start(&call);
}

/* The job's barrier has phases of its own, by messages too (pcoll_barrier.h); with PST_CHECK it is
 * a call like others there. */
static inline bool
is_by_messages(gex_TM_t tm)
{
	if (PSI_LIKELY(tm == psi.tm))
		return PSI_UNLIKELY(psi.checks) && !pcoll_barrier_of_job_is_shared();
	return !tm->group->barrier_area || PSI_UNLIKELY(pcoll_barrier_is_for_messages(tm->size));
}

gex_Event_t
pcoll_team_barrier(gex_TM_t tm, enum pcoll_api api)
{
	if (is_by_messages(tm))
		return barrier_by_messages(tm, api);
	pcoll_pass(tm, api);
	return pcoll_barrier_start(tm, api);
}

gex_Event_t
gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags)
{
	pcoll_check_team(tm, "gex_Coll_BarrierNB");
	psi_check_flags(flags, 0, "gex_Coll_BarrierNB");
	return pcoll_team_barrier(tm, PCOLL_GEX);
}

gex_Event_t
gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
                     gex_Flags_t flags)
{
	const struct pcoll_call call = {
		.what = { PCOLL_BROADCAST, PCOLL_GEX }, .tm = tm, .root = root, .dst = dst,
		.src = src, .len_bytes = nbytes,
	};
	const char *name = "gex_Coll_BroadcastNB";

	pcoll_check_team(tm, name);
	psi_check_flags(flags, 0, name);
	pcoll_check_root(tm, root, name);
	if (nbytes == 0 && PSI_LIKELY(!psi.checks))
		return GEX_EVENT_INVALID;
	pcoll_check_memory(&call, name);
	if (tm->size > 1)
		return pcoll_start(&call);
	if (dst != src && nbytes)
		psi_copy(dst, src, nbytes);
	return GEX_EVENT_INVALID;
}

/* -- reductions -------------------------------------------------------------------------------- */

static gex_Event_t
reduction_start(enum pcoll_operation operation, gex_TM_t tm, gex_Rank_t root,
                const struct pcoll_reduce_args *args, const char *name)
{
	const struct pcoll_reduction reduction = pcoll_check_reduction(args, false, name);
	const bool gets = operation == PCOLL_REDUCE_TO_ALL || tm->rank == root;
	const size_t len_bytes = args->dt_sz * args->dt_cnt;
	const struct pcoll_call call = {
		.what = { operation, PCOLL_GEX }, .tm = tm, .root = root,
		.dst = gets ? args->dst : NULL, .src = args->src, .len_bytes = len_bytes,
		.reduction = reduction,
	};

	pcoll_check_memory(&call, name);
	if (tm->size > 1)
		return pcoll_start(&call);
	if (args->dst != args->src)
		psi_copy(args->dst, args->src, len_bytes);
	return GEX_EVENT_INVALID;
}

gex_Event_t
gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt,
                       size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                       void *user_cdata, gex_Flags_t flags)
{
	const char *name = "gex_Coll_ReduceToOneNB";
	struct pcoll_reduce_args args = { dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata };

	pcoll_check_team(tm, name);
	psi_check_flags(flags, 0, name);
	pcoll_check_root(tm, root, name);
	if (tm->rank != root)
		args.dst = NULL;
	return reduction_start(PCOLL_REDUCE_TO_ONE, tm, root, &args, name);
}

gex_Event_t
gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz,
                       size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata,
                       gex_Flags_t flags)
{
	const char *name = "gex_Coll_ReduceToAllNB";
	const struct pcoll_reduce_args args = { dst, src, dt, dt_sz, dt_cnt, op, user_op,
		                                user_cdata };

	pcoll_check_team(tm, name);
	psi_check_flags(flags, 0, name);
	return reduction_start(PCOLL_REDUCE_TO_ALL, tm, 0, &args, name);
}
