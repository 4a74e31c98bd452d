/*
 * Threads transfer at the same time.  Implicit sets and access regions are each thread's own;
 * events are synchronised by whichever thread takes them, also after the one that started them has
 * ended.
 */
#include <gasnet.h>

#include "tests/lib/pt.h"

#include <pthread.h>

enum { THREADS = 4, OPS = 12, BYTES = 9000, BOARD = 64 };

/* Operations that any thread may synchronise. */
struct handed {
	gex_Event_t event;
	unsigned char *buf; /* a get's destination, else NULL */
	uint64_t key;
};

static struct handed board[BOARD];
static size_t on_board;
static pthread_mutex_t board_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned round_number;

static gex_Rank_t
peer(void)
{
	return (pt.rank + round_number) % pt.size;
}

/* Each thread of each rank has room for its operations at each peer. */
static char *
there(unsigned thread, unsigned op)
{
	return pt.peers[peer()].owner + ((size_t)(pt.rank * THREADS + thread) * OPS + op) * BYTES;
}

static uint64_t
key_of(unsigned thread, unsigned op)
{
	return (pt.rank * 1000 + thread) * 1000 + op * 10 + round_number;
}

static size_t
length_of(unsigned op)
{
	return op % 3 == 0 ? 8 : op % 3 == 1 ? 700 : BYTES;
}

static void
hand_over(gex_Event_t event, unsigned char *buf, uint64_t key)
{
	pthread_mutex_lock(&board_lock);
	PT_CHECK(on_board < BOARD);
	board[on_board++] = (struct handed){ event, buf, key };
	pthread_mutex_unlock(&board_lock);
}

static int
take_over(struct handed *handed)
{
	int found;

	pthread_mutex_lock(&board_lock);
	found = on_board > 0;
	if (found)
		*handed = board[--on_board];
	pthread_mutex_unlock(&board_lock);
	return found;
}

/* Puts of all kinds; none is under way when it returns. */
static void
put_all(unsigned thread, unsigned char *bufs)
{
	gex_Event_t region, events[OPS];

	gex_NBI_BeginAccessRegion(0);
	for (unsigned op = 0; op < OPS; op++) {
		unsigned char *buf = bufs + (size_t)op * BYTES;

		pt_fill(buf, length_of(op), key_of(thread, op));
		events[op] = GEX_EVENT_INVALID;
		if (op % 2)
			events[op] = gex_RMA_PutNB(pt.tm, peer(), there(thread, op), buf,
			                           length_of(op), GEX_EVENT_DEFER, 0);
		else if (op < OPS / 2)
			PT_OK(gex_RMA_PutNBI(pt.tm, peer(), there(thread, op), buf, length_of(op),
			                     GEX_EVENT_NOW, 0));
	}
	region = gex_NBI_EndAccessRegion(0);
	for (unsigned op = OPS / 2; op < OPS; op++)
		if (op % 2 == 0)
			PT_OK(gex_RMA_PutNBI(pt.tm, peer(), there(thread, op),
			                     bufs + (size_t)op * BYTES, length_of(op),
			                     GEX_EVENT_GROUP, 0));
	gex_NBI_Wait(GEX_EC_LC, 0);
	gex_NBI_Wait(GEX_EC_PUT, 0);
	gex_Event_WaitAll(events, OPS, 0);
	gex_Event_Wait(region);
}

/* Gets, whose events go to whoever is there. */
static void
get_all(unsigned thread)
{
	for (unsigned op = 0; op < OPS; op++) {
		unsigned char *buf = malloc(BYTES);

		PT_CHECK(buf != NULL);
		hand_over(gex_RMA_GetNB(pt.tm, buf, peer(), there(thread, op), length_of(op), 0),
		          buf, key_of(thread, op) * 100 + op % 3);
	}
}

static void
finish_some(void)
{
	struct handed handed;

	while (take_over(&handed)) {
		gex_Event_Wait(handed.event);
		PT_MEM(handed.buf, length_of((unsigned)(handed.key % 100)), handed.key / 100);
		free(handed.buf);
	}
}

static void
work(unsigned thread, void *bufs)
{
	put_all(thread, (unsigned char *)bufs + (size_t)thread * OPS * BYTES);
	get_all(thread);
	if (thread % 2)
		finish_some();
}

int
main(int argc, char **argv)
{
	unsigned char *bufs = malloc((size_t)THREADS * OPS * BYTES);

	PT_CHECK(bufs != NULL);
	pt_start(&argc, &argv, NULL, 0, (size_t)pt_scale(8, 8) * THREADS * OPS * BYTES);
	PT_CHECK(pt.size <= 8);
	for (unsigned i = 0; i < pt_scale(6, 20); i++) {
		round_number = i;
		pt_threads(THREADS, work, bufs);
		finish_some();
		pt_barrier();
	}
	free(bufs);
	pt_finish();
}
