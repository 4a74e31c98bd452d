/* Mutexes and condition variables with the checks of debug builds; the others inline pthread's. */
#include <errno.h>

#include "gasnet_tools.h"
#include "runtime/tools/holder.h"

static int
mutex_is_mine(const gasnett_mutex_t *mutex)
{
	return psi_holder(&mutex->psi_owner) == psi_this_thread();
}

void
psi_mutex_init(gasnett_mutex_t *mutex)
{
	psi_holder_set(&mutex->psi_owner, 0);
	psi_lock_must(pthread_mutex_init(&mutex->psi_mutex, NULL), "gasnett_mutex_init", "?");
}

int
psi_mutex_destroy(gasnett_mutex_t *mutex, int ignore, const char *where)
{
	int error =
		psi_holder(&mutex->psi_owner) ? EBUSY : pthread_mutex_destroy(&mutex->psi_mutex);

	if (error == EBUSY && !ignore)
		gasnett_fatalerror_nopos("%s: gasnett_mutex_destroy: %s holds the mutex; unlock it "
		                         "first",
		                         where,
		                         mutex_is_mine(mutex) ? "this thread" : "another thread");
	if (!ignore)
		psi_lock_must(error, "gasnett_mutex_destroy", where);
	return error;
}

void
psi_mutex_lock(gasnett_mutex_t *mutex, const char *where)
{
	if (mutex_is_mine(mutex))
		gasnett_fatalerror_nopos("%s: gasnett_mutex_lock: this thread holds the mutex "
					 "already, which is not recursive", where);
	psi_lock_must(pthread_mutex_lock(&mutex->psi_mutex), "gasnett_mutex_lock", where);
	psi_holder_set(&mutex->psi_owner, psi_this_thread());
}

int
psi_mutex_trylock(gasnett_mutex_t *mutex, const char *where)
{
	int error = pthread_mutex_trylock(&mutex->psi_mutex);

	if (error == EBUSY)
		return EBUSY;
	psi_lock_must(error, "gasnett_mutex_trylock", where);
	psi_holder_set(&mutex->psi_owner, psi_this_thread());
	return 0;
}

void
psi_mutex_unlock(gasnett_mutex_t *mutex, const char *where)
{
	if (!mutex_is_mine(mutex))
		gasnett_fatalerror_nopos("%s: gasnett_mutex_unlock: %s; the thread that locked it "
					 "unlocks it", where,
					 psi_holder(&mutex->psi_owner) ? "another thread holds the "
					                                 "mutex"
								       : "nobody holds the mutex");
	psi_holder_set(&mutex->psi_owner, 0);
	psi_lock_must(pthread_mutex_unlock(&mutex->psi_mutex), "gasnett_mutex_unlock", where);
}

void
psi_mutex_assert(gasnett_mutex_t *mutex, int locked, const char *where)
{
	if (mutex_is_mine(mutex) != !!locked)
		gasnett_fatalerror_nopos("%s: %s: this thread %s the mutex", where,
					 locked ? "gasnett_mutex_assertlocked"
						: "gasnett_mutex_assertunlocked",
					 locked ? "does not hold" : "holds");
}

void
psi_cond_init(gasnett_cond_t *cond)
{
	cond->psi_mutex = NULL;
	cond->psi_waiters = 0;
	psi_lock_must(pthread_cond_init(&cond->psi_cond, NULL), "gasnett_cond_init", "?");
}

/* Waiters are counted under their mutex; here a thread may look from outside. */
static uint64_t
mutex_waiters(const gasnett_cond_t *cond)
{
	return __atomic_load_n(&cond->psi_waiters, __ATOMIC_RELAXED);
}

void
psi_cond_destroy(gasnett_cond_t *cond, const char *where)
{
	if (mutex_waiters(cond))
		gasnett_fatalerror_nopos("%s: gasnett_cond_destroy: %llu threads wait for it",
		                         where, (unsigned long long)mutex_waiters(cond));
	psi_lock_must(pthread_cond_destroy(&cond->psi_cond), "gasnett_cond_destroy", where);
}

void
psi_cond_signal(gasnett_cond_t *cond, int all, const char *where)
{
	const char *call = all ? "gasnett_cond_broadcast" : "gasnett_cond_signal";
	const gasnett_mutex_t *mutex = __atomic_load_n(&cond->psi_mutex, __ATOMIC_RELAXED);

	if (mutex_waiters(cond) && mutex && !mutex_is_mine(mutex))
		gasnett_fatalerror_nopos("%s: %s: without the mutex of those who wait, who may "
					 "miss it; lock it first", where, call);
	psi_lock_must(all ? pthread_cond_broadcast(&cond->psi_cond)
			  : pthread_cond_signal(&cond->psi_cond), call, where);
}

void
psi_cond_wait(gasnett_cond_t *cond, gasnett_mutex_t *mutex, const char *where)
{
	if (!mutex_is_mine(mutex))
		gasnett_fatalerror_nopos("%s: gasnett_cond_wait: this thread does not hold the "
					 "mutex; lock it first", where);
	if (mutex_waiters(cond) && __atomic_load_n(&cond->psi_mutex, __ATOMIC_RELAXED) != mutex)
		gasnett_fatalerror_nopos("%s: gasnett_cond_wait: others wait for it with another "
		                         "mutex",
					 where);
	__atomic_store_n(&cond->psi_mutex, mutex, __ATOMIC_RELAXED);
	__atomic_add_fetch(&cond->psi_waiters, 1, __ATOMIC_RELAXED);
	psi_holder_set(&mutex->psi_owner, 0);
	psi_lock_must(pthread_cond_wait(&cond->psi_cond, &mutex->psi_mutex), "gasnett_cond_wait",
	              where);
	psi_holder_set(&mutex->psi_owner, psi_this_thread());
	__atomic_sub_fetch(&cond->psi_waiters, 1, __ATOMIC_RELAXED);
}
