/*
 * gasnet_ex_atomic.h: one operation of an atomic domain, made by the processor
 * on a word that is mapped here. The inlines of gasnet_ratomic.h use it, and so
 * does the library, for its own calls and at the owner of a word that others do
 * not have mapped: all that touch a word use the same instructions.
 *
 * Integers are added to, and have their bits set, by one instruction. What has
 * none, products, extremes and all arithmetic of floats, is computed and then
 * put in place by compare and swap, again and again until nobody came between.
 *
 * Order: a read-modify-write is release and acquire whatever its flags, which
 * costs nothing on x86. A SET alone is a store, which releases, and becomes an
 * exchange to acquire; a GET is a load, which acquires, and becomes an addition
 * of 0 to release.
 */
#ifndef GASNET_EX_ATOMIC_H
#define GASNET_EX_ATOMIC_H

#include "gasnet_ex_port.h"
#include "gasnet_fwd.h"

#include <string.h>

/* Suffix, with a name that no program may give to a macro; C type, width in bits. */
#define PSI_ATOMIC_INTEGERS(X) \
	X(_I32, int32_t, 32) X(_U32, uint32_t, 32) X(_I64, int64_t, 64) X(_U64, uint64_t, 64)
#define PSI_ATOMIC_FLOATS(X) X(_FLT, float, 32) X(_DBL, double, 64)
#define PSI_ATOMIC_TYPES(X)  PSI_ATOMIC_INTEGERS(X) PSI_ATOMIC_FLOATS(X)

/* Place of a type among the types, which is that of its bit. */
#define PSI_ATOMIC_INDEX(DT) __builtin_ctz(GEX_DT##DT)

/* Sets of codes: both forms of some; no arithmetic; with a result; all of a type. */
#define PSI_ATOMIC_OPS_BOTH(ops) ((ops) | GEX_OP_TO_FETCHING(ops))
#define PSI_ATOMIC_OPS_MOVE                                                              \
	(GEX_OP_GET | PSI_ATOMIC_OPS_BOTH(GEX_OP_SET | GEX_OP_CAS))
#define PSI_ATOMIC_OPS_REPLY (GEX_OP_GET | GEX_OP_TO_FETCHING(0xfffu))
#define PSI_ATOMIC_OPS_FLOAT                                                             \
	(PSI_ATOMIC_OPS_MOVE |                                                           \
	 PSI_ATOMIC_OPS_BOTH(GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_INC |        \
			     GEX_OP_DEC | GEX_OP_MIN | GEX_OP_MAX))
#define PSI_ATOMIC_OPS_INTEGER                                                           \
	(PSI_ATOMIC_OPS_FLOAT | PSI_ATOMIC_OPS_BOTH(GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR))

/* The operation is known where it is used; what remains of a function is its case. */
#define PSI_ATOMIC_INLINE static inline __attribute__((__always_inline__))

PSI_BEGIN_DECLS

/* Words of any effective type. */
typedef uint32_t psi_cell32 __attribute__((__may_alias__));
typedef uint64_t psi_cell64 __attribute__((__may_alias__));

/* What moves a value and does not look at it. */
#define PSI_ATOMIC_MOVE(width)                                                           \
	PSI_ATOMIC_INLINE uint##width##_t psi_atomic_move##width(                        \
		psi_cell##width *word, gex_OP_t op, uint##width##_t operand1,            \
		uint##width##_t operand2, gex_Flags_t flags)                             \
	{                                                                                \
		if (op == GEX_OP_SET && !(flags & GEX_FLAG_AD_ACQ)) {                    \
			__atomic_store_n(word, operand1, __ATOMIC_RELEASE);              \
			return operand1;                                                 \
		}                                                                        \
		if (op == GEX_OP_GET && !(flags & GEX_FLAG_AD_REL))                      \
			return __atomic_load_n(word, __ATOMIC_ACQUIRE);                  \
		if (op == GEX_OP_GET)                                                    \
			return __atomic_fetch_add(word, 0u, __ATOMIC_ACQ_REL);           \
		if (op & (GEX_OP_SET | GEX_OP_SWAP))                                     \
			return __atomic_exchange_n(word, operand1, __ATOMIC_ACQ_REL);    \
		__atomic_compare_exchange_n(word, &operand1, operand2, 0,                \
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);         \
		return operand1;                                                         \
	}
PSI_ATOMIC_MOVE(32)
PSI_ATOMIC_MOVE(64)
#undef PSI_ATOMIC_MOVE

/* Values as words and back. */
#define PSI_ATOMIC_CONVERT(DT, type, width)                                              \
	PSI_ATOMIC_INLINE uint##width##_t psi_atomic_bits##DT(type value)               \
	{                                                                                \
		uint##width##_t bits;                                                    \
                                                                                         \
		memcpy(&bits, &value, sizeof(bits));                                     \
		return bits;                                                             \
	}                                                                                \
	PSI_ATOMIC_INLINE type psi_atomic_value##DT(uint##width##_t bits)               \
	{                                                                                \
		type value;                                                              \
                                                                                         \
		memcpy(&value, &bits, sizeof(value));                                    \
		return value;                                                            \
	}
PSI_ATOMIC_TYPES(PSI_ATOMIC_CONVERT)
#undef PSI_ATOMIC_CONVERT

/* What compare and swap puts in place, by the fetching code. Integers wrap. */
#define PSI_ATOMIC_AFTER_INTEGER(DT, type, width)                                        \
	PSI_ATOMIC_INLINE type psi_atomic_after##DT(gex_OP_t op, type before, type operand) \
	{                                                                                \
		if (op == GEX_OP_FMULT)                                                  \
			return psi_atomic_value##DT(psi_atomic_bits##DT(before) *      \
						     psi_atomic_bits##DT(operand));     \
		if (op == GEX_OP_FMIN)                                                   \
			return operand < before ? operand : before;                      \
		return operand > before ? operand : before;                              \
	}
