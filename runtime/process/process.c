/* What a process knows of the job, and of itself. */
#include "runtime/process/process.h"

/* Nobody counts before init but by mistake. */
static struct psi_block before_init;

struct psi_job psi = {
	.wait_mode = GASNET_WAIT_SPINBLOCK,
	.verbose_errors = 1,
	.blocks = &before_init,
	.block = &before_init,
	.max_segment = 0,
};
