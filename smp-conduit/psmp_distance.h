/*
 * How far a peer is: whether the two CPUs share a cache, as far as the cost of one line tells.  A host
 * moves its virtual CPUs, and the kernel moves processes, so now and then a sender of something large
 * looks again: it times a read-modify-write, without effect, of a line that the receiver reads in every
 * poll.  Such a line is owned after 100 ns from a CPU with the same cache, after 400 from another.
 */
#ifndef PSMP_DISTANCE_H
#define PSMP_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PSMP_DISTANCE_BYTES = 16 * 1024,        /* below this it makes no difference */
	PSMP_DISTANCE_EVERY = 16,               /* so many large copies rest on one look */
	PSMP_HERE_NS = 60,                      /* the line was here already, and tells nothing */
	PSMP_FAR_NS = 250,
};

/* Far only after two looks in a row say so, since an interrupt looks the same. */
enum psmp_distance { PSMP_NEAR, PSMP_PERHAPS_FAR, PSMP_FAR };

/* What is known after a look that took so long.  Pure. */
static inline enum psmp_distance
psmp_distance_after(enum psmp_distance known, uint64_t ns)
{
	if (ns < PSMP_HERE_NS)
		return known;
	if (ns < PSMP_FAR_NS)
		return PSMP_NEAR;
	return known == PSMP_NEAR ? PSMP_PERHAPS_FAR : PSMP_FAR;
}

/* Is it time to look, before this copy?  Pure. */
static inline bool
psmp_distance_due(enum psmp_distance known, uint32_t copies)
{
	return known == PSMP_PERHAPS_FAR || copies % PSMP_DISTANCE_EVERY == 0;
}

#endif
