/*
 * A storm of messages over the message queue: threads in the roles of ranks, one thread per rank or
 * several, who send, answer, claim, cancel and sleep without a time bound.
 *
 * Nothing here orders the ranks' accesses but the queue itself: all counters that ranks share are
 * relaxed, so that ThreadSanitizer sees what the queue's own orders promise, and no more.
 */
#ifndef PT_SYSVNET_STORM_H
#define PT_SYSVNET_STORM_H

#include <stdbool.h>
#include <stdint.h>

struct storm_plan {
	const char *name;
	uint32_t ranks;
	uint32_t threads;               /* of each rank; 1: a port for one thread (SEQ) */
	bool crowded;                   /* senders fence; else membarrier, where there is one */
	uint32_t receivers;             /* only the first so many ranks are sent to; 0: all */
	bool answered;                  /* each request is answered by a reply */
	bool lockstep;                  /* each request waits for its reply */
	uint32_t largest_bytes;         /* of a payload */
};

struct storm_result {
	uint64_t requests, replies;
	bool passed;
};

/* Runs the plan for so many milliseconds and then until all is delivered.  What does not end within
 * limit_ms after that is dumped, and the process aborts: a lost wake-up. */
struct storm_result storm_run(const struct storm_plan *plan, uint32_t run_ms, uint32_t limit_ms,
                              uint32_t seed);

#endif
