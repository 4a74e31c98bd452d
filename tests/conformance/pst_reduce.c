/* The reductions of penstock.h: over all types and operators, by functions of the client that keep
 * the order and such that do not, in place and apart, over the job and over a team. */
#include <penstock.h>

#include "tests/lib/pt.h"
#include "tests/lib/pt_step.h"

enum { MOST = 700 };            /* elements of a vector; of 16 bytes each, two cells' worth */

/* -- elements ---------------------------------------------------------------------------------- */

static void
steps_combine(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	PT_EQ(*(const int *)cdata, 17);
	pt_steps_combine(left_p, out_p, count, NULL);
}

static struct pt_step
step_of(gex_Rank_t rank, size_t i)
{
	const struct pt_step step = { 2 * (rank * 1000 + i) + 3, rank * 77 + i * 5 + 1 };

	return step;
}

/* Of ranks first to last. */
static struct pt_step
step_expected(gex_Rank_t first, gex_Rank_t last, size_t i)
{
	struct pt_step sum = step_of(first, i);

	for (gex_Rank_t rank = first + 1; rank <= last; rank++)
		sum = pt_step_join(sum, step_of(rank, i));
	return sum;
}

/* -- in the order of ranks --------------------------------------------------------------------- */

struct trial {
	gex_TM_t tm;
	gex_Rank_t rank, size, root;
	size_t cnt;                     /* elements of a vector, or of a block */
	gex_Flags_t flags;
	int nb, in_place;
};

static PT_OWN struct pt_step *src, *dst;
static PT_OWN size_t *cnts;
static const int seventeen = 17;

#define STEPS(cnt) GEX_DT_USER, sizeof(struct pt_step), cnt, GEX_OP_USER_NC, steps_combine, \
	           (void *)(uintptr_t)&seventeen

#define CALL(trial, name, ...)                                                             \
	do {                                                                               \
		if ((trial)->nb)                                                           \
			gex_Event_Wait(                                                    \
				pst_##name##_nb((trial)->tm, __VA_ARGS__, (trial)->flags)); \
		else                                                                       \
			pst_##name((trial)->tm, __VA_ARGS__, (trial)->flags);              \
	} while (0)

static void
steps_fill(struct pt_step *at, gex_Rank_t rank, size_t count)
{
	for (size_t i = 0; i < count; i++)
		at[i] = step_of(rank, i);
}

static void
steps_check(const struct pt_step *at, gex_Rank_t first, gex_Rank_t last, size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pt_step expected = step_expected(first, last, from + i);

		PT_EQ(at[i].a, expected.a);
		PT_EQ(at[i].b, expected.b);
	}
}

static void
try_reduce(const struct trial *trial)
{
	const int is_root = trial->rank == trial->root;
	struct pt_step *from = is_root && trial->in_place ? dst : src;

	steps_fill(from, trial->rank, trial->cnt);
	CALL(trial, reduce, trial->root, is_root ? dst : NULL, from, STEPS(trial->cnt));
	if (is_root)
		steps_check(dst, 0, trial->size - 1, 0, trial->cnt);
	else
		steps_check(src, trial->rank, trial->rank, 0, trial->cnt);
}

static void
try_allreduce(const struct trial *trial)
{
	struct pt_step *from = trial->in_place ? dst : src;

	steps_fill(from, trial->rank, trial->cnt);
	CALL(trial, allreduce, dst, from, STEPS(trial->cnt));
	steps_check(dst, 0, trial->size - 1, 0, trial->cnt);
}

static void
try_scan(const struct trial *trial)
{
	struct pt_step *from = trial->in_place ? dst : src;

	steps_fill(from, trial->rank, trial->cnt);
	CALL(trial, scan, dst, from, STEPS(trial->cnt));
	steps_check(dst, 0, trial->rank, 0, trial->cnt);
}

static void
try_exscan(const struct trial *trial)
{
	struct pt_step *from = trial->in_place ? dst : src;

	memset(dst, 0x5a, trial->cnt * sizeof *dst);
	steps_fill(from, trial->rank, trial->cnt);
	CALL(trial, exscan, dst, from, STEPS(trial->cnt));
	if (trial->rank)
		steps_check(dst, 0, trial->rank - 1, 0, trial->cnt);
	else if (trial->in_place)
		steps_check(dst, 0, 0, 0, trial->cnt);
	else
		for (size_t i = 0; i < trial->cnt * sizeof *dst; i++)
			PT_EQ(((unsigned char *)dst)[i], 0x5a);
}

static void
try_reduce_scatter(const struct trial *trial)
{
	const size_t own = trial->rank * trial->cnt;
	struct pt_step *to = trial->in_place ? src + own : dst;

	steps_fill(src, trial->rank, trial->size * trial->cnt);
	CALL(trial, reduce_scatter, to, src, STEPS(trial->cnt));
	steps_check(to, 0, trial->size - 1, own, trial->cnt);
}

