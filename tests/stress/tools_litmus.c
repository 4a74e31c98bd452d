/*
 * The orders that flags of the atomics of gasnet_tools.h promise, seen by two threads on two CPUs.
 *
 *     tools_litmus [rounds [NAME]]     NAME: only cases with this in their names; or unordered
 *
 * Message passing: one thread stores data, then a flag; who sees the flag must see the data.  Each
 * way to publish is watched by the plainest acquire, each way to watch is fed by the plainest
 * release.  Both only count up, so no round waits for another.
 *
 * Store buffer: each thread stores its word, then loads the other's; not both may find the old
 * value.
 *
 * Data are relaxed atomics, which order nothing; all order comes from the flags, which are
 * constants, since computed ones are stronger.
 */
#include <pthread.h>
#include <stdio.h>

#include "gasnet_tools.h"
#include "tests/stress/litmus.h"

enum { BATCH = 256, LOOKS = 100000 };

#define REL          GASNETT_ATOMIC_REL
#define ACQ          GASNETT_ATOMIC_ACQ
#define ACQ_IF_TRUE  GASNETT_ATOMIC_ACQ_IF_TRUE
#define ACQ_IF_FALSE GASNETT_ATOMIC_ACQ_IF_FALSE
#define MB_PRE       GASNETT_ATOMIC_MB_PRE
#define MB_POST      GASNETT_ATOMIC_MB_POST
#define WMB_POST     GASNETT_ATOMIC_WMB_POST
#define RMB_PRE      GASNETT_ATOMIC_RMB_PRE

#define STORE(word, v) __atomic_store_n(&(word), (v), __ATOMIC_RELAXED)
#define LOAD(word)     __atomic_load_n(&(word), __ATOMIC_RELAXED)

/* Any of the six types fits; each word is alone in its pair of cache lines. */
union word {
	gasnett_atomic32_t as32;
	gasnett_atomic64_t as64;
	char room[128];
};

static struct {
	_Alignas(128) union word flag;
	_Alignas(128) unsigned long data;
	_Alignas(128) union word own[2]; /* of one thread each */
	_Alignas(128) unsigned come[2]; /* of one thread each */
} at;

/* Words of the store buffer test, and what each thread found in the other's. */
static _Alignas(128) union word x[BATCH], y[BATCH];
static unsigned char found[2][BATCH];

/* What threads 0 and 1 do; they return how often they saw what must not be. */
typedef long side_fn(int me, long rounds);

struct litmus {
	const char *type, *what;
	side_fn *side[2];
};

/* Each waits until the other has come as often. */
static void
meet(int me)
{
	unsigned times = at.come[me] + 1;
	long looks = 0;

	__atomic_store_n(&at.come[me], times, __ATOMIC_RELEASE);
	while ((int)(__atomic_load_n(&at.come[!me], __ATOMIC_ACQUIRE) - times) < 0)
		if (++looks % LOOKS == 0)
			sched_yield();
}

/* ------------------------------------------------------------ message passing --- */

#define PUBLISH(T, W, name, ...)                                \
	static long T##_publish_##name(int me, long rounds)     \
	{                                                       \
		T##_t *flag = &at.flag.W, *own = &at.own[me].W; \
                                                                \
		for (long r = 1; r <= rounds; r++) {            \
			STORE(at.data, (unsigned long)r);       \
			__VA_ARGS__;                            \
		}                                               \
		(void)own;                                      \
		return 0;                                       \
	}

/* The code sets `seen' to a value that the flag has had. */
#define WATCH(T, W, name, ...)                                  \
	static long T##_watch_##name(int me, long rounds)       \
	{                                                       \
		T##_t *flag = &at.flag.W, *own = &at.own[me].W; \
		unsigned long seen = 0, before = 0;             \
		long stale = 0, looks = 0;                      \
                                                                \
		while (seen < (unsigned long)rounds) {          \
			__VA_ARGS__;                            \
			stale += LOAD(at.data) < seen;          \
			looks = seen == before ? looks + 1 : 0; \
			before = seen;                          \
			if (looks > LOOKS)                      \
				sched_yield();                  \
		}                                               \
		(void)own;                                      \
		return stale;                                   \
	}

