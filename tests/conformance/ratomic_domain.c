/* Atomic domains as objects: queries, pointers of the client, several at a time, a slow member. */
#include "tests/conformance/ratomic.h"

#include <penstock.h>

static uint64_t counter(const char *name) { return pt_counter(PST_COUNTERS_OWN, name); }

static void
queries(void)
{
	static const gex_Flags_t hints[] = { 0, GEX_FLAG_AD_FAVOR_MY_RANK,
		                             GEX_FLAG_AD_FAVOR_MY_NBRHD, GEX_FLAG_AD_FAVOR_REMOTE };
	gex_AD_t domains[PT_COUNT(hints)];
	int here = 0;

	for (size_t i = 0; i < PT_COUNT(hints); i++) {
		const gex_DT_t dt = i % 2 ? GEX_DT_DBL : GEX_DT_U32;

		gex_AD_Create(&domains[i], pt.tm, dt, GEX_OP_ADD | GEX_OP_GET, hints[i]);
		PT_CHECK(domains[i] != GEX_AD_INVALID);
		PT_EQ(gex_AD_QueryDT(domains[i]), dt);
		PT_EQ(gex_AD_QueryOps(domains[i]), GEX_OP_ADD | GEX_OP_GET);
		PT_EQ(gex_AD_QueryFlags(domains[i]), hints[i]);
		PT_CHECK(gex_AD_QueryTM(domains[i]) == pt.tm);
		PT_PTR(gex_AD_QueryCData(domains[i]), NULL);
		gex_AD_SetCData(domains[i], &here);
		PT_PTR(gex_AD_QueryCData(domains[i]), &here);
		for (size_t j = 0; j < i; j++)
			PT_CHECK(domains[j] != domains[i]);
	}
	gex_AD_SetCData(domains[0], NULL);
	PT_PTR(gex_AD_QueryCData(domains[0]), NULL);
	PT_PTR(gex_AD_QueryCData(domains[1]), &here);
	pt_barrier();
	for (size_t i = 0; i < PT_COUNT(hints); i++)
		gex_AD_Destroy(domains[PT_COUNT(hints) - 1 - i]);
}

/* Creation is no barrier: operations come to a rank that has not created the domain. */
static void
slow_member(void)
{
	const gex_Rank_t slow = pt.size - 1;
	uint64_t last = 0;
	gex_AD_t ad;

	if (pt.rank == slow)
		for (unsigned i = 0; i < 10; i++) {
			gasnet_AMPoll();
			pt_sleep_ms(2);
		}
	gex_AD_Create(&ad, pt.tm, GEX_DT_U64, GEX_OP_ADD | GEX_OP_GET, 0);
	gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, slow, pt.peers[slow].owner, GEX_OP_ADD,
	                               pt.rank + 1, 0, 0));
	pt_barrier();
	gex_Event_Wait(gex_AD_OpNB_U64(ad, &last, slow, pt.peers[slow].owner, GEX_OP_GET, 0, 0, 0));
	PT_EQ(last, (uint64_t)pt.size * (pt.size + 1) / 2);
	pt_barrier();
	gex_AD_Destroy(ad);
}

/* Two domains may share a word in phases that barriers separate. */
static void
phases(void)
{
	char *word = pt.peers[0].owner + 8;
	gex_AD_t adder, setter;
	int32_t value = -1;

	gex_AD_Create(&adder, pt.tm, GEX_DT_I32, GEX_OP_INC | GEX_OP_GET, 0);
	gex_AD_Create(&setter, pt.tm, GEX_DT_I32, GEX_OP_SET, 0);
	for (int32_t round = 0; round < 20; round++) {
		if (pt.rank == 0)
			gex_Event_Wait(gex_AD_OpNB_I32(setter, NULL, 0, word, GEX_OP_SET,
			                               round * 100, 0, 0));
		pt_barrier();
		gex_Event_Wait(gex_AD_OpNB_I32(adder, NULL, 0, word, GEX_OP_INC, 0, 0, 0));
		pt_barrier();
		gex_Event_Wait(gex_AD_OpNB_I32(adder, &value, 0, word, GEX_OP_GET, 0, 0, 0));
		PT_EQ(value, round * 100 + (int32_t)pt.size);
		pt_barrier();
	}
	gex_AD_Destroy(setter);
	gex_AD_Destroy(adder);
}

/* Calls are counted, whoever makes them; and by message exactly where memory is not mapped,
 * whatever the domain's other members have. */
static void
counts(gex_Rank_t rank, int by_message)
{
	char *word = pt.peers[rank].owner + 16;
	const uint64_t calls = counter("atomics"), messages = counter("received_internal");
	const gex_OP_t unknown[] = { GEX_OP_INC, GEX_OP_DEC };
	gex_AD_t ad;

	gex_AD_Create(&ad, pt.tm, GEX_DT_U32, GEX_OP_INC | GEX_OP_DEC, 0);
	for (unsigned i = 0; i < 1000; i++) {
		gex_Event_Wait(gex_AD_OpNB_U32(ad, NULL, rank, word, GEX_OP_INC, 0, 0, 0));
		gex_Event_Wait(gex_AD_OpNB_U32(ad, NULL, rank, word, unknown[i % 2], 0, 0, 0));
	}
	PT_EQ(counter("atomics") - calls, 2000);
	/* replies, and perhaps requests; creation takes some itself */
	PT_EQ(counter("received_internal") - messages >= 2000, by_message ? 1 : 0);
	pt_barrier();
	gex_AD_Destroy(ad);
}

int
main(int argc, char **argv)
{
	ratomic_start(argc, argv, GASNET_PAGESIZE);
	if (ratomic_of_job()) { /* which count for themselves */
		counts(pt.rank, getenv("PST_TEST_CONDUIT_MASK") != NULL);
		counts((pt.rank + 1) % pt.size,
		       getenv("PST_TEST_CONDUIT_MASK") || (argc > 1 && pt.size > 1));
	}
	queries();
	slow_member();
	phases();
	pt_finish();
}
