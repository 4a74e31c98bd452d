/* Start-up by gasnet_init and gasnet_attach, with a table of fixed and free indices. */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { FIXED = 201 };

static pt_count requests, replies;
static gasnet_handler_t reply_index;

static void
req_any(gasnet_token_t token, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1)
{
	gasnet_node_t source = 12345;

	PT_OK(gasnet_AMGetMsgSource(token, &source));
	PT_EQ(a0, (int)source * 7);
	PT_INC(requests);
	PT_OK(gasnet_AMReplyShort2(token, reply_index, a1, a0));
}

static void
req_medium(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t a0,
           gasnet_handlerarg_t a1)
{
	PT_EQ(nbytes, 5);
	PT_EQ(memcmp(buf, "hello", 5), 0);
	req_any(token, a0, a1);
}

static void
rep_any(gasnet_token_t token, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1)
{
	(void)token;
	PT_EQ(a0, -5);
	PT_EQ(a1, (int)pt.rank * 7);
	PT_INC(replies);
}

static void
adopt(void)
{
	gex_Client_t client = GEX_CLIENT_INVALID;
	gex_EP_t ep = GEX_EP_INVALID;
	gex_TM_t tm = GEX_TM_INVALID;

	gasnet_QueryGexObjects(&client, &ep, &tm, &pt.segment);
	PT_CHECK(client != GEX_CLIENT_INVALID && ep != GEX_EP_INVALID && tm != GEX_TM_INVALID);
	PT_CHECK(pt.segment != GEX_SEGMENT_INVALID);
	pt_adopt(client, ep, tm);
	PT_STR(gex_Client_QueryName(client), "LEGACY");
	PT_EQ(gex_Client_QueryFlags(client), GEX_FLAG_USES_GASNET1);
	PT_CHECK(gex_EP_QuerySegment(ep) == pt.segment);
	pt_find_peers();
}

static void
attach_errors(gasnet_handlerentry_t *table, int count)
{
	uintptr_t max = gasnet_getMaxLocalSegmentSize();
	int result;

	gex_System_SetVerboseErrors(0);
	result = gasnet_attach(table, count, GASNET_PAGESIZE + 1, 0);
	PT_CHECK(result == GASNET_ERR_BAD_ARG || result == GASNET_ERR_RESOURCE);
	result = gasnet_attach(table, count, max + GASNET_PAGESIZE, 0);
	PT_CHECK(result == GASNET_ERR_BAD_ARG || result == GASNET_ERR_RESOURCE);
	gex_System_SetVerboseErrors(1);
}

static void
send_all(const gasnet_handlerentry_t *table)
{
	gasnet_handlerarg_t a0 = (gasnet_handlerarg_t)gasnet_mynode() * 7;
	int want = 0;

	for (gasnet_node_t node = 0; node < gasnet_nodes(); node++) {
		PT_OK(gasnet_AMRequestShort2(node, table[0].index, a0, -5));
		PT_OK(gasnet_AMRequestShort2(node, FIXED, a0, -5));
		PT_OK(gasnet_AMRequestMedium2(node, table[2].index, "hello", 5, a0, -5));
		want += 3;
	}
	GASNET_BLOCKUNTIL(PT_GET(replies) == want);
	PT_EQ(gasnet_barrier(17, 0), GASNET_OK);
	PT_EQ(PT_GET(requests), want);
}

int
main(int argc, char **argv)
{
	gasnet_handlerentry_t table[] = {
		{ 0, (gex_AM_Fn_t)req_any },
		{ FIXED, (gex_AM_Fn_t)req_any },
		{ 0, (gex_AM_Fn_t)req_medium },
		{ 0, (gex_AM_Fn_t)rep_any },
	};
	/* "zero": a segment of size 0, which means one page */
	int zero = argc > 1 && !strcmp(argv[1], "zero");
	uintptr_t bytes = zero ? 0 : 3 * (uintptr_t)GASNET_PAGESIZE;

	pt_prepare(argv);
	PT_OK(gasnet_init(&argc, &argv));
	PT_CHECK(gasnet_mynode() < gasnet_nodes());
	PT_LE(gasnet_getMaxGlobalSegmentSize(), gasnet_getMaxLocalSegmentSize());
	attach_errors(table, (int)PT_COUNT(table));
	PT_OK(gasnet_attach(table, (int)PT_COUNT(table), bytes, 1 << 20));
	adopt();
	PT_EQ(table[0].index, 255);
	PT_EQ(table[1].index, FIXED);
	PT_EQ(table[2].index, 254);
	PT_EQ(table[3].index, 253);
	reply_index = table[3].index;
	PT_EQ(pt.segment_bytes, zero ? GASNET_PAGESIZE : bytes);
	gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
	PT_OK(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
	send_all(table);
	memset(pt.base, 'e', pt.segment_bytes);
	PT_OK(gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED));
	for (gasnet_node_t node = 0; node < gasnet_nodes(); node++)
		PT_EQ(gasnet_get_val(node, pt.peers[node].owner + pt.peers[node].size_bytes - 1, 1),
		      'e');
	pt_finish();
}
