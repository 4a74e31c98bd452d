/* The hint that a cache line will be written: it is fetched, and taken from other caches. */
#ifndef PSI_UTIL_PREFETCH_H
#define PSI_UTIL_PREFETCH_H

static inline void
psi_prefetch_write(const void *at)
{
#if defined(__x86_64__)
	/* The compiler would leave out the `w' for the oldest CPUs, which take it for a no-op. */
	__asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

#endif
