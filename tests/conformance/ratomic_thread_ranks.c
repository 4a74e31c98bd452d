/*
 * Atomics of ranks that are threads: a domain with several members in one process, each with a
 * segment of its own, used by all of them at the same time.
 */
#include <gasnet_ratomic.h>

#include "tests/lib/pt.h"

#include <penstock.h>

enum { MOST_RANKS = 64 };

static pt_count runs;

static int count_here(gex_Rank_t process) { return 2 + (int)(process % 3); }

static char *
word_of(gex_TM_t tm, gex_Rank_t rank, size_t number)
{
	void *base = NULL;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &base, NULL, NULL, 0));
	PT_CHECK(base != NULL);
	return (char *)base + number * 64;
}

/* Everybody takes tickets at rank 0, and adds what it took at all. */
static void
use(gex_TM_t tm, gex_AD_t ad, char *const *sums)
{
	const gex_Rank_t size = gex_TM_QuerySize(tm);
	const unsigned long rounds = pt_scale(50, 300);
	const gex_OP_t unknown[] = { GEX_OP_ADD, GEX_OP_FADD };
	char *tickets = word_of(tm, 0, 1);
	uint64_t ticket = 0, last = 0, unused;

	for (unsigned long i = 0; i < rounds; i++, last = ticket) {
		gex_Event_Wait(gex_AD_OpNB_U64(ad, &ticket, 0, tickets, GEX_OP_FINC, 0, 0, 0));
		PT_CHECK(i == 0 || ticket > last);
		for (gex_Rank_t rank = 0; rank < size; rank++)
			PT_EQ(gex_AD_OpNBI_U64(ad, &unused, rank, sums[rank],
			                       unknown[(rank + i) % 2], ticket, 0, 0),
			      0);
		gex_NBI_Wait(GEX_EC_RMW, 0);
	}
	gex_Coll_BarrierBlocking(tm, 0);
	gex_Event_Wait(gex_AD_OpNB_U64(ad, &ticket, 0, tickets, GEX_OP_GET, 0, 0, 0));
	PT_EQ(ticket, size * rounds);
	gex_Event_Wait(gex_AD_OpNB_U64(ad, &last, gex_TM_QueryRank(tm), sums[gex_TM_QueryRank(tm)],
	                               GEX_OP_GET, 0, 0, GEX_FLAG_AD_MY_RANK));
	PT_EQ(last, ticket * (ticket - 1) / 2);
}

static int
body(gex_TM_t tm, void *arg)
{
	const gex_Rank_t me = gex_TM_QueryRank(tm);
	char *sums[MOST_RANKS];
	gex_AD_t ad;

	(void)arg;
	PT_LE(gex_TM_QuerySize(tm), MOST_RANKS);
	for (gex_Rank_t rank = 0; rank < gex_TM_QuerySize(tm); rank++)
		sums[rank] = word_of(tm, rank, 0);
	gex_AD_Create(&ad, tm, GEX_DT_U64,
	              GEX_OP_FINC | GEX_OP_ADD | GEX_OP_FADD | GEX_OP_GET | GEX_OP_SET, 0);
	for (size_t number = 0; number < 2; number++)
		gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, me, word_of(tm, me, number), GEX_OP_SET, 0,
		                               0, 0));
	gex_Coll_BarrierBlocking(tm, 0);
	use(tm, ad, sums);
	gex_Coll_BarrierBlocking(tm, 0);
	gex_AD_Destroy(ad);
	PT_INC(runs);
	return 0;
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 0);
	PT_OK(pst_threads_run(pt.tm, count_here(pt.rank), GASNET_PAGESIZE, NULL, 0, body, NULL, 0));
	PT_EQ(PT_GET(runs), count_here(pt.rank));
	pt_barrier();
	pt_finish();
}
