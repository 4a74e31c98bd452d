/*
 * The built-in operations on the built-in types: out[i] = left[i] op out[i].  Signed integers wrap,
 * so they are added and multiplied as unsigned ones, and short ones as unsigned int.
 */
#include "coll/coll.h"

#define COMBINE(name, type, as, result)                                                    \
	static void                                                                        \
	name(const void *left_p, void *out_p, size_t count, const void *cdata)             \
	{                                                                                  \
		const type *left = left_p;                                                 \
		type *out = out_p;                                                         \
                                                                                           \
		(void)cdata;                                                               \
		for (size_t i = 0; i < count; i++) {                                       \
			const as a = (as)left[i], b = (as)out[i];                          \
                                                                                           \
			out[i] = (type)(result);                                           \
		}                                                                          \
	}

#define ARITHMETIC(T, type, as)                                                            \
	COMBINE(add_##T, type, as, a + b)                                                  \
	COMBINE(mult_##T, type, as, a * b)                                                 \
	COMBINE(min_##T, type, type, a < b ? a : b)                                        \
	COMBINE(max_##T, type, type, a > b ? a : b)                                        \
	COMBINE(land_##T, type, type, a != 0 && b != 0)                                    \
	COMBINE(lor_##T, type, type, a != 0 || b != 0)

#define INTEGER(T, type, as)                                                               \
	ARITHMETIC(T, type, as)                                                            \
	COMBINE(and_##T, type, as, a & b)                                                  \
	COMBINE(or_##T, type, as, a | b)                                                   \
	COMBINE(xor_##T, type, as, a ^ b)

INTEGER(i32, int32_t, uint32_t)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)
INTEGER(u64, uint64_t, uint64_t)
ARITHMETIC(flt, float, float)
ARITHMETIC(dbl, double, double)
INTEGER(i8, int8_t, unsigned)
INTEGER(u8, uint8_t, unsigned)
INTEGER(i16, int16_t, unsigned)
INTEGER(u16, uint16_t, unsigned)
ARITHMETIC(ldbl, long double, long double)

/* The number of a type or of an operator is that of its bit in GEX_DT_ and PST_DT_, or in GEX_OP_
 * and PST_OP_. */
enum { TYPES = 13, OPS = 14 };

static const uint8_t type_bytes[TYPES] = {
	4, 4, 8, 8, sizeof(float), sizeof(double), 0, 0, 1, 1, 2, 2, sizeof(long double),
};

#define ALL(op)                                                                            \
	{ op##_i32, op##_u32, op##_i64, op##_u64, op##_flt, op##_dbl, NULL, NULL, op##_i8, \
	  op##_u8, op##_i16, op##_u16, op##_ldbl }
#define INTEGERS(op)                                                                       \
	{ op##_i32, op##_u32, op##_i64, op##_u64, NULL, NULL, NULL, NULL, op##_i8, op##_u8, \
	  op##_i16, op##_u16, NULL }

/* The function of an operator and a type, by their numbers. */
static const gex_Coll_ReduceFn_t combine[OPS][TYPES] = {
	[0] = INTEGERS(and), [1] = INTEGERS(or), [2] = INTEGERS(xor), [3] = ALL(add),
	[5] = ALL(mult), [6] = ALL(min), [7] = ALL(max), [12] = ALL(land), [13] = ALL(lor),
};

_Static_assert(GEX_OP_AND == 1 << 0 && GEX_OP_OR == 1 << 1 && GEX_OP_XOR == 1 << 2 &&
               GEX_OP_ADD == 1 << 3 && GEX_OP_MULT == 1 << 5 && GEX_OP_MIN == 1 << 6 &&
               GEX_OP_MAX == 1 << 7 && PST_OP_LAND == 1 << 12 && PST_OP_LOR == 1 << 13 &&
               GEX_DT_I32 == 1 << 0 && GEX_DT_DBL == 1 << 5 && PST_DT_I8 == 1 << 8 &&
               PST_DT_LDBL == 1 << 12, "the tables have the order of the bits");

/* The number of the bit, if there is one alone, and it is below `most'; else `most'. */
static unsigned
bit_number(uint32_t bits, unsigned most)
{
	return bits && !(bits & (bits - 1)) && !(bits >> most) ? (unsigned)__builtin_ctz(bits)
	                                                       : most;
}

size_t
pcoll_type_bytes(gex_DT_t dt)
{
	const unsigned type = bit_number(dt, TYPES);

	return type < TYPES ? type_bytes[type] : 0;
}

gex_Coll_ReduceFn_t
pcoll_builtin(gex_DT_t dt, gex_OP_t op)
{
	const unsigned type = bit_number(dt, TYPES), number = bit_number(op, OPS);

	return type < TYPES && number < OPS ? combine[number][type] : NULL;
}
