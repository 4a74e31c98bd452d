/*
 * Monotonic time, the same for all processes of a host, for deadlines and for times that processes
 * exchange.  The ticks of gasnet_tools.h are cheaper where one thread measures.
 */
#ifndef PSI_UTIL_CLOCK_H
#define PSI_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
psi_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The shorter of two limits of time, where 0 is none. */
static inline uint64_t
psi_limit_shorter(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

#endif
