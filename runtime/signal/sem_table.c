/* Tables of semaphores: made by their owner, mapped by those who post, handles. */
#include "runtime/signal/sem.h"

#include "runtime/segment/reach.h"
#include "runtime/signal/behind.h"
#include "runtime/signal/threshold.h"

#include <errno.h>
#include <stdlib.h>

enum {
	LINE_BYTES = 64,
	LIVE_AT = PSI_SEM_SLOTS * LINE_BYTES,
	TOLD_AT = LIVE_AT + PSI_SEM_SLOTS * sizeof(uint32_t),
	POSTER_AT = TOLD_AT + PSI_SEM_SLOTS * sizeof(uint64_t),
	TABLE_BYTES = POSTER_AT + PSI_SEM_SLOTS * sizeof(uint32_t),
};

static struct psi_spinlock lock;        /* making and mapping tables */
static struct psi_sem_table *_Atomic tables[GASNET_MAXEPS];     /* one's own, by index */

/* -- peers ----------------------------------------------------------------------------------- */

void
psi_sem_open(void)
{
	psi.sems = calloc((size_t)psi.boot.size * GASNET_MAXEPS, sizeof *psi.sems);
	if (!psi.sems)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
	psi_word_thresholds_open();
	if (psi_ways_masked & (PSI_WAY_PUT | PSI_WAY_SIGNAL))
		return;
	for (uint32_t place = 0; place < psi.boot.size; place++)
		psi.sems[place].wake = psi.ops->sleep_word(psi.ep->port, place, &psi.posts_fence);
}

static _Atomic uint64_t *
table_key_of(uint32_t place)
{
	if (place >= psi.boot.size)
		return &psi_further_at(place)->sem_key;
	return &psi_shared_of(place)->sem_key;
}

static void
table_reach(uint32_t place, unsigned char *base)
{
	struct pst_sem_peer *peer = &psi.sems[place];

	peer->live = (uint32_t *)(void *)(base + LIVE_AT);
	__atomic_store_n(&peer->lines, (uint64_t (*)[8])(void *)base,
	                 __ATOMIC_RELEASE); /* Z3: release, to Z4 in psi_sem_reach */
}

static bool
table_map_peer(uint32_t place)
{
	const gex_Rank_t owner = psi_jobrank_of(place);
	const uint64_t key =
		atomic_load_explicit(table_key_of(place),
		                     memory_order_acquire); /* Z4: acquire, from Z3 in table_open */
	char lack[PBOOT_ERROR_TEXT_BYTES];
	void *base;

	if (!key)
		return false;
	base = pboot_range_map(psi_file_of(owner), key - 1, TABLE_BYTES);
	if (!base)
		psi_fatal("cannot map the semaphores of rank %u: %s", owner,
		          pboot_range_error_text(errno, lack));
	table_reach(place, base);
	return true;
}

bool
psi_sem_map(uint32_t place)
{
	bool mapped;

	psi_spinlock_lock(&lock);
	mapped = psi.sems[place].lines || table_map_peer(place);
	psi_spinlock_unlock(&lock);
	return mapped;
}

/* -- one's own ------------------------------------------------------------------------------- */

static struct psi_sem_table *
table_open(gex_EP_t ep)
{
	struct psi_sem_table *table = calloc(1, sizeof *table);
	unsigned char *base;
	uint64_t key;

	if (!table)
		return NULL;
	base = pboot_range_make(psi_file_of(psi.boot.rank), TABLE_BYTES, &key);
	if (!base) {
		free(table);
		return NULL;
	}
	table->lines = (uint64_t (*)[8])(void *)base;
	table->live = (uint32_t *)(void *)(base + LIVE_AT);
	table->told = (uint64_t *)(void *)(base + TOLD_AT);
	table->poster = (uint32_t *)(void *)(base + POSTER_AT);
	table->first_free = table->last_free = PSI_SEM_SLOTS;
	table_reach(ep->place, base);
	atomic_store_explicit(table_key_of(ep->place), key + 1,
	                      memory_order_release); /* Z3: release, to Z4 in table_map_peer */
	return table;
}

/* An endpoint that comes in the place of another takes over its table, which peers may have
 * mapped. */
struct psi_sem_table *
psi_sem_table_of(gex_EP_t ep)
{
	struct psi_sem_table *table;

	table = atomic_load_explicit(&tables[ep->index],
	                             memory_order_acquire); /* Z8: acquire, from Z7 below */
	if (PSI_LIKELY(table && table->ep == ep))
		return table;
	psi_spinlock_lock(&lock);
	table = atomic_load_explicit(&tables[ep->index], memory_order_relaxed);
	if (!table)
		table = table_open(ep);
	if (table) {
		table->ep = ep;
		atomic_store_explicit(&tables[ep->index], table,
		                      memory_order_release); /* Z7: release, to each Z8 of tables */
	}
	psi_spinlock_unlock(&lock);
	return table;
}

/* -- handles --------------------------------------------------------------------------------- */

static struct pst_sem_s *
table_chunk_of(const struct psi_sem_table *table, uint32_t slot)
{
	return atomic_load_explicit(
		&table->chunks[slot / PSI_SEM_CHUNK],
		memory_order_acquire); /* Z8: acquire, from Z7 in psi_sem_make_handles */
}

