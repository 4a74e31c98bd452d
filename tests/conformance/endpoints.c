/* Endpoints beyond the first: messages, replies and transfers between all of them, through pairs,
 * with no thread bound to any, so that whoever waits serves them all. */
#include "tests/lib/pt.h"

#include <penstock.h>

enum { REQ_SHORT = 128, REQ_PAYLOAD, REP_SHORT, REP_PAYLOAD, REQ_FLOOD };
enum { FURTHER = 3, EPS = FURTHER + 1, PLACE_BYTES = 8192 };

static gex_EP_t eps[EPS];
static gex_Segment_t segments[EPS];
static pt_count answers, floods[EPS];

static unsigned
index_of(gex_Token_t token)
{
	gex_Token_Info_t info;

	PT_CHECK(gex_Token_Info(token, &info, GEX_TI_EP) & GEX_TI_EP);
	return gex_EP_QueryIndex(info.gex_ep);
}

/* A message says which endpoint sent it, and which shall get it. */
static gex_AM_Arg_t
check_way(gex_Token_t token, gex_AM_Arg_t from, gex_AM_Arg_t to)
{
	gex_EP_Location_t source = pst_token_source(token);

	PT_EQ(source.gex_rank, pt_source(token));
	PT_EQ(source.gex_ep_index, from);
	PT_EQ(index_of(token), to);
	return to;
}

static void
req_short(gex_Token_t token, gex_AM_Arg_t from, gex_AM_Arg_t to)
{
	check_way(token, from, to);
	PT_OK(gex_AM_ReplyShort2(token, REP_SHORT, 0, to, from));
}

static void
req_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from, gex_AM_Arg_t to,
            gex_AM_Arg_t key)
{
	check_way(token, from, to);
	PT_MEM(buf, nbytes, (unsigned)key);
	PT_LE(nbytes, gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 3));
	PT_OK(gex_AM_ReplyMedium3(token, REP_PAYLOAD, buf, nbytes, GEX_EVENT_NOW, 0, to, from,
	                          key));
}

static void
rep_short(gex_Token_t token, gex_AM_Arg_t from, gex_AM_Arg_t to)
{
	check_way(token, from, to);
	PT_INC(answers);
}

static void
rep_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from, gex_AM_Arg_t to,
            gex_AM_Arg_t key)
{
	PT_MEM(buf, nbytes, (unsigned)key);
	rep_short(token, from, to);
}

static void
req_flood(gex_Token_t token, gex_AM_Arg_t to)
{
	PT_EQ(index_of(token), to);
	PT_INC(floods[to]);
}

/* -- set-up ---------------------------------------------------------------------------------- */

static void
make_endpoints(void)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 2),
		PT_HANDLER(REQ_PAYLOAD, req_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 3),
		PT_HANDLER(REP_SHORT, rep_short, PT_REP_SHORT, 2),
		PT_HANDLER(REP_PAYLOAD, rep_payload, PT_REP_MEDIUM, 3),
		PT_HANDLER(REQ_FLOOD, req_flood, PT_REQ_SHORT, 1),
	};

	eps[0] = pt.ep;
	segments[0] = pt.segment;
	for (unsigned i = 1; i < EPS; i++) {
		const gex_Flags_t flags = i == 2 ? GEX_FLAG_HINT_ACCEL_ALL : 0;

		PT_OK(gex_EP_Create(&eps[i], pt.client, GEX_EP_CAPABILITY_ALL, flags));
		PT_EQ(gex_EP_QueryIndex(eps[i]), i);
		PT_EQ(gex_EP_QueryFlags(eps[i]), flags);
		PT_CHECK(gex_EP_QueryClient(eps[i]) == pt.client);
		PT_CHECK(gex_EP_QuerySegment(eps[i]) == GEX_SEGMENT_INVALID);
		PT_PTR(gex_EP_QueryCData(eps[i]), NULL);
		gex_EP_SetCData(eps[i], &eps[i]);
		PT_PTR(gex_EP_QueryCData(eps[i]), &eps[i]);
	}
	for (unsigned i = 0; i < EPS; i++)
		PT_OK(gex_EP_RegisterHandlers(eps[i], table, PT_COUNT(table)));
}

/* The last endpoint shares the segment of the one before. */
static void
bind_segments(void)
{
	for (unsigned i = 1; i < EPS; i++) {
		uintptr_t size = (uintptr_t)pt.size * EPS * PLACE_BYTES;

		if (i < EPS - 1)
			PT_OK(gex_Segment_Create(&segments[i], pt.client, NULL, size, GEX_MK_HOST,
			                         0));
		else
			segments[i] = segments[i - 1];
		PT_OK(gex_EP_BindSegment(eps[i], segments[i], 0));
		PT_CHECK(gex_EP_QuerySegment(eps[i]) == segments[i]);
	}
	PT_OK(gex_EP_PublishBoundSegment(pt.tm, eps, EPS, 0));
}

