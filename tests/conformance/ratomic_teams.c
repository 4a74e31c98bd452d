/* Atomics in teams whose ranks are not those of the job: by the team's rank and by the job's. */
#include "tests/conformance/ratomic.h"

/* Words of each rank. */
enum word { BY_RANK, BY_JOBRANK, MADE_BY_LIBRARY, WORDS };

static char *
word_of(gex_Rank_t rank, enum word word)
{
	return pt.peers[rank].owner + (size_t)word * 64;
}

static uint32_t
value(gex_AD_t ad, gex_Rank_t rank, void *target)
{
	uint32_t value = 0;

	gex_Event_Wait(gex_AD_OpNB_U32(ad, &value, rank, target, GEX_OP_GET, 0, 0, 0));
	return value;
}

/* Each member adds its rank of all + 1 at all members of the team, in three ways. A rank of the job
 * names the first member in a process. */
static void
add_to_all(gex_TM_t tm, gex_AD_t ad)
{
	const gex_OP_t unknown[] = { GEX_OP_ADD, GEX_OP_FADD };
	const gex_Flags_t by_job = pt_is_thread() ? 0 : GEX_FLAG_RANK_IS_JOBRANK;
	const uint32_t mine = (uint32_t)pt.rank + 1;
	uint32_t before;

	for (gex_Rank_t rank = 0; rank < gex_TM_QuerySize(tm); rank++) {
		const gex_Rank_t member = pt_rank_in(tm, rank);

		gex_Event_Wait(gex_AD_OpNB_U32(ad, NULL, rank, word_of(member, BY_RANK), GEX_OP_ADD,
		                               mine, 0, 0));
		gex_Event_Wait(gex_AD_OpNB_U32(ad, &before, by_job ? member : rank,
		                               word_of(member, BY_JOBRANK), GEX_OP_FADD, mine, 0,
		                               by_job));
		PT_EQ(gex_AD_OpNBI_U32(ad, &before, rank, word_of(member, MADE_BY_LIBRARY),
		                       unknown[rank % 2], mine, 0, 0), 0);
		gex_NBI_Wait(GEX_EC_ALL, 0);
	}
}

static uint32_t
sum_of_members(gex_TM_t tm)
{
	uint32_t sum = 0;

	for (gex_Rank_t rank = 0; rank < gex_TM_QuerySize(tm); rank++)
		sum += (uint32_t)pt_rank_in(tm, rank) + 1;
	return sum;
}

/* Teams of every n-th rank, the highest first; all at the same time. */
static void
parted(unsigned parts)
{
	gex_AD_t ad, of_job;
	gex_TM_t tm;
	gex_Rank_t me;
	uint32_t wanted;

	gex_AD_Create(&of_job, pt.tm, GEX_DT_U32, GEX_OP_SET, 0);
	for (enum word word = 0; word < WORDS; word++)
		gex_Event_Wait(gex_AD_OpNB_U32(of_job, NULL, pt.rank, word_of(pt.rank, word),
		                               GEX_OP_SET, 0, 0, GEX_FLAG_AD_MY_RANK));
	pt_barrier();
	(void)gex_TM_Split(&tm, pt.tm, (int)(pt.rank % parts), (int)(pt.size - pt.rank), NULL, 0,
	                   GEX_FLAG_TM_NO_SCRATCH);
	gex_AD_Create(&ad, tm, GEX_DT_U32, GEX_OP_ADD | GEX_OP_FADD | GEX_OP_GET, 0);
	PT_CHECK(gex_AD_QueryTM(ad) == tm);
	add_to_all(tm, ad);
	pt_barrier();
	me = gex_TM_QueryRank(tm);
	wanted = sum_of_members(tm);
	for (enum word word = 0; word < WORDS; word++)
		PT_EQ(value(ad, me, word_of(pt.rank, word)), wanted);
	pt_barrier();
	gex_AD_Destroy(ad);
	PT_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
	gex_AD_Destroy(of_job);
}

int
main(int argc, char **argv)
{
	ratomic_start(argc, argv, GASNET_PAGESIZE);
	for (unsigned parts = 1; parts <= pt.size && parts <= 4; parts++)
		parted(parts);
	pt_finish();
}
