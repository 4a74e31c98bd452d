/*
 * penstock_coll.h: the full set of collectives over a team. Each collective X has three forms,
 * which PSI_COLL_CALL declares from X and its arguments ARGS:
 *
 *   gex_Event_t pst_X_nb(gex_TM_t tm, ARGS, gex_Flags_t flags);                   C I
 *   void pst_X(gex_TM_t tm, ARGS, gex_Flags_t flags);                             C W
 *   int pst_X_plan(gex_TM_t tm, ARGS, pst_plan_t *plan_out, gex_Flags_t flags);   C W
 *
 * Marks are those of penstock_sem.h. C: all members of the team make the call. They make the same
 * calls of this header and of gasnet_coll.h on a team in the same order. Any number may be under
 * way. pst_X_nb waits for no other member and returns a root event, which any thread syncs once.
 * Threads: any thread may call; if several threads of a rank call, the client puts them in order.
 * Errors: a wrong argument ends the job with one line (docs/misuse.md). Below, r is the own rank
 * and n the size of the team.
 *
 *   call              dst after it                                        in place
 *   barrier           (an event is done when all have called)
 *   bcast             the root's src                                      root: dst == src
 *   scatter           block r of the root's src                           root: dst is block r
 *   gather            of the root: block i is the src of rank i           root: src is block r
 *   gather_all        the same, on every rank                             src is block r
 *   exchange          block i is block r of the src of rank i             dst == src
 *   exchangev         the same                                            never
 *   permute           the src of the rank whose target is r; each rank    never
 *                     is the target of one rank
 *   reduce            of the root: element by element over all src        root: dst == src
 *   allreduce         the same, the same bits on every rank               dst == src
 *   reduce_scatter    block r of the reduction of n blocks                dst is block r of src
 *   scan, exscan      over ranks 0 to r; over ranks 0 to r - 1, which     dst == src
 *                     at rank 0 leaves dst as it is
 *
 * nbytes is the length of a vector or of one block; blocks follow each other. Calls that end in v
 * have blocks of counts[i] bytes at displs[i] bytes (reduce_scatterv: of cnts[i] elements). displs
 * NULL: the blocks follow each other. With PST_LOCAL, arguments that a rank does not need are
 * ignored there. With PST_SINGLE every rank passes every pointer.
 *
 * Buffers are any memory; elements of built-in types are aligned. Until the event is synced the
 * caller changes neither src nor the arrays, and does not touch dst; with PST_OUT_NOSYNC until the
 * events of all ranks are synced. Plans copy the arrays. Buffers overlap only as in the column
 * "in place", and then on all ranks that have both; blocks of one dst never do. Lengths of 0 are
 * allowed; such a call need not wait for anybody (with PST_CHECK it does). Many mistakes are
 * looked for with PST_CHECK alone, such as roots, types or flags that differ, two ranks with one
 * target, and memory that overlaps: docs/misuse.md, last column. "Call 5 on its team" in a message
 * is counted from 0, with calls that the library makes itself, as when a segment is attached.
 *
 * Reductions take the types, operators and functions of gasnet_coll.h and those below.
 * GEX_OP_USER_NC combines in the order of ranks. dt_cnt may be 0.
 *
 * flags: at most one of IN, one of OUT and one of SINGLE and LOCAL, and REPRODUCIBLE; no
 * GEX_FLAG_*. All members pass the same flags, but for PST_BARRIER_ANONYMOUS.
 *
 * Source: UPC Collective Operations Specifications 1.2 (ways to synchronise); MPI (v and persistent
 * forms).
 */
#ifndef PENSTOCK_COLL_H
#define PENSTOCK_COLL_H

#include "gasnet_coll.h"

#define PST_IN_NOSYNC    0x001u /* data may move once any rank has entered, this rank's too */
#define PST_IN_MYSYNC    0x002u /* default: a rank's buffers are touched only after it entered */
#define PST_IN_ALLSYNC   0x004u /* nothing is touched before all have entered */
#define PST_OUT_NOSYNC   0x008u /* buffers are final when all ranks' events are done */
#define PST_OUT_MYSYNC   0x010u /* default: the caller's own buffers are final and free */
#define PST_OUT_ALLSYNC  0x020u /* done when all buffers everywhere are final */
#define PST_SINGLE       0x040u /* every pointer is at the same offset of each bound segment */
#define PST_LOCAL        0x080u /* default: each rank passes its own addresses */
#define PST_REPRODUCIBLE 0x100u /* the same bits in every run with as many ranks and elements */
#define PST_BARRIER_ANONYMOUS 0x200u /* barrier_value: this rank matches any value */
#define PST_PLAN_REBIND  0x400u /* plans: addresses may change */

/* Types and operators of these calls alone. LAND and LOR give 0 or 1 where two or more operands are
 * combined; a single operand is the result as it is. */
#define PST_DT_I8   (1u << 8)
#define PST_DT_U8   (1u << 9)
#define PST_DT_I16  (1u << 10)
#define PST_DT_U16  (1u << 11)
#define PST_DT_LDBL (1u << 12) /* long double */
#define PST_OP_LAND (1u << 12)
#define PST_OP_LOR  (1u << 13)

