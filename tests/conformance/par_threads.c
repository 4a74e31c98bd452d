/* An open descriptor, and a handler that sleeps or waits for a lock, leave other threads at work. */
#include "tests/lib/pt.h"

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum {
	REQ_ECHO = 128,
	REP_ECHO,
	REQ_SLEEP,
	REQ_LOCK,
	REQ_COUNT,
	REQ_PAYLOAD,
	REP_PAYLOAD,
	REQ_READY
};
enum { THREADS = 4 };

static pt_count echoes[THREADS], payloads[THREADS], counted, slept, locked;
static pt_count opened, closed, worked, gained, ready;
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static unsigned sleep_ms;
static gex_Rank_t target;

static void
req_echo(gex_Token_t token, gex_AM_Arg_t who)
{
	PT_OK(gex_AM_ReplyShort1(token, REP_ECHO, 0, who));
}

static void
rep_echo(gex_Token_t token, gex_AM_Arg_t who)
{
	(void)token;
	PT_INC(echoes[who]);
}

static void
req_sleep(gex_Token_t token)
{
	int before = PT_GET(worked);

	(void)token;
	pt_sleep_ms(sleep_ms);
	PT_SET(gained, PT_GET(worked) - before);
	PT_INC(slept);
}

static void
req_ready(gex_Token_t token)
{
	(void)token;
	PT_SET(ready, 1);
}

static void
req_lock(gex_Token_t token)
{
	(void)token;
	gex_HSL_Lock(&lock);
	gex_HSL_Unlock(&lock);
	PT_INC(locked);
}

static void
req_count(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token;
	PT_MEM(buf, nbytes, 9);
	PT_INC(counted);
}

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

static void
round_trips(unsigned who, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		int before = PT_GET(echoes[who]);

		PT_OK(gex_AM_RequestShort1(pt.tm, target, REQ_ECHO, 0, (gex_AM_Arg_t)who));
		GASNET_BLOCKUNTIL(PT_GET(echoes[who]) != before);
	}
}

/* Thread 0 keeps a descriptor open for the whole time of thread 1's round trips. */
static void
hold_descriptor(unsigned index, void *arg)
{
	(void)arg;
	if (index == 0) {
		uint64_t start = pt_now_ns();
		gex_AM_SrcDesc_t sd =
			gex_AM_PrepareRequestMedium(pt.tm, target, NULL, 1000, 60000, NULL, 0, 0);

		pt_fill(gex_AM_SrcDescAddr(sd), 1000, 9);
		PT_SET(opened, 1);
		while (!PT_GET(closed) || pt_now_ns() - start < (uint64_t)sleep_ms * 1000000u)
			pt_sleep_ms(1);
		gex_AM_CommitRequestMedium0(sd, REQ_COUNT, 1000);
	} else {
		while (!PT_GET(opened))
			pt_sleep_ms(1);
		round_trips(1, pt_scale(2000, 10000));
		PT_SET(closed, 1);
	}
}

static void
open_descriptor(void)
{
	PT_SET(opened, 0);
	PT_SET(closed, 0);
	PT_SET(counted, 0);
	pt_barrier();
	pt_threads(2, hold_descriptor, NULL);
	GASNET_BLOCKUNTIL(PT_GET(counted) == 1);
	pt_barrier();
}

/* Some thread is caught by the handler `index`; all others must be able to go on. */
static void
others_go_on(unsigned index, void *arg)
{
	pt_count *done = (pt_count *)arg;
	uint64_t start = pt_now_ns();

	(void)index;
	/* each thread until the handler is over, wherever it runs */
	while (!PT_GET(*done)) {
		PT_OK(gasnet_AMPoll());
		if (pt_now_ns() - start > 20000000000u)
			PT_FAIL("the handler never ended");
	}
}

static void
work_or_poll(unsigned index, void *arg)
{
	if (index < 2) {
		others_go_on(index, arg);
		return;
	}
	/* this thread may itself be caught: what counts is the sum over both workers */
	while (!PT_GET(*(pt_count *)arg)) {
		round_trips(index, 1);
		PT_INC(worked);
	}
}

