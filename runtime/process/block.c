/*
 * Blocks hold the counters of a thread, and what it is doing (runtime/process/shared.h).  In SEQ
 * and PARSYNC a process has one block.  In PAR each thread that calls takes one and gives it back,
 * with its counts, when it ends.  The next owner goes on counting there, so sums stay whole.
 *
 * If all are taken, a thread gets a block of a further range, or of the heap if no range can be
 * made.  Other processes do not see its counts.  They are added to the process's last block when
 * the thread or the process ends.
 */
#include "runtime/process/process.h"

#include "runtime/util/spinlock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, WORDS = PSI_BLOCKS / WORD_BITS };

_Static_assert(PSI_BLOCKS % WORD_BITS == 0, "taken has a bit for each");

__thread uint64_t *psi_counts_self __attribute__((tls_model("initial-exec")));
__thread uint64_t *psi_moved_self __attribute__((tls_model("initial-exec")));

/* Called at a thread's first call, so that an overflow of its stack can be reported. */
static _Thread_local void *signal_stack;

static _Atomic uint64_t taken[WORDS];   /* bit b: that block has an owner */
static _Atomic uint32_t *blocks_in_use; /* of this rank, for readers */
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

/*
 * A block that none but readers of reports look at.  It is kept for the next thread when its owner
 * has ended.
 */
struct private_block {
	struct psi_block *block;
	struct private_block *next;
	bool owned;
};

/* The list, and the last block's counts while processes share it. */
static struct psi_spinlock private_lock;
static struct private_block *privates;
static bool closed;

/* -- shared ones ----------------------------------------------------------------------------- */

/* Sets a clear bit of the word and returns its index; WORD_BITS if all bits are set. */
static uint32_t
block_take_bit(_Atomic uint64_t *word)
{
	uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);

	while (~seen) {
		const uint32_t bit = (uint32_t)__builtin_ctzll(~seen);

		if (atomic_compare_exchange_weak_explicit(
			    word, &seen, seen | (uint64_t)1 << bit,
			    memory_order_acquire, /* C2: acquire, from C1 in block_give_back */
			    memory_order_relaxed))
			return bit;
	}
	return WORD_BITS;
}

/* Tells readers how many blocks to look at. */
static void
block_say_in_use(uint32_t count)
{
	uint32_t before;

	if (!blocks_in_use)
		return;
	before = atomic_load_explicit(blocks_in_use, memory_order_relaxed);
	while (before < count &&
	       !atomic_compare_exchange_weak_explicit(blocks_in_use, &before, count,
	                                              memory_order_relaxed, memory_order_relaxed))
		;
}

/* NULL if all are taken. */
static struct psi_block *
block_take_shared(void)
{
	for (uint32_t word = 0; word < WORDS; word++) {
		const uint32_t bit = block_take_bit(&taken[word]), number = word * WORD_BITS + bit;

		if (bit == WORD_BITS)
			continue;
		block_say_in_use(number + 1);
		return &psi.blocks[number];
	}
	return NULL;
}

/* -- private ones ---------------------------------------------------------------------------- */

/* Returns block number `index' of the blocks in ranges, and makes the range if this is its first
 * block.  Returns NULL if no range is left, or no memory to share.  The caller holds the lock. */
static struct psi_block *
block_made(struct psi_rank_shared *mine, uint32_t index)
{
	static struct psi_block *base[PSI_MORE_RANGES];
	unsigned range = 0;

	while (range < PSI_MORE_RANGES && index >= psi_more_before(range) + psi_more_count(range))
		range++;
	if (range == PSI_MORE_RANGES)
		return NULL;
	if (!base[range])
		base[range] = pboot_range_make_sparse(
			psi_file_of(psi.boot.rank),
			psi_more_count(range) * sizeof(struct psi_block), &mine->more_key[range]);
	if (!base[range])
		return NULL;
	atomic_store_explicit(&mine->more, index + 1,
	                      memory_order_release); /* C3: release, to C4 in psi_more_in_use */
	return &base[range][index - psi_more_before(range)];
}

static struct psi_block *
block_on_heap(void)
{
	struct psi_block *block = aligned_alloc(_Alignof(struct psi_block), sizeof *block);

	if (block)
		memset(block, 0, sizeof *block);
	return block;
}

