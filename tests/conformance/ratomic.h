/*
 * What the programs about atomics share: types and codes as lists, and the ways in which the ranks'
 * memory is reached.
 */
#ifndef RATOMIC_H
#define RATOMIC_H

#include <gasnet_ratomic.h>

#include "tests/lib/pt.h"

#include <unistd.h>

/* Lists hand on what they are given: X(code, T, type). */
#define FLOAT_CODES(X, T, type) \
	X(ADD, T, type) X(FADD, T, type) X(SUB, T, type) X(FSUB, T, type) X(MULT, T, type) \
	X(FMULT, T, type) X(INC, T, type) X(FINC, T, type) X(DEC, T, type) X(FDEC, T, type) \
	X(MIN, T, type) X(FMIN, T, type) X(MAX, T, type) X(FMAX, T, type) X(SET, T, type) \
	X(SWAP, T, type) X(CAS, T, type) X(FCAS, T, type) X(GET, T, type)
#define INTEGER_CODES(X, T, type) \
	FLOAT_CODES(X, T, type) X(AND, T, type) X(FAND, T, type) X(OR, T, type) X(FOR, T, type) \
	X(XOR, T, type) X(FXOR, T, type)

/* X(T, type, unsigned type of the same width or the type itself, list of codes) */
#define INTEGER_TYPES(X) \
	X(I32, int32_t, uint32_t, INTEGER_CODES) X(U32, uint32_t, uint32_t, INTEGER_CODES) \
	X(I64, int64_t, uint64_t, INTEGER_CODES) X(U64, uint64_t, uint64_t, INTEGER_CODES)
#define FLOAT_TYPES(X) X(FLT, float, float, FLOAT_CODES) X(DBL, double, double, FLOAT_CODES)
#define TYPES(X) INTEGER_TYPES(X) FLOAT_TYPES(X)

#define BIT_OF_CODE(code, T, type) | GEX_OP_##code
#define ALL_FLOAT_OPS   (0 FLOAT_CODES(BIT_OF_CODE, , ))
#define ALL_INTEGER_OPS (0 INTEGER_CODES(BIT_OF_CODE, , ))

static inline gex_OP_t
ratomic_all_ops(gex_DT_t dt)
{
	return dt & (GEX_DT_FLT | GEX_DT_DBL) ? ALL_FLOAT_OPS : ALL_INTEGER_OPS;
}

/* Does the operation have a result? */
static inline int
ratomic_fetches(gex_OP_t op)
{
	return op == GEX_OP_TO_FETCHING(op);
}

/* The category of an implicit operation. */
static inline gex_EC_t
ratomic_category(gex_OP_t op)
{
	return op == GEX_OP_SET ? GEX_EC_PUT : op == GEX_OP_GET ? GEX_EC_GET : GEX_EC_RMW;
}

/* Are ranks processes, and the team the job's? */
static inline int
ratomic_of_job(void)
{
	return pt.size == gex_System_QueryJobSize();
}

/*
 * Start with a segment.  The first argument names a way: `client', segments are memory of the
 * ranks, which peers do not map; `mixed', by chance some of the ranks have their own operations
 * masked.
 */
static inline void
ratomic_start(int argc, char **argv, size_t segment_bytes)
{
	static char memory[1 << 20] __attribute__((aligned(64)));
	gex_Segment_t segment;

	if (argc > 1 && !strcmp(argv[1], "mixed") && getpid() & 1)
		setenv("PST_TEST_CONDUIT_MASK", "atomic", 1);
	else if (argc > 1)
		unsetenv("PST_TEST_CONDUIT_MASK");
	if (argc < 2 || strcmp(argv[1], "client")) {
		pt_start(&argc, &argv, NULL, 0, segment_bytes);
		return;
	}
	pt_init(&argc, &argv, 0);
	PT_LE(segment_bytes, sizeof(memory));
	PT_OK(gex_Segment_Create(&segment, pt.client, memory, sizeof(memory), GEX_MK_HOST, 0));
	PT_OK(gex_EP_BindSegment(pt.ep, segment, 0));
	PT_OK(gex_EP_PublishBoundSegment(pt.tm, &pt.ep, 1, 0));
	pt_find_peers();
	pt_barrier();
}

#endif
