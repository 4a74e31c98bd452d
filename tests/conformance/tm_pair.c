/* A pair of endpoints in place of a team: equal values, and all that may be done through it. */
#include "tests/lib/pt.h"

enum { REQ_SHORT = 128, REQ_MEDIUM, REQ_LONG, REP_ANY };

static PT_OWN pt_count replies;

static void
req_short(gex_Token_t token, gex_AM_Arg_t a0)
{
	PT_EQ(a0, (int)pt_source(token) + 5);
	/* restricted-context safe */
	PT_CHECK(gex_TM_Pair(pt.ep, 0) == gex_TM_Pair(pt.ep, 0));
	PT_OK(gex_AM_ReplyShort1(token, REP_ANY, 0, a0));
}

static void
req_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a0)
{
	PT_EQ(nbytes, 100);
	PT_MEM(buf, nbytes, (unsigned)a0);
	req_short(token, a0);
}

static void
rep_any(gex_Token_t token, gex_AM_Arg_t a0)
{
	(void)token;
	PT_EQ(a0, (int)pt.rank + 5);
	PT_INC(replies);
}

static void
values(void)
{
	gex_TM_t pair = gex_TM_Pair(pt.ep, 0);

	PT_CHECK(pair == gex_TM_Pair(pt.ep, 0));
	PT_CHECK(pair != gex_TM_Pair(pt.ep, 1));
	PT_CHECK(gex_TM_Pair(pt.ep, 1) == gex_TM_Pair(pt.ep, 1));
	PT_CHECK(gex_TM_Pair(pt.ep, 1) != gex_TM_Pair(pt.ep, 2));
	PT_CHECK(pair != pt.tm && pair != GEX_TM_INVALID);
	PT_CHECK(gex_TM_Pair(pt.ep, 1) != pt.tm && gex_TM_Pair(pt.ep, 1) != GEX_TM_INVALID);
}

static void
messages(gex_TM_t pair, gex_Rank_t process, gex_Rank_t rank)
{
	int before = PT_GET(replies);
	gex_AM_Arg_t a0 = (gex_AM_Arg_t)pt.rank + 5;
	char *dest = pt.peers[rank].owner + (size_t)pt.rank * 256;
	gex_AM_SrcDesc_t sd;
	char block[100];

	pt_fill(block, sizeof(block), (unsigned)a0);
	PT_OK(gex_AM_RequestShort1(pair, process, REQ_SHORT, 0, a0));
	PT_OK(gex_AM_RequestMedium1(pair, process, REQ_MEDIUM, block, sizeof(block), GEX_EVENT_NOW,
	                            0, a0));
	PT_OK(gex_AM_RequestLong1(pair, process, REQ_LONG, block, sizeof(block), dest,
	                          GEX_EVENT_NOW, 0, a0));
	sd = gex_AM_PrepareRequestMedium(pair, process, NULL, 100, 100, NULL, 0, 1);
	memcpy(gex_AM_SrcDescAddr(sd), block, 100);
	gex_AM_CommitRequestMedium1(sd, REQ_MEDIUM, 100, a0);
	GASNET_BLOCKUNTIL(PT_GET(replies) == before + 4);
	PT_LE(512, gex_AM_MaxRequestMedium(pair, process, GEX_EVENT_NOW, 0, 1));
}

static void
transfers(gex_TM_t pair, gex_Rank_t process, gex_Rank_t rank)
{
	char *dest = pt.peers[rank].owner + 16384 + (size_t)pt.rank * 256;
	char block[200], back[200];
	void *owner = NULL;
	uintptr_t bytes = 0;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, process, &owner, NULL, &bytes, 0));
	PT_PTR(owner, pt.peers[rank].owner);
	PT_EQ(bytes, pt.peers[rank].size_bytes);
	pt_fill(block, sizeof(block), rank * 64 + pt.rank);
	PT_OK(gex_RMA_PutBlocking(pair, process, dest, block, sizeof(block), 0));
	PT_OK(gex_RMA_GetBlocking(pt.tm, back, rank, dest, sizeof(back), 0));
	PT_MEM(back, sizeof(back), rank * 64 + pt.rank);
	memset(back, 0, sizeof(back));
	PT_OK(gex_RMA_GetBlocking(pair, back, process, dest, sizeof(back), 0));
	PT_MEM(back, sizeof(back), rank * 64 + pt.rank);
	PT_OK(gex_RMA_PutBlockingVal(pair, process, dest, 0x12345678u, 4, 0));
	PT_EQ(gex_RMA_GetBlockingVal(pair, process, dest, 4, 0), 0x12345678u);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 1),
		PT_HANDLER(REQ_MEDIUM, req_payload, PT_REQ_MEDIUM, 1),
		PT_HANDLER(REQ_LONG, req_payload, PT_REQ_LONG, 1),
		PT_HANDLER(REP_ANY, rep_any, PT_REP_SHORT, 1),
	};
	pt_start(&argc, &argv, table, PT_COUNT(table), 65536);
	PT_LE(pt.size, 64);
	values();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		messages(pt_pair(rank), pt.where[rank].gex_rank, rank);
		transfers(pt_pair(rank), pt.where[rank].gex_rank, rank);
	}
	pt_finish();
}
