/*
 * What a thread that sleeps lacks, told to posters: the second word of a semaphore's line is the count of
 * posts at which some waiter has enough, UINT64_MAX while none sleeps.
 *
 * It may be too low, since others take meanwhile: then somebody is woken for nothing.  It is never too
 * high.  Who sleeps writes it, says that it sleeps, fences (all in arm, ARM_FENCE or D5_ALL) and looks at
 * the count; a poster adds to the count, fences, and looks whether somebody sleeps and then at this word
 * (D5).  So a poster whose posts that look missed finds this wait's word, or one that another waiter made
 * lower.
 */
#include "runtime/sem.h"

static void
write_want(const struct pst_sem_s *sem, uint64_t count)
{
	__atomic_store_n(sem->posted + PSI_SEM_WANT, count, __ATOMIC_RELAXED); /* D5_WANT */
}

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

/* Of several threads, or entries of an array, the first to have enough counts (D5_LEAST). */
void
psi_sem_want(struct pst_sem_s *sem, unsigned n)
{
	const uint64_t count = atomic_load_explicit(&sem->taken, memory_order_relaxed) + n;

	lock(sem);
	if (!sem->wanting++ ||
	    count < __atomic_load_n(sem->posted + PSI_SEM_WANT, __ATOMIC_RELAXED))
		write_want(sem, count);
	unlock(sem);
}

/* The last one says that none is left (D5_LAST). */
void
psi_sem_unwant(struct pst_sem_s *sem)
{
	lock(sem);
	if (!--sem->wanting)
		write_want(sem, UINT64_MAX);
	unlock(sem);
}