/* One without an owner, or a new one; under the lock. */
static struct private_block *
block_find_private(struct psi_rank_shared *mine)
{
	struct private_block *own = privates;
	struct psi_block *block;

	while (own && own->owned)
		own = own->next;
	if (own)
		return own;
	own = malloc(sizeof *own);
	block = own ? block_made(mine, atomic_load_explicit(&mine->more, memory_order_relaxed))
	            : NULL;
	if (!block)
		block = block_on_heap();
	if (!own || !block)
		psi_fatal("no memory for the counts of a thread");
	*own = (struct private_block){ .block = block, .next = privates };
	privates = own;
	return own;
}

static struct psi_block *
block_take_private(void)
{
	struct private_block *own;

	block_say_in_use(PSI_BLOCKS + 1);
	psi_spinlock_lock(&private_lock);
	own = block_find_private(psi_shared_of(psi.boot.rank));
	own->owned = true;
	psi_spinlock_unlock(&private_lock);
	return own->block;
}

static void
counters_join(uint64_t *sum, const struct psi_block *block)
{
	for (unsigned i = 0; i < PSI_COUNTERS; i++) {
		const enum psi_counter which = (enum psi_counter)i;

		__atomic_store_n(&sum[i],
		                 psi_counter_join(which, sum[i], psi_block_count(block, which)),
		                 __ATOMIC_RELAXED);
	}
}

static void
block_give_back_private(struct psi_block *block)
{
	struct private_block *own;

	psi_spinlock_lock(&private_lock);
	if (closed) {
		psi_spinlock_unlock(&private_lock);
		return;
	}
	for (own = privates; own->block != block; own = own->next)
		;
	counters_join(psi.blocks[PSI_BLOCKS].count, block);
	memset(block->count, 0, sizeof block->count);
	memset(&block->moved, 0, sizeof block->moved);
	own->owned = false;
	psi_spinlock_unlock(&private_lock);
}

static void
blocks_join(uint64_t *counts)
{
	for (const struct private_block *own = privates; own; own = own->next)
		counters_join(counts, own->block);
}

void
psi_blocks_join_private(uint64_t *counts)
{
	psi_spinlock_lock(&private_lock);
	blocks_join(counts);
	psi_spinlock_unlock(&private_lock);
}

/* Perhaps in a signal handler: what another thread holds is left alone. */
void
psi_blocks_close(void)
{
	if (!psi.threaded || !psi_spinlock_try(&private_lock))
		return;
	if (!closed)
		blocks_join(psi.blocks[PSI_BLOCKS].count);
	closed = true;
	psi_spinlock_unlock(&private_lock);
}

/* -- either ---------------------------------------------------------------------------------- */

/* A library that is called by a later destructor takes a block again, and this is called again. */
/* Pairs: C1 (block_give_back) -> C2 (block_take_bit)   the counts go to the next owner */
static void
block_give_back(void *block)
{
	const uintptr_t offset = (uintptr_t)block - (uintptr_t)psi.blocks;
	const uint32_t number = (uint32_t)(offset / sizeof(struct psi_block));

	psi_counts_self = NULL;
	psi_moved_self = NULL;
	if (psi.signal_stack_close)
		psi.signal_stack_close(signal_stack);
	signal_stack = NULL;
	if (offset >= PSI_BLOCKS * sizeof(struct psi_block))
		block_give_back_private(block);
	else
		atomic_fetch_and_explicit(
			&taken[number / WORD_BITS], ~((uint64_t)1 << number % WORD_BITS),
			memory_order_release); /* C1: release, to C2 in block_take_bit */
}

static void
block_make_key(void)
{
	if (pthread_key_create(&end_key, block_give_back) != 0)
		psi_fatal("no pthread key left for the counts of threads");
}

void
psi_block_take(void)
{
	struct psi_block *block = block_take_shared();

	if (!block)
		block = block_take_private();
	psi_counts_self = block->count;
	psi_moved_self = block->moved.inlined;
	pthread_once(&end_once, block_make_key);
	pthread_setspecific(end_key, block);
	if (!signal_stack && psi.signal_stack_open)
		signal_stack = psi.signal_stack_open();
}

void
psi_blocks_open(struct psi_rank_shared *mine)
{
	blocks_in_use = &mine->blocks;
	psi.blocks = mine->block;
	psi.block = psi.threaded ? NULL : &psi.blocks[0];
	block_say_in_use(1);
	if (psi.threaded)
		psi_block_take();
}
