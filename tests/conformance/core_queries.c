/* What the objects of a job say about themselves, before and after attach. */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { REQ_SHARE = 128 };
enum { MAX_RANKS = 512, WORDS = 8 };

static int shared[MAX_RANKS][WORDS];
static pt_count arrived;

static void
req_share(gex_Token_t token, gex_AM_Arg_t w0, gex_AM_Arg_t w1, gex_AM_Arg_t w2, gex_AM_Arg_t w3,
          gex_AM_Arg_t w4, gex_AM_Arg_t w5, gex_AM_Arg_t w6, gex_AM_Arg_t w7)
{
	const int words[WORDS] = { w0, w1, w2, w3, w4, w5, w6, w7 };

	/* queries are legal in a handler */
	PT_EQ(gex_TM_QuerySize(pt.tm), gex_System_QueryJobSize());
	memcpy(shared[pt_source(token)], words, sizeof(words));
	PT_INC(arrived);
}

/* Tell everybody; afterwards shared[] holds everybody's words. */
static void
share(const int *w)
{
	int before = PT_GET(arrived);

	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_OK(gex_AM_RequestShort8(pt.tm, rank, REQ_SHARE, 0, w[0], w[1], w[2], w[3], w[4],
		                           w[5], w[6], w[7]));
	GASNET_BLOCKUNTIL(PT_GET(arrived) >= before + (int)pt.size);
	pt_barrier();
	PT_EQ(PT_GET(arrived), before + (int)pt.size);
}

static void
check_client(const char *name)
{
	PT_STR(gex_Client_QueryName(pt.client), name);
	PT_EQ(gex_Client_QueryFlags(pt.client), GEX_FLAG_USES_GASNET1);
	PT_CHECK(gex_EP_QueryClient(pt.ep) == pt.client);
	PT_EQ(gex_EP_QueryFlags(pt.ep), 0);
	PT_EQ(gex_EP_QueryIndex(pt.ep), 0);
	PT_CHECK(gex_TM_QueryClient(pt.tm) == pt.client);
	PT_CHECK(gex_TM_QueryEP(pt.tm) == pt.ep);
	PT_EQ(gex_TM_QueryFlags(pt.tm), 0);
	PT_EQ(gex_TM_QueryRank(pt.tm), gex_System_QueryJobRank());
	PT_EQ(gex_TM_QuerySize(pt.tm), gex_System_QueryJobSize());
	PT_EQ(gasnet_mynode(), gex_System_QueryJobRank());
	PT_EQ(gasnet_nodes(), gex_System_QueryJobSize());
}

static void
check_translation(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		gex_EP_Location_t at = gex_TM_TranslateRankToEP(pt.tm, rank, 0);

		PT_EQ(gex_TM_TranslateRankToJobrank(pt.tm, rank), rank);
		PT_EQ(gex_TM_TranslateJobrankToRank(pt.tm, rank), rank);
		PT_EQ(at.gex_rank, rank);
		PT_EQ(at.gex_ep_index, 0);
	}
}

static void
check_cdata(void)
{
	static int values[4];

	PT_PTR(gex_Client_QueryCData(pt.client), NULL);
	PT_PTR(gex_EP_QueryCData(pt.ep), NULL);
	PT_PTR(gex_TM_QueryCData(pt.tm), NULL);
	PT_PTR(gex_Segment_QueryCData(pt.segment), NULL);
	gex_Client_SetCData(pt.client, &values[0]);
	gex_EP_SetCData(pt.ep, &values[1]);
	gex_TM_SetCData(pt.tm, &values[2]);
	gex_Segment_SetCData(pt.segment, &values[3]);
	PT_PTR(gex_Client_QueryCData(pt.client), &values[0]);
	PT_PTR(gex_EP_QueryCData(pt.ep), &values[1]);
	PT_PTR(gex_TM_QueryCData(pt.tm), &values[2]);
	PT_PTR(gex_Segment_QueryCData(pt.segment), &values[3]);
	gex_Client_SetCData(pt.client, NULL);
	PT_PTR(gex_Client_QueryCData(pt.client), NULL);
	PT_PTR(gex_EP_QueryCData(pt.ep), &values[1]);
}

static void
check_set(gex_RankInfo_t *info, gex_Rank_t count, gex_Rank_t mine)
{
	PT_LE(1, count);
	PT_LE(count, pt.size);
	PT_CHECK(mine < count);
	PT_EQ(info[mine].gex_jobrank, pt.rank);
	for (gex_Rank_t i = 0; i < count; i++) {
		PT_CHECK(info[i].gex_jobrank < pt.size);
		if (i)
			PT_CHECK(info[i - 1].gex_jobrank < info[i].gex_jobrank);
	}
}

static void
check_neighbours(void)
{
	gex_RankInfo_t *near = NULL, *host = NULL, *again = NULL;
	gex_Rank_t near_count, near_mine, host_count, host_mine, i, j = 0, only;

	gex_System_QueryNbrhdInfo(&near, &near_count, &near_mine);
	gex_System_QueryHostInfo(&host, &host_count, &host_mine);
	check_set(near, near_count, near_mine);
	check_set(host, host_count, host_mine);
	for (i = 0; i < near_count; i++) { /* a subset of the host */
		while (j < host_count && host[j].gex_jobrank != near[i].gex_jobrank)
			j++;
		PT_CHECK(j < host_count);
	}
	gex_System_QueryNbrhdInfo(NULL, &only, NULL);
	PT_EQ(only, near_count);
	gex_System_QueryNbrhdInfo(&again, NULL, NULL);
	PT_EQ(again[near_mine].gex_jobrank, pt.rank);
	gex_System_QueryHostInfo(NULL, NULL, &only);
	PT_EQ(only, host_mine);
	gex_System_QueryHostInfo(NULL, NULL, NULL);
}

