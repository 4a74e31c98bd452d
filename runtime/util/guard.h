/*
 * The lock of a network conduit.  Where the job has several threads (PAR) it is a mutex.  Elsewhere
 * there is one thread, and a mark alone: the handler of a signal that drains the conduit sees that
 * it has interrupted an operation, and comes back later.
 */
#ifndef PSI_UTIL_GUARD_H
#define PSI_UTIL_GUARD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct psi_guard {
	bool threaded;                  /* constant */
	volatile sig_atomic_t busy;     /* where it is not */
	pthread_mutex_t mutex;
};

#define PSI_GUARD(is_threaded) \
	(struct psi_guard) { .threaded = (is_threaded), .mutex = PTHREAD_MUTEX_INITIALIZER }

static inline void
psi_guard_lock(struct psi_guard *guard)
{
	if (guard->threaded)
		pthread_mutex_lock(&guard->mutex);
	else
		guard->busy = 1;
}

static inline bool
psi_guard_trylock(struct psi_guard *guard)
{
	if (guard->threaded)
		return pthread_mutex_trylock(&guard->mutex) == 0;
	if (guard->busy)
		return false;
	guard->busy = 1;
	return true;
}

static inline void
psi_guard_unlock(struct psi_guard *guard)
{
	if (guard->threaded)
		pthread_mutex_unlock(&guard->mutex);
	else
		guard->busy = 0;
}

#endif
