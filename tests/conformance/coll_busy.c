/*
 * PAR, sleeps without a bound: a thread that sleeps on an endpoint of its own, until threads end,
 * stays asleep while one thread of its process is within a function of a collective, and another
 * polls.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

#include <penstock.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { POLLS = 1000, ROUNDS = 3 };

static gex_EP_t second;
static pt_count started, reducing, polled, over;

static uint64_t counted(const char *name) { return pt_counter(pt.rank, name); }

/* Outside the library until one of them is set. */
static void
compute_until(pt_count *flag, pt_count *other)
{
	while (!PT_GET(*flag) && !PT_GET(*other))
		pt_sleep_ms(1);
}

/* Until the one thread that waits in the library has slept for a while. */
static void
until_asleep(void)
{
	uint64_t polls;

	do {
		polls = counted("polls");
		pt_sleep_ms(20);
	} while (counted("polls") != polls);
}

static void
reduce(const void *left, void *out, size_t count, const void *unused)
{
	(void)left, (void)out, (void)count, (void)unused;
	PT_SET(reducing, 1);
	compute_until(&polled, &over);
}

/* A message that is handled meanwhile may wake all. */
static void
poll_meanwhile(void)
{
	uint64_t rings, messages;

	compute_until(&reducing, &over);
	rings = counted("wakeups_received");
	messages = counted("received_internal");
	for (unsigned i = 0; i < POLLS; i++)
		gasnet_AMPoll();
	pt_sleep_ms(20);
	if (PT_GET(reducing))
		PT_LE(counted("wakeups_received") - rings, counted("received_internal") - messages);
	PT_SET(polled, 1);
}

static void
start_and_wait(void)
{
	uint64_t word = 1, sum = 0;

	compute_until(&started, &over);
	until_asleep();
	gex_Event_Wait(gex_Coll_ReduceToOneNB(pt.tm, 0, &sum, &word, GEX_DT_USER, sizeof word, 1,
	                                      GEX_OP_USER, reduce, NULL, 0));
	PT_EQ(PT_GET(reducing), pt.rank == 0);
	PT_SET(over, 1);
}

static int
compute(gex_TM_t unused, void *no_data)
{
	(void)unused, (void)no_data;
	PT_SET(started, 1);
	compute_until(&over, &over);
	return 0;
}

static void
play(unsigned index, void *unused)
{
	(void)unused;
	if (index == 0) {
		start_and_wait();
	} else if (index == 1) {
		poll_meanwhile();
	} else {
		pst_thread_bind(second);
		PT_OK(pst_threads_run(pt.tm, 1, 0, NULL, 0, compute, NULL, 0));
	}
}

int
main(int argc, char **argv)
{
	setenv("PST_SLEEP_MAX", "0", 1);
	setenv("PST_HANG_REPORT", "0", 1);
	pt_start(&argc, &argv, NULL, 0, 4096);
	PT_OK(gex_EP_Create(&second, pt.client, GEX_EP_CAPABILITY_ALL, 0));
	for (unsigned i = 0; i < ROUNDS; i++) {
		PT_SET(started, 0);
		PT_SET(reducing, 0);
		PT_SET(polled, 0);
		PT_SET(over, 0);
		pt_barrier();
		pt_threads(3, play, NULL);
		pt_barrier();
	}
	pt_finish();
}
