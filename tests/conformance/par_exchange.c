/* All threads of all processes exchange every kind of message and transfer with all processes. */
#include "tests/lib/pt.h"

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { REQ_PAYLOAD = 128, REP_PAYLOAD };
enum { THREADS = 4, PLACE_BYTES = 65536 };

static pt_count payloads[THREADS];

static void
req_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t who)
{
	PT_MEM(buf, nbytes, (unsigned)key);
	PT_OK(gex_AM_ReplyMedium2(token, REP_PAYLOAD, buf, nbytes, GEX_EVENT_NOW, 0, key, who));
}

static void
rep_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t who)
{
	(void)token;
	PT_MEM(buf, nbytes, (unsigned)key);
	PT_INC(payloads[who]);
}

/* One of everything with one peer; the answers free the places for the next round. */
static void
exchange_with(gex_Rank_t rank, unsigned who, char *buf, size_t nbytes, gex_AM_Arg_t key)
{
	char *place = pt.peers[rank].owner + (pt.rank * THREADS + who) * PLACE_BYTES;
	gex_AM_Arg_t w = (gex_AM_Arg_t)who;
	int before = PT_GET(payloads[who]);
	gex_AM_SrcDesc_t sd;

	pt_fill(buf, nbytes, (unsigned)key);
	PT_OK(gex_RMA_PutBlocking(pt.tm, rank, place, buf, nbytes, 0));
	PT_OK(gex_AM_RequestMedium2(pt.tm, rank, REQ_PAYLOAD, buf, nbytes, GEX_EVENT_NOW, 0, key,
	                            w));
	memset(buf, 0, nbytes);
	PT_OK(gex_RMA_GetBlocking(pt.tm, buf, rank, place, nbytes, 0));
	PT_MEM(buf, nbytes, key);
	PT_OK(gex_AM_RequestLong2(pt.tm, rank, REQ_PAYLOAD, buf, nbytes, place + PLACE_BYTES / 2,
	                          GEX_EVENT_NOW, 0, key, w));
	sd = gex_AM_PrepareRequestMedium(pt.tm, rank, NULL, nbytes, nbytes, NULL, 0, 2);
	memcpy(gex_AM_SrcDescAddr(sd), buf, nbytes);
	gex_AM_CommitRequestMedium2(sd, REQ_PAYLOAD, nbytes, key, w);
	GASNET_BLOCKUNTIL(PT_GET(payloads[who]) == before + 3);
}

static void
exchange(unsigned index, void *arg)
{
	unsigned long count = *(unsigned long *)arg;
	struct pt_rng rng = pt_rng_make(pt.rank * 16 + index);
	char *buf = malloc(PLACE_BYTES / 2);

	PT_CHECK(buf != NULL);
	for (unsigned long i = 0; i < count; i++) {
		gex_Rank_t rank = (gex_Rank_t)pt_rand_below(&rng, pt.size);
		size_t nbytes = 1 + pt_rand_below(&rng, 20000);

		exchange_with(rank, index, buf, nbytes, (gex_AM_Arg_t)pt_rand_below(&rng, 1000));
	}
	free(buf);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_PAYLOAD, req_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2),
		PT_HANDLER(REP_PAYLOAD, rep_payload, PT_REP_MEDIUM, 2),
	};
	unsigned long count;

	pt_init(&argc, &argv, 0);
	pt_attach(table, PT_COUNT(table), (size_t)pt.size * THREADS * PLACE_BYTES);
	count = pt_scale(50, 300);
	pt_threads(THREADS, exchange, &count);
	for (int who = 0; who < THREADS; who++)
		PT_EQ(PT_GET(payloads[who]), 3 * count);
	pt_barrier();
	pt_finish();
}
