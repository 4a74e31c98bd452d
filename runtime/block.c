/*
 * Blocks of shared memory, in which threads count and say what they do (runtime/shared.h).  In SEQ and
 * PARSYNC a process has one.  In PAR each thread that calls takes one and gives it back, with its
 * counts, when it ends; the next owner goes on counting there, so sums stay whole.
 */
#include "runtime/psi.h"

#include <pthread.h>
#include <string.h>

_Static_assert(PSI_BLOCKS <= 32, "taken has a bit for each");

__thread uint64_t *psi_counts_self __attribute__((tls_model("initial-exec")));

static _Atomic uint32_t taken;          /* bit b: block b has an owner */
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

/* A library that is called by a later destructor takes a block again, and this is called again. */
/* Pairs: C1 (give_back) -> C2 (psi_block_take)   the counts go to the next owner */
static void
give_back(void *block)
{
	const uint32_t number = (uint32_t)((struct psi_block *)block - psi.blocks);

	psi_counts_self = NULL;
	atomic_fetch_and_explicit(&taken, ~((uint32_t)1 << number), memory_order_release); /* C1 */
}

static void
make_key(void)
{
	if (pthread_key_create(&end_key, give_back) != 0)
		psi_fatal("no pthread key left for the counts of threads");
}

void
psi_block_take(void)
{
	uint32_t seen = atomic_load_explicit(&taken, memory_order_relaxed), number;

	do {
		number = (uint32_t)__builtin_ctz(~seen | (uint32_t)1 << (PSI_BLOCKS - 1));
	} while (!atomic_compare_exchange_weak_explicit(&taken, &seen, seen | (uint32_t)1 << number,
	                                                memory_order_acquire, /* C2 */
	                                                memory_order_relaxed));
	psi_counts_self = psi.blocks[number].count;
	pthread_once(&end_once, make_key);
	pthread_setspecific(end_key, &psi.blocks[number]);
}

void
psi_blocks_open(struct psi_rank_shared *mine)
{
	psi.blocks = mine->block;
	psi.block = psi.threaded ? NULL : &psi.blocks[0];
	if (psi.threaded)
		psi_block_take();
}