static void
try_reduce_scatterv(const struct trial *trial)
{
	size_t sum = 0, own = 0;
	struct pt_step *to;

	for (gex_Rank_t rank = 0; rank < trial->size; rank++) {
		cnts[rank] = rank % 3 == 1 ? 0 : trial->cnt / (1 + rank % 2);
		own = rank == trial->rank ? sum : own;
		sum += cnts[rank];
	}
	to = trial->in_place ? src + own : dst;
	steps_fill(src, trial->rank, sum);
	CALL(trial, reduce_scatterv, to, src, cnts, STEPS(sum));
	steps_check(to, 0, trial->size - 1, own, cnts[trial->rank]);
}

/* -- in place, by a built-in operator ---------------------------------------------------------- */

#define NUMBERS(cnt) GEX_DT_U64, 8, cnt, GEX_OP_ADD, NULL, NULL

static uint64_t
number_of(gex_Rank_t rank, size_t i)
{
	return (rank + 1) * (uint64_t)0x100000001 + i * i;
}

/* Nobody reads or writes them before all are there: calls may synchronise as little as can be. */
static void
numbers_begin(const struct trial *trial, uint64_t *at, size_t count)
{
	pst_barrier(trial->tm, 0);
	for (size_t i = 0; i < count; i++)
		at[i] = number_of(trial->rank, i);
	pst_barrier(trial->tm, 0);
}

/* The sums of ranks first to last. */
static void
numbers_check(const uint64_t *at, gex_Rank_t first, gex_Rank_t last, size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t sum = 0;

		for (gex_Rank_t rank = first; rank <= last; rank++)
			sum += number_of(rank, from + i);
		PT_EQ(at[i], sum);
	}
}

/* Vectors of all that src has room for, so of several pieces. */
static void
try_numbers(const struct trial *trial)
{
	const gex_Rank_t rank = trial->rank, last = trial->size - 1;
	const int is_root = rank == trial->root;
	const size_t block = 2 * trial->cnt, cnt = trial->size * block, own = rank * block;
	uint64_t *at = (uint64_t *)src;

	numbers_begin(trial, at, cnt);
	CALL(trial, reduce, trial->root, is_root ? at : NULL, at, NUMBERS(cnt));
	numbers_check(at, is_root ? 0 : rank, is_root ? last : rank, 0, cnt);
	numbers_begin(trial, at, cnt);
	CALL(trial, allreduce, at, at, NUMBERS(cnt));
	numbers_check(at, 0, last, 0, cnt);
	numbers_begin(trial, at, cnt);
	CALL(trial, scan, at, at, NUMBERS(cnt));
	numbers_check(at, 0, rank, 0, cnt);
	numbers_begin(trial, at, cnt);
	CALL(trial, exscan, at, at, NUMBERS(cnt));
	numbers_check(at, 0, rank ? rank - 1 : 0, 0, cnt);
	numbers_begin(trial, at, cnt);
	CALL(trial, reduce_scatter, at + own, at, NUMBERS(block));
	numbers_check(at + own, 0, last, own, block);
}

static void (*const tries[])(const struct trial *trial) = {
	try_reduce, try_allreduce, try_scan, try_exscan, try_reduce_scatter, try_reduce_scatterv,
	try_numbers,
};

static void
all_in_order(gex_TM_t tm)
{
	static const size_t lengths[] = { 0, 1, 3, 250, MOST };
	static const gex_Flags_t modes[] = { 0, PST_IN_ALLSYNC | PST_OUT_ALLSYNC,
		                             PST_IN_NOSYNC | PST_OUT_NOSYNC,
		                             PST_OUT_MYSYNC | PST_REPRODUCIBLE };
	struct trial trial = { .tm = tm, .rank = gex_TM_QueryRank(tm),
		               .size = gex_TM_QuerySize(tm) };
	unsigned turn = 0;

	for (size_t i = 0; i < PT_COUNT(tries); i++)
		for (size_t l = 0; l < PT_COUNT(lengths); l++)
			for (size_t m = 0; m < PT_COUNT(modes); m++, turn++) {
				trial.cnt = lengths[l];
				trial.flags = modes[m];
				trial.root = turn % trial.size;
				trial.nb = (int)(turn % 2);
				trial.in_place = (int)(turn / 2 % 2);
				tries[i](&trial);
				if (trial.flags & PST_OUT_NOSYNC)
					pst_barrier(tm, 0);
			}
}

/* -- types and operators ----------------------------------------------------------------------- */

/* A rank's element is small, and 0 now and then: no sum or product is rounded. */
static int
small_of(gex_Rank_t rank, size_t i)
{
	return (int)((rank + 2 * i) % 4);
}

#define REDUCE_TYPE(DT, type, op, expression)                                              \
	do {                                                                               \
		type own[5], all[5];                                                       \
                                                                                           \
		for (size_t i = 0; i < 5; i++)                                             \
			own[i] = (type)small_of(pt.rank, i);                               \
		pst_allreduce(pt.tm, all, own, DT, sizeof(type), 5, op, NULL, NULL, 0);    \
		for (size_t i = 0; i < 5; i++) {                                           \
			type a = (type)small_of(0, i);                                     \
                                                                                           \
			for (gex_Rank_t rank = 1; rank < pt.size; rank++) {                \
				const type b = (type)small_of(rank, i);                    \
                                                                                           \
				a = (type)(expression);                                    \
			}                                                                  \
			if (pt.size == 1 && (op) > GEX_OP_CAS)                             \
				a = own[i];     /* of one operand nothing is combined */   \
			PT_EQ(all[i] == a, 1);                                             \
		}                                                                          \
	} while (0)

