/*
 * What a cell of the failure matrix and its ranks tell each other: one page of anonymous memory,
 * whose descriptor all processes of the job inherit.
 */
#ifndef PT_MATRIX_PAGE_H
#define PT_MATRIX_PAGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { PT_MATRIX_FD = 60, PT_MATRIX_RANKS_MAX = 64 };

struct pt_matrix_page {
	_Atomic uint32_t at;			/* ranks that are at the moment */
	_Atomic uint32_t go;			/* nothing happens any more: leave the moment, and
	                                         * end */
	_Atomic uint64_t acted_ns;		/* when the first rank failed; 0: none has */
	_Atomic int pids[PT_MATRIX_RANKS_MAX];	/* of ranks at the moment */
};

static inline uint64_t
pt_matrix_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
