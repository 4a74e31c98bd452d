/*
 * Created segments: library memory bound to the primordial endpoint in place
 * of attach, published, and the target of Longs and puts of all others.
 */
#include "tests/lib/pt.h"

enum { REQ_LONG = 128, REP_LONG };
enum { PAGE = GASNET_PAGESIZE, ASKED = 5 * PAGE + 100, SLOT = 256 };

static pt_count replies;

static void
req_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key)
{
	gex_Rank_t source = pt_source(token);

	PT_PTR(buf, pt.base + (size_t)source * SLOT);
	PT_MEM(buf, nbytes, (uint32_t)key);
	PT_OK(gex_AM_ReplyLong1(token, REP_LONG, buf, nbytes,
	                        pt.peers[source].owner + PAGE + (size_t)pt.rank * SLOT,
	                        GEX_EVENT_NOW, 0, key));
}

static void
rep_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key)
{
	PT_PTR(buf, pt.base + PAGE + (size_t)pt_source(token) * SLOT);
	PT_MEM(buf, nbytes, (uint32_t)key);
	PT_INC(replies);
}

/* What cannot be made is refused, and no output is touched. */
static void
refused(void)
{
	gex_Segment_t mark = (gex_Segment_t)(uintptr_t)&replies, segment = mark;
	gex_EP_t ep_mark = (gex_EP_t)(uintptr_t)&replies, ep = ep_mark;
	static char memory[64];
	uintptr_t max = gasnet_getMaxLocalSegmentSize();
	int result;

	gex_System_SetVerboseErrors(0);
	PT_EQ(gex_Segment_Create(&segment, pt.client, NULL, 0, GEX_MK_HOST, 0), GASNET_ERR_BAD_ARG);
	PT_EQ(gex_Segment_Create(&segment, pt.client, memory, 0, GEX_MK_HOST, 0),
	      GASNET_ERR_BAD_ARG);
	PT_EQ(gex_Segment_Create(&segment, pt.client, NULL, PAGE, GEX_MK_INVALID, 0),
	      GASNET_ERR_BAD_ARG);
	PT_EQ(gex_Segment_Create(&segment, pt.client, NULL, PAGE, GEX_MK_HOST, GEX_FLAG_IMMEDIATE),
	      GASNET_ERR_BAD_ARG);
	result = gex_Segment_Create(&segment, pt.client, NULL, max + PAGE, GEX_MK_HOST, 0);
	PT_CHECK(result == GASNET_ERR_BAD_ARG || result == GASNET_ERR_RESOURCE);
	PT_CHECK(segment == mark);
	PT_EQ(gex_EP_Create(&ep, pt.client, 0, 0), GASNET_ERR_BAD_ARG);
	PT_CHECK(ep == ep_mark);
	gex_System_SetVerboseErrors(1);
}

static gex_Segment_t
make(void *memory, uintptr_t length)
{
	gex_Segment_t segment = GEX_SEGMENT_INVALID;

	PT_OK(gex_Segment_Create(&segment, pt.client, memory, length, GEX_MK_HOST, 0));
	PT_CHECK(segment != GEX_SEGMENT_INVALID);
	PT_CHECK(gex_Segment_QueryClient(segment) == pt.client);
	PT_EQ(gex_Segment_QueryFlags(segment), 0);
	PT_PTR(gex_Segment_QueryCData(segment), NULL);
	if (memory) {
		PT_PTR(gex_Segment_QueryAddr(segment), memory);
		PT_EQ(gex_Segment_QuerySize(segment), length);
	} else {
		PT_CHECK(gex_Segment_QueryAddr(segment) != NULL);
		PT_LE(length, gex_Segment_QuerySize(segment));
	}
	return segment;
}

/* Unbound segments come and go; client memory keeps its contents. */
static void
unbound(void)
{
	static char memory[3000];

	pt_fill(memory, sizeof(memory), 5);
	for (int i = 0; i < 50; i++) {
		gex_Segment_t library = make(NULL, (uintptr_t)(i + 1) * 1000);
		gex_Segment_t client = make(memory + i, sizeof(memory) - 2 * (size_t)i);
		char *at = gex_Segment_QueryAddr(library);

		gex_Segment_SetCData(client, &memory[i]);
		PT_PTR(gex_Segment_QueryCData(client), &memory[i]);
		at[0] = at[gex_Segment_QuerySize(library) - 1] = 'x';
		gex_Segment_Destroy(client, 0);
		gex_Segment_Destroy(library, 0);
	}
	PT_MEM(memory, sizeof(memory), 5);
}

