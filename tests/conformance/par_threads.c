/* An open descriptor, and a handler that sleeps or waits for a lock, leave other threads at
 * work. */
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

static pt_count echoes[THREADS], counted, slept, locked;
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

/* For sleep_ms, and on until the workers did something or never will; how much they did. */
static int
until_others_worked(void)
{
	const uint64_t start = pt_now_ns(), least_ns = sleep_ms * 1000000ull;
	const int before = PT_GET(worked);
	uint64_t past_ns;

	do {
		pt_sleep_ms(2);
		past_ns = pt_now_ns() - start;
	} while (past_ns < least_ns || (PT_GET(worked) - before < 10 && past_ns < 20 * least_ns));
	return PT_GET(worked) - before;
}

static void
req_sleep(gex_Token_t token)
{
	(void)token;
	PT_SET(gained, until_others_worked());
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
		if (pt_now_ns() - start > 60000000000u)
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
	PT_LE(10, PT_GET(gained)); /* two workers, at most one of them asleep */
	pt_barrier();
}

static void
lock_or_work(unsigned index, void *arg)
{
	if (index == 0) {
		/* no call but the lock's: the handler runs in another thread and waits */
		gex_HSL_Lock(&lock);
		PT_SET(opened, 1);
		PT_SET(closed, until_others_worked());
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
	PT_LE(10, PT_GET(closed)); /* done while the lock was held */
	pt_barrier();
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
		PT_HANDLER(REQ_READY, req_ready, PT_REQ_SHORT, 0),
	};

	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	/* a whole second with one of the rank counts, or each at level long */
	sleep_ms = pt.level == PT_LONG || (pt.level == PT_FULL && pt.size == 2) ? 1000 : 200;
	target = (pt.rank + 1) % pt.size;
	pt_phase("open descriptor");
	open_descriptor();
	pt_phase("sleeping handler");
	sleeping_handler();
	pt_phase("handler that waits for a lock");
	locking_handler();
	pt_finish();
}
