/* Threads use the library one at a time: implicit sets belong to a thread, events do not. */
#include "tests/lib/pt.h"

#include <pthread.h>

#ifdef GASNET_SEQ
#error this program is for modes with threads
#endif

enum { REQ_ECHO = 128, REP_ECHO };
enum { THREADS = 4, BYTES = 30000 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pt_count echoes;
static gex_Event_t left_behind; /* made by one thread, synced by the next */
static char *left_source;

static void
req_echo(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key)
{
	PT_EQ(nbytes, BYTES);
	PT_MEM(buf, nbytes, (unsigned)key);
	PT_OK(gex_AM_ReplyShort0(token, REP_ECHO, 0));
}

static void
rep_echo(gex_Token_t token)
{
	(void)token;
	PT_INC(echoes);
}

static void
one_turn(unsigned index, char *source, unsigned long round)
{
	gex_Rank_t rank = (gex_Rank_t)((pt.rank + round + index) % pt.size);
	uint32_t key = (uint32_t)(round * THREADS + index);
	int before = PT_GET(echoes);

	/* the previous thread's event: ours to finish now */
	gex_Event_Wait(left_behind);
	memset(left_source, 0x44, BYTES);
	pt_fill(left_source, BYTES, key);
	PT_OK(gex_AM_RequestMedium1(pt.tm, rank, REQ_ECHO, left_source, BYTES, &left_behind, 0,
	                            (gex_AM_Arg_t)key));
	/* our own implicit set */
	pt_fill(source, BYTES, key + 1);
	PT_OK(gex_AM_RequestMedium1(pt.tm, rank, REQ_ECHO, source, BYTES, GEX_EVENT_GROUP, 0,
	                            (gex_AM_Arg_t)key + 1));
	GASNET_BLOCKUNTIL(PT_GET(echoes) == before + 2);
}

static void
take_turns(unsigned index, void *arg)
{
	unsigned long rounds = *(unsigned long *)arg;
	char *source = malloc(BYTES);

	PT_CHECK(source != NULL);
	for (unsigned long round = 0; round < rounds; round++) {
		pthread_mutex_lock(&turn);
		gex_NBI_Wait(GEX_EC_AM, 0);
		memset(source, 0x66, BYTES);
		one_turn(index, source, round);
		pthread_mutex_unlock(&turn);
	}
	pthread_mutex_lock(&turn);
	gex_NBI_Wait(GEX_EC_ALL, 0);
	pthread_mutex_unlock(&turn);
	free(source);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_ECHO, req_echo, PT_REQ_MEDIUM, 1),
		PT_HANDLER(REP_ECHO, rep_echo, PT_REP_SHORT, 0),
	};
	unsigned long rounds = 0;

	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	rounds = pt_scale(50, 500);
	left_source = malloc(BYTES);
	PT_CHECK(left_source != NULL);
	pt_threads(THREADS, take_turns, &rounds);
	gex_Event_Wait(left_behind);
	PT_EQ(PT_GET(echoes), 2 * THREADS * rounds);
	/* threads end and their state is recycled, however many there were */
	for (int i = 0; i < 100; i++) {
		rounds = 1;
		pt_threads(THREADS, take_turns, &rounds);
	}
	gex_Event_Wait(left_behind);
	pt_finish();
}
