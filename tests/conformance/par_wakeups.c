/*
 * PAR, sleeps without a bound: a thread that sleeps in a wait is woken by whichever thread of its
 * process does what it waits for, also one that never waited or polled before.
 */
#include "tests/lib/pt.h"

#include <sched.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { REQ_SET = 128, REQ_SET_LATE };
enum { THREADS = 4 };

static pt_count set, stop, woken;

static void
req_set(gex_Token_t token)
{
	(void)token;
	PT_INC(set);
}

/* Late: by now those who were woken by the message itself sleep again. */
static void
req_set_late(gex_Token_t token)
{
	(void)token;
	pt_sleep_ms(20);
	PT_INC(set);
}

static void
wait_for_set(int count)
{
	GASNET_BLOCKUNTIL(PT_GET(set) >= count);
	PT_INC(woken);
}

/* Thread 0 sleeps; thread 1 sends itself the message, and its handler runs there. */
static void
by_own_message(unsigned index, void *arg)
{
	(void)arg;
	if (index == 0) {
		wait_for_set(1);
		return;
	}
	pt_sleep_ms(30);
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_SET, 0));
	/* no further call: nothing but the handler may wake the other */
	while (!PT_GET(woken))
		pt_sleep_ms(1);
}

/* Thread 1 does nothing but put, which polls now and then. */
static void
by_putting_thread(unsigned index, void *arg)
{
	(void)arg;
	if (index == 0) {
		wait_for_set(4);
		PT_SET(stop, 1);
		return;
	}
	while (!PT_GET(stop))
		PT_OK(gex_RMA_PutBlockingVal(pt.tm, pt.rank, pt.base, 1, 8, 0));
}

static void
sleeping_threads(void)
{
	PT_SET(set, 0);
	PT_SET(woken, 0);
	pt_threads(2, by_own_message, NULL);
	PT_EQ(PT_GET(set), 1);

	PT_SET(set, 0);
	PT_SET(stop, 0);
	pt_barrier();
	for (int i = 0; i < 4; i++)
		PT_OK(gex_AM_RequestShort0(pt.tm, (pt.rank + 1) % pt.size, REQ_SET_LATE, 0));
	pt_threads(2, by_putting_thread, NULL);
	pt_barrier();
}

/* One thread goes through barriers, which the others, asleep or polling, carry on as well. */
static void
through_barriers(unsigned index, void *arg)
{
	unsigned long rounds = *(unsigned long *)arg;

	if (index != 0) {
		while (!PT_GET(stop)) {
			int before = PT_GET(set);

			if (index == 1)
				GASNET_BLOCKUNTIL(PT_GET(set) != before || PT_GET(stop));
			else if (gasnet_AMPoll() == GASNET_OK)
				sched_yield();
		}
		return;
	}
	for (unsigned long i = 0; i < rounds; i++) {
		gex_Event_t many[3];

		for (unsigned k = 0; k < PT_COUNT(many); k++)
			many[k] = gex_Coll_BarrierNB(pt.tm, 0);
		gex_Event_WaitAll(many, PT_COUNT(many), 0);
		gasnet_barrier_notify((int)i, 0);
		PT_OK(gasnet_barrier_wait((int)i, 0));
	}
	PT_SET(stop, 1);
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_SET, 0));
}

static void
barriers(void)
{
	unsigned long rounds = pt_scale(20, 200);

	PT_SET(stop, 0);
	pt_threads(THREADS, through_barriers, &rounds);
	pt_barrier();
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_SET, req_set, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_SET_LATE, req_set_late, PT_REQ_SHORT, 0),
	};

	setenv("PST_SLEEP_MAX", "0", 1);
	setenv("PST_HANG_REPORT", "0", 1);
	pt_start(&argc, &argv, table, PT_COUNT(table), 4096);
	pt_phase("sleeping threads");
	for (unsigned long i = 0; i < (pt.level == PT_LONG ? 20 : pt_scale(3, 6)); i++)
		sleeping_threads();
	pt_phase("barriers");
	barriers();
	pt_finish();
}
