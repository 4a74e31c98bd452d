/* The calls of penstock_coll.h that reduce, and those of values. */
#include "coll/pst.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

#include "runtime/util/log.h"

#include <string.h>

/* -- vectors ----------------------------------------------------------------------------------- */

void
pcoll_reduction_fill(struct pcoll_call *call, const struct pcoll_reduce_args *args)
{
	call->reduction = pcoll_check_reduction(args, true, pcoll_call_name(call->what));
	call->dst = args->dst;
	call->src = args->src;
	call->len_bytes = args->dt_sz * args->dt_cnt;
}

/* All members have both vectors. */
static void
reduce_vectors(struct pcoll_call *call_out, gex_TM_t tm, enum pcoll_operation operation,
               const struct pcoll_reduce_args *args, gex_Flags_t flags)
{
	const struct pcoll_what what = { operation, PCOLL_PST };

	pcoll_pst_begin(call_out, tm, what, flags, 0);
	pcoll_reduction_fill(call_out, args);
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

static void
reduce_call(struct pcoll_call *call_out, gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
            RED, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_REDUCE_TO_ONE, PCOLL_PST };
	struct pcoll_reduce_args args = { dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata };

	pcoll_pst_begin(call_out, tm, what, flags, 0);
	pcoll_check_root(tm, root, pcoll_call_name(what));
	if (tm->rank != root && !(flags & PST_SINGLE))
		args.dst = NULL;
	pcoll_reduction_fill(call_out, &args);
	call_out->root = root;
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(reduce,
                (gex_Rank_t root, void *dst, const void *src, RED),
                (root, dst, src, RED_PASSED))

static void
allreduce_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const void *src, RED,
               gex_Flags_t flags)
{
	const struct pcoll_reduce_args args = {
		dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata
	};

	reduce_vectors(call_out, tm, PCOLL_REDUCE_TO_ALL, &args, flags);
}

PCOLL_PST_FORMS(allreduce,
                (void *dst, const void *src, RED),
                (dst, src, RED_PASSED))

static void
scan_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const void *src, RED,
          gex_Flags_t flags)
{
	const struct pcoll_reduce_args args = {
		dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata
	};

	reduce_vectors(call_out, tm, PCOLL_SCAN, &args, flags);
}

PCOLL_PST_FORMS(scan,
                (void *dst, const void *src, RED),
                (dst, src, RED_PASSED))

static void
exscan_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const void *src, RED,
            gex_Flags_t flags)
{
	const struct pcoll_reduce_args args = {
		dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata
	};

	reduce_vectors(call_out, tm, PCOLL_EXSCAN, &args, flags);
}

PCOLL_PST_FORMS(exscan,
                (void *dst, const void *src, RED),
                (dst, src, RED_PASSED))

/* -- blocks ------------------------------------------------------------------------------------ */

static void
reduce_scatter_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const void *src, RED,
                    gex_Flags_t flags)
{
	const struct pcoll_reduce_args args = {
		dst, src, dt, dt_sz, dt_cnt, op, user_op, user_cdata
	};

	reduce_vectors(call_out, tm, PCOLL_REDUCE_SCATTER, &args, flags);
}

PCOLL_PST_FORMS(reduce_scatter,
                (void *dst, const void *src, RED),
                (dst, src, RED_PASSED))

/* The elements of all blocks. */
static size_t
cnts_sum(gex_TM_t tm, const size_t *cnts, const char *name)
{
	size_t sum = 0;

	psi_check_list(cnts, tm->size, sizeof *cnts, "cnts", name);
	for (gex_Rank_t rank = 0; rank < tm->size; rank++)
		if (PSI_UNLIKELY(__builtin_add_overflow(sum, cnts[rank], &sum)))
			psi_check_bytes(SIZE_MAX, 1, name);
	return sum;
}

static void
reduce_scatterv_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const void *src,
                     const size_t *cnts, RED, gex_Flags_t flags)
{
	const struct pcoll_reduce_args args = { dst, src, dt, dt_sz, dt_cnt, op, user_op,
		                                user_cdata };
	const struct pcoll_what what = { PCOLL_REDUCE_SCATTER, PCOLL_PST_LISTS };
	const char *name = pcoll_call_name(what);
	size_t sum;

	pcoll_pst_begin(call_out, tm, what, flags, 0);
	pcoll_reduction_fill(call_out, &args);
	sum = cnts_sum(tm, cnts, name);
	if (PSI_UNLIKELY(sum != dt_cnt))
		psi_fatal("%s: dt_cnt is %zu, and the blocks have %zu elements; pass their sum",
		          name, dt_cnt, sum);
	call_out->src_counts = (struct pcoll_counts){ .counts = cnts, .unit_bytes = dt_sz };
	call_out->len_bytes = cnts[tm->rank] * dt_sz;
	pcoll_check_memory(call_out, name);
}

PCOLL_PST_FORMS(reduce_scatterv,
                (void *dst, const void *src, const size_t *cnts, RED),
                (dst, src, cnts, RED_PASSED))

/* -- values ------------------------------------------------------------------------------------ */

/* Values have up to 8 bytes; out[1] says how many. */
static void
value_finish(const struct pcoll_scalar *scalar)
{
	memcpy(scalar->result_out, scalar->out, (size_t)scalar->out[1]);
}