struct pst_sem_s *
psi_sem_of_slot(const struct psi_sem_table *table, uint32_t slot)
{
	struct pst_sem_s *chunk = table_chunk_of(table, slot);

	return chunk ? chunk + slot % PSI_SEM_CHUNK : NULL;
}

static bool
table_is_in(const struct psi_sem_table *table, pst_sem_t sem)
{
	for (unsigned i = 0; i < PSI_SEM_SLOTS / PSI_SEM_CHUNK; i++) {
		const struct pst_sem_s *chunk = table_chunk_of(table, i * PSI_SEM_CHUNK);

		if (chunk && (uintptr_t)sem - (uintptr_t)chunk < PSI_SEM_CHUNK * sizeof *sem)
			return ((uintptr_t)sem - (uintptr_t)chunk) % sizeof *sem == 0;
	}
	return false;
}

bool
psi_sem_is_own(pst_sem_t sem)
{
	for (unsigned i = 0; i < GASNET_MAXEPS; i++) {
		const struct psi_sem_table *table = atomic_load_explicit(
			&tables[i],
			memory_order_acquire); /* Z8: acquire, from Z7 in psi_sem_table_of */

		if (table && table_is_in(table, sem))
			return true;
	}
	return false;
}

static struct pst_sem_s *
table_make_chunk(struct psi_sem_table *table, uint32_t first)
{
	const size_t bytes = PSI_SEM_CHUNK * sizeof(struct pst_sem_s);
	struct pst_sem_s *chunk = aligned_alloc(_Alignof(struct pst_sem_s), bytes);

	if (!chunk)
		return NULL;
	for (uint32_t i = 0; i < PSI_SEM_CHUNK; i++)
		chunk[i] = (struct pst_sem_s){
			.posted = table->lines[first + i], .table = table, .slot = first + i,
		};
	return chunk;
}

/* The caller holds the table's lock. */
bool
psi_sem_make_handles(struct psi_sem_table *table, uint32_t slot, size_t count)
{
	for (size_t i = slot / PSI_SEM_CHUNK; i * PSI_SEM_CHUNK < slot + count; i++) {
		struct pst_sem_s *chunk;

		if (atomic_load_explicit(&table->chunks[i], memory_order_relaxed))
			continue;
		chunk = table_make_chunk(table, (uint32_t)i * PSI_SEM_CHUNK);
		if (!chunk)
			return false;
		atomic_store_explicit(
			&table->chunks[i], chunk,
			memory_order_release); /* Z7: release, to Z8 in table_chunk_of */
	}
	return true;
}

void
psi_sem_begin(struct pst_sem_s *sem, unsigned kind, uint32_t generation, bool of_set)
{
	const bool alone = kind & PST_SEM_SPRODUCER, boolean = kind & PST_SEM_BOOLEAN;
	const uint32_t live = generation << 2 | (uint32_t)boolean << 1 | alone;
	const uint64_t posted = __atomic_load_n(sem->posted, __ATOMIC_RELAXED);

	sem->generation = generation;
	sem->boolean = boolean;
	sem->single_consumer = kind & PST_SEM_SCONSUMER;
	sem->of_set = of_set;
	atomic_store_explicit(&sem->taken, posted, memory_order_relaxed);
	sem->waiters = 0;
	__atomic_store_n(sem->posted + PSI_SEM_THRESHOLD, UINT64_MAX, __ATOMIC_RELAXED);
	if (psi.checks) {
		__atomic_store_n(&sem->table->told[sem->slot], posted, __ATOMIC_RELAXED);
		__atomic_store_n(&sem->table->poster[sem->slot], 0, __ATOMIC_RELAXED);
	}
	atomic_store_explicit(&sem->live, live, memory_order_relaxed);
	__atomic_store_n(&sem->table->live[sem->slot], live, __ATOMIC_RELAXED);
}

void
psi_sem_end(struct pst_sem_s *sem)
{
	__atomic_store_n(&sem->table->live[sem->slot], 0, __ATOMIC_RELAXED);
	atomic_store_explicit(&sem->live, 0, memory_order_relaxed);
}

/* -- leaks ----------------------------------------------------------------------------------- */

static size_t
table_alive_in(const struct psi_sem_table *table)
{
	size_t alive = table->fresh - table->free_count;

	for (unsigned i = 0; i < PSI_SEM_SET_SLOTS / 64; i++)
		alive += (size_t)__builtin_popcountll(table->set_slots[i]);
	return alive;
}

void
psi_sems_report_leaks(const char *call)
{
	size_t alive = 0;

	for (unsigned i = 0; psi.checks && i < GASNET_MAXEPS; i++) {
		struct psi_sem_table *table = atomic_load_explicit(
			&tables[i],
			memory_order_acquire); /* Z8: acquire, from Z7 in psi_sem_table_of */

		alive += table ? table_alive_in(table) : 0;
	}
	if (alive)
		psi_log("%s: %zu semaphore%s been freed; free those of pst_sem_alloc, and destroy "
		        "sets", call,
		        alive, alive == 1 ? " has not" : "s have not");
}

const struct psi_module psi_signal_module = {
	.name = "signals", .open = psi_sem_open, .progress = psi_behind_advance,
	.close = psi_sems_report_leaks,
};
