/* What the calls of penstock_coll.h have in common: pcoll_pst.c moves data, pcoll_pst_reduce.c
 * reduces, and plan.c keeps calls for later. */
#ifndef PCOLL_PST_H
#define PCOLL_PST_H

#include "coll/checks.h"

/* A call with its team and ways to synchronise, which have passed; `allowed' are flags beside the
 * usual ones. */
struct pcoll_call pcoll_pst_call(gex_TM_t tm, struct pcoll_what what, gex_Flags_t flags,
                                 gex_Flags_t allowed);
/* A buffer of that many blocks. */
void pcoll_pst_check_side(const struct pcoll_call *call, const void *addr, size_t nbytes,
                          size_t blocks, const char *name);
/* Starts a call whose arguments have passed.  A call of no bytes is complete at once, and so it is
 * on all members; one with lists may have bytes elsewhere. */
gex_Event_t pcoll_pst_start(const struct pcoll_call *call);
/* Keeps it for later; what its creating call returns.  Of the flags, REBIND counts. */
int pcoll_plan_make(const struct pcoll_call *call, pst_plan_t *plan_out, gex_Flags_t flags);

/*
 * The two forms of a call in the library, from a function <name>_call that checks the arguments and
 * returns the call.  The arguments but team and flags, with their types, and without.
 */
#define PST_FORMS(name, typed, plain)                                                       \
	gex_Event_t pst_##name##_nb(gex_TM_t tm, PST_ARGS typed gex_Flags_t flags)          \
	{                                                                                   \
		const struct pcoll_call call = name##_call(tm, PST_ARGS plain flags);       \
                                                                                            \
		return pcoll_pst_start(&call);                                              \
	}                                                                                   \
	int pst_##name##_plan(gex_TM_t tm, PST_ARGS typed pst_plan_t *plan_out,             \
	                      gex_Flags_t flags)                                            \
	{                                                                                   \
		const struct pcoll_call call =                                              \
			name##_call(tm, PST_ARGS plain flags & ~PST_PLAN_REBIND);           \
                                                                                            \
		return pcoll_plan_make(&call, plan_out, flags);                             \
	}
#define PST_ARGS(...) __VA_ARGS__,

/* The arguments of a reduction. */
#define RED                                                                                 \
	gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, \
		void *user_cdata
#define RED_PASSED dt, dt_sz, dt_cnt, op, user_op, user_cdata

#endif
