/*
 * How far a peer is: whether the two CPUs share a cache, as far as the cost of lines tells.  A host
 * moves its virtual CPUs, and the kernel moves processes, so now and then a sender of something large
 * looks again: it times the copy of the first 64 lines.  Of lines that the receiver has read before, each
 * costs 2 to 3 ns where they lie in the shared cache, on some machines 8 to 9 where they lie in the receiver's
 * own, and 25 to 35 where no cache is shared.  Past the caches a line costs 3.5 to 4.5, with its reading, so
 * that "far" is what lines tell that cost more than 5, whatever the reason.  (One line by itself tells less:
 * 100 and 400 ns on one machine, 70 and 130 on another.)
 */
#ifndef PSMP_DISTANCE_H
#define PSMP_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PSMP_DISTANCE_BYTES = 16 * 1024,        /* below this it makes no difference */
	PSMP_DISTANCE_EVERY = 16,               /* so many large copies rest on one look */
	PSMP_LOOK_BYTES = 4 * 1024,
	PSMP_FAR_NS = 350,                      /* for these */
};

/* Far only after two looks in a row say so, since an interrupt looks the same. */
enum psmp_distance { PSMP_NEAR, PSMP_PERHAPS_FAR, PSMP_FAR };

/* What is known after a look that took so long.  Pure. */
static inline enum psmp_distance
psmp_distance_after(enum psmp_distance known, uint64_t ns)
{
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
