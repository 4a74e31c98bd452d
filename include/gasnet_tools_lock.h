/*
 * gasnet_tools_lock.h: mutexes, condition variables, reader-writer locks.
 *
 * They behave as their pthread counterparts, are not recursive and are not
 * shared between processes. In a program without threads they are nothing,
 * unless GASNETT_USE_TRUE_MUTEXES is 1 in all of it. Errors end the process.
 * A debug library also does so, naming the place of the call, when a lock is
 * taken twice by a thread, released by another, destroyed while held, and when
 * a condition is waited for or signalled without its mutex.
 *
 * Calls may block, and do not poll: they do not belong in handlers.
 */
#ifndef GASNET_TOOLS_LOCK_H
#define GASNET_TOOLS_LOCK_H

#include "gasnet_ex_port.h"
#include "gasnet_tools_annotate.h"

#include <pthread.h>

#ifndef GASNETT_USE_TRUE_MUTEXES
#define GASNETT_USE_TRUE_MUTEXES 0
#endif

/* One layout for all modes; what is behind the pthread object belongs to the checks. */
typedef struct {
	pthread_mutex_t psi_mutex;
	uint64_t psi_owner;
} gasnett_mutex_t;

typedef struct {
	pthread_cond_t psi_cond;
	gasnett_mutex_t *psi_mutex; /* of those who wait */
	uint64_t psi_waiters;
} gasnett_cond_t;

/* Room for a pthread_rwlock_t, which strict C does not declare; all zero is its static state. */
typedef struct {
	uint64_t psi_rwlock[8];
	uint64_t psi_owner; /* writer */
} gasnett_rwlock_t;

#define GASNETT_MUTEX_INITIALIZER    \
	{                            \
		PTHREAD_MUTEX_INITIALIZER, 0 \
	}
#define GASNETT_COND_INITIALIZER              \
	{                                     \
		PTHREAD_COND_INITIALIZER, 0, 0 \
	}
#define GASNETT_RWLOCK_INITIALIZER                   \
	{                                            \
		{0, 0, 0, 0, 0, 0, 0, 0}, 0 \
	}

PSI_BEGIN_DECLS

/* Ends the process: a call failed. */
PSI_API void psi_lock_failed(const char *call, int errnum) GASNETT_NORETURN;

/* The calls of a debug library, in all modes.  where is "file:line". */
PSI_API void psi_mutex_init(gasnett_mutex_t *mutex);
PSI_API int psi_mutex_destroy(gasnett_mutex_t *mutex, int ignore, const char *where);
PSI_API void psi_mutex_lock(gasnett_mutex_t *mutex, const char *where);
PSI_API int psi_mutex_trylock(gasnett_mutex_t *mutex, const char *where);
PSI_API void psi_mutex_unlock(gasnett_mutex_t *mutex, const char *where);
PSI_API void psi_mutex_assert(gasnett_mutex_t *mutex, int locked, const char *where);

PSI_API void psi_cond_init(gasnett_cond_t *cond);
PSI_API void psi_cond_destroy(gasnett_cond_t *cond, const char *where);
PSI_API void psi_cond_signal(gasnett_cond_t *cond, int all, const char *where);
PSI_API void psi_cond_wait(gasnett_cond_t *cond, gasnett_mutex_t *mutex, const char *where);

/* Reader-writer locks, in optimised builds too; held: how, for the assertion. */
enum psi_rwlock_held { PSI_RWLOCK_FREE, PSI_RWLOCK_READ, PSI_RWLOCK_WRITE, PSI_RWLOCK_ANY };
PSI_API void psi_rwlock_init(gasnett_rwlock_t *lock);
PSI_API void psi_rwlock_destroy(gasnett_rwlock_t *lock, const char *where);
PSI_API void psi_rwlock_rdlock(gasnett_rwlock_t *lock, const char *where);
PSI_API void psi_rwlock_wrlock(gasnett_rwlock_t *lock, const char *where);
PSI_API int psi_rwlock_tryrdlock(gasnett_rwlock_t *lock, const char *where);
PSI_API int psi_rwlock_trywrlock(gasnett_rwlock_t *lock, const char *where);
PSI_API void psi_rwlock_unlock(gasnett_rwlock_t *lock, const char *where);
PSI_API void psi_rwlock_assert(gasnett_rwlock_t *lock, enum psi_rwlock_held held,
                               const char *where);

#define PSI_HERE __FILE__ ":" PSI_STRING(__LINE__)

#if PSI_CONFIG_DEBUG

