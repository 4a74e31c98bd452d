#include "perf_tools_pairs.h"

#include <gasnet_tools.h>
#include <pthread.h>
#include <time.h>

#define EIGHT(...)                                          \
	do { __VA_ARGS__; } while (0);                      \
	do { __VA_ARGS__; } while (0);                      \
	do { __VA_ARGS__; } while (0);                      \
	do { __VA_ARGS__; } while (0);                      \
	do { __VA_ARGS__; } while (0);                      \
	do { __VA_ARGS__; } while (0);                      \
	do { __VA_ARGS__; } while (0);                      \
	do { __VA_ARGS__; } while (0)

/*
 * The functions of a pair; what they compute stays computed. Counts are multiples of eight, and
 * loops begin at a line, so that where the code lies does not count.
 */
#define PAIR(name, ours, theirs)                                      \
	static __attribute__((aligned(64))) void                      \
	ours_##name(unsigned count)                                   \
	{                                                             \
		for (; count > 0; count -= 8) {                       \
			EIGHT(ours);                                  \
		}                                                     \
	}                                                             \
	static __attribute__((aligned(64))) void                      \
	theirs_##name(unsigned count)                                 \
	{                                                             \
		for (; count > 0; count -= 8) {                       \
			EIGHT(theirs);                                \
		}                                                     \
	}

static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static pthread_mutex_t plain_mutex = PTHREAD_MUTEX_INITIALIZER;
PAIR(mutex, gasnett_mutex_lock(&mutex); gasnett_mutex_unlock(&mutex),
     pthread_mutex_lock(&plain_mutex); pthread_mutex_unlock(&plain_mutex))
PAIR(trylock, if (gasnett_mutex_trylock(&mutex) == 0) gasnett_mutex_unlock(&mutex),
     if (pthread_mutex_trylock(&plain_mutex) == 0) pthread_mutex_unlock(&plain_mutex))

static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;
static pthread_rwlock_t plain_rwlock = PTHREAD_RWLOCK_INITIALIZER;
PAIR(rdlock, gasnett_rwlock_rdlock(&rwlock); gasnett_rwlock_unlock(&rwlock),
     pthread_rwlock_rdlock(&plain_rwlock); pthread_rwlock_unlock(&plain_rwlock))
PAIR(wrlock, gasnett_rwlock_wrlock(&rwlock); gasnett_rwlock_unlock(&rwlock),
     pthread_rwlock_wrlock(&plain_rwlock); pthread_rwlock_unlock(&plain_rwlock))

static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
static pthread_cond_t plain_cond = PTHREAD_COND_INITIALIZER;
PAIR(signal, gasnett_cond_signal(&cond), pthread_cond_signal(&plain_cond))

/* One word for both sides, alone in its lines. */
static _Alignas(128) union {
	gasnett_atomic32_t as32;
	gasnett_atomic64_t as64;
	uint32_t plain32;
	uint64_t plain64;
} word;

static volatile uint64_t sink;