static void
bind_and_publish(void)
{
	gex_Segment_t segment = make(NULL, ASKED + (uintptr_t)pt.rank * PAGE);

	PT_OK(gex_EP_BindSegment(pt.ep, segment, 0));
	PT_CHECK(gex_EP_QuerySegment(pt.ep) == segment);
	PT_OK(gex_EP_PublishBoundSegment(pt.tm, &pt.ep, 1, 0));
	PT_OK(gex_EP_PublishBoundSegment(pt.tm, NULL, 0, 0));
	PT_OK(gex_EP_PublishBoundSegment(pt.tm, &pt.ep, 1, 0));
	pt_barrier();
	pt.segment = segment;
	pt_find_peers();
	PT_PTR(pt.base, gex_Segment_QueryAddr(segment));
	PT_EQ(pt.segment_bytes, gex_Segment_QuerySize(segment));
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		PT_LE(ASKED + (uintptr_t)rank * PAGE, pt.peers[rank].size_bytes);
		PT_CHECK(pt.peers[rank].owner != NULL);
		PT_CHECK(pt.peers[rank].local != NULL);
	}
	pt_barrier();
}

static void
put_get_and_load(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		size_t at = 2 * PAGE + (size_t)pt.rank * SLOT;
		char block[SLOT], back[SLOT];

		pt_fill(block, SLOT, pt.rank * 100 + rank);
		PT_OK(gex_RMA_PutBlocking(pt.tm, rank, pt.peers[rank].owner + at, block, SLOT, 0));
		PT_OK(gex_RMA_GetBlocking(pt.tm, back, rank, pt.peers[rank].owner + at, SLOT, 0));
		PT_MEM(back, SLOT, pt.rank * 100 + rank);
		PT_MEM(pt.peers[rank].local + at, SLOT, pt.rank * 100 + rank);
	}
	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_MEM(pt.base + 2 * PAGE + (size_t)rank * SLOT, SLOT, rank * 100 + pt.rank);
}

static void
longs(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		int before = PT_GET(replies);
		uint32_t key = pt.rank * 1000 + rank;
		char block[SLOT];

		pt_fill(block, SLOT, key);
		PT_OK(gex_AM_RequestLong1(pt.tm, rank, REQ_LONG, block, SLOT,
		                          pt.peers[rank].owner + (size_t)pt.rank * SLOT,
		                          GEX_EVENT_NOW, 0, (gex_AM_Arg_t)key));
		GASNET_BLOCKUNTIL(PT_GET(replies) != before);
	}
}

/* Client memory: made, bound, asked about and used by its owner. */
static void
client_memory(void)
{
	static char memory[2 * PAGE + 50];
	void *owner = NULL, *local = NULL;
	uintptr_t bytes = 0;
	gex_Segment_t segment = make(memory + 3, sizeof(memory) - 10);
	char block[SLOT], back[SLOT];

	PT_OK(gex_EP_BindSegment(pt.ep, segment, 0));
	pt.segment = segment;
	PT_CHECK(gex_EP_QuerySegment(pt.ep) == segment);
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pt.tm, pt.rank, &owner, &local, &bytes, 0));
	PT_PTR(owner, memory + 3);
	PT_EQ(bytes, sizeof(memory) - 10);
	PT_CHECK(local == NULL || local == owner);
	pt_fill(block, SLOT, 77);
	PT_OK(gex_RMA_PutBlocking(pt.tm, pt.rank, memory + 1001, block, SLOT, 0));
	PT_MEM(memory + 1001, SLOT, 77);
	PT_OK(gex_RMA_GetBlocking(pt.tm, back, pt.rank, memory + 1001, SLOT, 0));
	PT_MEM(back, SLOT, 77);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_LONG, req_long, PT_REQ_LONG, 1),
		PT_HANDLER(REP_LONG, rep_long, PT_REP_LONG, 1),
	};
	int as_client = argc > 1 && !strcmp(argv[1], "client");

	pt_init(&argc, &argv, 0);
	PT_OK(gex_EP_RegisterHandlers(pt.ep, table, PT_COUNT(table)));
	PT_LE(pt.size * SLOT, PAGE);
	refused();
	unbound();
	if (as_client) {
		client_memory();
		pt_finish();
	}
	bind_and_publish();
	put_get_and_load();
	pt_barrier();
	longs();
	pt_finish();
}