PSI_BEGIN_DECLS

/*
 * A plan is a call that is made once and run many times. pst_X_plan takes the arguments of pst_X
 * and copies its arrays. It returns 0, or GASNET_ERR_RESOURCE; all members get the same. Values
 * have no plans.
 */
typedef struct pst_plan_s *pst_plan_t;
#define PST_PLAN_INVALID _GEX_NULL(pst_plan_t)

/* I. Starts a run. The k-th start of a plan belongs to the k-th start elsewhere. Starts have no
 * order with other calls or with starts of other plans. A rank syncs the event of a run before it
 * starts the next one. */
PSI_API gex_Event_t pst_plan_start(pst_plan_t plan);
/* L. Changes this rank's addresses between runs: with PST_LOCAL on any rank alone, with PST_SINGLE
 * on all ranks to one offset. Returns 0, or GASNET_ERR_BAD_ARG without PST_PLAN_REBIND. */
PSI_API int pst_plan_rebind(pst_plan_t plan, void *dst, const void *src);
/* C W. All members call it, with no run under way and before they destroy the team. flags are 0. */
PSI_API void pst_plan_free(pst_plan_t plan, gex_Flags_t flags);

#define PSI_COLL_RED                                                      \
	gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, \
		void *user_cdata
#define PSI_COLL_RED_PASSED dt, dt_sz, dt_cnt, op, user_op, user_cdata

/* A call by its name, its arguments with their types, and without: the form that returns an event,
 * the one that makes a plan, and the one that waits. */
