/*
 * The functions of kernels.c for one instruction set, without a guard: KERNEL_TARGET is the
 * attribute that chooses it, KERNEL(name) the function's name, KERNELS that of the table.
 */
#define COMBINE(name, type, as, result)                                                    \
	static KERNEL_TARGET void                                                          \
	KERNEL(name)(const void *left_p, const void *right_p, void *out_p, size_t count)   \
	{                                                                                  \
		const type *left = left_p, *right = right_p;                               \
		type *out = out_p;                                                         \
                                                                                           \
		ITERATIONS_APART                                                           \
		for (size_t i = 0; i < count; i++) {                                       \
			const as a = (as)left[i], b = (as)right[i];                        \
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

#define ALL(op)                                                                            \
	{ KERNEL(op##_i32), KERNEL(op##_u32), KERNEL(op##_i64), KERNEL(op##_u64),          \
	  KERNEL(op##_flt), KERNEL(op##_dbl), NULL, NULL, KERNEL(op##_i8), KERNEL(op##_u8), \
	  KERNEL(op##_i16), KERNEL(op##_u16), KERNEL(op##_ldbl) }
#define INTEGERS(op)                                                                       \
	{ KERNEL(op##_i32), KERNEL(op##_u32), KERNEL(op##_i64), KERNEL(op##_u64), NULL,    \
	  NULL, NULL, NULL, KERNEL(op##_i8), KERNEL(op##_u8), KERNEL(op##_i16),            \
	  KERNEL(op##_u16), NULL }

/* The function of an operator and a type, by their numbers. */
static const pcoll_kernel_fn KERNELS[PCOLL_OPS][PCOLL_TYPES] = {
	[0] = INTEGERS(and), [1] = INTEGERS(or), [2] = INTEGERS(xor), [3] = ALL(add),
	[5] = ALL(mult), [6] = ALL(min), [7] = ALL(max), [12] = ALL(land), [13] = ALL(lor),
};

#undef COMBINE
#undef ARITHMETIC
#undef INTEGER
#undef ALL
#undef INTEGERS
