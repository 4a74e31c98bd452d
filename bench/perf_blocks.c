#include "perf_blocks.h"

#include "perf_job.h"
#include "perf_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perf_blocks
perf_blocks_open(void)
{
	const size_t bytes = perf_ranks > PERF_MAX_BYTES / PERF_BLOCK_MOST
	                             ? (size_t)perf_ranks * PERF_BLOCK_MOST
	                             : PERF_MAX_BYTES;
	const struct perf_blocks blocks = { calloc(1, bytes), calloc(1, bytes) };

	if (blocks.source == NULL || blocks.target == NULL) {
		fprintf(stderr, "penstock-perf: no memory for two times %zu bytes\n", bytes);
		exit(1);
	}
	memset(blocks.source, 0, bytes); /* pages of its own, not the one of zeros */
	return blocks;
}

void
perf_blocks_close(struct perf_blocks blocks)
{
	free(blocks.source);
	free(blocks.target);
}

size_t
perf_block_most(void)
{
	return PERF_BLOCK_MOST;
}
