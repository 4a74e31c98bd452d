/*
 * Thresholds of threads that sleep for signals.  A threshold is the value of a count of posts, or
 * of a word, for which the first of the waiters waits; UINT64_MAX while none sleeps.  Posters read
 * it.  A semaphore has its own, the second word of its line.  All words share PSI_WORD_THRESHOLDS
 * slots in shared memory of the owner's process.
 *
 * A threshold may be too low, since other threads take posts meanwhile, or wait for another word of
 * the slot.  A thread is then woken for nothing.  It is never too high.  A thread that is about to
 * sleep writes the threshold, announces its sleep, fences (in arm, ARM_FENCE or D5_ALL), and looks
 * at the value.  A poster changes the value, fences, looks whether a thread sleeps, and then looks
 * at the threshold (D5).  So if the last look missed a poster's change, that poster finds the
 * threshold of this waiter, or a lower one of another.
 */
#include "runtime/signal/threshold.h"

#include "runtime/signal/sem.h"

#include "penstock_signal.h"

static void
threshold_write(uint64_t *least, uint64_t value)
{
	/* D5_THRESHOLD: relaxed, since ARM_FENCE or D5_ALL follows; D5_SUFFICES reads it */
	__atomic_store_n(least, value, __ATOMIC_RELAXED);
}

/* The least threshold of several threads, or of the entries of an array, is in force (D5_LEAST). */
static void
threshold_lower(uint64_t *least, uint32_t *waiters, uint64_t value)
{
	if (!(*waiters)++ || value < __atomic_load_n(least, __ATOMIC_RELAXED))
		threshold_write(least, value);
}

/* The last one says that none is left (D5_LAST). */
static void
threshold_leave(uint64_t *least, uint32_t *waiters)
{
	if (!--*waiters)
		threshold_write(least, UINT64_MAX);
}

/* -- of semaphores --------------------------------------------------------------------------- */

static void
threshold_lock(struct pst_sem_s *sem)
{
	if (psi_sem_is_shared(sem))
		psi_spinlock_lock(&sem->table->lock);
}

static void
threshold_unlock(struct pst_sem_s *sem)
{
	if (psi_sem_is_shared(sem))
		psi_spinlock_unlock(&sem->table->lock);
}

void
psi_sem_threshold_set(struct pst_sem_s *sem, unsigned n)
{
	const uint64_t count = atomic_load_explicit(&sem->taken, memory_order_relaxed) + n;

	threshold_lock(sem);
	threshold_lower(sem->posted + PSI_SEM_THRESHOLD, &sem->waiters, count);
	threshold_unlock(sem);
}

void
psi_sem_threshold_clear(struct pst_sem_s *sem)
{
	threshold_lock(sem);
	threshold_leave(sem->posted + PSI_SEM_THRESHOLD, &sem->waiters);
	threshold_unlock(sem);
}

/* -- of words -------------------------------------------------------------------------------- */

static struct psi_spinlock words_lock;
static uint32_t words_waiters[PSI_WORD_THRESHOLDS];

/* The slot of a word; the address is the owner's. */
static unsigned
threshold_slot_of(const uint64_t *word)
{
	return (uint32_t)(((uintptr_t)word >> 3) * 0x9e3779b97f4a7c15u >> 32) % PSI_WORD_THRESHOLDS;
}

static uint64_t *
thresholds_of_rank(gex_Rank_t rank)
{
	return psi_shared_of(rank)->word_thresholds;
}

void
psi_word_thresholds_open(void)
{
	for (unsigned slot = 0; slot < PSI_WORD_THRESHOLDS; slot++)
		threshold_write(&thresholds_of_rank(psi.boot.rank)[slot], UINT64_MAX);
}

void
psi_word_threshold_set(const uint64_t *word, uint64_t value)
{
	const unsigned slot = threshold_slot_of(word);

	psi_spinlock_lock(&words_lock);
	threshold_lower(&thresholds_of_rank(psi.boot.rank)[slot], &words_waiters[slot], value);
	psi_spinlock_unlock(&words_lock);
}

void
psi_word_threshold_clear(const uint64_t *word)
{
	const unsigned slot = threshold_slot_of(word);

	psi_spinlock_lock(&words_lock);
	threshold_leave(&thresholds_of_rank(psi.boot.rank)[slot], &words_waiters[slot]);
	psi_spinlock_unlock(&words_lock);
}

bool
psi_word_threshold_met(gex_Rank_t rank, const uint64_t *word, const uint64_t *there)
{
	return __atomic_load_n(there, __ATOMIC_RELAXED) >=
	       /* D5_SUFFICES: relaxed, behind D5_POST or D5_ORDER in psi_sem_asleep */
	       __atomic_load_n(&thresholds_of_rank(rank)[threshold_slot_of(word)],
	                       __ATOMIC_RELAXED);
}

void
psi_word_wake(gex_Rank_t rank, const uint64_t *word, const uint64_t *there)
{
	if (psi_word_threshold_met(rank, word, there))
		psi_sem_wake_rank(rank);
}
