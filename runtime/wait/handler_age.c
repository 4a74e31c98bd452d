#include "runtime/wait/handler_age.h"

#include "bootstrap/bootstrap.h"

#include <pthread.h>
#include <stdlib.h>

enum { NS_PER_MS = 1000000, HALF = 32 };

static const uint64_t watch_every_ns = 100000000;

/* The number of messages that the thread of this block has handled, its lower 32 bits. */
static uint32_t
age_handled(const struct psi_block *block)
{
	uint64_t sum = 0;

	for (unsigned i = PSI_COUNT_RECEIVED; i <= PSI_COUNT_RECEIVED_INTERNAL; i++)
		sum += __atomic_load_n(&block->count[i], __ATOMIC_RELAXED);
	return (uint32_t)sum;
}

static void
age_watch(struct psi_block *block, uint64_t now_ns)
{
	uint32_t number;

	if (!atomic_load_explicit(&block->handler, memory_order_relaxed))
		return;
	number = age_handled(block);
	if ((uint32_t)atomic_load_explicit(&block->watched, memory_order_relaxed) != number)
		atomic_store_explicit(&block->watched, now_ns / NS_PER_MS << HALF | number,
		                      memory_order_relaxed);
}

/* Blocks that a rank made for more threads, as mapped here: by host index and range, once looked
 * at. */
typedef struct psi_block *more_blocks[PSI_MORE_RANGES];
static more_blocks *more;
static pthread_mutex_t more_lock = PTHREAD_MUTEX_INITIALIZER;

/* What cannot be mapped now is tried again at the next look.  The caller holds the lock. */
static void
age_watch_more(const struct psi_rank_shared *its, uint32_t host_index, uint32_t size,
               uint64_t now_ns)
{
	const uint32_t used = psi_more_in_use(its);

	if (used && !more)
		more = calloc(size, sizeof *more);
	for (unsigned range = 0; more && range < PSI_MORE_RANGES && psi_more_before(range) < used;
	     range++) {
		const uint32_t left = used - psi_more_before(range), count = psi_more_count(range);
		struct psi_block **blocks = &more[host_index][range];

		if (!*blocks)
			*blocks = pboot_range_map(1 + host_index, its->more_key[range],
			                          count * sizeof **blocks);
		for (uint32_t b = 0; *blocks && b < count && b < left; b++)
			age_watch(&(*blocks)[b], now_ns);
	}
}

void
psi_handler_ages_update(struct psi_host_shared *shared, uint32_t size, uint64_t now_ns)
{
	uint64_t due = atomic_load_explicit(&shared->watch_due_ns, memory_order_relaxed);

	if (now_ns < due ||
	    !atomic_compare_exchange_strong_explicit(&shared->watch_due_ns, &due,
	                                             now_ns + watch_every_ns, memory_order_relaxed,
	                                             memory_order_relaxed))
		return;
	if (pthread_mutex_trylock(&more_lock))
		return;         /* another thread is at it */
	for (uint32_t host_index = 0; host_index < size; host_index++) {
		struct psi_rank_shared *its = psi_shared_rank(shared, size, host_index);

		for (unsigned b = 0; b < psi_blocks_in_use(its); b++)
			age_watch(&its->block[b], now_ns);
		age_watch_more(its, host_index, size, now_ns);
	}
	pthread_mutex_unlock(&more_lock);
}

uint64_t
psi_handler_start_ns(const struct psi_block *block, uint64_t now_ns)
{
	const uint64_t word = atomic_load_explicit(&block->watched, memory_order_relaxed);
	const uint32_t ms = (uint32_t)(now_ns / NS_PER_MS) - (uint32_t)(word >> HALF);

	if (!word || (uint32_t)word != age_handled(block))
		return 0;
	return now_ns - (uint64_t)ms * NS_PER_MS;
}