#define PSI_COLL_CALL(name, typed, plain)                                     \
	PSI_API gex_Event_t pst_##name##_nb(gex_TM_t tm, PSI_COLL_ARGS typed gex_Flags_t flags); \
	PSI_API int pst_##name##_plan(gex_TM_t tm, PSI_COLL_ARGS typed pst_plan_t *plan_out, \
				      gex_Flags_t flags);                     \
	static inline void pst_##name(gex_TM_t tm, PSI_COLL_ARGS typed gex_Flags_t flags) \
	{                                                                     \
		gex_Event_Wait(pst_##name##_nb(tm, PSI_COLL_ARGS plain flags)); \
	}
#define PSI_COLL_ARGS(...) __VA_ARGS__,

PSI_API gex_Event_t pst_barrier_nb(gex_TM_t tm, gex_Flags_t flags);
PSI_API int pst_barrier_plan(gex_TM_t tm, pst_plan_t *plan_out, gex_Flags_t flags);
static inline void
pst_barrier(gex_TM_t tm, gex_Flags_t flags)
{
	gex_Event_Wait(pst_barrier_nb(tm, flags));
}

PSI_COLL_CALL(bcast, (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
	      (root, dst, src, nbytes))
PSI_COLL_CALL(scatter, (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
	      (root, dst, src, nbytes))
PSI_COLL_CALL(scatterv,
	      (gex_Rank_t root, void *dst, size_t dst_nbytes, const void *src,
	       const size_t *counts, const size_t *displs),
	      (root, dst, dst_nbytes, src, counts, displs))
PSI_COLL_CALL(gather, (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
	      (root, dst, src, nbytes))
PSI_COLL_CALL(gatherv,
	      (gex_Rank_t root, void *dst, const size_t *counts, const size_t *displs,
	       const void *src, size_t src_nbytes),
	      (root, dst, counts, displs, src, src_nbytes))
PSI_COLL_CALL(gather_all, (void *dst, const void *src, size_t nbytes), (dst, src, nbytes))
/* counts is the same on all ranks, displs each rank's own. */
PSI_COLL_CALL(gather_allv,
	      (void *dst, const size_t *counts, const size_t *displs, const void *src,
	       size_t src_nbytes),
	      (dst, counts, displs, src, src_nbytes))
PSI_COLL_CALL(exchange, (void *dst, const void *src, size_t nbytes), (dst, src, nbytes))
PSI_COLL_CALL(exchangev,
	      (void *dst, const size_t *dst_counts, const size_t *dst_displs, const void *src,
	       const size_t *src_counts, const size_t *src_displs),
	      (dst, dst_counts, dst_displs, src, src_counts, src_displs))
PSI_COLL_CALL(permute, (gex_Rank_t target, void *dst, const void *src, size_t nbytes),
	      (target, dst, src, nbytes))

PSI_COLL_CALL(reduce, (gex_Rank_t root, void *dst, const void *src, PSI_COLL_RED),
	      (root, dst, src, PSI_COLL_RED_PASSED))
PSI_COLL_CALL(allreduce, (void *dst, const void *src, PSI_COLL_RED),
	      (dst, src, PSI_COLL_RED_PASSED))
/* dt_cnt elements in each block; and cnts[i], the same on all ranks, of which dt_cnt is the sum. */
PSI_COLL_CALL(reduce_scatter, (void *dst, const void *src, PSI_COLL_RED),
	      (dst, src, PSI_COLL_RED_PASSED))
PSI_COLL_CALL(reduce_scatterv, (void *dst, const void *src, const size_t *cnts, PSI_COLL_RED),
	      (dst, src, cnts, PSI_COLL_RED_PASSED))
PSI_COLL_CALL(scan, (void *dst, const void *src, PSI_COLL_RED), (dst, src, PSI_COLL_RED_PASSED))
PSI_COLL_CALL(exscan, (void *dst, const void *src, PSI_COLL_RED), (dst, src, PSI_COLL_RED_PASSED))

/* -- values ------------------------------------------------------------------------------------ */

#define PST_ERR_BARRIER_MISMATCH GASNET_ERR_BARRIER_MISMATCH

/* *result_out is 0, or PST_ERR_BARRIER_MISMATCH on every rank if two ranks passed different values;
 * then rank 0 of the team prints two that differ, if it has verbose errors on
 * (gex_System_SetVerboseErrors). The other form returns it. */
PSI_API gex_Event_t pst_barrier_value_nb(gex_TM_t tm, int value, int *result_out,
					 gex_Flags_t flags);
static inline int
pst_barrier_value(gex_TM_t tm, int value, gex_Flags_t flags)
{
	int result = 0;

	gex_Event_Wait(pst_barrier_value_nb(tm, value, &result, flags));
	return result;
}

/* What the calls of all types have in common: the value is at `value', of type dt. */
PSI_API gex_Event_t psi_coll_bcast_value(gex_TM_t tm, gex_Rank_t root, gex_DT_t dt,
					 const void *value, void *result_out, gex_Flags_t flags);
PSI_API gex_Event_t psi_coll_allreduce_value(gex_TM_t tm, gex_DT_t dt, const void *value,
					     gex_OP_t op, void *result_out, gex_Flags_t flags);
PSI_API gex_Event_t psi_coll_exscan_value(gex_TM_t tm, gex_DT_t dt, const void *value,
					  gex_OP_t op, const void *at_rank0, void *result_out,
					  gex_Flags_t flags);

/* The root's value; the reduction of all; that of the ranks below, and at_rank0 at rank 0. The
 * forms without _nb return the result. op is a built-in operator. */
#define PSI_COLL_VALUES(DT, type)                                                          \
	static inline gex_Event_t pst_bcast_value_nb_##DT(                                 \
		gex_TM_t tm, gex_Rank_t root, type value, type *result_out, gex_Flags_t flags) \
	{                                                                                  \
		return psi_coll_bcast_value(tm, root, GEX_DT_##DT, &value, result_out, flags); \
	}                                                                                  \
	static inline type pst_bcast_value_##DT(gex_TM_t tm, gex_Rank_t root, type value,  \
						gex_Flags_t flags)                         \
	{                                                                                  \
		type result = value;                                                       \
                                                                                           \
		gex_Event_Wait(pst_bcast_value_nb_##DT(tm, root, value, &result, flags));  \
		return result;                                                             \
	}                                                                                  \
	static inline gex_Event_t pst_allreduce_value_nb_##DT(                             \
		gex_TM_t tm, type value, gex_OP_t op, type *result_out, gex_Flags_t flags) \
	{                                                                                  \
		return psi_coll_allreduce_value(tm, GEX_DT_##DT, &value, op, result_out,   \
						flags);                                    \
	}                                                                                  \
	static inline type pst_allreduce_value_##DT(gex_TM_t tm, type value, gex_OP_t op,  \
						    gex_Flags_t flags)                     \
	{                                                                                  \
		type result = value;                                                       \
                                                                                           \
		gex_Event_Wait(pst_allreduce_value_nb_##DT(tm, value, op, &result, flags)); \
		return result;                                                             \
	}                                                                                  \
	static inline gex_Event_t pst_exscan_value_nb_##DT(gex_TM_t tm, type value,        \
							   gex_OP_t op, type at_rank0,     \
							   type *result_out, gex_Flags_t flags) \
	{                                                                                  \
		return psi_coll_exscan_value(tm, GEX_DT_##DT, &value, op, &at_rank0,       \
					     result_out, flags);                           \
	}                                                                                  \
	static inline type pst_exscan_value_##DT(gex_TM_t tm, type value, gex_OP_t op,     \
						 type at_rank0, gex_Flags_t flags)         \
	{                                                                                  \
		type result = at_rank0;                                                    \
                                                                                           \
		gex_Event_Wait(                                                            \
			pst_exscan_value_nb_##DT(tm, value, op, at_rank0, &result, flags)); \
		return result;                                                             \
	}

PSI_COLL_VALUES(I32, int32_t)
PSI_COLL_VALUES(U32, uint32_t)
PSI_COLL_VALUES(I64, int64_t)
PSI_COLL_VALUES(U64, uint64_t)
PSI_COLL_VALUES(FLT, float)
PSI_COLL_VALUES(DBL, double)

PSI_END_DECLS

#undef PSI_COLL_VALUES
#undef PSI_COLL_CALL
#undef PSI_COLL_ARGS
#undef PSI_COLL_RED
#undef PSI_COLL_RED_PASSED

#endif
