/* The record of the job and of this process. */
#include "runtime/process/process.h"

/* A thread that counts before init does so by mistake. */
static struct psi_block before_init;

struct psi_job psi = {
	.wait_mode = GASNET_WAIT_SPINBLOCK,
	.verbose_errors = 1,
	.blocks = &before_init,
	.block = &before_init,
	.max_segment = 0,
};
