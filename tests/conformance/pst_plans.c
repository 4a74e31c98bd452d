/* Plans: calls that are made once and run many times, in an order of each rank's own. */
#include <penstock.h>

#include "tests/lib/pt.h"

enum { RUNS = 12 };

static PT_OWN uint64_t *blocks, *result;
static PT_OWN size_t *counts;

/* Each rank starts its plans in another order, and calls something else between. */
static void
any_order(void)
{
	enum { SUM, CAST, ALL, MEET, PLANS };
	const gex_Rank_t root = pt.size - 1;
	uint64_t sum = 0, value = 0, cast = 0, own = 0;
	pst_plan_t plans[PLANS];

	PT_OK(pst_allreduce_plan(pt.tm, &sum, &own, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL,
	                         &plans[SUM], 0));
	PT_OK(pst_bcast_plan(pt.tm, root, &cast, &value, 8, &plans[CAST], PST_IN_MYSYNC));
	PT_OK(pst_gather_all_plan(pt.tm, result, &value, 8, &plans[ALL], PST_PLAN_REBIND));
	PT_OK(pst_barrier_plan(pt.tm, &plans[MEET], 0));
	for (uint64_t run = 0; run < RUNS; run++) {
		gex_Event_t events[PLANS];

		own = run + pt.rank;
		value = 100 * run + pt.rank;
		for (unsigned i = 0; i < PLANS; i++) {
			const unsigned which = (i + pt.rank + (unsigned)run) % PLANS;

			events[which] = pst_plan_start(plans[which]);
		}
		PT_EQ(pst_allreduce_value_U64(pt.tm, 1, GEX_OP_ADD, 0), pt.size);
		for (unsigned i = 0; i < PLANS; i++)
			gex_Event_Wait(events[i]);
		PT_EQ(sum, run * pt.size + pt.size * (pt.size - 1) / 2);
		PT_EQ(cast, 100 * run + root);
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			PT_EQ(result[rank], 100 * run + rank);
	}
	for (unsigned i = PLANS; i-- > 0; )
		pst_plan_free(plans[i], 0);
}

/* New addresses of one rank alone, between runs; and where they may not change. */
static void
rebound(void)
{
	uint64_t first = 10 + pt.rank, second = 20 + pt.rank, at_first = 0, at_second = 0;
	pst_plan_t plan;

	PT_OK(pst_bcast_plan(pt.tm, 0, &at_first, &first, 8, &plan, PST_PLAN_REBIND));
	gex_Event_Wait(pst_plan_start(plan));
	PT_EQ(at_first, 10);
	PT_OK(pst_plan_rebind(plan, pt.rank % 2 ? &at_second : &at_first, &second));
	gex_Event_Wait(pst_plan_start(plan));
	PT_EQ(pt.rank % 2 ? at_second : at_first, 20);
	PT_EQ(pt.rank % 2 ? at_first : at_second, pt.rank % 2 ? 10 : 0);
	pst_plan_free(plan, 0);

	PT_OK(pst_bcast_plan(pt.tm, 0, &at_first, &first, 8, &plan, 0));
	PT_EQ(pst_plan_rebind(plan, &at_second, &second), GASNET_ERR_BAD_ARG);
	gex_Event_Wait(pst_plan_start(plan));
	PT_EQ(at_first, 10);
	pst_plan_free(plan, 0);
}

/* What a rank does not need is ignored, whatever it was before. */
static void
rebound_to_nothing(void)
{
	uint64_t own = 5 + pt.rank, at = 0;
	pst_plan_t plan;

	PT_OK(pst_reduce_plan(pt.tm, 0, result, &own, GEX_DT_U64, 8, 1, GEX_OP_MAX, NULL, NULL,
	                      &plan, PST_PLAN_REBIND));
	PT_OK(pst_plan_rebind(plan, pt.rank ? NULL : &at, &own));
	gex_Event_Wait(pst_plan_start(plan));
	PT_EQ(at, pt.rank ? 0 : 4 + pt.size);
	pst_plan_free(plan, 0);

	PT_OK(pst_gather_plan(pt.tm, 0, result, &own, 8, &plan, PST_PLAN_REBIND));
	PT_OK(pst_plan_rebind(plan, pt.rank ? NULL : result, &own));
	gex_Event_Wait(pst_plan_start(plan));
	for (gex_Rank_t rank = 0; !pt.rank && rank < pt.size; rank++)
		PT_EQ(result[rank], 5 + rank);
	pst_plan_free(plan, 0);

	PT_OK(pst_bcast_plan(pt.tm, 0, &at, &own, 8, &plan, PST_PLAN_REBIND));
	PT_OK(pst_plan_rebind(plan, &at, pt.rank ? NULL : &own));
	gex_Event_Wait(pst_plan_start(plan));
	PT_EQ(at, 5);
	pst_plan_free(plan, 0);

	PT_OK(pst_bcast_plan(pt.tm, 0, &at, &own, 0, &plan, PST_PLAN_REBIND));
	PT_OK(pst_plan_rebind(plan, NULL, NULL));
	gex_Event_Wait(pst_plan_start(plan));
	pst_plan_free(plan, 0);
	/* with lists, where a rank's block is empty: all but that of rank 0 are */
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		counts[rank] = rank ? 0 : sizeof own;
	PT_OK(pst_gather_allv_plan(pt.tm, result, counts, NULL, &own, counts[pt.rank], &plan,
	                           PST_PLAN_REBIND));
	PT_OK(pst_plan_rebind(plan, result, pt.rank ? NULL : &own));
	gex_Event_Wait(pst_plan_start(plan));
	pst_plan_free(plan, 0);
}