#define gasnett_mutex_init(m)              psi_mutex_init(m)
#define gasnett_mutex_destroy(m)           ((void)psi_mutex_destroy((m), 0, PSI_HERE))
#define gasnett_mutex_destroy_ignoreerr(m) psi_mutex_destroy((m), 1, PSI_HERE)
#define gasnett_mutex_lock(m)              psi_mutex_lock((m), PSI_HERE)
#define gasnett_mutex_trylock(m)           psi_mutex_trylock((m), PSI_HERE)
#define gasnett_mutex_unlock(m)            psi_mutex_unlock((m), PSI_HERE)
#define gasnett_mutex_assertlocked(m)      psi_mutex_assert((m), 1, PSI_HERE)
#define gasnett_mutex_assertunlocked(m)    psi_mutex_assert((m), 0, PSI_HERE)

#define gasnett_cond_init(c)      psi_cond_init(c)
#define gasnett_cond_destroy(c)   psi_cond_destroy((c), PSI_HERE)
#define gasnett_cond_signal(c)    psi_cond_signal((c), 0, PSI_HERE)
#define gasnett_cond_broadcast(c) psi_cond_signal((c), 1, PSI_HERE)
#define gasnett_cond_wait(c, m)   psi_cond_wait((c), (m), PSI_HERE)

#elif defined(GASNETT_THREAD_SAFE) || defined(GASNET_PARSYNC) || GASNETT_USE_TRUE_MUTEXES

/* The pthread call, and the end of the process if it fails. */
#define PSI_LOCK_CALL(name, call)                           \
	do {                                                \
		int psi_error = (call);                     \
		if (PSI_UNLIKELY(psi_error))                \
			psi_lock_failed(name, psi_error);   \
	} while (0)

PSI_INLINE void
gasnett_mutex_init(gasnett_mutex_t *mutex)
{
	PSI_LOCK_CALL("gasnett_mutex_init", pthread_mutex_init(&mutex->psi_mutex, NULL));
}

PSI_INLINE void
gasnett_mutex_destroy(gasnett_mutex_t *mutex)
{
	PSI_LOCK_CALL("gasnett_mutex_destroy", pthread_mutex_destroy(&mutex->psi_mutex));
}

PSI_INLINE int
gasnett_mutex_destroy_ignoreerr(gasnett_mutex_t *mutex)
{
	return pthread_mutex_destroy(&mutex->psi_mutex);
}

PSI_INLINE void
gasnett_mutex_lock(gasnett_mutex_t *mutex)
{
	PSI_LOCK_CALL("gasnett_mutex_lock", pthread_mutex_lock(&mutex->psi_mutex));
}

/* 0 or EBUSY. */
PSI_INLINE int
gasnett_mutex_trylock(gasnett_mutex_t *mutex)
{
	return pthread_mutex_trylock(&mutex->psi_mutex);
}

PSI_INLINE void
gasnett_mutex_unlock(gasnett_mutex_t *mutex)
{
	PSI_LOCK_CALL("gasnett_mutex_unlock", pthread_mutex_unlock(&mutex->psi_mutex));
}

PSI_INLINE void
gasnett_cond_init(gasnett_cond_t *cond)
{
	PSI_LOCK_CALL("gasnett_cond_init", pthread_cond_init(&cond->psi_cond, NULL));
}

PSI_INLINE void
gasnett_cond_destroy(gasnett_cond_t *cond)
{
	PSI_LOCK_CALL("gasnett_cond_destroy", pthread_cond_destroy(&cond->psi_cond));
}

PSI_INLINE void
gasnett_cond_signal(gasnett_cond_t *cond)
{
	PSI_LOCK_CALL("gasnett_cond_signal", pthread_cond_signal(&cond->psi_cond));
}

PSI_INLINE void
gasnett_cond_broadcast(gasnett_cond_t *cond)
{
	PSI_LOCK_CALL("gasnett_cond_broadcast", pthread_cond_broadcast(&cond->psi_cond));
}

/* May return although nobody signalled. */
PSI_INLINE void
gasnett_cond_wait(gasnett_cond_t *cond, gasnett_mutex_t *mutex)
{
	PSI_LOCK_CALL("gasnett_cond_wait", pthread_cond_wait(&cond->psi_cond, &mutex->psi_mutex));
}

#else

#define gasnett_mutex_init(m)              GASNETT_UNUSED_ARGS1(m)
#define gasnett_mutex_destroy(m)           GASNETT_UNUSED_ARGS1(m)
#define gasnett_mutex_destroy_ignoreerr(m) (GASNETT_UNUSED_ARGS1(m), 0)
#define gasnett_mutex_lock(m)              GASNETT_UNUSED_ARGS1(m)
#define gasnett_mutex_trylock(m)           (GASNETT_UNUSED_ARGS1(m), 0)
#define gasnett_mutex_unlock(m)            GASNETT_UNUSED_ARGS1(m)

