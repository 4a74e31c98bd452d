/* A rank that only computes holds up its own senders and nobody else. */
#include "tests/lib/pt.h"

enum { REQ_ECHO = 128, REP_ECHO, REQ_COUNT };

static pt_count echoes, counted;
static size_t payload_bytes;

static void
req_echo(gex_Token_t token, void *buf, size_t nbytes)
{
	PT_OK(gex_AM_ReplyMedium0(token, REP_ECHO, buf, nbytes, GEX_EVENT_NOW, 0));
}

static void
rep_echo(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token;
	PT_EQ(nbytes, payload_bytes);
	PT_MEM(buf, 100, 3);
	PT_INC(echoes);
}

static void
req_count(gex_Token_t token)
{
	(void)token;
	PT_INC(counted);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_ECHO, req_echo, PT_REQ_MEDIUM, 0),
		PT_HANDLER(REP_ECHO, rep_echo, PT_REP_MEDIUM, 0),
		PT_HANDLER(REQ_COUNT, req_count, PT_REQ_SHORT, 0),
	};
	uint64_t start, worst = 0, compute_ns;
	size_t request, reply;
	unsigned long trips = 0;
	char *block;

	pt_start(&argc, &argv, table, PT_COUNT(table), 65536);
	if (pt.size < 3)
		pt_skip("two ranks besides the one that computes are needed");
	request = gex_AM_LUBRequestMedium();
	reply = gex_AM_LUBReplyMedium();
	payload_bytes = request < reply ? request : reply;
	block = malloc(payload_bytes);
	PT_CHECK(block != NULL);
	pt_fill(block, payload_bytes, 3);
	compute_ns = (uint64_t)pt_scale(1000, 5000) * 1000000u;
	pt_barrier();
	/* everyone owes rank 0 a few messages, which it will not see for a while */
	for (int i = 0; i < 8; i++)
		PT_OK(gex_AM_RequestShort0(pt.tm, 0, REQ_COUNT, 0));
	start = pt_now_ns();
	if (pt.rank == 0)
		pt_spin_ms((unsigned)(compute_ns / 1000000u));
	while (pt.rank != 0 && pt_now_ns() - start < compute_ns * 8 / 10) {
		gex_Rank_t peer = 1 + (pt.rank + (gex_Rank_t)trips) % (pt.size - 1);
		uint64_t begin = pt_now_ns(), took;
		int before = PT_GET(echoes);

		PT_OK(gex_AM_RequestMedium0(pt.tm, peer, REQ_ECHO, block, payload_bytes,
		                            GEX_EVENT_NOW, 0));
		GASNET_BLOCKUNTIL(PT_GET(echoes) != before);
		PT_OK(gex_RMA_PutBlocking(pt.tm, 0, pt.peers[0].owner + 64 * pt.rank, block, 64,
		                          0));
		took = pt_now_ns() - begin;
		worst = took > worst ? took : worst;
		trips++;
	}
	if (pt.rank != 0) {
		/* Far above what a shared CPU costs.  A rank that waited for rank 0 would wait
		 * until that has computed. */
		PT_UNDER((double)worst, 0.7 * (double)compute_ns);
		PT_LE(20, trips);
	}
	if (pt.rank == 0)
		GASNET_BLOCKUNTIL(PT_GET(counted) == 8 * (int)pt.size);
	pt_finish();
}
