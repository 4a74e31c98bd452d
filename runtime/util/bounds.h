/* The smaller and the larger of two numbers, none of them negative. */
#ifndef PSI_UTIL_BOUNDS_H
#define PSI_UTIL_BOUNDS_H

#include <stdint.h>

static inline uint64_t
psi_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
psi_most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