/* Thread 0 asks the target to sleep once its workers are at work, as it says itself. */
static void
sleep_or_work(unsigned index, void *arg)
{
	if (index == 0) {
		while (PT_GET(worked) < 3)
			PT_OK(gasnet_AMPoll());
		PT_OK(gex_AM_RequestShort0(pt.tm, (pt.rank + pt.size - 1) % pt.size, REQ_READY, 0));
		while (!PT_GET(ready))
			PT_OK(gasnet_AMPoll());
		PT_OK(gex_AM_RequestShort0(pt.tm, target, REQ_SLEEP, 0));
	}
	work_or_poll(index, arg);
}

static void
sleeping_handler(void)
{
	PT_SET(slept, 0);
	PT_SET(worked, 0);
	PT_SET(ready, 0);
	pt_barrier();
	pt_threads(THREADS, sleep_or_work, (void *)(uintptr_t)&slept);
	PT_LE(3, PT_GET(gained)); /* two workers, at most one of them asleep */
	pt_barrier();
}

static void
lock_or_work(unsigned index, void *arg)
{
	if (index == 0) {
		/* no call but the lock's: the handler runs in another thread and waits */
		gex_HSL_Lock(&lock);
		PT_SET(opened, 1);
		pt_sleep_ms(sleep_ms);
		PT_SET(closed, PT_GET(worked));
		PT_EQ(PT_GET(locked), 0);
		gex_HSL_Unlock(&lock);
		return;
	}
	while (!PT_GET(opened))
		pt_sleep_ms(1);
	if (index == 1)
		PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_LOCK, 0));
	work_or_poll(index, arg);
}

static void
locking_handler(void)
{
	PT_SET(opened, 0);
	PT_SET(closed, 0);
	PT_SET(locked, 0);
	PT_SET(worked, 0);
	pt_barrier();
	pt_threads(THREADS, lock_or_work, (void *)(uintptr_t)&locked);
	PT_LE(3, PT_GET(closed)); /* done while the lock was held */
	pt_barrier();
}

/* One of everything with one peer; the answers free the places for the next round. */
static void
exchange_with(gex_Rank_t rank, unsigned who, char *buf, size_t nbytes, gex_AM_Arg_t key)
{
	char *place = pt.peers[rank].owner + (pt.rank * THREADS + who) * 65536;
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
	PT_OK(gex_AM_RequestLong2(pt.tm, rank, REQ_PAYLOAD, buf, nbytes, place + 32768,
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
	char *buf = malloc(32768);

	PT_CHECK(buf != NULL);
	for (unsigned long i = 0; i < count; i++) {
		gex_Rank_t rank = (gex_Rank_t)pt_rand_below(&rng, pt.size);
		size_t nbytes = 1 + pt_rand_below(&rng, 20000);

		exchange_with(rank, index, buf, nbytes, (gex_AM_Arg_t)pt_rand_below(&rng, 1000));
		round_trips(index, 1);
	}
	free(buf);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_ECHO, req_echo, PT_REQ_SHORT, 1),
		PT_HANDLER(REP_ECHO, rep_echo, PT_REP_SHORT, 1),
		PT_HANDLER(REQ_SLEEP, req_sleep, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_LOCK, req_lock, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_COUNT, req_count, PT_REQ_MEDIUM, 0),
		PT_HANDLER(REQ_PAYLOAD, req_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2),
		PT_HANDLER(REQ_READY, req_ready, PT_REQ_SHORT, 0),
		PT_HANDLER(REP_PAYLOAD, rep_payload, PT_REP_MEDIUM, 2),
	};
	unsigned long count;

	pt_start(&argc, &argv, table, PT_COUNT(table), (size_t)64 * THREADS * 65536);
	PT_LE(pt.size, 64);
	count = pt_scale(50, 300);
	sleep_ms = (unsigned)pt_scale(300, 1000);
	target = (pt.rank + 1) % pt.size;
	pt_phase("open descriptor");
	open_descriptor();
	pt_phase("sleeping handler");
	sleeping_handler();
	pt_phase("handler that waits for a lock");
	locking_handler();
	pt_phase("everything at once");
	pt_threads(THREADS, exchange, &count);
	for (int who = 0; who < THREADS; who++)
		PT_EQ(PT_GET(payloads[who]), 3 * count);
	pt_barrier();
	pt_finish();
}
