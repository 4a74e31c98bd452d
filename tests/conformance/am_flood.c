/*
 * All ranks flood all others with largest requests, each answered by a
 * largest reply.  Nothing waits for ever and nothing is lost.
 */
#include "tests/lib/pt.h"

enum { REQ_MEDIUM = 128, REQ_LONG, REP_MEDIUM, REP_LONG };
enum { LONG_BYTES = 128 * 1024, STRIDE = 509 };

static PT_OWN size_t request_bytes, reply_bytes;
static PT_OWN char *source, *reply_source;
static PT_OWN pt_count served, replies;

/* Every byte of a page is reached over the messages; all of them in each would take minutes. */
static void
check_sparse(const char *at, size_t nbytes, size_t want, int letter, gex_AM_Arg_t serial)
{
	PT_EQ(nbytes, want);
	for (size_t i = (size_t)serial % STRIDE; i < nbytes; i += STRIDE)
		PT_EQ(at[i], letter);
	PT_EQ(at[nbytes - 1], letter);
}

static void
req_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t letter, gex_AM_Arg_t serial)
{
	check_sparse((char *)buf, nbytes, request_bytes, letter, serial);
	memset(buf, 0, nbytes);
	PT_INC(served);
	PT_OK(gex_AM_ReplyMedium2(token, REP_MEDIUM, reply_source, reply_bytes, GEX_EVENT_NOW, 0,
	                          'a' + (gex_AM_Arg_t)(pt.rank % 26), serial));
}

static void
req_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t letter, gex_AM_Arg_t serial)
{
	gex_Rank_t from = pt_source(token);

	check_sparse((char *)buf, nbytes, LONG_BYTES, letter, serial);
	PT_INC(served);
	PT_OK(gex_AM_ReplyLong2(token, REP_LONG, reply_source, LONG_BYTES,
	                        pt.peers[from].owner + (size_t)(2 * pt.rank + 1) * LONG_BYTES,
	                        GEX_EVENT_NOW, 0, 'a' + (gex_AM_Arg_t)(pt.rank % 26), serial));
}

static void
rep_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t letter, gex_AM_Arg_t serial)
{
	PT_EQ(letter, 'a' + (int)(pt_source(token) % 26));
	check_sparse((char *)buf, nbytes, reply_bytes, letter, serial);
	PT_INC(replies);
}

static void
rep_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t letter, gex_AM_Arg_t serial)
{
	PT_EQ(letter, 'a' + (int)(pt_source(token) % 26));
	check_sparse((char *)buf, nbytes, LONG_BYTES, letter, serial);
	PT_INC(replies);
}

/* Longs of one sender land on each other, with the same bytes; between threads that is told as a
 * race. */
static int
tells_of_longs(void)
{
#ifdef PT_TSAN
	return pt_is_thread();
#else
	return 0;
#endif
}

static void
flood(unsigned long rounds, int is_long)
{
	int want = PT_GET(replies) + (int)(rounds * pt.size);
	gex_AM_Arg_t letter = 'A' + (gex_AM_Arg_t)(pt.rank % 26);

	for (unsigned long i = 0; i < rounds; i++) {
		for (gex_Rank_t step = 0; step < pt.size; step++) {
			gex_Rank_t rank = (pt.rank + step) % pt.size;

			if (is_long)
				PT_OK(gex_AM_RequestLong2(
					pt.tm, rank, REQ_LONG, source, LONG_BYTES,
					pt.peers[rank].owner + (size_t)(2 * pt.rank) * LONG_BYTES,
					GEX_EVENT_NOW, 0, letter, (gex_AM_Arg_t)i));
			else
				PT_OK(gex_AM_RequestMedium2(pt.tm, rank, REQ_MEDIUM, source,
				                            request_bytes, GEX_EVENT_NOW, 0, letter,
				                            (gex_AM_Arg_t)i));
		}
	}
	GASNET_BLOCKUNTIL(PT_GET(replies) >= want);
	PT_EQ(PT_GET(replies), want);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_MEDIUM, req_medium, PT_REQ_MEDIUM, 2),
		PT_HANDLER(REQ_LONG, req_long, PT_REQ_LONG, 2),
		PT_HANDLER(REP_MEDIUM, rep_medium, PT_REP_MEDIUM, 2),
		PT_HANDLER(REP_LONG, rep_long, PT_REP_LONG, 2),
	};
	unsigned long rounds;

	pt_init(&argc, &argv, 0);
	pt_attach(table, PT_COUNT(table), (size_t)2 * pt.size * LONG_BYTES);
	request_bytes = gex_AM_MaxRequestMedium(pt.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 2);
	reply_bytes = gex_AM_MaxReplyMedium(pt.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 2);
	source = malloc(request_bytes + LONG_BYTES);
	reply_source = malloc(reply_bytes + LONG_BYTES);
	PT_CHECK(source != NULL && reply_source != NULL);
	memset(source, 'A' + (int)(pt.rank % 26), request_bytes + LONG_BYTES);
	memset(reply_source, 'a' + (int)(pt.rank % 26), reply_bytes + LONG_BYTES);
	/* about as many bytes whatever the number of ranks */
	rounds = pt_scale(200, 1500) / (pt.size * pt.size) + 10;
	pt_barrier();
	pt_phase("largest Mediums");
	flood(rounds, 0);
	pt_barrier();
	pt_phase("Longs");
	flood(rounds, !tells_of_longs());
	pt_barrier();
	PT_EQ(PT_GET(served), 2 * (int)(rounds * pt.size));
	free(source);
	free(reply_source);
	pt_finish();
}
