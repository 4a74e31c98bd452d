/* A program on this SHMEM. It ends with status 1 when an answer is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if GASNET_PAR
#include <pthread.h>
#endif
#include "shmem.h"

enum { ITEMS = 1000, ROUNDS = 200, THREADS = 2 };

static int me, count, next_pe, previous_pe;
static int64_t *box, *mine;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "PE %d: wrong: %s, line %d\n", me, #condition, __LINE__);  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* What PE `pe' has in item i. */
static int64_t
item_of(int pe, int i)
{
	return (int64_t)pe * 1000003 - (int64_t)i * 7;
}

static void
test_put_get(void)
{
	int i;

	shmem_putmem(box, mine, ITEMS * sizeof(*box), next_pe);
	shmem_barrier_all();
	for (i = 0; i < ITEMS; i++)
		CHECK(box[i] == item_of(previous_pe, i));
	shmem_getmem(box, mine, ITEMS * sizeof(*box), next_pe);
	for (i = 0; i < ITEMS; i++)
		CHECK(box[i] == item_of(next_pe, i));
	shmem_barrier_all();
	for (i = 0; i < ITEMS; i++)
		shmem_putmem_nbi(box + i, mine + i, sizeof(*box), next_pe);
	shmem_barrier_all();
	for (i = 0; i < ITEMS; i++)
		CHECK(box[i] == item_of(previous_pe, i));
	for (i = 0; i < ITEMS; i++)
		shmem_getmem_nbi(box + i, mine + i, sizeof(*box), next_pe);
	shmem_quiet();
	for (i = 0; i < ITEMS; i++)
		CHECK(box[i] == item_of(next_pe, i) && shmem_int64_g(mine + i, next_pe) == box[i]);
}

static void
test_strides(void)
{
	int64_t local[ITEMS];
	int i;

	memset(box, 0, ITEMS * sizeof(*box));
	shmem_barrier_all();
	shmem_int64_iput(box + 1, mine, 3, 2, 100, next_pe);
	shmem_barrier_all();
	for (i = 0; i < 302; i++)
		CHECK(box[i] == (i % 3 == 1 && i < 300 ? item_of(previous_pe, i / 3 * 2) : 0));
	shmem_int64_iget(local + 99, mine, -1, 5, 100, next_pe);
	for (i = 0; i < 100; i++)
		CHECK(local[99 - i] == item_of(next_pe, 5 * i));
	shmem_barrier_all();
}

/* A flag goes round; whoever sees it has the data that went before it. */
static void
test_flag(int64_t *flag)
{
	int64_t round;

	for (round = 1; round <= ROUNDS; round++) {
		if (me != 0) {
			shmem_int64_wait_until(flag, SHMEM_CMP_EQ, round);
			CHECK(box[1] == round + previous_pe);
		}
		box[0] = round + me;
		shmem_putmem(box + 1, box, sizeof(*box), next_pe);
		shmem_quiet();
		shmem_int64_p(flag, round, next_pe);
		if (me == 0) {
			shmem_int64_wait_until(flag, SHMEM_CMP_GE, round);
			CHECK(box[1] == round + previous_pe);
		}
	}
	shmem_barrier_all();
}

/* All PEs, and in PAR all threads of each, count in one word of PE 0. */
static void *
atomics_body(void *words)
{
	int64_t *counter = words, *lock = counter + 1, *guarded = counter + 2;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		CHECK(shmem_int64_fadd(counter, 3, 0) % 3 == 0);
		while (shmem_int64_cswap(lock, 0, 1, 0) != 0)
			;
		shmem_int64_p(guarded, shmem_int64_g(guarded, 0) + 1, 0);
		CHECK(shmem_int64_swap(lock, 0, 0) == 1);
	}
	return NULL;
}

/* Returns how many threads took part. */
static int
atomics_run(int64_t *words)
{
#if GASNET_PAR
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, atomics_body, words) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	return THREADS;
#else
	atomics_body(words);
	return 1;
#endif
}

static void
test_atomics(int64_t *words)
{
	int64_t turns;

	memset(words, 0, 3 * sizeof(*words));
	shmem_barrier_all();
	turns = (int64_t)atomics_run(words) * count * ROUNDS;
	shmem_barrier_all();
	CHECK(shmem_int64_g(words, 0) == 3 * turns);
	CHECK(shmem_int64_g(words + 2, 0) == turns);
	shmem_barrier_all();
}

static void
test_collectives(void)
{
	int64_t pairs = (int64_t)count * (count - 1) / 2;
	int i, root;

	for (root = 0; root < count; root++) {
		memset(box, 0xff, ITEMS * sizeof(*box));
		shmem_broadcast(box, mine, ITEMS * sizeof(*box), root);
		for (i = 0; i < ITEMS; i++)
			CHECK(me == root || box[i] == item_of(root, i));
	}
	shmem_int64_sum(box, mine, ITEMS);
	for (i = 0; i < ITEMS; i++)
		CHECK(box[i] == pairs * 1000003 - (int64_t)count * i * 7);
}

/* The same order of calls gives the same places; a neighbour's memory can be looked at. */
static void
test_heap(void)
{
	int64_t *first = shmem_malloc(100), *again, *seen;

	shmem_free(first);
	again = shmem_malloc(sizeof(*again));
	CHECK(again == first && shmem_malloc((size_t)-1) == NULL && shmem_malloc(1 << 30) == NULL);
	*again = item_of(me, 1);
	shmem_barrier_all();
	seen = shmem_ptr(again, next_pe);
	CHECK(shmem_ptr(again, me) == again);
	CHECK(seen == NULL || *seen == item_of(next_pe, 1));
	shmem_barrier_all();
	shmem_free(again);
}

int
main(int argc, char **argv)
{
	int64_t *words;
	int i;

	shmem_init(&argc, &argv);
	me = shmem_my_pe();
	count = shmem_n_pes();
	next_pe = (me + 1) % count;
	previous_pe = (me + count - 1) % count;
	box = shmem_malloc(ITEMS * sizeof(*box));
	mine = shmem_malloc(ITEMS * sizeof(*mine));
	words = shmem_malloc(4 * sizeof(*words));
	CHECK(box != NULL && mine != NULL && words != NULL);
	memset(words, 0, 4 * sizeof(*words));
	for (i = 0; i < ITEMS; i++)
		mine[i] = item_of(me, i);
	shmem_barrier_all();
	test_put_get();
	test_strides();
	test_flag(words + 3);
	test_atomics(words);
	test_collectives();
	test_heap();
	if (me == 0)
		printf("done: %d\n", count);
	shmem_finalize();
	return 0;
}
