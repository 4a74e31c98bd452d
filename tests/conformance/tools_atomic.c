/*
 * Atomics of gasnet_tools.h: each operation of each type against plain
 * arithmetic, values that wrap, all flags, objects of other types, and threads.
 */
#include "tests/lib/pt_either.h"

#include <pthread.h>

enum { THREADS = 4, FLAGS = 0x40 };

/*
 * One type: T of gasnett_T, its values, and their widest signed form. Random
 * operations on it and on a plain variable; each flag, constant or computed.
 */
#define FAMILY(T, V)                                                                          \
	static T##_t static_##T = T##_init(41);                                               \
                                                                                              \
	static void check_##T(void)                                                           \
	{                                                                                     \
		T##_t word = T##_init(7);                                                     \
		V plain = 7, v = 3;                                                           \
		unsigned long i, rounds = pt_scale(2000, 100000);                             \
                                                                                              \
		PT_EQ(T##_read(&static_##T, 0), 41);                                          \
		for (i = 0; i < rounds; i++) {                                                \
			int flags = (int)(i % (FLAGS / 4));                                   \
                                                                                              \
			v = (V)(v * 6364136223846793005u + 1442695040888963407u);             \
			PT_CHECK(T##_read(&word, flags) == plain);                            \
			switch ((v >> 7) % 8) {                                               \
			case 0:                                                               \
				T##_set(&word, v, flags);                                     \
				plain = v;                                                    \
				break;                                                        \
			case 1:                                                               \
				T##_increment(&word, flags);                                  \
				plain++;                                                      \
				break;                                                        \
			case 2:                                                               \
				T##_decrement(&word, flags);                                  \
				plain--;                                                      \
				break;                                                        \
			case 3:                                                               \
				plain += v;                                                   \
				PT_CHECK(T##_add(&word, v, flags) == plain);                  \
				break;                                                        \
			case 4:                                                               \
				plain -= v;                                                   \
				PT_CHECK(T##_subtract(&word, v, flags) == plain);             \
				break;                                                        \
			case 5:                                                               \
				PT_CHECK(T##_swap(&word, v, flags) == plain);                 \
				plain = v;                                                    \
				break;                                                        \
			case 6:                                                               \
				flags = (int)(i % FLAGS);                                     \
				PT_CHECK(T##_compare_and_swap(&word, plain, v, flags));       \
				plain = v;                                                    \
				PT_CHECK(!T##_compare_and_swap(&word, plain + 1, 0, flags));  \
				break;                                                        \
			default:                                                              \
				flags = (int)(i % FLAGS);                                     \
				T##_set(&word, 2, GASNETT_ATOMIC_MB_PRE);                     \
				PT_CHECK(!T##_decrement_and_test(&word, flags));              \
				PT_CHECK(T##_decrement_and_test(&word, flags));               \
				PT_CHECK(!T##_decrement_and_test(&word, flags));              \
				plain = (V)-1;                                                \
			}                                                                     \
		}                                                                             \
		T##_set(&word, 0, GASNETT_ATOMIC_REL);                                        \
		T##_decrement(&word, GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST);         \
		PT_CHECK(T##_read(&word, GASNETT_ATOMIC_ACQ) == (V)-1);                       \
		T##_increment(&word, GASNETT_ATOMIC_RMB_PRE | GASNETT_ATOMIC_WMB_POST);       \
		PT_CHECK(T##_read(&word, GASNETT_ATOMIC_MB_POST) == 0);                       \
	}

FAMILY(gasnett_atomic, gasnett_atomic_val_t)
FAMILY(gasnett_atomic32, uint32_t)
FAMILY(gasnett_atomic64, uint64_t)
FAMILY(gasnett_strongatomic, gasnett_atomic_val_t)
FAMILY(gasnett_strongatomic32, uint32_t)
FAMILY(gasnett_strongatomic64, uint64_t)

/* Objects of other types, next to others at every place that their own alignment allows. */
static void
check_other_objects(void)
{
	struct {
		char before;
		double d[3];
		float f[3];
		int i[3];
		char after;
	} o = { 'b', { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, 'a' };
	double d = -0.5;
	float f = 0.25f;
	uint64_t d_bits;
	uint32_t f_bits;

	memcpy(&d_bits, &d, sizeof(d));
	memcpy(&f_bits, &f, sizeof(f));
	gasnett_atomic64_set((gasnett_atomic64_t *)&o.d[1], d_bits, 0);
	gasnett_strongatomic32_swap((gasnett_strongatomic32_t *)&o.f[1], f_bits, 0);
	gasnett_atomic32_add((gasnett_atomic32_t *)&o.i[1], (uint32_t)-18, 0);
	PT_CHECK(o.before == 'b' && o.after == 'a');
	PT_CHECK(o.d[0] == 1 && o.d[1] == -0.5 && o.d[2] == 3);
	PT_CHECK(o.f[0] == 4 && o.f[1] == 0.25f && o.f[2] == 6);
	PT_CHECK(o.i[0] == 7 && o.i[1] == -10 && o.i[2] == 9);
	PT_CHECK(gasnett_atomic64_read((gasnett_atomic64_t *)&o.d[1], 0) == d_bits);
	PT_EQ(sizeof(gasnett_atomic32_t), 4);
	PT_EQ(sizeof(gasnett_atomic64_t), 8);
}

static void
check_range(void)
{
	gasnett_atomic_t word = gasnett_atomic_init(0);

	gasnett_atomic_set(&word, GASNETT_ATOMIC_MAX, 0);
	PT_EQ(gasnett_atomic_signed(gasnett_atomic_read(&word, 0)), -1);
	PT_EQ(gasnett_atomic_add(&word, 1, 0), 0);
	gasnett_atomic_set(&word, (gasnett_atomic_val_t)GASNETT_ATOMIC_SIGNED_MIN, 0);
	PT_EQ(gasnett_atomic_signed(gasnett_atomic_read(&word, 0)), GASNETT_ATOMIC_SIGNED_MIN);
	PT_EQ(gasnett_atomic_signed(gasnett_atomic_subtract(&word, 1, 0)),
	      GASNETT_ATOMIC_SIGNED_MAX);
	PT_LE((1u << 24) - 1, GASNETT_ATOMIC_MAX);
	PT_CHECK(GASNETT_HAVE_ATOMIC_CAS && GASNETT_HAVE_ATOMIC_ADD_SUB &&
	         GASNETT_HAVE_STRONGATOMIC_CAS && GASNETT_HAVE_STRONGATOMIC_ADD_SUB);
}

#if PT_THREADED
/* What threads do at the same time to words of every type, and a lock made of one. */
static struct {
	gasnett_atomic_t sum;
	gasnett_atomic32_t sum32, lock;
	gasnett_atomic64_t sum64, cas64;
	gasnett_strongatomic64_t strong;
	uint64_t guarded;
} all;

static unsigned long rounds;

static void *
hammer(void *arg)
{
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		uint64_t seen;

		gasnett_atomic_increment(&all.sum, 0);
		gasnett_atomic32_subtract(&all.sum32, 3, 0);
		gasnett_atomic64_add(&all.sum64, UINT64_C(1) << 33, 0);
		gasnett_strongatomic64_decrement(&all.strong, 0);
		do
			seen = gasnett_atomic64_read(&all.cas64, 0);
		while (!gasnett_atomic64_compare_and_swap(&all.cas64, seen, seen + 5, 0));
		while (!gasnett_atomic32_compare_and_swap(&all.lock, 0, 1,
		                                          GASNETT_ATOMIC_ACQ_IF_TRUE))
			gasnett_spinloop_hint();
		all.guarded++;
		gasnett_atomic32_set(&all.lock, 0, GASNETT_ATOMIC_REL);
	}
	return arg;
}

static void
check_threads(void)
{
	pthread_t threads[THREADS];
	unsigned long total;
	int i;

	rounds = pt_scale(2000, 20000);
	total = rounds * THREADS;
	for (i = 0; i < THREADS; i++)
		PT_EQ(pthread_create(&threads[i], NULL, hammer, NULL), 0);
	for (i = 0; i < THREADS; i++)
		PT_EQ(pthread_join(threads[i], NULL), 0);
	PT_EQ(gasnett_atomic_read(&all.sum, 0), total);
	PT_EQ(gasnett_atomic32_read(&all.sum32, 0), (uint32_t)-(int64_t)(3 * total));
	PT_CHECK(gasnett_atomic64_read(&all.sum64, 0) == (uint64_t)total << 33);
	PT_CHECK(gasnett_strongatomic64_read(&all.strong, 0) == (uint64_t)0 - total);
	PT_EQ(gasnett_atomic64_read(&all.cas64, 0), 5 * total);
	PT_EQ(all.guarded, total);
}
#endif

int
main(int argc, char **argv)
{
	PT_BEGIN(argc, argv);
	check_gasnett_atomic();
	check_gasnett_atomic32();
	check_gasnett_atomic64();
	check_gasnett_strongatomic();
	check_gasnett_strongatomic32();
	check_gasnett_strongatomic64();
	check_other_objects();
	check_range();
#if PT_THREADED
	check_threads();
#endif
	PT_END();
}
