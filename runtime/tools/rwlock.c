/*
 * Reader-writer locks over pthread's.  Debug builds also record which locks each thread reads, to
 * find an unlock by a thread that is no reader.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "gasnet_tools.h"
#include "runtime/tools/holder.h"

_Static_assert(sizeof(pthread_rwlock_t) <= sizeof(((gasnett_rwlock_t *)0)->psi_rwlock),
	       "gasnett_rwlock_t has no room for a pthread_rwlock_t");

enum { READS_MAX = 8 };

/*
 * The locks that this thread reads.  With more than READS_MAX at a time the account is lost, and
 * nothing is said of any until it reads none.
 */
static __thread const gasnett_rwlock_t *reads[READS_MAX];
static __thread unsigned reads_count;
static __thread bool reads_lost;

static pthread_rwlock_t *
rwlock_raw(gasnett_rwlock_t *lock)
{
	return (pthread_rwlock_t *)(void *)lock->psi_rwlock;
}

static bool
rwlock_writes(const gasnett_rwlock_t *lock)
{
	return psi_holder(&lock->psi_owner) == psi_this_thread();
}

/* The place of a read of this thread, or READS_MAX. */
static unsigned
rwlock_read_place(const gasnett_rwlock_t *lock)
{
	unsigned i;

	for (i = 0; i < reads_count && !reads_lost; i++) {
		if (reads[i] == lock)
			return i;
	}
	return READS_MAX;
}

static bool
rwlock_is_reading(const gasnett_rwlock_t *lock)
{
	return rwlock_read_place(lock) < READS_MAX;
}

static void
rwlock_note_read(const gasnett_rwlock_t *lock)
{
	if (reads_count < READS_MAX)
		reads[reads_count] = lock;
	else
		reads_lost = true;
	reads_count++;
}

static void
rwlock_forget_read(const gasnett_rwlock_t *lock)
{
	unsigned place = rwlock_read_place(lock);

	reads_count--;
	if (place < READS_MAX)
		reads[place] = reads[reads_count];
	if (reads_count == 0)
		reads_lost = false;
}

static void
rwlock_refuse_twice(gasnett_rwlock_t *lock, const char *call, const char *where)
{
	if (PSI_CONFIG_DEBUG && (rwlock_writes(lock) || rwlock_is_reading(lock)))
		gasnett_fatalerror_nopos("%s: %s: this thread %s the lock already, which is not "
		                         "recursive",
					 where, call, rwlock_writes(lock) ? "writes" : "reads");
}

/* Judges the result of taking a lock: records a lock that was taken, returns the error if another
 * thread holds it, and ends the process on any other error. */
static int
rwlock_taken(gasnett_rwlock_t *lock, int error, int to_write, const char *call, const char *where)
{
	if (error == EBUSY || error == EAGAIN)
		return error;
	psi_lock_must(error, call, where);
	if (!PSI_CONFIG_DEBUG)
		return 0;
	if (to_write)
		psi_holder_set(&lock->psi_owner, psi_this_thread());
	else
		rwlock_note_read(lock);
	return 0;
}

void
psi_rwlock_init(gasnett_rwlock_t *lock)
{
	psi_holder_set(&lock->psi_owner, 0);
	psi_lock_must(pthread_rwlock_init(rwlock_raw(lock), NULL), "gasnett_rwlock_init", "?");
}

void
psi_rwlock_destroy(gasnett_rwlock_t *lock, const char *where)
{
	if (PSI_CONFIG_DEBUG && (psi_holder(&lock->psi_owner) || rwlock_is_reading(lock)))
		gasnett_fatalerror_nopos("%s: gasnett_rwlock_destroy: %s holds the lock; unlock it "
		                         "first",
		                         where,
		                         rwlock_writes(lock) || rwlock_is_reading(lock)
		                                 ? "this thread"
		                                 : "another thread");
	psi_lock_must(pthread_rwlock_destroy(rwlock_raw(lock)), "gasnett_rwlock_destroy", where);
}

/* If the lock cannot count one more reader, waits until one leaves. */
void
psi_rwlock_rdlock(gasnett_rwlock_t *lock, const char *where)
{
	rwlock_refuse_twice(lock, "gasnett_rwlock_rdlock", where);
	while (rwlock_taken(lock, pthread_rwlock_rdlock(rwlock_raw(lock)), 0,
	                    "gasnett_rwlock_rdlock", where))
		sched_yield();
}

void
psi_rwlock_wrlock(gasnett_rwlock_t *lock, const char *where)
{
	rwlock_refuse_twice(lock, "gasnett_rwlock_wrlock", where);
	psi_lock_must(rwlock_taken(lock, pthread_rwlock_wrlock(rwlock_raw(lock)), 1,
	                           "gasnett_rwlock_wrlock", where),
	              "gasnett_rwlock_wrlock", where);
}

int
psi_rwlock_tryrdlock(gasnett_rwlock_t *lock, const char *where)
{
	return rwlock_taken(lock, pthread_rwlock_tryrdlock(rwlock_raw(lock)), 0,
	                    "gasnett_rwlock_tryrdlock", where);
}

int
psi_rwlock_trywrlock(gasnett_rwlock_t *lock, const char *where)
{
	return rwlock_taken(lock, pthread_rwlock_trywrlock(rwlock_raw(lock)), 1,
	                    "gasnett_rwlock_trywrlock", where);
}

void
psi_rwlock_unlock(gasnett_rwlock_t *lock, const char *where)
{
	if (PSI_CONFIG_DEBUG) {
		if (rwlock_writes(lock))
			psi_holder_set(&lock->psi_owner, 0);
		else if (rwlock_is_reading(lock) || reads_lost)
			rwlock_forget_read(lock);
		else
			gasnett_fatalerror_nopos("%s: gasnett_rwlock_unlock: this thread does not "
						 "hold the lock; the thread that locked it unlocks "
						 "it", where);
	}
	psi_lock_must(pthread_rwlock_unlock(rwlock_raw(lock)), "gasnett_rwlock_unlock", where);
}

void
psi_rwlock_assert(gasnett_rwlock_t *lock, enum psi_rwlock_held held, const char *where)
{
	static const char *const calls[] = {
		[PSI_RWLOCK_FREE] = "gasnett_rwlock_assertunlocked",
		[PSI_RWLOCK_READ] = "gasnett_rwlock_assertrdlocked",
		[PSI_RWLOCK_WRITE] = "gasnett_rwlock_assertwrlocked",
		[PSI_RWLOCK_ANY] = "gasnett_rwlock_assertlocked",
	};
	bool reading = rwlock_is_reading(lock), writing = rwlock_writes(lock), holds;

	if (reads_lost)
		return;
	holds = held == PSI_RWLOCK_READ ? reading : held == PSI_RWLOCK_WRITE ? writing
									     : reading || writing;
	if (holds != (held != PSI_RWLOCK_FREE))
		gasnett_fatalerror_nopos("%s: %s: this thread %s", where, calls[held],
					 writing ? "holds the lock for writing"
						 : reading ? "holds the lock for reading"
							   : "does not hold the lock");
}
