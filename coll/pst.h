/* What the calls of penstock_coll.h have in common: pcoll_pst.c moves data, pcoll_pst_reduce.c
 * reduces, and plan.c keeps calls for later. */
#ifndef PCOLL_PST_H
#define PCOLL_PST_H

#include "coll/checks.h"

enum {
	PCOLL_IN_FLAGS = PST_IN_NOSYNC | PST_IN_MYSYNC | PST_IN_ALLSYNC,
	PCOLL_OUT_FLAGS = PST_OUT_NOSYNC | PST_OUT_MYSYNC | PST_OUT_ALLSYNC,
	PCOLL_ADDRESS_FLAGS = PST_SINGLE | PST_LOCAL,
	/* What all calls take. */
	PCOLL_PST_FLAGS = PCOLL_IN_FLAGS | PCOLL_OUT_FLAGS | PCOLL_ADDRESS_FLAGS | PST_REPRODUCIBLE,
};

/* Ends the job: says which flags the call does not take, or which exclude each other. */
void pcoll_pst_flags_bad(gex_Flags_t flags, gex_Flags_t allowed, const char *call)
	__attribute__((noreturn, cold));

/* Checks flags; `allowed' adds to those that all calls take. */
static inline void
pcoll_pst_check_flags(gex_Flags_t flags, gex_Flags_t allowed, const char *call)
{
	const gex_Flags_t in = flags & PCOLL_IN_FLAGS, out = flags & PCOLL_OUT_FLAGS;
	const gex_Flags_t address = flags & PCOLL_ADDRESS_FLAGS;

	if (PSI_UNLIKELY((flags & ~(allowed | PCOLL_PST_FLAGS)) || (in & (in - 1)) ||
	                 (out & (out - 1)) || (address & (address - 1))))
		pcoll_pst_flags_bad(flags, allowed, call);
}

/* Checks team and flags, and begins a call with these.  It is written where it stays, since small
 * calls feel each copy. */
static inline void
pcoll_pst_begin(struct pcoll_call *call_out, gex_TM_t tm, struct pcoll_what what,
                gex_Flags_t flags, gex_Flags_t allowed)
{
	pcoll_check_team(tm, pcoll_call_name(what));
	pcoll_pst_check_flags(flags, allowed, pcoll_call_name(what));
	*call_out = (struct pcoll_call){
		.what = what, .tm = tm, .in_all = flags & PST_IN_ALLSYNC,
		.out_all = flags & PST_OUT_ALLSYNC, .reproducible = flags & PST_REPRODUCIBLE,
		.flags = psi.checks ? flags : 0,
	};
}

/* Checks the arguments of a permutation, or of a reduction's elements, and writes them. */
void pcoll_permute_fill(struct pcoll_call *call, gex_Rank_t target, void *dst, const void *src,
                        size_t nbytes);
void pcoll_reduction_fill(struct pcoll_call *call, const struct pcoll_reduce_args *args);
/* Starts a call whose arguments have passed.  A call of no bytes is complete at once, and so it is
 * on all members; one with lists may have bytes elsewhere.  With PST_CHECK members of one of no
 * bytes meet too, so that one that passes bytes is found. */
gex_Event_t pcoll_pst_start(const struct pcoll_call *call);
/* Makes a plan of the call; returns what pst_X_plan returns.  Of flags only PST_PLAN_REBIND is
 * read. */
int pcoll_plan_make(const struct pcoll_call *call, pst_plan_t *plan_out, gex_Flags_t flags);
/* A call of all members, which make a plan.  Returns true on all if `has' is true on all. */
bool pcoll_plan_all_have(gex_TM_t tm, bool has);

/*
 * Defines pst_X_nb and pst_X_plan from a function X_call, which checks the arguments and writes
 * the call.  `typed' are the arguments with types, `plain' without; team and flags are in neither.
 */
#define PCOLL_PST_FORMS(name, typed, plain)                                                       \
	gex_Event_t pst_##name##_nb(gex_TM_t tm, PCOLL_PST_ARGS typed gex_Flags_t flags)          \
	{                                                                                   \
		struct pcoll_call call;                                                     \
                                                                                            \
		name##_call(&call, tm, PCOLL_PST_ARGS plain flags);                               \
		return pcoll_pst_start(&call);                                              \
	}                                                                                   \
	int pst_##name##_plan(gex_TM_t tm, PCOLL_PST_ARGS typed pst_plan_t *plan_out,             \
	                      gex_Flags_t flags)                                            \
	{                                                                                   \
		struct pcoll_call call;                                                     \
                                                                                            \
		name##_call(&call, tm, PCOLL_PST_ARGS plain flags & ~PST_PLAN_REBIND);            \
		return pcoll_plan_make(&call, plan_out, flags);                             \
	}
#define PCOLL_PST_ARGS(...) __VA_ARGS__,

/* The arguments of a reduction. */
#define RED                                                                                 \
	gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, \
		void *user_cdata
#define RED_PASSED dt, dt_sz, dt_cnt, op, user_op, user_cdata

#endif
