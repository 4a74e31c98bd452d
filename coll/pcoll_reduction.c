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

static const struct {
	gex_DT_t dt;
	size_t bytes;
} types[] = {
	{ GEX_DT_I32, 4 }, { GEX_DT_U32, 4 }, { GEX_DT_I64, 8 }, { GEX_DT_U64, 8 },
	{ GEX_DT_FLT, sizeof(float) }, { GEX_DT_DBL, sizeof(double) },
	{ PST_DT_I8, 1 }, { PST_DT_U8, 1 }, { PST_DT_I16, 2 }, { PST_DT_U16, 2 },
	{ PST_DT_LDBL, sizeof(long double) },
};

enum { TYPES = sizeof types / sizeof types[0] };

/* In the order of the types. */
#define ALL(op)                                                                            \
	{ op##_i32, op##_u32, op##_i64, op##_u64, op##_flt, op##_dbl, op##_i8, op##_u8,    \
	  op##_i16, op##_u16, op##_ldbl }
#define INTEGERS(op)                                                                       \
	{ op##_i32, op##_u32, op##_i64, op##_u64, NULL, NULL, op##_i8, op##_u8, op##_i16,  \
	  op##_u16, NULL }

static const struct {
	gex_OP_t op;
	gex_Coll_ReduceFn_t combine[TYPES];
} rows[] = {
	{ GEX_OP_ADD, ALL(add) },
	{ GEX_OP_MULT, ALL(mult) },
	{ GEX_OP_MIN, ALL(min) },
	{ GEX_OP_MAX, ALL(max) },
	{ GEX_OP_AND, INTEGERS(and) },
	{ GEX_OP_OR, INTEGERS(or) },
	{ GEX_OP_XOR, INTEGERS(xor) },
	{ PST_OP_LAND, ALL(land) },
	{ PST_OP_LOR, ALL(lor) },
};

/* TYPES if it is none of them. */
static unsigned
type_index(gex_DT_t dt)
{
	unsigned type = 0;

	while (type < TYPES && dt != types[type].dt)
		type++;
	return type;
}

size_t
pcoll_type_bytes(gex_DT_t dt)
{
	const unsigned type = type_index(dt);

	return type < TYPES ? types[type].bytes : 0;
}

gex_Coll_ReduceFn_t
pcoll_builtin(gex_DT_t dt, gex_OP_t op)
{
	const unsigned type = type_index(dt);

	for (size_t i = 0; type < TYPES && i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].op == op)
			return rows[i].combine[type];
	return NULL;
}
