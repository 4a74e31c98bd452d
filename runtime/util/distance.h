/*
 * How far a peer is: whether the two CPUs share a cache, as far as the cost of lines tells.  A host
 * moves its virtual CPUs, and the kernel moves processes, so now and then a sender of something
 * large looks again: it times the copy of the first 64 lines, each asked for before it is written
 * (copy_owning).  Of lines that the receiver has read before, each costs 2 to 4 ns where the CPUs
 * share a cache, and 10 to 13 where they do not.  Past the caches a line costs 4.5 to 6, with its
 * reading, on some machines 9, so that "far" is what lines tell that cost more than 6, whatever the
 * reason.  (One line by itself tells less: 100 and 400 ns on one machine, 70 and 130 on another.)
 */
#ifndef PSI_UTIL_DISTANCE_H
#define PSI_UTIL_DISTANCE_H

#include "runtime/util/clock.h"
#include "runtime/util/copy.h"
#include "runtime/util/fence.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PSI_DISTANCE_BYTES = 4 * 1024,         /* below this it makes no difference */
	PSI_DISTANCE_EVERY = 16,               /* so many large copies rest on one look, */
	PSI_DISTANCE_BRIEF_BYTES = 16 * 1024,  /* and below this, */
	PSI_DISTANCE_EVERY_BRIEF = 64,         /* so many */
	PSI_DISTANCE_LOOK_BYTES = 4 * 1024,
	PSI_DISTANCE_FAR_NS = 400,                      /* for these */
};

/* Far only after two looks in a row say so, since an interrupt looks the same. */
enum psi_distance_known { PSI_NEAR, PSI_PERHAPS_FAR, PSI_FAR };

/* The state after a look that took so long.  A pure function. */
static inline enum psi_distance_known
psi_distance_after(enum psi_distance_known known, uint64_t ns)
{
	if (ns < PSI_DISTANCE_FAR_NS)
		return PSI_NEAR;
	return known == PSI_NEAR ? PSI_PERHAPS_FAR : PSI_FAR;
}

/* Is it time to look, before this copy?  Pure. */
static inline bool
psi_distance_due(enum psi_distance_known known, uint32_t copies, size_t len_bytes)
{
	const bool brief = len_bytes < PSI_DISTANCE_BRIEF_BYTES;
	const uint32_t every = brief ? PSI_DISTANCE_EVERY_BRIEF : PSI_DISTANCE_EVERY;

	return known == PSI_PERHAPS_FAR || copies % every == 0;
}

/* What one sender knows of it.  Several threads may use it; what one of them misses is a hint. */
struct psi_distance {
	_Atomic uint32_t known;         /* enum psi_distance_known */
	_Atomic uint32_t copies;
};

/* Copies to memory that the receiver will read, by what lines cost between the two CPUs: by
 * `owning', or by `far'. */
static inline void
psi_distance_copy(struct psi_distance *distance, psi_copy_fn *owning, psi_copy_fn *far, void *to,
                  const void *from, size_t len_bytes)
{
	enum psi_distance_known known =
		atomic_load_explicit(&distance->known, memory_order_relaxed);
	const uint32_t copies = atomic_load_explicit(&distance->copies, memory_order_relaxed);
	size_t done = 0;

	if (len_bytes < PSI_DISTANCE_BYTES) {
		owning(to, from, len_bytes);
		return;
	}
	atomic_store_explicit(&distance->copies, copies + 1, memory_order_relaxed);
	if (psi_distance_due(known, copies, len_bytes)) {
		const uint64_t start_ns = psi_now_ns();

		owning(to, from, PSI_DISTANCE_LOOK_BYTES);
		psi_stores_drain();
		known = psi_distance_after(known, psi_now_ns() - start_ns);
		atomic_store_explicit(&distance->known, known, memory_order_relaxed);
		done = PSI_DISTANCE_LOOK_BYTES;
	}
	(known == PSI_FAR ? far : owning)((char *)to + done, (const char *)from + done,
	                                  len_bytes - done);
}

#endif