/* The flag is 1 or, with the news, 2; the watcher takes one, and puts it back if it was the only
 * one. */
#define TEST_FALSE(T, W)                                                                \
	static long T##_add_one(int me, long rounds)                                    \
	{                                                                               \
		T##_set(&at.flag.W, 1, 0);                                              \
		meet(me);                                                               \
		for (long r = 1; r <= rounds; r++) {                                    \
			STORE(at.data, (unsigned long)r);                               \
			T##_add(&at.flag.W, 1, REL);                                    \
			meet(me);                                                       \
		}                                                                       \
		return 0;                                                               \
	}                                                                               \
	static long T##_take_one(int me, long rounds)                                   \
	{                                                                               \
		long stale = 0, looks = 0;                                              \
                                                                                        \
		meet(me);                                                               \
		for (long r = 1; r <= rounds; r++) {                                    \
			while (T##_decrement_and_test(&at.flag.W, ACQ_IF_FALSE)) {      \
				T##_increment(&at.flag.W, 0);                           \
				if (++looks % LOOKS == 0)                               \
					sched_yield();                                  \
			}                                                               \
			stale += LOAD(at.data) != (unsigned long)r;                     \
			meet(me);                                                       \
		}                                                                       \
		return stale;                                                           \
	}

/* Each stores its word and counts down; the last sees what the first stored. */
#define TEST_TRUE(T, W)                                                                 \
	static long T##_count_down(int me, long rounds)                                 \
	{                                                                               \
		long stale = 0;                                                         \
                                                                                        \
		for (long r = 1; r <= rounds; r++) {                                    \
			if (me == 0)                                                    \
				T##_set(&at.flag.W, 2, 0);                              \
			meet(me);                                                       \
			T##_set(&at.own[me].W, (uint32_t)r, 0);                         \
			if (T##_decrement_and_test(&at.flag.W, REL | ACQ_IF_TRUE))      \
				stale += T##_read(&at.own[!me].W, 0) != (uint32_t)r;    \
			meet(me);                                                       \
		}                                                                       \
		return stale;                                                           \
	}

/* A lock around a plain counter. */
#define LOCK(T, W)                                                                      \
	static long T##_lock(int me, long rounds)                                       \
	{                                                                               \
		long lost = 2 * rounds, looks = 0;                                      \
                                                                                        \
		for (long r = 0; r < rounds; r++) {                                     \
			while (!T##_compare_and_swap(&at.flag.W, 0, 1, ACQ_IF_TRUE))    \
				if (++looks % LOOKS == 0)                               \
					sched_yield();                                  \
			at.data++;                                                      \
			T##_set(&at.flag.W, 0, REL);                                    \
		}                                                                       \
		meet(me);                                                               \
		return me ? 0 : lost - (long)at.data;                                   \
	}

/* -------------------------------------------------------------- store buffer --- */

#define CROSS(T, W, name, ...)                                                  \
	static long T##_##name(int me, long rounds)                             \
	{                                                                       \
		union word *mine = me ? y : x, *theirs = me ? x : y;            \
		T##_t *own = &at.own[me].W;                                     \
		long both = 0;                                                  \
                                                                                \
		(void)own;                                                      \
		for (long r = 0; r < rounds; r += BATCH) {                      \
			for (int i = 0; i < BATCH; i++)                         \
				T##_set(&mine[i].W, 0, 0);                      \
			meet(me);                                               \
			for (int i = 0; i < BATCH; i++) {                       \
				T##_t *to = &mine[i].W, *from = &theirs[i].W;   \
				unsigned long got;                              \
                                                                                \
				__VA_ARGS__;                                    \
				found[me][i] = got != 0;                        \
			}                                                       \
			meet(me);                                               \
			for (int i = 0; me && i < BATCH; i++)                   \
				both += !found[0][i] && !found[1][i];           \
			meet(me);                                               \
		}                                                               \
		return both;                                                    \
	}

/* ---------------------------------------------------------------- all of them --- */

#define FAMILY(T, V, W)                                                                       \
	PUBLISH(T, W, set, T##_set(flag, (V)r, REL))                                          \
	PUBLISH(T, W, set_mb, T##_set(flag, (V)r, MB_PRE))                                    \
	PUBLISH(T, W, swap, T##_swap(flag, (V)r, REL))                                        \
	PUBLISH(T, W, add, T##_add(flag, 1, REL))                                             \
	PUBLISH(T, W, subtract, T##_subtract(flag, (V)-1, MB_PRE | ACQ))                      \
	PUBLISH(T, W, increment, T##_increment(flag, REL | MB_POST))                          \
	PUBLISH(T, W, cas, T##_compare_and_swap(flag, (V)(r - 1), (V)r, REL))                 \
	PUBLISH(T, W, after_set, T##_set(own, 1, WMB_POST); T##_set(flag, (V)r, 0))           \
	PUBLISH(T, W, after_swap, T##_swap(own, 1, WMB_POST); T##_set(flag, (V)r, 0))         \
	PUBLISH(T, W, after_decrement, T##_decrement(own, MB_POST); T##_set(flag, (V)r, 0))   \
	PUBLISH(T, W, after_read, (void)T##_read(own, WMB_POST); T##_set(flag, (V)r, 0))      \
	WATCH(T, W, read, seen = T##_read(flag, ACQ))                                         \
	WATCH(T, W, read_mb, seen = T##_read(flag, MB_POST))                                  \
	WATCH(T, W, add, seen = T##_add(flag, 0, ACQ))                                        \
	WATCH(T, W, then_read, seen = T##_read(flag, 0); (void)T##_read(own, RMB_PRE))        \
	WATCH(T, W, then_read_mb, seen = T##_read(flag, 0); (void)T##_read(own, MB_PRE))      \
	WATCH(T, W, then_set, seen = T##_read(flag, 0); T##_set(own, 1, RMB_PRE))             \
	WATCH(T, W, then_swap, seen = T##_read(flag, 0); T##_swap(own, 1, RMB_PRE))           \
	WATCH(T, W, cas, seen += !T##_compare_and_swap(flag, (V)seen, (V)seen, ACQ))          \
	WATCH(T, W, cas_false,                                                                \
	      seen += !T##_compare_and_swap(flag, (V)seen, (V)seen, ACQ_IF_FALSE))            \
	TEST_FALSE(T, W)                                                                      \
	TEST_TRUE(T, W)                                                                       \
	LOCK(T, W)                                                                            \
	CROSS(T, W, set_mb, T##_set(to, 1, MB_POST); got = T##_read(from, 0))                 \
	CROSS(T, W, set_wmb, T##_set(to, 1, WMB_POST); got = T##_read(from, 0))               \
	CROSS(T, W, mb_read, T##_set(to, 1, 0); got = T##_read(from, MB_PRE))                 \
	CROSS(T, W, swap_mb, T##_swap(to, 1, MB_POST); got = T##_read(from, 0))               \
	CROSS(T, W, add_mb, T##_add(to, 1, MB_POST); got = T##_read(from, 0))                 \
	CROSS(T, W, cas_mb, T##_compare_and_swap(to, 0, 1, MB_POST); got = T##_read(from, 0)) \
	CROSS(T, W, cas_fails_mb, T##_set(to, 1, 0);                                          \
	      T##_compare_and_swap(own, 5, 6, MB_POST); got = T##_read(from, 0))              \
	CROSS(T, W, mb_increment, T##_set(to, 1, 0); T##_increment(own, MB_PRE);              \
	      got = T##_read(from, 0))                                                        \
	CROSS(T, W, mb_add, T##_set(to, 1, 0); got = T##_add(from, 0, MB_PRE))

FAMILY(gasnett_atomic, gasnett_atomic_val_t, as32)
FAMILY(gasnett_atomic32, uint32_t, as32)
FAMILY(gasnett_atomic64, uint64_t, as64)
FAMILY(gasnett_strongatomic, gasnett_atomic_val_t, as32)
FAMILY(gasnett_strongatomic32, uint32_t, as32)
FAMILY(gasnett_strongatomic64, uint64_t, as64)

/* Without flags nothing is promised: to see that these tests can see. */
PUBLISH(gasnett_atomic32, as32, unordered, gasnett_atomic32_set(flag, (uint32_t)r, 0))
WATCH(gasnett_atomic32, as32, unordered, seen = gasnett_atomic32_read(flag, 0))
CROSS(gasnett_atomic32, as32, unordered, gasnett_atomic32_set(to, 1, 0);
      got = gasnett_atomic32_read(from, 0))

#define PASS(T, p, w) { #T, "publish " #p " watch " #w, { T##_publish_##p, T##_watch_##w } }
#define BOTH(T, name) { #T, #name, { T##_##name, T##_##name } }
#define ALL(T)                                                                                  \
	PASS(T, set, read), PASS(T, set_mb, read), PASS(T, swap, read), PASS(T, add, read),     \
	PASS(T, subtract, read), PASS(T, increment, read), PASS(T, cas, read),                  \
	PASS(T, after_set, read), PASS(T, after_swap, read),                                    \
	PASS(T, after_decrement, read), PASS(T, after_read, read), PASS(T, set, read_mb),       \
	PASS(T, set, add), PASS(T, set, then_read), PASS(T, set, then_read_mb),                 \
	PASS(T, set, then_set), PASS(T, set, then_swap), PASS(T, set, cas),                     \
	PASS(T, set, cas_false), { #T, "test_false", { T##_add_one, T##_take_one } },           \
	{ #T, "test_true", { T##_count_down, T##_count_down } }, BOTH(T, lock),                 \
	BOTH(T, set_mb), BOTH(T, set_wmb), BOTH(T, mb_read), BOTH(T, swap_mb),                  \
	BOTH(T, add_mb), BOTH(T, cas_mb), BOTH(T, cas_fails_mb), BOTH(T, mb_increment),         \
	BOTH(T, mb_add)

static const struct litmus promised[] = {
	ALL(gasnett_atomic), ALL(gasnett_atomic32), ALL(gasnett_atomic64),
	ALL(gasnett_strongatomic), ALL(gasnett_strongatomic32), ALL(gasnett_strongatomic64),
};

static const struct litmus unpromised[] = {
	PASS(gasnett_atomic32, unordered, unordered), BOTH(gasnett_atomic32, unordered),
};

/* ----------------------------------------------------------------------- running --- */

struct run {
	const struct litmus *litmus;
	long rounds, seen;
	int cpu;
};

static void *
second_side(void *argument)
{
	struct run *run = argument;

	litmus_pin(run->cpu);
	meet(1);
	run->seen = run->litmus->side[1](1, run->rounds);
	return NULL;
}

/* How often it was seen. */
static long
run_one(const struct litmus *litmus, long rounds, const int cpu[2])
{
	struct run second = { litmus, rounds, 0, cpu[1] };
	pthread_t thread;
	long seen;

	memset(&at, 0, sizeof at);
	if (pthread_create(&thread, NULL, second_side, &second)) {
		fprintf(stderr, "tools_litmus: no thread\n");
		exit(99);
	}
	litmus_pin(cpu[0]);
	meet(0);
	seen = litmus->side[0](0, second.rounds);
	pthread_join(thread, NULL);
	return seen + second.seen;
}

static long
run_all(const struct litmus *list, size_t count, const char *chosen, long rounds, const int cpu[2])
{
	long all = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		gasnett_tick_t start = gasnett_ticks_now();
		long seen;

		if (chosen && !strstr(list[i].what, chosen))
			continue;
		seen = run_one(&list[i], rounds, cpu);
		printf("%-22s %-36s %9ld rounds %6ld wrong %6.1f ns a round\n", list[i].type,
		       list[i].what, rounds, seen,
		       (double)gasnett_ticks_to_ns(gasnett_ticks_now() - start) /
			       (double)rounds);
		all += seen;
	}
	return all;
}

int
main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10)
	                             : litmus_rounds(2000, 20000, 10000000);
	const char *chosen = argc > 2 ? argv[2] : NULL;
	int cpu[2];

	if (!litmus_two_cpus(cpu)) {
		printf("needs two CPUs\n");
		return 77;
	}
	if (chosen && strcmp(chosen, "unordered") == 0) {
		run_all(unpromised, sizeof unpromised / sizeof *unpromised, NULL, rounds, cpu);
		return EXIT_SUCCESS;
	}
	return run_all(promised, sizeof promised / sizeof *promised, chosen, rounds, cpu)
	               ? EXIT_FAILURE : EXIT_SUCCESS;
}