#define ATOMICS(T, as, plain)                                                                  \
	PAIR(T##_set, T##_set(&word.as, count, GASNETT_ATOMIC_REL),                            \
	     __atomic_store_n(&word.plain, count, __ATOMIC_RELEASE))                           \
	PAIR(T##_read, sink = T##_read(&word.as, GASNETT_ATOMIC_ACQ),                          \
	     sink = __atomic_load_n(&word.plain, __ATOMIC_ACQUIRE))                            \
	PAIR(T##_add, sink = T##_add(&word.as, 3, GASNETT_ATOMIC_NONE),                        \
	     sink = __atomic_add_fetch(&word.plain, 3, __ATOMIC_RELAXED))                      \
	PAIR(T##_swap,                                                                         \
	     sink = T##_swap(&word.as, 3, GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST),     \
	     sink = __atomic_exchange_n(&word.plain, 3, __ATOMIC_SEQ_CST))                     \
	PAIR(T##_cas, sink = (uint64_t)T##_compare_and_swap(&word.as, 3, 3, GASNETT_ATOMIC_ACQ), \
	     plain_cas_##plain(3, 3))

static inline void
plain_cas_plain32(uint32_t old, uint32_t new)
{
	sink = __atomic_compare_exchange_n(&word.plain32, &old, new, 0, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_ACQUIRE);
}

static inline void
plain_cas_plain64(uint64_t old, uint64_t new)
{
	sink = __atomic_compare_exchange_n(&word.plain64, &old, new, 0, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_ACQUIRE);
}

ATOMICS(gasnett_atomic, as32, plain32)
ATOMICS(gasnett_atomic32, as32, plain32)
ATOMICS(gasnett_atomic64, as64, plain64)
ATOMICS(gasnett_strongatomic, as32, plain32)
ATOMICS(gasnett_strongatomic32, as32, plain32)
ATOMICS(gasnett_strongatomic64, as64, plain64)

/* The counter where it is used and has a name, else the clock. */
static uint64_t
plain_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t
plain_counter(void)
{
#if defined(PLATFORM_ARCH_X86_64)
	return __builtin_ia32_rdtsc();
#else
	return plain_clock();
#endif
}

PAIR(ticks, sink = gasnett_ticks_now(), sink = plain_counter())
PAIR(clock, sink = gasnett_ticks_to_ns(gasnett_ticks_now()), sink = plain_clock())

GASNETT_THREADKEY_DEFINE(key);
static pthread_key_t plain_key;

static __attribute__((constructor)) void
make_key(void)
{
	pthread_key_create(&plain_key, NULL);
}

PAIR(key_get, sink = (uintptr_t)gasnett_threadkey_get(key),
     sink = (uintptr_t)pthread_getspecific(plain_key))
PAIR(key_set, gasnett_threadkey_set(key, &word); gasnett_compiler_fence(),
     pthread_setspecific(plain_key, &word))

#define ROW(name, group, plain, most, suffix) \
	{ name, group, plain, most, { ours_##suffix, theirs_##suffix } }
#define ATOMIC_ROWS(T, short)                                                              \
	ROW(short "-set", "atomic", "__atomic_store_n", 1.1, T##_set),                     \
	ROW(short "-read", "atomic", "__atomic_load_n", 1.1, T##_read),                    \
	ROW(short "-add", "atomic", "__atomic_add_fetch", 1.1, T##_add),                   \
	ROW(short "-swap", "atomic", "__atomic_exchange_n", 1.1, T##_swap),                \
	ROW(short "-cas", "atomic", "__atomic_compare_exchange_n", 1.1, T##_cas)

const struct perf_pair perf_tools_pairs[] = {
	ROW("mutex", "lock", "pthread_mutex_lock, unlock", 1.1, mutex),
	ROW("trylock", "lock", "pthread_mutex_trylock, unlock", 1.1, trylock),
	ROW("rdlock", "lock", "pthread_rwlock_rdlock, unlock", 1.1, rdlock),
	ROW("wrlock", "lock", "pthread_rwlock_wrlock, unlock", 1.1, wrlock),
	ROW("signal", "lock", "pthread_cond_signal", 1.1, signal),
	ATOMIC_ROWS(gasnett_atomic, "weak"),
	ATOMIC_ROWS(gasnett_atomic32, "weak32"),
	ATOMIC_ROWS(gasnett_atomic64, "weak64"),
	ATOMIC_ROWS(gasnett_strongatomic, "strong"),
	ATOMIC_ROWS(gasnett_strongatomic32, "strong32"),
	ATOMIC_ROWS(gasnett_strongatomic64, "strong64"),
#if defined(PLATFORM_ARCH_X86_64)
	ROW("ticks", "timer", "rdtsc", 1.3, ticks),
#else
	ROW("ticks", "timer", "clock_gettime", 1.1, ticks),
#endif
	ROW("ticks-to-ns", "timer", "clock_gettime", 1.1, clock),
	ROW("key-get", "key", "pthread_getspecific", 1.1, key_get),
	ROW("key-set", "key", "pthread_setspecific", 1.1, key_set),
	{ 0 },
};
