/*
 * Shared by the programs about teams: a team as it should be, by the ranks that its members are of
 * all, and what holds of it, by queries, translation and all that moves by (team, rank).
 */
#ifndef TM_MEMBERS_H
#define TM_MEMBERS_H

#include <gasnet_coll.h>

#include "tests/lib/pt.h"

enum { TM_REQ_SHORT = 200, TM_REQ_MEDIUM, TM_REQ_LONG, TM_REP };
enum { TM_MOST = 64, TM_SLOT_BYTES = 256, TM_LONG_BYTES = 100, TM_MEDIUM_BYTES = 60 };
/* Slots that others write, one for each rank of all, then scratch. */
enum { TM_SCRATCH_AT = TM_MOST * TM_SLOT_BYTES, TM_SEGMENT_BYTES = 2 * TM_SCRATCH_AT };

struct tm_members {
	gex_TM_t tm;
	gex_Rank_t size, me;
	gex_Rank_t who[TM_MOST]; /* ranks of all, by rank */
};

static PT_OWN pt_count tm_replies;

/* All ranks; after pt_start. */
static inline struct tm_members
tm_all(void)
{
	struct tm_members all = { pt.tm, pt.size, pt.rank, { 0 } };

	PT_LE(pt.size, TM_MOST);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		all.who[rank] = rank;
	return all;
}

/* Calls fn with all ranks, and a number that tells the rounds apart. */
static inline void
tm_rounds(unsigned long rounds, uint64_t first,
          void (*fn)(const struct tm_members *, unsigned, struct pt_rng))
{
	const struct tm_members all = tm_all();

	if (pt.rank == 0)
		printf("seed %llu\n", (unsigned long long)pt.seed);
	for (unsigned long i = 0; i < rounds; i++) {
		pt_phase("random partitions");
		fn(&all, 2, pt_rng_make(first + i));
	}
	pt_finish();
}

/* -- queries --------------------------------------------------------------------------------- */

static inline void
tm_check_translation(const struct tm_members *team)
{
	for (gex_Rank_t rank = 0; rank < team->size; rank++) {
		const gex_EP_Location_t at = gex_TM_TranslateRankToEP(team->tm, rank, 0);
		const gex_EP_Location_t want = pt.where[team->who[rank]];

		PT_EQ(gex_TM_TranslateRankToJobrank(team->tm, rank), want.gex_rank);
		PT_EQ(at.gex_rank, want.gex_rank);
		PT_EQ(at.gex_ep_index, want.gex_ep_index);
	}
	for (gex_Rank_t process = 0; process < gex_System_QueryJobSize(); process++) {
		gex_Rank_t lowest = 0;

		while (lowest < team->size && pt.where[team->who[lowest]].gex_rank != process)
			lowest++;
		PT_EQ(gex_TM_TranslateJobrankToRank(team->tm, process),
		      lowest < team->size ? lowest : GEX_RANK_INVALID);
	}
	PT_EQ(gex_TM_TranslateJobrankToRank(team->tm, gex_System_QueryJobSize()), GEX_RANK_INVALID);
}

static inline void
tm_check_queries(const struct tm_members *team, gex_Flags_t flags)
{
	PT_CHECK(team->tm != GEX_TM_INVALID && team->tm != pt.tm);
	PT_CHECK(team->tm != gex_TM_Pair(pt.ep, 0));
	PT_CHECK(gex_TM_QueryClient(team->tm) == pt.client);
	PT_CHECK(gex_TM_QueryEP(team->tm) == pt.ep);
	PT_EQ(gex_TM_QueryFlags(team->tm), flags);
	PT_EQ(gex_TM_QuerySize(team->tm), team->size);
	PT_EQ(gex_TM_QueryRank(team->tm), team->me);
	PT_PTR(gex_TM_QueryCData(team->tm), NULL);
	gex_TM_SetCData(team->tm, team);
	PT_PTR(gex_TM_QueryCData(team->tm), team);
}

/* -- messages and transfers ------------------------------------------------------------------ */

/* The sender says whom it means, and who it is. */
static inline void
tm_req_short(gex_Token_t token, gex_AM_Arg_t target, gex_AM_Arg_t source)
{
	PT_EQ(target, pt.rank);
	PT_EQ(pt_source(token), source);
	PT_OK(gex_AM_ReplyShort0(token, TM_REP, 0));
}

static inline void
tm_req_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t target, gex_AM_Arg_t source)
{
	PT_EQ(nbytes, TM_MEDIUM_BYTES);
	PT_MEM(buf, nbytes, source);
	tm_req_short(token, target, source);
}

static inline void
tm_req_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t target, gex_AM_Arg_t source)
{
	PT_EQ(nbytes, TM_LONG_BYTES);
	PT_PTR(buf, pt.base + (size_t)source * TM_SLOT_BYTES + 64);
	PT_MEM(buf, nbytes, source);
	tm_req_short(token, target, source);
}

static inline void
tm_rep(gex_Token_t token)
{
	(void)token;
	PT_INC(tm_replies);
}

#define TM_HANDLERS                                                                                \
	PT_HANDLER(TM_REQ_SHORT, tm_req_short, PT_REQ_SHORT, 2),                                   \
	PT_HANDLER(TM_REQ_MEDIUM, tm_req_medium, PT_REQ_MEDIUM, 2),                                \
	PT_HANDLER(TM_REQ_LONG, tm_req_long, PT_REQ_LONG, 2),                                      \
	PT_HANDLER(TM_REP, tm_rep, PT_REP_SHORT, 0)

