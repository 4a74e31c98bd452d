/* Mutexes, conditions, reader-writer locks and thread keys of gasnet_tools.h. */
#include "tests/lib/pt_either.h"

#include <errno.h>
#include <pthread.h>

enum { THREADS = 32 };

GASNETT_THREADKEY_DECLARE(other_key);
GASNETT_THREADKEY_DEFINE(own_key);

static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;

/* One thread: states, and what a try says of them. */
static void
check_alone(void)
{
	gasnett_mutex_t own;
	gasnett_cond_t c;
	gasnett_rwlock_t rw;

	gasnett_mutex_init(&own);
	gasnett_mutex_assertunlocked(&own);
	gasnett_mutex_lock(&own);
	gasnett_mutex_assertlocked(&own);
	gasnett_mutex_unlock(&own);
	PT_EQ(gasnett_mutex_trylock(&own), 0);
	gasnett_mutex_unlock(&own);
	PT_EQ(gasnett_mutex_destroy_ignoreerr(&own), 0);
	gasnett_mutex_init(&own);
	memset(&c, 0xff, sizeof(c));
	gasnett_cond_init(&c);
	gasnett_mutex_lock(&own);
	gasnett_cond_signal(&c);
	gasnett_cond_broadcast(&c);
	gasnett_mutex_unlock(&own);
	gasnett_cond_destroy(&c);
	gasnett_mutex_destroy(&own);

	gasnett_rwlock_init(&rw);
	gasnett_rwlock_assertunlocked(&rw);
	gasnett_rwlock_rdlock(&rw);
	gasnett_rwlock_assertlocked(&rw);
	gasnett_rwlock_assertrdlocked(&rw);
	gasnett_rwlock_unlock(&rw);
	gasnett_rwlock_wrlock(&rw);
	gasnett_rwlock_assertlocked(&rw);
	gasnett_rwlock_assertwrlocked(&rw);
	gasnett_rwlock_unlock(&rw);
	PT_EQ(gasnett_rwlock_tryrdlock(&rw), 0);
	gasnett_rwlock_unlock(&rw);
	PT_EQ(gasnett_rwlock_trywrlock(&rw), 0);
	gasnett_rwlock_unlock(&rw);
	gasnett_rwlock_destroy(&rw);
}

/* A thread may read many locks at a time, and write each when it reads none. */
static void
check_many_reads(void)
{
	enum { LOCKS = 20 };
	gasnett_rwlock_t locks[LOCKS];
	int i;

	for (i = 0; i < LOCKS; i++) {
		gasnett_rwlock_init(&locks[i]);
		gasnett_rwlock_rdlock(&locks[i]);
	}
	for (i = 0; i < LOCKS; i++)
		gasnett_rwlock_unlock(&locks[i]);
	for (i = 0; i < LOCKS; i++) {
		gasnett_rwlock_assertunlocked(&locks[i]);
		gasnett_rwlock_wrlock(&locks[i]);
		gasnett_rwlock_unlock(&locks[i]);
		gasnett_rwlock_destroy(&locks[i]);
	}
}

static void
check_keys(void)
{
	static int here, there;

	gasnett_threadkey_init(own_key);
	PT_CHECK(gasnett_threadkey_get(own_key) == NULL);
	PT_CHECK(gasnett_threadkey_get_noinit(other_key) == NULL);
	gasnett_threadkey_set(own_key, &here);
	gasnett_threadkey_set_noinit(other_key, &there);
	PT_CHECK(gasnett_threadkey_get_noinit(own_key) == &here);
	PT_CHECK(gasnett_threadkey_get(other_key) == &there);
}

#if PT_THREADED
static unsigned long rounds, counted, turn, written[2];

