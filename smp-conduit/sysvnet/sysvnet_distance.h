/*
 * How far a peer is: whether the two CPUs share a cache, as far as the cost of lines tells.  A host
 * moves its virtual CPUs, and the kernel moves processes, so now and then a sender of something
 * large looks again: it times the copy of the first 64 lines, each asked for before it is written
 * (copy_owning).  Of lines that the receiver has read before, each costs 2 to 4 ns where the CPUs
 * share a cache, and 10 to 13 where they do not.  Past the caches a line costs 4.5 to 6, with its
 * reading, on some machines 9, so that "far" is what lines tell that cost more than 6, whatever the
 * reason.  (One line by itself tells less: 100 and 400 ns on one machine, 70 and 130 on another.)
 */
#ifndef SYSVNET_DISTANCE_H
#define SYSVNET_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SYSVNET_DISTANCE_BYTES = 4 * 1024,         /* below this it makes no difference */
	SYSVNET_DISTANCE_EVERY = 16,               /* so many large copies rest on one look, */
	SYSVNET_DISTANCE_BRIEF_BYTES = 16 * 1024,  /* and below this, */
	SYSVNET_DISTANCE_EVERY_BRIEF = 64,         /* so many */
	SYSVNET_LOOK_BYTES = 4 * 1024,
	SYSVNET_FAR_NS = 400,                      /* for these */
};

/* Far only after two looks in a row say so, since an interrupt looks the same. */
enum sysvnet_distance { SYSVNET_NEAR, SYSVNET_PERHAPS_FAR, SYSVNET_FAR };

/* The state after a look that took so long.  A pure function. */
static inline enum sysvnet_distance
sysvnet_distance_after(enum sysvnet_distance known, uint64_t ns)
{
	if (ns < SYSVNET_FAR_NS)
		return SYSVNET_NEAR;
	return known == SYSVNET_NEAR ? SYSVNET_PERHAPS_FAR : SYSVNET_FAR;
}

/* Is it time to look, before this copy?  Pure. */
static inline bool
sysvnet_distance_due(enum sysvnet_distance known, uint32_t copies, size_t len_bytes)
{
	const bool brief = len_bytes < SYSVNET_DISTANCE_BRIEF_BYTES;
	const uint32_t every = brief ? SYSVNET_DISTANCE_EVERY_BRIEF : SYSVNET_DISTANCE_EVERY;

	return known == SYSVNET_PERHAPS_FAR || copies % every == 0;
}

#endif
