/* Properties of the clock, sleeping and yielding of gasnet_tools.h. */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "gasnet_tools.h"

enum { PROBES = 64 };

/* The least step between two readings that differ; one tick of a fast clock is less than a ns. */
double
gasnett_tick_granularityus(void)
{
	gasnett_tick_t least = GASNETT_TICK_MAX;
	uint64_t ns;
	int i;

	for (i = 0; i < PROBES; i++) {
		gasnett_tick_t before = gasnett_ticks_now(), after;

		do
			after = gasnett_ticks_now();
		while (after == before);
		if (after - before < least)
			least = after - before;
	}
	ns = gasnett_ticks_to_ns(least);
	return (double)(ns > 0 ? ns : 1) / 1000.0;
}

/* The cheapest of some rounds, so that an interrupt does not count. */
double
gasnett_tick_overheadus(void)
{
	uint64_t least = UINT64_MAX;
	int round, i;

	for (round = 0; round < 8; round++) {
		gasnett_tick_t start = gasnett_ticks_now(), last = start;

		for (i = 0; i < PROBES; i++)
			last = gasnett_ticks_now();
		if (gasnett_ticks_to_ns(last - start) < least)
			least = gasnett_ticks_to_ns(last - start);
	}
	return (double)least / PROBES / 1000.0;
}

uint64_t
gasnett_gettimeofday_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

int
gasnett_nsleep(uint64_t ns_delay)
{
	struct timespec delay = {
		.tv_sec = (time_t)(ns_delay / 1000000000u),
		.tv_nsec = (long)(ns_delay % 1000000000u),
	};

	return ns_delay == 0 ? 0 : nanosleep(&delay, NULL);
}

void
gasnett_sched_yield(void)
{
	sched_yield();
}
