/* Two buffers with room for a block of each rank: what collectives are measured with. */
#ifndef PERF_BLOCKS_H
#define PERF_BLOCKS_H

#include <stddef.h>

enum { PERF_BLOCK_MOST = 256 << 10 };

struct perf_blocks {
	char *source, *target;
};

/* Ends the job if there is no memory. */
struct perf_blocks perf_blocks_open(void);
void perf_blocks_close(struct perf_blocks blocks);
/* PERF_BLOCK_MOST, as the most bytes of a kind (perf_plan.h). */
size_t perf_block_most(void);

#endif
