/*
 * How far a peer is: whether the two CPUs share a cache, as far as the cost of lines tells.  A host
 * moves its virtual CPUs, and the kernel moves processes, so now and then a sender of something large
 * looks again: it times the copy of the first 64 lines, each asked for before it is written (copy_owning).  Of lines
 * that the receiver has read before, each costs 2 to 4 ns where the CPUs share a cache, and 10 to 13 where they do
 * not.  Past the caches a line costs 4.5 to 6, with its reading, on some machines 9, so that "far" is what lines
 * tell that cost more than 6, whatever the reason.  (One line by itself tells less: 100 and 400 ns on one machine,
 * 70 and 130 on another.)
 */
#ifndef PSMP_DISTANCE_H
#define PSMP_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PSMP_DISTANCE_BYTES = 4 * 1024,         /* below this it makes no difference */
	PSMP_DISTANCE_EVERY = 16,               /* so many large copies rest on one look, */
	PSMP_DISTANCE_BRIEF_BYTES = 16 * 1024,  /* and below this, */
	PSMP_DISTANCE_EVERY_BRIEF = 64,         /* so many */
	PSMP_LOOK_BYTES = 4 * 1024,
	PSMP_FAR_NS = 400,                      /* for these */
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
psmp_distance_due(enum psmp_distance known, uint32_t copies, size_t len_bytes)
{
	const uint32_t every = len_bytes < PSMP_DISTANCE_BRIEF_BYTES ? PSMP_DISTANCE_EVERY_BRIEF
	                                                             : PSMP_DISTANCE_EVERY;

	return known == PSMP_PERHAPS_FAR || copies % every == 0;
}

#endif