PSI_ATOMIC_INTEGERS(PSI_ATOMIC_AFTER_INTEGER)
#undef PSI_ATOMIC_AFTER_INTEGER

#define PSI_ATOMIC_AFTER_FLOAT(DT, type, width)                                          \
	PSI_ATOMIC_INLINE type psi_atomic_after##DT(gex_OP_t op, type before, type operand) \
	{                                                                                \
		switch (op) {                                                            \
		case GEX_OP_FADD: return before + operand;                               \
		case GEX_OP_FSUB: return before - operand;                               \
		case GEX_OP_FMULT: return before * operand;                              \
		case GEX_OP_FINC: return before + 1;                                     \
		case GEX_OP_FDEC: return before - 1;                                     \
		case GEX_OP_FMIN: return operand < before ? operand : before;            \
		default: return operand > before ? operand : before;                     \
		}                                                                        \
	}
PSI_ATOMIC_FLOATS(PSI_ATOMIC_AFTER_FLOAT)
#undef PSI_ATOMIC_AFTER_FLOAT

#define PSI_ATOMIC_LOOP(DT, type, width)                                                 \
	PSI_ATOMIC_INLINE type psi_atomic_loop##DT(psi_cell##width *word, gex_OP_t op,  \
						    type operand)                        \
	{                                                                                \
		uint##width##_t before = __atomic_load_n(word, __ATOMIC_RELAXED), after; \
                                                                                         \
		do                                                                       \
			after = psi_atomic_bits##DT(psi_atomic_after##DT(              \
				op, psi_atomic_value##DT(before), operand));            \
		while (!__atomic_compare_exchange_n(word, &before, after, 1,             \
						    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)); \
		return psi_atomic_value##DT(before);                                    \
	}
PSI_ATOMIC_TYPES(PSI_ATOMIC_LOOP)
#undef PSI_ATOMIC_LOOP

/*
 * Makes one operation on an aligned word; returns what was there before, except
 * from a SET.
 */
#define PSI_ATOMIC_APPLY_INTEGER(DT, type, width)                                        \
	PSI_ATOMIC_INLINE type psi_atomic_apply##DT(void *there, gex_OP_t op, type operand1, \
						     type operand2, gex_Flags_t flags)   \
	{                                                                                \
		psi_cell##width *word = PSI_STATIC_CAST(psi_cell##width *, there);       \
		uint##width##_t bits = psi_atomic_bits##DT(operand1), before;           \
                                                                                         \
		switch (GEX_OP_TO_FETCHING(op)) {                                        \
		case GEX_OP_FADD:                                                        \
			before = __atomic_fetch_add(word, bits, __ATOMIC_ACQ_REL);       \
			break;                                                           \
		case GEX_OP_FSUB:                                                        \
			before = __atomic_fetch_sub(word, bits, __ATOMIC_ACQ_REL);       \
			break;                                                           \
		case GEX_OP_FINC:                                                        \
			before = __atomic_fetch_add(word, 1u, __ATOMIC_ACQ_REL);         \
			break;                                                           \
		case GEX_OP_FDEC:                                                        \
			before = __atomic_fetch_sub(word, 1u, __ATOMIC_ACQ_REL);         \
			break;                                                           \
		case GEX_OP_FAND:                                                        \
			before = __atomic_fetch_and(word, bits, __ATOMIC_ACQ_REL);       \
			break;                                                           \
		case GEX_OP_FOR:                                                         \
			before = __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL);        \
			break;                                                           \
		case GEX_OP_FXOR:                                                        \
			before = __atomic_fetch_xor(word, bits, __ATOMIC_ACQ_REL);       \
			break;                                                           \
		case GEX_OP_FMULT:                                                       \
		case GEX_OP_FMIN:                                                        \
		case GEX_OP_FMAX:                                                        \
			return psi_atomic_loop##DT(word, GEX_OP_TO_FETCHING(op), operand1); \
		default:                                                                 \
			before = psi_atomic_move##width(word, op, bits,                  \
							psi_atomic_bits##DT(operand2),  \
							flags);                          \
		}                                                                        \
		return psi_atomic_value##DT(before);                                    \
	}
PSI_ATOMIC_INTEGERS(PSI_ATOMIC_APPLY_INTEGER)
#undef PSI_ATOMIC_APPLY_INTEGER

#define PSI_ATOMIC_APPLY_FLOAT(DT, type, width)                                          \
	PSI_ATOMIC_INLINE type psi_atomic_apply##DT(void *there, gex_OP_t op, type operand1, \
						     type operand2, gex_Flags_t flags)   \
	{                                                                                \
		psi_cell##width *word = PSI_STATIC_CAST(psi_cell##width *, there);       \
                                                                                         \
		if (!(op & PSI_ATOMIC_OPS_MOVE))                                         \
			return psi_atomic_loop##DT(word, GEX_OP_TO_FETCHING(op), operand1); \
		return psi_atomic_value##DT(psi_atomic_move##width(                     \
			word, op, psi_atomic_bits##DT(operand1),                        \
			psi_atomic_bits##DT(operand2), flags));                         \
	}
PSI_ATOMIC_FLOATS(PSI_ATOMIC_APPLY_FLOAT)
#undef PSI_ATOMIC_APPLY_FLOAT

PSI_END_DECLS

#endif
