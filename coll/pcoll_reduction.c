/* Types and operators of reductions. */
#include "coll/coll.h"

/* The bytes of an element of each type. */
static const uint8_t type_bytes[PCOLL_TYPES] = {
	4, 4, 8, 8, sizeof(float), sizeof(double), 0, 0, 1, 1, 2, 2, sizeof(long double),
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
	const unsigned type = bit_number(dt, PCOLL_TYPES);

	return type < PCOLL_TYPES ? type_bytes[type] : 0;
}

pcoll_kernel_fn
pcoll_builtin(gex_DT_t dt, gex_OP_t op)
{
	const unsigned type = bit_number(dt, PCOLL_TYPES), number = bit_number(op, PCOLL_OPS);

	return type < PCOLL_TYPES && number < PCOLL_OPS ? pcoll_kernel(number, type) : NULL;
}