/* What is counted and guarded by the mutex; whose turn it is, handed on by the condition. */
static void *
take_turns(void *arg)
{
	unsigned long me = (unsigned long)(uintptr_t)arg, i;

	PT_CHECK(gasnett_threadkey_get(own_key) == NULL); /* main's is another */
	gasnett_threadkey_set(own_key, arg);
	for (i = 0; i < rounds; i++) {
		gasnett_mutex_lock(&mutex);
		while (turn != me)
			gasnett_cond_wait(&cond, &mutex);
		counted++;
		turn = (me + 1) % THREADS;
		gasnett_cond_broadcast(&cond);
		gasnett_mutex_unlock(&mutex);
		PT_CHECK(gasnett_threadkey_get(own_key) == arg);
	}
	return NULL;
}

static void *
read_and_write(void *arg)
{
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		if (i % 4 == 0) {
			gasnett_rwlock_wrlock(&rwlock);
			written[0]++;
			written[1]++;
			gasnett_rwlock_unlock(&rwlock);
			continue;
		}
		gasnett_rwlock_rdlock(&rwlock);
		PT_EQ(written[0], written[1]);
		gasnett_rwlock_unlock(&rwlock);
	}
	return arg;
}

static void *
find_locked(void *arg)
{
	PT_EQ(gasnett_mutex_trylock(&mutex), EBUSY);
	PT_EQ(gasnett_rwlock_tryrdlock(&rwlock), EBUSY);
	PT_EQ(gasnett_rwlock_trywrlock(&rwlock), EBUSY);
	gasnett_mutex_assertunlocked(&mutex); /* by this thread */
	gasnett_rwlock_assertunlocked(&rwlock);
	return arg;
}

/* One who waits is woken by a signal. */
static void *
wait_for_turn(void *arg)
{
	gasnett_mutex_lock(&mutex);
	while (turn == THREADS)
		gasnett_cond_wait(&cond, &mutex);
	turn = 0;
	gasnett_mutex_unlock(&mutex);
	return arg;
}

static void
check_signal(void)
{
	pthread_t thread;

	turn = THREADS;
	PT_EQ(pthread_create(&thread, NULL, wait_for_turn, NULL), 0);
	gasnett_nsleep(20000000);
	gasnett_mutex_lock(&mutex);
	turn = THREADS + 1;
	gasnett_cond_signal(&cond);
	gasnett_mutex_unlock(&mutex);
	PT_EQ(pthread_join(thread, NULL), 0);
	PT_EQ(turn, 0);
}

static void
together(void *(*fn)(void *), unsigned count)
{
	pthread_t threads[THREADS];
	uintptr_t i;

	for (i = 0; i < count; i++)
		PT_EQ(pthread_create(&threads[i], NULL, fn, (void *)i), 0);
	for (i = 0; i < count; i++)
		PT_EQ(pthread_join(threads[i], NULL), 0);
}

static void
check_threads(void)
{
	check_signal();
	rounds = pt_scale(20, 200);
	together(take_turns, THREADS);
	PT_EQ(counted, rounds * THREADS);
	together(read_and_write, THREADS);
	PT_EQ(written[0], (rounds + 3) / 4 * THREADS);
	gasnett_mutex_lock(&mutex);
	gasnett_rwlock_wrlock(&rwlock);
	together(find_locked, 1);
	gasnett_rwlock_unlock(&rwlock);
	gasnett_mutex_unlock(&mutex);
	/* Readers are let in beside each other or one by one; a writer is kept out. */
	gasnett_rwlock_rdlock(&rwlock);
	PT_CHECK(gasnett_rwlock_trywrlock(&rwlock) != 0);
	gasnett_rwlock_unlock(&rwlock);
}
#endif

GASNETT_THREADKEY_DEFINE(other_key);

int
main(int argc, char **argv)
{
	PT_BEGIN(argc, argv);
	check_alone();
	check_many_reads();
	check_keys();
	gasnett_mutex_lock(&mutex);
	gasnett_cond_signal(&cond);
	gasnett_mutex_unlock(&mutex);
	gasnett_rwlock_rdlock(&rwlock);
	gasnett_rwlock_unlock(&rwlock);
#if PT_THREADED
	check_threads();
#endif
	PT_END();
}
