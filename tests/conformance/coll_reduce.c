/* gex_Coll_ReduceToOneNB and ToAllNB: every built-in type and operation against naive sums. */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

enum { OPS = 7, MOST = 70000 };

static const gex_OP_t ops[OPS] = { GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX,
	                           GEX_OP_AND, GEX_OP_OR,   GEX_OP_XOR };

/* One element of one rank.  Of floats sums and products are exact, whatever their order. */
static uint64_t
draw(gex_Rank_t rank, size_t i, gex_OP_t op, int is_float)
{
	struct pt_rng rng = pt_rng_make(rank * 1000003u + i);
	const uint64_t word = pt_rand(&rng);

	if (!is_float)
		return word;
	return op == GEX_OP_MULT ? 1 + (word % 64 == 0) : word % 4096;
}

#define INTEGER_CASES(as)                                                                  \
	case GEX_OP_AND: return (as)(a & b);                                               \
	case GEX_OP_OR: return (as)(a | b);                                                \
	case GEX_OP_XOR: return (as)(a ^ b);
#define FLOAT_CASES(as)

/* wide: a type in which nothing overflows without being defined. */
#define TYPE(name, type, wide, is_float, CASES)                                            \
	static type name##_of(uint64_t word)                                               \
	{                                                                                  \
		return (type)word;                                                         \
	}                                                                                  \
	static type name##_join(gex_OP_t op, type a, type b)                               \
	{                                                                                  \
		switch (op) {                                                              \
		case GEX_OP_ADD: return (type)((wide)a + (wide)b);                         \
		case GEX_OP_MULT: return (type)((wide)a * (wide)b);                        \
		case GEX_OP_MIN: return a < b ? a : b;                                     \
		case GEX_OP_MAX: return b < a ? a : b;                                     \
		CASES(type)                                                                \
		default: PT_FAIL("no operation 0x%x", op);                                 \
		}                                                                          \
	}                                                                                  \
	static void name##_fill(void *buf, size_t count, gex_Rank_t rank, gex_OP_t op)     \
	{                                                                                  \
		for (size_t i = 0; i < count; i++)                                         \
			((type *)buf)[i] = name##_of(draw(rank, i, op, is_float));         \
	}                                                                                  \
	static void name##_check(const void *buf, size_t count, gex_OP_t op)               \
	{                                                                                  \
		for (size_t i = 0; i < count; i += 1 + i / 64) {                           \
			type want = name##_of(draw(0, i, op, is_float));                   \
                                                                                           \
			for (gex_Rank_t rank = 1; rank < pt.size; rank++)                  \
				want = name##_join(op, want,                               \
				                   name##_of(draw(rank, i, op, is_float))); \
			if (memcmp(&((const type *)buf)[i], &want, sizeof want) != 0)      \
				PT_FAIL(#name ", op 0x%x: element %zu of %zu", op, i, count); \
		}                                                                          \
		PT_CHECK(1);                                                               \
	}

TYPE(i32, int32_t, uint32_t, 0, INTEGER_CASES)
TYPE(u32, uint32_t, uint32_t, 0, INTEGER_CASES)
TYPE(i64, int64_t, uint64_t, 0, INTEGER_CASES)
TYPE(u64, uint64_t, uint64_t, 0, INTEGER_CASES)
TYPE(flt, float, float, 1, FLOAT_CASES)
TYPE(dbl, double, double, 1, FLOAT_CASES)

static const struct type {
	gex_DT_t dt;
	size_t bytes;
	unsigned ops;
	void (*fill)(void *buf, size_t count, gex_Rank_t rank, gex_OP_t op);
	void (*check)(const void *buf, size_t count, gex_OP_t op);
} types[] = {
	{ GEX_DT_I32, 4, OPS, i32_fill, i32_check }, { GEX_DT_U32, 4, OPS, u32_fill, u32_check },
	{ GEX_DT_I64, 8, OPS, i64_fill, i64_check }, { GEX_DT_U64, 8, OPS, u64_fill, u64_check },
	{ GEX_DT_FLT, 4, 4, flt_fill, flt_check },   { GEX_DT_DBL, 8, 4, dbl_fill, dbl_check },
};

static PT_OWN uint64_t from[MOST], to[MOST], kept[MOST];

/* root: GEX_RANK_INVALID for all. */
static void
one(const struct type *type, gex_OP_t op, gex_Rank_t root, size_t count, int in_place)
{
	void *const dst = in_place ? from : to;
	const int to_all = root == GEX_RANK_INVALID, gets = to_all || pt.rank == root;
	gex_Event_t event;

	type->fill(from, count, pt.rank, op);
	type->fill(kept, count, pt.rank, op);
	if (!in_place)
		pt_fill(to, (count + 1) * type->bytes, 5);
	event = to_all ? gex_Coll_ReduceToAllNB(pt.tm, dst, from, type->dt, type->bytes, count, op,
	                                        NULL, NULL, 0)
	               : gex_Coll_ReduceToOneNB(pt.tm, root, gets ? dst : NULL, from, type->dt,
	                                        type->bytes, count, op, NULL, NULL, 0);
	gex_Event_Wait(event);
	if (gets)
		type->check(dst, count, op);
	if (!gets || !in_place)
		PT_EQ(memcmp(from, kept, count * type->bytes), 0);
	for (size_t i = count * type->bytes; !in_place && i < (count + 1) * type->bytes; i++)
		PT_EQ(((unsigned char *)to)[i], pt_byte(5, i));
}

static void
all_types(void)
{
	static const size_t counts[] = { 1, 2, 3, 17, 260 };
	unsigned turn = 0;

	for (size_t t = 0; t < PT_COUNT(types); t++) {
		for (unsigned o = 0; o < types[t].ops; o++, turn++) {
			const size_t count = counts[turn % PT_COUNT(counts)];

			one(&types[t], ops[o], (gex_Rank_t)(turn % pt.size), count, turn % 2);
			one(&types[t], ops[o], GEX_RANK_INVALID, count, turn % 2);
		}
	}
}

/* More than one piece, and sizes around that. */
static void
long_vectors(void)
{
	static const size_t counts[] = { 8191, 8192, 8193, 20000, MOST - 1 };

	for (size_t i = 0; i < PT_COUNT(counts); i++) {
		one(&types[3 + i % 3], GEX_OP_ADD, (gex_Rank_t)((i + 1) % pt.size), counts[i], 0);
		one(&types[3 + i % 3], GEX_OP_ADD, GEX_RANK_INVALID, counts[i], (int)(i % 2));
	}
	for (gex_Rank_t root = 0; root < pt.size; root++)
		one(&types[5], GEX_OP_MAX, root, 10, 1);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 4096);
	for (unsigned round = 0; round < pt_scale(1, 3); round++)
		all_types();
	long_vectors();
	pt_finish();
}
