/*
 * One-sided transfers that the headers' inlines do not serve themselves: empty ones, those to the
 * caller's own client memory, those that are wrong, and now and then one of the ordinary ones, so that
 * a process which does nothing else polls.
 */
#include "runtime/psi.h"

#include "runtime/reach.h"
#include "runtime/rules.h"

#include "runtime/util/copy.h"

static struct pst_inline table = {
	.abi = PSI_INLINE_ABI,
	.size_bytes = sizeof(struct pst_inline),
	.copy = psi_copy,
};

/* Before the job's segments are known, and after it: a job without ranks, so all calls come here. */
static uint64_t idle_counts[PSI_RMA_COUNT_GETS + 1];
static const struct pst_inline idle_table = {
	.abi = PSI_INLINE_ABI,
	.size_bytes = sizeof(struct pst_inline),
	.copy = psi_copy,
	.counts = idle_counts,
};

const struct pst_inline *pst_inline_v1 = &idle_table;

void
psi_inline_open(void)
{
	table.job_tm = psi.tm;
	/* No ranks: all come here. */
	table.job_size = psi.checks || psi_ways_masked & (PSI_WAY_PUT | PSI_WAY_GET) ? 0 : psi.boot.size;
	table.peers = psi.peers;
	table.counts = psi.blocks[0].count;
	pst_inline_v1 = &table;
}

void
psi_inline_close(void)
{
	pst_inline_v1 = &idle_table;
}

/* The inlines have counted the call, but a thread's first in PAR. */
static void
count_call(enum psi_counter call, enum psi_counter called)
{
	const bool first = !psi.block && !psi_counts_self;
	uint64_t *counts = psi_block()->count;

	if (first)
		psi_count(counts, call);
	psi_count(counts, called);
}

void
psi_rma_value_bad(size_t nbytes)
{
	psi_fatal("gex_RMA_PutBlockingVal or GetBlockingVal: a value of %zu bytes; it has 1 to %d", nbytes,
	          SIZEOF_GEX_RMA_VALUE_T);
}

int
psi_rma_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
            gex_Flags_t flags)
{
	const char *call = "gex_RMA_PutBlocking";
	struct psi_target target = psi_rule_target(tm, rank, call);
	void *there = psi_am_long_target(target.place, dest, nbytes, call);

	psi_check_flags(flags, PSI_TRANSFER_FLAGS, call);
	psi_rule_transfer(src, there, nbytes, flags, call);
	count_call(PSI_COUNT_PUTS, PSI_COUNT_PUTS_CALLED);
	if (nbytes)
		psi_copy(there, src, nbytes);
	if (!(flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	return GASNET_OK;
}

int
psi_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
            gex_Flags_t flags)
{
	const char *call = "gex_RMA_GetBlocking";
	struct psi_target target = psi_rule_target(tm, rank, call);
	void *there = psi_am_long_target(target.place, (void *)(uintptr_t)src, nbytes, call);

	psi_check_flags(flags, PSI_TRANSFER_FLAGS, call);
	psi_rule_transfer(dest, there, nbytes, flags, call);
	count_call(PSI_COUNT_GETS, PSI_COUNT_GETS_CALLED);
	if (!(flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	if (nbytes)
		psi_copy(dest, there, nbytes);
	return GASNET_OK;
}
