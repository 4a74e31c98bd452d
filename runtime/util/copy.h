/*
 * Copies that choose their instructions by size.  All are ordered before later release stores, as
 * memcpy is: a thread that sees the flag sees the bytes.  A release store does not order stores
 * past the caches, so each copy that uses those ends with an sfence.
 */
#ifndef PSI_UTIL_COPY_H
#define PSI_UTIL_COPY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * From these sizes on stores go past the caches.  Between CPUs that share one they lose by a third
 * at 1 MiB and are equal within a tenth at 8 and at 32 MiB; between CPUs that do not, they take
 * half the time or less.
 */
#define PSI_COPY_STREAM_BYTES ((size_t)16 << 20)
#define PSI_COPY_STREAM_FAR_BYTES ((size_t)4 << 10)
/* A copy of this size or more is a string move.  glibc's memcpy uses one only up to about this
 * size. */
#define PSI_COPY_STRING_BYTES ((size_t)1 << 20)

/*
 * A smaller copy is a loop of vectors of 32 bytes, where the CPU has them.  It is quicker than
 * memcpy of glibc 2.36 by a twentieth at 1 KiB and a sixth at 4 KiB, by more where a side lies
 * askew, and nowhere slower by more than a fiftieth (docs/performance.md).
 */
#define PSI_COPY_VECTORS_BYTES ((size_t)512 << 10)

typedef void psi_copy_fn(void *dst, const void *src, size_t len_bytes);

/* memcpy.  The regions must not overlap; either pointer may be anything when len_bytes is 0. */
void psi_copy(void *dst, const void *src, size_t len_bytes);
/* What psi_copy calls on this CPU. */
psi_copy_fn *psi_copy_of_this_cpu(void);
/* The same, for lines that are in another CPU's cache. */
void psi_copy_owning(void *dst, const void *src, size_t len_bytes);
/* The same, for what a CPU that shares no cache with this one will read. */
void psi_copy_far(void *dst, const void *src, size_t len_bytes);

/* The ways there are, for the choice and for tests. */
enum psi_copy_kind {
	PSI_COPY_PLAIN,                 /* memcpy */
	PSI_COPY_VECTORS,               /* vectors of 32 bytes in a loop */
	PSI_COPY_OWNING,                /* the same, each line asked for ahead */
	PSI_COPY_LOOP,                  /* of 16, where memcpy would be slow */
	PSI_COPY_STRING,                /* one string move */
	PSI_COPY_STREAM,                /* past the caches, 16 bytes at a time */
	PSI_COPY_STREAM_WIDE,           /* the same, 32 bytes at a time */
	PSI_COPY_KINDS
};

struct psi_copy_way {
	const char *name;
	psi_copy_fn *copy;              /* any length */
	bool (*usable)(void);           /* on this CPU */
};

extern const struct psi_copy_way psi_copy_ways[PSI_COPY_KINDS];

/* What psi_copy or psi_copy_far takes for this copy.  Pure but for the CPU. */
enum psi_copy_kind psi_copy_choose(const void *dst, const void *src, size_t len_bytes, bool far);

#endif