/* Sizes are the same everywhere; indices agree exactly where the sets do. */
static void
check_position(void)
{
	gex_Rank_t near_sets, near_set, host_sets, host_set, only;
	gex_RankInfo_t *near, *host;
	int words[WORDS];

	gex_System_QueryMyPosition(&near_sets, &near_set, &host_sets, &host_set);
	PT_CHECK(near_set < near_sets);
	PT_CHECK(host_set < host_sets);
	gex_System_QueryMyPosition(NULL, &only, NULL, NULL);
	PT_EQ(only, near_set);
	gex_System_QueryMyPosition(NULL, NULL, &only, NULL);
	PT_EQ(only, host_sets);
	gex_System_QueryNbrhdInfo(&near, NULL, NULL);
	gex_System_QueryHostInfo(&host, NULL, NULL);
	words[0] = (int)near_sets;
	words[1] = (int)near_set;
	words[2] = (int)host_sets;
	words[3] = (int)host_set;
	words[4] = (int)near[0].gex_jobrank;
	words[5] = (int)host[0].gex_jobrank;
	words[6] = (int)(gasnet_getMaxGlobalSegmentSize() / GASNET_PAGESIZE);
	words[7] = (int)(gasnet_getMaxLocalSegmentSize() / GASNET_PAGESIZE);
	share(words);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		const int *other = shared[rank];

		PT_EQ(other[0], words[0]);
		PT_EQ(other[2], words[2]);
		PT_EQ(other[1] == words[1], other[4] == words[4]);
		PT_EQ(other[3] == words[3], other[5] == words[5]);
		PT_EQ(other[6], words[6]);
		PT_LE(words[6], other[7]);
	}
}

static void
check_segment_limits(void)
{
	PT_LE(GASNET_PAGESIZE, gasnet_getMaxGlobalSegmentSize());
	PT_LE(gasnet_getMaxGlobalSegmentSize(), gasnet_getMaxLocalSegmentSize());
	PT_EQ(gasnet_getMaxGlobalSegmentSize() % GASNET_PAGESIZE, 0);
	PT_EQ(gasnet_getMaxLocalSegmentSize() % GASNET_PAGESIZE, 0);
}

static void
check_segment(void)
{
	PT_CHECK(gex_EP_QuerySegment(pt.ep) == pt.segment);
	PT_CHECK(gex_Segment_QueryClient(pt.segment) == pt.client);
	PT_EQ(gex_Segment_QueryFlags(pt.segment), 0);
	PT_PTR(gex_Segment_QueryAddr(pt.segment), pt.base);
	PT_EQ(gex_Segment_QuerySize(pt.segment), pt.segment_bytes);
}

static void
check_objects(void)
{
	gex_Client_t client = GEX_CLIENT_INVALID;
	gex_EP_t ep = GEX_EP_INVALID;
	gex_TM_t tm = GEX_TM_INVALID;
	gex_Segment_t segment = GEX_SEGMENT_INVALID;

	gasnet_QueryGexObjects(&client, &ep, &tm, &segment);
	PT_CHECK(client == pt.client && ep == pt.ep && tm == pt.tm && segment == pt.segment);
	gasnet_QueryGexObjects(NULL, NULL, NULL, NULL);
	tm = GEX_TM_INVALID;
	gasnet_QueryGexObjects(NULL, NULL, &tm, NULL);
	PT_CHECK(tm == pt.tm);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_SHARE, req_share, PT_REQ_SHORT, 8) };
	char name[] = "PT_QUERIES";
	gex_Client_t client, other_client = GEX_CLIENT_INVALID;
	gex_EP_t ep, other_ep = GEX_EP_INVALID;
	gex_TM_t tm, other_tm = GEX_TM_INVALID;

	pt_prepare(argv);
	PT_OK(gex_Client_Init(&client, &ep, &tm, name, &argc, &argv, GEX_FLAG_USES_GASNET1));
	memset(name, 'x', sizeof(name) - 1); /* the library has a copy */
	pt_adopt(client, ep, tm);
	PT_LE(pt.size, MAX_RANKS);
	PT_CHECK(client != GEX_CLIENT_INVALID && ep != GEX_EP_INVALID && tm != GEX_TM_INVALID);
	PT_CHECK(gex_Client_Init(&other_client, &other_ep, &other_tm, "PT_AGAIN", &argc, &argv,
	                         0) != GASNET_OK);
	check_client("PT_QUERIES");
	PT_CHECK(gex_EP_QuerySegment(pt.ep) == GEX_SEGMENT_INVALID);
	check_segment_limits();
	pt_attach(table, 1, 3 * GASNET_PAGESIZE);
	check_client("PT_QUERIES");
	check_segment_limits();
	check_segment();
	check_objects();
	check_translation();
	check_cdata();
	check_neighbours();
	check_position();
	pt_finish();
}