#define ARITHMETIC(DT, type)                                                               \
	do {                                                                               \
		REDUCE_TYPE(DT, type, GEX_OP_ADD, a + b);                                  \
		REDUCE_TYPE(DT, type, GEX_OP_MULT, a * b);                                 \
		REDUCE_TYPE(DT, type, GEX_OP_MIN, a < b ? a : b);                          \
		REDUCE_TYPE(DT, type, GEX_OP_MAX, a > b ? a : b);                          \
		REDUCE_TYPE(DT, type, PST_OP_LAND, a != 0 && b != 0);                      \
		REDUCE_TYPE(DT, type, PST_OP_LOR, a != 0 || b != 0);                       \
	} while (0)

#define INTEGERS(DT, type)                                                                 \
	do {                                                                               \
		ARITHMETIC(DT, type);                                                      \
		REDUCE_TYPE(DT, type, GEX_OP_AND, a & b);                                  \
		REDUCE_TYPE(DT, type, GEX_OP_OR, a | b);                                   \
		REDUCE_TYPE(DT, type, GEX_OP_XOR, a ^ b);                                  \
	} while (0)

static void
all_types(void)
{
	INTEGERS(PST_DT_I8, int8_t);
	INTEGERS(PST_DT_U8, uint8_t);
	INTEGERS(PST_DT_I16, int16_t);
	INTEGERS(PST_DT_U16, uint16_t);
	INTEGERS(GEX_DT_I32, int32_t);
	INTEGERS(GEX_DT_U32, uint32_t);
	INTEGERS(GEX_DT_I64, int64_t);
	INTEGERS(GEX_DT_U64, uint64_t);
	ARITHMETIC(GEX_DT_FLT, float);
	ARITHMETIC(GEX_DT_DBL, double);
	ARITHMETIC(PST_DT_LDBL, long double);
}

/* Rounded sums of doubles have the same bits on all ranks, and when they are made again. */
static void
same_bits(void)
{
	double own[64], all[64], again[64], roots[64];

	for (size_t i = 0; i < 64; i++)
		own[i] = 1.0 / (double)(1 + pt.rank * 64 + i);
	pst_allreduce(pt.tm, all, own, GEX_DT_DBL, sizeof *own, 64, GEX_OP_ADD, NULL, NULL,
	              PST_REPRODUCIBLE);
	pst_allreduce(pt.tm, again, own, GEX_DT_DBL, sizeof *own, 64, GEX_OP_ADD, NULL, NULL,
	              PST_REPRODUCIBLE);
	PT_EQ(memcmp(all, again, sizeof all), 0);
	memcpy(roots, all, sizeof all);
	pst_bcast(pt.tm, pt.size - 1, roots, roots, sizeof roots, 0);
	PT_EQ(memcmp(all, roots, sizeof all), 0);
}

/* The larger of a number and NaN, or of two zeros, depends on which comes first; but all ranks get
 * the same, in place and apart. */
static void
same_choice(void)
{
	static const gex_OP_t ops[] = { GEX_OP_MAX, GEX_OP_MIN };

	for (unsigned turn = 0; turn < 8; turn++) {
		const double zero = pt.rank % 2 ? 0.0 : -0.0;
		double own = turn % 2 ? zero : pt.rank % 2 ? 1.0 : __builtin_nan("");
		double all = own, roots;

		pst_allreduce(pt.tm, &all, turn / 4 ? &all : &own, GEX_DT_DBL, sizeof own, 1,
		              ops[turn / 2 % 2], NULL, NULL, turn % 3 ? 0 : PST_REPRODUCIBLE);
		roots = all;
		pst_bcast(pt.tm, 0, &roots, &roots, sizeof roots, 0);
		PT_EQ(memcmp(&all, &roots, sizeof all), 0);
	}
}

int
main(int argc, char **argv)
{
	gex_TM_t part;

	pt_start(&argc, &argv, NULL, 0, 4096);
	src = malloc(pt.size * MOST * sizeof *src);
	dst = malloc(pt.size * MOST * sizeof *dst);
	cnts = calloc(pt.size, sizeof *cnts);
	PT_EQ(src && dst && cnts, 1);

	pt_phase("the job");
	all_in_order(pt.tm);
	pt_phase("teams, ranks turned around");
	gex_TM_Split(&part, pt.tm, (int)(pt.rank % 2), (int)(pt.size - pt.rank), NULL, 0,
	             GEX_FLAG_TM_NO_SCRATCH);
	all_in_order(part);
	gex_TM_Destroy(part, NULL, 0);
	pt_phase("types and operators");
	all_types();
	same_bits();
	same_choice();
	free(src);
	free(dst);
	free(cnts);
	pt_finish();
}