static void
value_call(struct pcoll_call *call_out, gex_TM_t tm, enum pcoll_operation operation, gex_DT_t dt,
           const void *value, void *result_out, gex_Flags_t flags)
{
	const struct pcoll_what what = { operation, PCOLL_PST_VALUE };
	const size_t bytes = pcoll_type_bytes(dt);

	pcoll_pst_begin(call_out, tm, what, flags, 0);
	psi_check_buffer(result_out, bytes, "result_out", pcoll_call_name(what));
	call_out->len_bytes = bytes;
	memcpy(call_out->scalar.in, value, bytes);
	call_out->scalar.out[1] = bytes;
	call_out->scalar.result_out = result_out;
	call_out->scalar.finish = value_finish;
}

static void
value_reduce(struct pcoll_call *call, gex_DT_t dt, gex_OP_t op)
{
	const struct pcoll_reduce_args args = {
		.dt = dt, .dt_sz = call->len_bytes, .dt_cnt = 1, .op = op,
	};

	call->reduction = pcoll_check_reduction(&args, true, pcoll_call_name(call->what));
}

gex_Event_t
psi_coll_bcast_value(gex_TM_t tm, gex_Rank_t root, gex_DT_t dt, const void *value, void *result_out,
                     gex_Flags_t flags)
{
	struct pcoll_call call;

	value_call(&call, tm, PCOLL_BROADCAST, dt, value, result_out, flags);
	pcoll_check_root(tm, root, pcoll_call_name(call.what));
	call.root = root;
	return pcoll_start(&call);
}

gex_Event_t
psi_coll_allreduce_value(gex_TM_t tm, gex_DT_t dt, const void *value, gex_OP_t op, void *result_out,
                         gex_Flags_t flags)
{
	struct pcoll_call call;

	value_call(&call, tm, PCOLL_REDUCE_TO_ALL, dt, value, result_out, flags);
	value_reduce(&call, dt, op);
	return pcoll_start(&call);
}

gex_Event_t
psi_coll_exscan_value(gex_TM_t tm, gex_DT_t dt, const void *value, gex_OP_t op,
                      const void *at_rank0, void *result_out, gex_Flags_t flags)
{
	struct pcoll_call call;

	value_call(&call, tm, PCOLL_EXSCAN, dt, value, result_out, flags);
	value_reduce(&call, dt, op);
	memcpy(call.scalar.out, at_rank0, call.len_bytes);
	return pcoll_start(&call);
}

bool
pcoll_plan_all_have(gex_TM_t tm, bool has)
{
	const uint32_t own = has;
	uint32_t least;
	struct pcoll_call call;

	value_call(&call, tm, PCOLL_REDUCE_TO_ALL, GEX_DT_U32, &own, &least, 0);
	call.what.api = PCOLL_PST_PLAN;
	value_reduce(&call, GEX_DT_U32, GEX_OP_MIN);
	gex_Event_Wait(pcoll_start(&call));
	return least != 0;
}

/* -- barriers with values ---------------------------------------------------------------------- */

/* A value that some member passes, and its rank; and another member's that differs.  0 for a rank
 * and 1: there is none. */
struct named {
	uint32_t rank_and_1, other_rank_and_1;
	int32_t id, other_id;
};

static struct named
named_both(struct named left, struct named right)
{
	if (left.other_rank_and_1 || !right.rank_and_1)
		return left;
	if (right.other_rank_and_1 || !left.rank_and_1 || left.id == right.id)
		return right;
	left.other_rank_and_1 = right.rank_and_1;
	left.other_id = right.id;
	return left;
}

static void
named_combine(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	const struct named *left = left_p;
	struct named *out = out_p;

	(void)cdata;
	for (size_t i = 0; i < count; i++)
		out[i] = named_both(left[i], out[i]);
}

static struct named
named_result(const struct pcoll_scalar *scalar)
{
	struct named all;

	memcpy(&all, scalar->out, sizeof all);
	return all;
}

static void
named_finish(const struct pcoll_scalar *scalar)
{
	const bool differ = named_result(scalar).other_rank_and_1 != 0;

	*(int *)scalar->result_out = differ ? PST_ERR_BARRIER_MISMATCH : GASNET_OK;
}

/* Rank 0 says for all which values differ. */
static void
named_finish_aloud(const struct pcoll_scalar *scalar)
{
	const struct named all = named_result(scalar);

	named_finish(scalar);
	if (all.other_rank_and_1 && gex_System_GetVerboseErrors())
		psi_log("pst_barrier_value: rank %u passes %d, and rank %u passes %d",
		        all.rank_and_1 - 1, all.id, all.other_rank_and_1 - 1, all.other_id);
}

gex_Event_t
pst_barrier_value_nb(gex_TM_t tm, int value, int *result_out, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_REDUCE_TO_ALL, PCOLL_PST_BARRIER };
	struct named own = { .id = value };
	struct pcoll_call call;

	pcoll_pst_begin(&call, tm, what, flags, PST_BARRIER_ANONYMOUS);
	psi_check_buffer(result_out, sizeof *result_out, "result_out", pcoll_call_name(what));
	call.len_bytes = sizeof(struct named);
	call.reduction = (struct pcoll_reduction){
		.elem_bytes = sizeof(struct named), .combine = named_combine,
	};
	own.rank_and_1 = flags & PST_BARRIER_ANONYMOUS ? 0 : tm->rank + 1;
	_Static_assert(sizeof own <= sizeof call.scalar.in, "a value takes no more");
	memcpy(call.scalar.in, &own, sizeof own);
	call.scalar.result_out = result_out;
	call.scalar.finish = tm->rank ? named_finish : named_finish_aloud;
	return pcoll_start(&call);
}