/* The arrays may go once the plan is made; a run of no bytes is none. */
static void
arrays_are_copied(void)
{
	const size_t own = 8 * (pt.rank % 2 + 1);
	pst_plan_t plan, empty;

	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		counts[rank] = 8 * (rank % 2 + 1);
	PT_OK(pst_gather_allv_plan(pt.tm, result, counts, NULL, blocks, own, &plan, 0));
	PT_OK(pst_scatter_plan(pt.tm, 0, NULL, NULL, 0, &empty, 0));
	memset(counts, 0xff, pt.size * sizeof *counts);
	for (uint64_t run = 0; run < 2; run++) {
		size_t at = 0;

		blocks[0] = blocks[1] = 1000 * run + pt.rank;
		gex_Event_Wait(pst_plan_start(empty));
		gex_Event_Wait(pst_plan_start(plan));
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			for (gex_Rank_t i = 0; i < rank % 2 + 1; i++)
				PT_EQ(result[at++], 1000 * run + rank);
	}
	pst_plan_free(plan, 0);
	pst_plan_free(empty, 0);
}

/* Each form of plan does what the call does. */
static void
all_forms(void)
{
	const size_t cnts[1] = { 1 };
	uint64_t own = pt.rank + 1, got = 0;
	gex_TM_t self;
	pst_plan_t plans[13];

	gex_TM_Split(&self, pt.tm, (int)pt.rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
#define RED GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL
	PT_OK(pst_scatter_plan(self, 0, &got, &own, 8, &plans[0], 0));
	PT_OK(pst_scatterv_plan(self, 0, &got, 1, &own, cnts, NULL, &plans[1], 0));
	PT_OK(pst_gather_plan(self, 0, &got, &own, 8, &plans[2], 0));
	PT_OK(pst_gatherv_plan(self, 0, &got, cnts, NULL, &own, 1, &plans[3], 0));
	PT_OK(pst_exchange_plan(self, &got, &own, 8, &plans[4], 0));
	PT_OK(pst_exchangev_plan(self, &got, cnts, NULL, &own, cnts, NULL, &plans[5], 0));
	PT_OK(pst_permute_plan(self, 0, &got, &own, 8, &plans[6], 0));
	PT_OK(pst_reduce_plan(self, 0, &got, &own, RED, &plans[7], 0));
	PT_OK(pst_reduce_scatter_plan(self, &got, &own, RED, &plans[8], 0));
	PT_OK(pst_reduce_scatterv_plan(self, &got, &own, cnts, RED, &plans[9], 0));
	PT_OK(pst_scan_plan(self, &got, &own, RED, &plans[10], 0));
	PT_OK(pst_gather_all_plan(self, &got, &own, 8, &plans[11], 0));
	PT_OK(pst_exscan_plan(self, &got, &own, RED, &plans[12], 0));
	for (unsigned i = 0; i < PT_COUNT(plans); i++) {
		got = 0;
		gex_Event_Wait(pst_plan_start(plans[i]));
		PT_EQ(got, i == 12 ? 0 : own);
		pst_plan_free(plans[i], 0);
	}
	gex_TM_Destroy(self, NULL, 0);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 4096);
	blocks = calloc(2, sizeof *blocks);
	result = calloc(2 * (size_t)pt.size, sizeof *result);
	counts = calloc(pt.size, sizeof *counts);
	PT_EQ(blocks && result && counts, 1);
	pt_phase("any order");
	any_order();
	pt_phase("other addresses");
	rebound();
	rebound_to_nothing();
	pt_phase("arrays");
	arrays_are_copied();
	pt_phase("all forms");
	all_forms();
	free(blocks);
	free(result);
	free(counts);
	pt_finish();
}