#define gasnett_cond_init(c)      GASNETT_UNUSED_ARGS1(c)
#define gasnett_cond_destroy(c)   GASNETT_UNUSED_ARGS1(c)
#define gasnett_cond_signal(c)    GASNETT_UNUSED_ARGS1(c)
#define gasnett_cond_broadcast(c) GASNETT_UNUSED_ARGS1(c)
#define gasnett_cond_wait(c, m)   GASNETT_UNUSED_ARGS2(c, m)

#endif

#if !PSI_CONFIG_DEBUG
#define gasnett_mutex_assertlocked(m)   GASNETT_UNUSED_ARGS1(m)
#define gasnett_mutex_assertunlocked(m) GASNETT_UNUSED_ARGS1(m)
#endif

#if PSI_CONFIG_DEBUG || defined(GASNETT_THREAD_SAFE) || defined(GASNET_PARSYNC) || \
	GASNETT_USE_TRUE_MUTEXES
#define gasnett_rwlock_init(l)           psi_rwlock_init(l)
#define gasnett_rwlock_destroy(l)        psi_rwlock_destroy((l), PSI_HERE)
#define gasnett_rwlock_tryrdlock(l)      psi_rwlock_tryrdlock((l), PSI_HERE)
#define gasnett_rwlock_trywrlock(l)      psi_rwlock_trywrlock((l), PSI_HERE)
#if PSI_CONFIG_DEBUG || !defined(PTHREAD_RWLOCK_INITIALIZER)
#define gasnett_rwlock_rdlock(l)         psi_rwlock_rdlock((l), PSI_HERE)
#define gasnett_rwlock_wrlock(l)         psi_rwlock_wrlock((l), PSI_HERE)
#define gasnett_rwlock_unlock(l)         psi_rwlock_unlock((l), PSI_HERE)
#else
/* Where pthread.h declares the calls; the library tries again what failed, and says so if it
 * must. */
#define PSI_RWLOCK_CALL(what)                                                              \
	PSI_INLINE void psi_rwlock_##what##_here(gasnett_rwlock_t *lock, const char *where) \
	{                                                                                  \
		void *raw = lock->psi_rwlock;                                              \
                                                                                           \
		if (PSI_UNLIKELY(pthread_rwlock_##what(                                    \
			    PSI_STATIC_CAST(pthread_rwlock_t *, raw)) != 0))               \
			psi_rwlock_##what(lock, where);                                    \
	}
PSI_RWLOCK_CALL(rdlock)
PSI_RWLOCK_CALL(wrlock)
PSI_RWLOCK_CALL(unlock)
#define gasnett_rwlock_rdlock(l) psi_rwlock_rdlock_here((l), PSI_HERE)
#define gasnett_rwlock_wrlock(l) psi_rwlock_wrlock_here((l), PSI_HERE)
#define gasnett_rwlock_unlock(l) psi_rwlock_unlock_here((l), PSI_HERE)
#endif
#else
#define gasnett_rwlock_init(l)      GASNETT_UNUSED_ARGS1(l)
#define gasnett_rwlock_destroy(l)   GASNETT_UNUSED_ARGS1(l)
#define gasnett_rwlock_rdlock(l)    GASNETT_UNUSED_ARGS1(l)
#define gasnett_rwlock_wrlock(l)    GASNETT_UNUSED_ARGS1(l)
#define gasnett_rwlock_tryrdlock(l) (GASNETT_UNUSED_ARGS1(l), 0)
#define gasnett_rwlock_trywrlock(l) (GASNETT_UNUSED_ARGS1(l), 0)
#define gasnett_rwlock_unlock(l)    GASNETT_UNUSED_ARGS1(l)
#endif

#if PSI_CONFIG_DEBUG
#define gasnett_rwlock_assertlocked(l)   psi_rwlock_assert((l), PSI_RWLOCK_ANY, PSI_HERE)
#define gasnett_rwlock_assertrdlocked(l) psi_rwlock_assert((l), PSI_RWLOCK_READ, PSI_HERE)
#define gasnett_rwlock_assertwrlocked(l) psi_rwlock_assert((l), PSI_RWLOCK_WRITE, PSI_HERE)
#define gasnett_rwlock_assertunlocked(l) psi_rwlock_assert((l), PSI_RWLOCK_FREE, PSI_HERE)
#else
#define gasnett_rwlock_assertlocked(l)   GASNETT_UNUSED_ARGS1(l)
#define gasnett_rwlock_assertrdlocked(l) GASNETT_UNUSED_ARGS1(l)
#define gasnett_rwlock_assertwrlocked(l) GASNETT_UNUSED_ARGS1(l)
#define gasnett_rwlock_assertunlocked(l) GASNETT_UNUSED_ARGS1(l)
#endif

PSI_END_DECLS

#endif
