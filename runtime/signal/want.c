/*
 * What a thread that sleeps for signals lacks, told to posters: the value of a count of posts, or
 * of a word, at which some waiter has enough, UINT64_MAX while none sleeps.  Of a semaphore it is
 * the second word of its line; words share PSI_WORD_WANTS of them in memory of the owner's process
 * that all map.
 *
 * It may be too low, since others take meanwhile, or wait for another word: then somebody is woken
 * for nothing.  It is never too high.  Who sleeps writes it, says that it sleeps, fences (all in
 * arm, ARM_FENCE or D5_ALL) and looks at the value; a poster changes the value, fences, and looks
 * whether somebody sleeps and then at this (D5).  So a poster whose change that look missed finds
 * what this waiter lacks, or less, of another one.
 */
#include "runtime/signal/want.h"

#include "runtime/signal/sem.h"

#include "penstock_signal.h"

static void
write_want(uint64_t *least, uint64_t value)
{
	__atomic_store_n(least, value, __ATOMIC_RELAXED); /* D5_WANT */
}

/* Of several threads, or entries of an array, the first to have enough counts (D5_LEAST). */
static void
want(uint64_t *least, uint32_t *waiters, uint64_t value)
{
	if (!(*waiters)++ || value < __atomic_load_n(least, __ATOMIC_RELAXED))
		write_want(least, value);
}

/* The last one says that none is left (D5_LAST). */
static void
unwant(uint64_t *least, uint32_t *waiters)
{
	if (!--*waiters)
		write_want(least, UINT64_MAX);
}

/* -- of semaphores --------------------------------------------------------------------------- */

static void
lock(struct pst_sem_s *sem)
{
	if (psi_sem_is_shared(sem))
		psi_spinlock_lock(&sem->table->lock);
}

static void
unlock(struct pst_sem_s *sem)
{
	if (psi_sem_is_shared(sem))
		psi_spinlock_unlock(&sem->table->lock);
}

void
psi_sem_want(struct pst_sem_s *sem, unsigned n)
{
	const uint64_t count = atomic_load_explicit(&sem->taken, memory_order_relaxed) + n;

	lock(sem);
	want(sem->posted + PSI_SEM_WANT, &sem->wanting, count);
	unlock(sem);
}

void
psi_sem_unwant(struct pst_sem_s *sem)
{
	lock(sem);
	unwant(sem->posted + PSI_SEM_WANT, &sem->wanting);
	unlock(sem);
}

/* -- of words -------------------------------------------------------------------------------- */

static struct psi_spinlock words_lock;
static uint32_t words_wanting[PSI_WORD_WANTS];

/* Of a word, at its owner's address. */
static unsigned
slot_of(const uint64_t *word)
{
	return (uint32_t)(((uintptr_t)word >> 3) * 0x9e3779b97f4a7c15u >> 32) % PSI_WORD_WANTS;
}

static uint64_t *
wants_of(gex_Rank_t rank)
{
	return psi_shared_rank(psi.shared, psi.boot.size, rank)->word_wants;
}

void
psi_word_wants_open(void)
{
	for (unsigned slot = 0; slot < PSI_WORD_WANTS; slot++)
		write_want(&wants_of(psi.boot.rank)[slot], UINT64_MAX);
}

void
psi_word_want(const uint64_t *word, uint64_t value)
{
	const unsigned slot = slot_of(word);

	psi_spinlock_lock(&words_lock);
	want(&wants_of(psi.boot.rank)[slot], &words_wanting[slot], value);
	psi_spinlock_unlock(&words_lock);
}

void
psi_word_unwant(const uint64_t *word)
{
	const unsigned slot = slot_of(word);

	psi_spinlock_lock(&words_lock);
	unwant(&wants_of(psi.boot.rank)[slot], &words_wanting[slot]);
	psi_spinlock_unlock(&words_lock);
}

bool
psi_word_suffices(gex_Rank_t rank, const uint64_t *word, const uint64_t *there)
{
	return __atomic_load_n(there, __ATOMIC_RELAXED) >=
	       __atomic_load_n(&wants_of(rank)[slot_of(word)], __ATOMIC_RELAXED); /* D5_SUFFICES */
}

void
psi_word_ring(gex_Rank_t rank, const uint64_t *word, const uint64_t *there)
{
	if (psi_word_suffices(rank, word, there))
		psi_sem_ring(rank);
}
