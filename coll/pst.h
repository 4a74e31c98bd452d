/* What the calls of penstock_coll.h have in common: pcoll_pst.c moves data, pcoll_pst_reduce.c
 * reduces, and plan.c keeps calls for later. */
#ifndef PCOLL_PST_H
#define PCOLL_PST_H

#include "coll/checks.h"

enum {
	PCOLL_IN_FLAGS = PST_IN_NOSYNC | PST_IN_MYSYNC | PST_IN_ALLSYNC,
	PCOLL_OUT_FLAGS = PST_OUT_NOSYNC | PST_OUT_MYSYNC | PST_OUT_ALLSYNC,
};

/* Checks flags; `allowed' adds to those that all calls take. */
void pcoll_pst_check_flags(gex_Flags_t flags, gex_Flags_t allowed, const char *call);
/* Checks team and flags, and returns a call with these. */
struct pcoll_call pcoll_pst_call(gex_TM_t tm, struct pcoll_what what, gex_Flags_t flags,
                                 gex_Flags_t allowed);
/* Starts a call whose arguments have passed.  A call of no bytes is complete at once, and so it is
 * on all members; one with lists may have bytes elsewhere. */
gex_Event_t pcoll_pst_start(const struct pcoll_call *call);
/* Makes a plan of the call; returns what pst_X_plan returns.  Of flags only PST_PLAN_REBIND is
 * read. */
int pcoll_plan_make(const struct pcoll_call *call, pst_plan_t *plan_out, gex_Flags_t flags);

/*
 * Defines pst_X_nb and pst_X_plan from a function X_call, which checks the arguments and returns
 * the call.  `typed' are the arguments with types, `plain' without; team and flags are in neither.
 */
#define PCOLL_PST_FORMS(name, typed, plain)                                                       \
	gex_Event_t pst_##name##_nb(gex_TM_t tm, PCOLL_PST_ARGS typed gex_Flags_t flags)          \
	{                                                                                   \
		const struct pcoll_call call = name##_call(tm, PCOLL_PST_ARGS plain flags);       \
                                                                                            \
		return pcoll_pst_start(&call);                                              \
	}                                                                                   \
	int pst_##name##_plan(gex_TM_t tm, PCOLL_PST_ARGS typed pst_plan_t *plan_out,             \
	                      gex_Flags_t flags)                                            \
	{                                                                                   \
		const struct pcoll_call call =                                              \
			name##_call(tm, PCOLL_PST_ARGS plain flags & ~PST_PLAN_REBIND);           \
                                                                                            \
		return pcoll_plan_make(&call, plan_out, flags);                             \
	}
#define PCOLL_PST_ARGS(...) __VA_ARGS__,

/* The arguments of a reduction. */
#define RED                                                                                 \
	gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, \
		void *user_cdata
#define RED_PASSED dt, dt_sz, dt_cnt, op, user_op, user_cdata

#endif
