/* Plans of penstock_coll.h that are used as they may not be. */
#include <penstock_coll.h>

#include "tests/lib/pt_misuse.h"

static uint64_t words[8];

static void
plan_nowhere(void)
{
	(void)pst_barrier_plan(pt.tm, NULL, 0);
}

static void no_plan(void) { gex_Event_Wait(pst_plan_start(PST_PLAN_INVALID)); }

static void
rebind_nowhere(void)
{
	pst_plan_t plan;

	PT_OK(pst_bcast_plan(pt.tm, 0, words, words + 4, 8, &plan, PST_PLAN_REBIND));
	(void)pst_plan_rebind(plan, NULL, words + 4);
}

static void
rebind_odd(void)
{
	pst_plan_t plan;

	PT_OK(pst_allreduce_plan(pt.tm, words, words + 4, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL,
	                         &plan, PST_PLAN_REBIND));
	(void)pst_plan_rebind(plan, (char *)words + 4, words + 4);
}

static void
rebind_overlaps(void)
{
	pst_plan_t plan;

	PT_OK(pst_exchange_plan(pt.tm, words, words + 4, 16, &plan, PST_PLAN_REBIND));
	(void)pst_plan_rebind(plan, words, words + 1);
}

static void
rebind_blocks_overlap(void)
{
	const size_t counts[1] = { 16 }, displs[1] = { 16 };
	pst_plan_t plan;

	PT_OK(pst_gatherv_plan(pt.tm, 0, words, counts, displs, words + 4, 16, &plan,
	                       PST_PLAN_REBIND));
	PT_OK(pst_plan_rebind(plan, words, words));             /* before its block */
	PT_OK(pst_plan_rebind(plan, words, words + 2));         /* in place */
	(void)pst_plan_rebind(plan, words, words + 3);
}

/* Run by both: starts the job and makes a plan of a reduction; rank 1 passes the flags. */
static pst_plan_t
started_with_plan(gex_Flags_t flags)
{
	pst_plan_t plan;

	pt_start(NULL, NULL, NULL, 0, 1);
	PT_OK(pst_allreduce_plan(pt.tm, words, words + 4, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL,
	                         &plan, pt.rank ? flags : 0));
	return plan;
}

static void
plan_freed_twice(void)
{
	pst_plan_t plan;

	PT_OK(pst_barrier_plan(pt.tm, &plan, 0));
	pst_plan_free(plan, 0);
	pst_plan_free(plan, 0);
}

/* Run by both: a plan that has a run under way, for which rank 1 does not come. */
static void
plan_runs(void)
{
	const pst_plan_t plan = started_with_plan(0);

	if (pt.rank == 0) {
		(void)pst_plan_start(plan);
		pst_plan_free(plan, 0);
	}
	pt_barrier();
}

/* Run by both, as above. */
static void
plan_starts_twice(void)
{
	const pst_plan_t plan = started_with_plan(0);

	if (pt.rank == 0) {
		(void)pst_plan_start(plan);
		(void)pst_plan_start(plan);
	}
	pt_barrier();
}

/* Run by both. */
static void
other_plan(void)
{
	gex_Event_Wait(pst_plan_start(started_with_plan(PST_REPRODUCIBLE)));
}

/* Run by both: rank 0 makes a plan where rank 1 has begun a broadcast. */
static void
plan_of_one(void)
{
	pst_plan_t plan;

	pt_start(NULL, NULL, NULL, 0, 1);
	if (pt.rank == 1)
		(void)pst_bcast_nb(pt.tm, 1, words, words, 8, 0);
	gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
	gasnet_AMPoll();
	if (pt.rank == 0)
		PT_OK(pst_bcast_plan(pt.tm, 1, words, words, 8, &plan, 0));
}

/* Run by both: a plan of a barrier at rank 0 is one of a broadcast at rank 1. */
static void
barrier_plan(void)
{
	pst_plan_t plan;

	pt_start(NULL, NULL, NULL, 0, 1);
	if (pt.rank == 0)
		PT_OK(pst_barrier_plan(pt.tm, &plan, 0));
	else
		PT_OK(pst_bcast_plan(pt.tm, 1, words, words, 8, &plan, 0));
	gex_Event_Wait(pst_plan_start(plan));
}

static const struct pt_misuse cases[] = {
	{ "plan_nowhere", PT_ALWAYS, 1, plan_nowhere, "a plan without a place for it",
	  "pst_barrier: plan_out is NULL, but should have 8 bytes; pass memory of this process",
	  0 },
	{ "no_plan", PT_ALWAYS, 1, no_plan, "the start of a plan that is not there",
	  "pst_plan_start: plan is PST_PLAN_INVALID; pass one that a call pst_*_plan made", 0 },
	{ "rebind_nowhere", PT_ALWAYS, 1, rebind_nowhere, "a plan that gets NULL for memory",
	  "pst_plan_rebind: dst is NULL, but should have 8 bytes; pass memory of this process",
	  0 },
	{ "rebind_odd", PT_CHECKED, 1, rebind_odd, "a plan that gets memory that is not aligned",
	  "pst_plan_rebind: dst 0x* or src 0x* is not aligned for elements of 8 bytes; align them",
	  0 },
	{ "rebind_overlaps", PT_CHECKED, 1, rebind_overlaps,
	  "a plan that gets memory that overlaps",
	  "pst_plan_rebind: dst 0x* and src 0x* of 16 bytes overlap; pass the same address twice, "
	  "or memory apart",
	  0 },
	{ "rebind_blocks_overlap", PT_CHECKED, 1, rebind_blocks_overlap,
	  "the same, a plan with lists",
	  "pst_plan_rebind: dst 0x* and src 0x* of 16 bytes overlap; pass the same address twice, "
	  "or memory apart",
	  0 },
	{ "plan_freed_twice", PT_CHECKED, 1, plan_freed_twice, "a plan that is freed twice",
	  "pst_plan_free: plan 0x* has been freed, or is no plan; pass one that a call pst_*_plan "
	  "made",
	  0 },
	{ "plan_runs", PT_ALWAYS, 2, plan_runs, "the end of a plan that is under way",
	  "pst_plan_free: a run of the plan is not over; synchronise it first", 1 },
	{ "plan_starts_twice", PT_ALWAYS, 2, plan_starts_twice,
	  "the start of a plan that is under way",
	  "pst_plan_start: a run of the plan is not over; synchronise it first", 1 },
	{ "other_plan", PT_CHECKED, 2, other_plan,
	  "a plan to which one member alone passes `PST_REPRODUCIBLE`",
	  "pst_allreduce: call * on its team, to which rank 1 passes PST_REPRODUCIBLE and rank 0 "
	  "does not; let all members pass the same flags",
	  1 },
	{ "plan_of_one", PT_CHECKED, 2, plan_of_one,
	  "a plan where another member has begun a broadcast",
	  "pst_*_plan: call * on its team, which is pst_bcast at its rank 1; let all members make "
	  "the same calls in the same order",
	  1 },
	{ "barrier_plan", PT_CHECKED, 2, barrier_plan,
	  "the start of a barrier's plan where another member starts that of a broadcast",
	  "pst_barrier: call * on its team, which is pst_bcast at its rank 1; let all members make "
	  "the same calls in the same order",
	  1 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