/* -- all with all ---------------------------------------------------------------------------- */

static char *
base_of(gex_TM_t pair, gex_Rank_t rank)
{
	void *owner = NULL, *local = NULL;
	uintptr_t bytes = 0;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, rank, &owner, &local, &bytes, 0));
	PT_LE((size_t)pt.size * EPS * PLACE_BYTES, bytes);
	PT_EQ(local != NULL, pt_on_this_host(rank));
	if (rank == pt.rank)
		PT_PTR(local, owner);
	return (char *)owner;
}

static void
exchange(unsigned from, unsigned to, gex_Rank_t rank)
{
	gex_TM_t pair = gex_TM_Pair(eps[from], (gex_EP_Index_t)to);
	/* the endpoint that shares a segment has places of its own there */
	char *place = base_of(pair, rank) + (pt.rank * EPS + from) * PLACE_BYTES +
	              (to == EPS - 1 ? PLACE_BYTES / 2 : 0);
	const gex_AM_Arg_t key = (gex_AM_Arg_t)(from * 16 + to + 1), f = (gex_AM_Arg_t)from,
	                   t = (gex_AM_Arg_t)to;
	const size_t sizes[] = { 0, 8, 1000, PLACE_BYTES / 2 };
	const int before = PT_GET(answers);
	char buf[PLACE_BYTES / 2];
	gex_AM_SrcDesc_t sd;

	pt_fill(buf, sizeof(buf), (unsigned)key);
	PT_OK(gex_AM_RequestShort2(pair, rank, REQ_SHORT, 0, f, t));
	for (unsigned i = 0; i < PT_COUNT(sizes); i++)
		PT_OK(gex_AM_RequestMedium3(pair, rank, REQ_PAYLOAD, buf, sizes[i], GEX_EVENT_NOW,
		                            0, f, t, key));
	PT_OK(gex_AM_RequestLong3(pair, rank, REQ_PAYLOAD, buf, sizeof(buf), place, GEX_EVENT_NOW,
	                          0, f, t, key));
	sd = gex_AM_PrepareRequestMedium(pair, rank, NULL, 1000, 1000, NULL, 0, 3);
	memcpy(gex_AM_SrcDescAddr(sd), buf, 1000);
	gex_AM_CommitRequestMedium3(sd, REQ_PAYLOAD, 1000, f, t, key);
	GASNET_BLOCKUNTIL(PT_GET(answers) == before + 3 + (int)PT_COUNT(sizes));
	PT_HAD_AGAIN(place);
	pt_fill(buf, sizeof(buf), (unsigned)key + 1);
	PT_OK(gex_RMA_PutBlocking(pair, rank, place, buf, sizeof(buf), 0));
	memset(buf, 0, sizeof(buf));
	PT_OK(gex_RMA_GetBlocking(pair, buf, rank, place, sizeof(buf), 0));
	PT_MEM(buf, sizeof(buf), (unsigned)key + 1);
}

/* More than any queue holds, to all of them, so that everybody waits for room and serves. */
static void
flood(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned to = 0; to < EPS; to++)
			PT_OK(gex_AM_RequestShort1(
				gex_TM_Pair(eps[(to + i) % EPS], (gex_EP_Index_t)to),
				(gex_Rank_t)((pt.rank + i) % pt.size), REQ_FLOOD, 0,
				(gex_AM_Arg_t)to));
	for (unsigned to = 0; to < EPS; to++)
		GASNET_BLOCKUNTIL(PT_GET(floods[to]) == (int)count);
}

/* No more than GASNET_MAXEPS, and then a plain refusal. */
static void
use_up(void)
{
	unsigned made = EPS;
	gex_EP_t ep = GEX_EP_INVALID;
	int code;

	gex_System_SetVerboseErrors(0);
	while ((code = gex_EP_Create(&ep, pt.client, GEX_EP_CAPABILITY_RMA, 0)) == GASNET_OK)
		PT_EQ(gex_EP_QueryIndex(ep), made++);
	PT_EQ(code, GASNET_ERR_RESOURCE);
	PT_EQ(made, GASNET_MAXEPS);
	gex_System_SetVerboseErrors(1);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, (size_t)64 * EPS * PLACE_BYTES);
	PT_LE(pt.size, 64);
	make_endpoints();
	bind_segments();
	for (gex_Rank_t i = 0; i < pt.size; i++)
		for (unsigned from = 0; from < EPS; from++)
			for (unsigned to = 0; to < EPS; to++)
				exchange(from, to, (pt.rank + i) % pt.size);
	pt_barrier();
	/* each rank is flooded by one other at a time, and all by all in the end */
	flood((unsigned)pt.size * (unsigned)pt_scale(200, 1000));
	pt_barrier();
	use_up();
	pt_finish();
}