/* One of each kind to a member; returns how many replies will come. */
static inline int
tm_messages(const struct tm_members *team, gex_Rank_t rank)
{
	const gex_AM_Arg_t target = (gex_AM_Arg_t)team->who[rank], me = (gex_AM_Arg_t)pt.rank;
	char *there = pt.peers[target].owner + (size_t)pt.rank * TM_SLOT_BYTES + 64;
	char block[TM_LONG_BYTES];
	gex_AM_SrcDesc_t sd;

	pt_fill(block, sizeof(block), pt.rank);
	PT_OK(gex_AM_RequestShort2(team->tm, rank, TM_REQ_SHORT, 0, target, me));
	PT_OK(gex_AM_RequestMedium2(team->tm, rank, TM_REQ_MEDIUM, block, TM_MEDIUM_BYTES,
	                            GEX_EVENT_NOW, 0, target, me));
	PT_OK(gex_AM_RequestLong2(team->tm, rank, TM_REQ_LONG, block, sizeof(block), there,
	                          GEX_EVENT_NOW, 0, target, me));
	sd = gex_AM_PrepareRequestMedium(team->tm, rank, NULL, TM_MEDIUM_BYTES, TM_MEDIUM_BYTES,
	                                 NULL, 0, 2);
	memcpy(gex_AM_SrcDescAddr(sd), block, TM_MEDIUM_BYTES);
	gex_AM_CommitRequestMedium2(sd, TM_REQ_MEDIUM, TM_MEDIUM_BYTES, target, me);
	PT_EQ(gex_AM_MaxRequestMedium(team->tm, rank, NULL, 0, 2),
	      gex_AM_MaxRequestMedium(pt.tm, team->who[rank], NULL, 0, 2));
	return 4;
}

/* At `at` of the caller's slot, which has room for 32 bytes. */
static inline void
tm_transfers(const struct tm_members *team, gex_Rank_t rank, size_t at, uint64_t key)
{
	char *there = pt.peers[team->who[rank]].owner + (size_t)pt.rank * TM_SLOT_BYTES + at;
	char block[32], back[32];
	void *owner = NULL;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team->tm, rank, &owner, NULL, NULL, 0));
	PT_PTR(owner, pt.peers[team->who[rank]].owner);
	pt_fill(block, sizeof(block), key);
	PT_OK(gex_RMA_PutBlocking(team->tm, rank, there, block, sizeof(block), 0));
	PT_OK(gex_RMA_GetBlocking(pt.tm, back, team->who[rank], there, sizeof(back), 0));
	PT_MEM(back, sizeof(back), key);
	PT_OK(gex_RMA_PutBlockingVal(team->tm, rank, there, key, 8, 0));
	PT_CHECK(gex_RMA_GetBlockingVal(team->tm, rank, there, 8, 0) == key);
	PT_OK(gex_RMA_GetBlocking(team->tm, back, rank, there, sizeof(back), 0));
	PT_CHECK(memcmp(back + 8, block + 8, sizeof(back) - 8) == 0);
}

static inline void
tm_check_traffic(const struct tm_members *team, uint64_t key)
{
	int before = PT_GET(tm_replies), sent = 0;

	for (gex_Rank_t i = 0; i < team->size; i++) {
		gex_Rank_t rank = (team->me + i) % team->size;

		sent += tm_messages(team, rank);
		tm_transfers(team, rank, 0, key + rank);
	}
	GASNET_BLOCKUNTIL(PT_GET(tm_replies) == before + sent);
}

/* Over teams without scratch too. */
static inline void
tm_check_collectives(const struct tm_members *team)
{
	const gex_Rank_t root = team->size - 1;
	uint32_t mine = team->who[team->me] + 1, sum = 0, text = mine, want = 0;
	gex_Event_t events[3];

	events[0] = gex_Coll_ReduceToAllNB(team->tm, &sum, &mine, GEX_DT_U32, 4, 1, GEX_OP_ADD,
	                                   NULL, NULL, 0);
	events[1] = gex_Coll_BarrierNB(team->tm, 0);
	events[2] = gex_Coll_BroadcastNB(team->tm, root, &text, &text, 4, 0);
	gex_Event_WaitAll(events, 3, 0);
	for (gex_Rank_t rank = 0; rank < team->size; rank++)
		want += team->who[rank] + 1;
	PT_EQ(sum, want);
	PT_EQ(text, team->who[root] + 1);
	gex_Coll_BarrierBlocking(team->tm, 0);
}

static inline void
tm_check(const struct tm_members *team, gex_Flags_t flags, uint64_t key)
{
	tm_check_queries(team, flags);
	tm_check_translation(team);
	tm_check_traffic(team, key);
	tm_check_collectives(team);
}

/* -- scratch --------------------------------------------------------------------------------- */

static inline char *tm_scratch(void) { return pt.base + TM_SCRATCH_AT; }

/* Ends the team, which gives back what it was lent, 0 bytes for nothing. */
static inline void
tm_destroy(const struct tm_members *team, gex_Flags_t flags, const void *lent, size_t bytes)
{
	gex_Memvec_t back = { &back, 77 };

	PT_EQ(gex_TM_Destroy(team->tm, &back, flags), bytes != 0);
	PT_PTR(back.gex_addr, bytes ? lent : &back);
	PT_EQ(back.gex_len, bytes ? bytes : 77);
}

#endif
