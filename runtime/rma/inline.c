/* The table by which the headers' inlines reach peers, while there is a job and outside it. */
#include "runtime/rma/inline.h"
#include "runtime/process/process.h"
#include "runtime/segment/reach.h"

#include "runtime/util/copy.h"

static struct pst_inline table = {
	.abi = PSI_INLINE_ABI,
	.size_bytes = sizeof(struct pst_inline),
};

/* Before the job's segments are known, and after the job, the table shows a job without ranks.  So
 * all calls go to the library (rma.c). */
static uint64_t idle_counts[PSI_RMA_COUNTS_INLINE], idle_moved[PSI_RMA_MOVED_KINDS];
static const struct pst_inline idle_table = {
	.abi = PSI_INLINE_ABI,
	.size_bytes = sizeof(struct pst_inline),
	.copy = psi_copy,
	.counts = idle_counts,
	.moved = idle_moved,
};

const struct pst_inline *pst_inline_v1 = &idle_table;

void
psi_inline_open(void)
{
	table.copy = psi_copy_of_this_cpu();
	table.job_tm = psi.tm;
	/* Without ranks all calls go to the library: to check them, or to mask puts or gets. */
	table.job_size =
		psi.checks || psi_ways_masked & (PSI_WAY_PUT | PSI_WAY_GET) ? 0 : psi.boot.size;
	table.places = table.job_size * GASNET_MAXEPS;
	table.peers = psi.peers;
	table.counts = psi.blocks[0].count;
	table.moved = psi.blocks[0].moved.inlined;
	table.sems = psi.sems;
	table.posts_fence = psi.posts_fence;
	pst_inline_v1 = &table;
}

void
psi_inline_close(void)
{
	pst_inline_v1 = &idle_table;
}
