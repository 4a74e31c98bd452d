/*
 * gasnet_tools_atomic.h: atomic words, for the threads of one process.
 *
 * Six types of the same operations: gasnett_atomic (a counter of 32 bits),
 * gasnett_atomic32 and gasnett_atomic64 (any integer or floating-point object
 * of 4 or 8 bytes may be cast to them), and each again as
 * gasnett_strongatomic*. The strong ones are always atomic, in signal handlers
 * too; the others are plain memory accesses in a program without threads.
 *
 * For a type T with values V:
 *   T_init(v)                    static initialiser
 *   void T_set(p, v, flags)      V T_read(p, flags)
 *   void T_increment(p, flags)   void T_decrement(p, flags)
 *   int T_decrement_and_test(p, flags)                  the new value is zero
 *   V T_add(p, v, flags)         V T_subtract(p, v, flags)     the new value
 *   V T_swap(p, v, flags)                                      the old value
 *   int T_compare_and_swap(p, oldval, newval, flags)           it was swapped
 * Values wrap. Any thread; never blocks.
 *
 * Flags say which barriers the operation brings; without one it orders
 * nothing. They may be computed at run time. As in C11, release and acquire
 * are the orders of the operation itself where that is enough, so that
 * ThreadSanitizer sees them; other flags add fences.
 */
#ifndef GASNET_TOOLS_ATOMIC_H
#define GASNET_TOOLS_ATOMIC_H

#include "gasnet_ex_port.h"
#include "gasnet_portable_platform.h"
#include "gasnet_tools_annotate.h"

#define GASNETT_ATOMIC_NONE     0
#define GASNETT_ATOMIC_RMB_PRE  0x01
#define GASNETT_ATOMIC_WMB_PRE  0x02
#define GASNETT_ATOMIC_MB_PRE   (GASNETT_ATOMIC_RMB_PRE | GASNETT_ATOMIC_WMB_PRE)
#define GASNETT_ATOMIC_RMB_POST 0x04
#define GASNETT_ATOMIC_WMB_POST 0x08
#define GASNETT_ATOMIC_MB_POST  (GASNETT_ATOMIC_RMB_POST | GASNETT_ATOMIC_WMB_POST)

/* After compare_and_swap and decrement_and_test only. */
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE  0x10
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE 0x20

#define GASNETT_ATOMIC_REL          GASNETT_ATOMIC_WMB_PRE
#define GASNETT_ATOMIC_ACQ          GASNETT_ATOMIC_RMB_POST
#define GASNETT_ATOMIC_ACQ_IF_TRUE  GASNETT_ATOMIC_RMB_POST_IF_TRUE
#define GASNETT_ATOMIC_ACQ_IF_FALSE GASNETT_ATOMIC_RMB_POST_IF_FALSE

typedef uint32_t psi_word32 PSI_MAY_ALIAS;
typedef uint64_t psi_word64 PSI_MAY_ALIAS;

typedef struct {
	psi_word32 psi_value;
} PSI_MAY_ALIAS gasnett_atomic32_t;

typedef struct {
	psi_word64 psi_value;
} PSI_MAY_ALIAS gasnett_atomic64_t;

typedef gasnett_atomic32_t gasnett_strongatomic32_t;
typedef gasnett_atomic64_t gasnett_strongatomic64_t;
typedef gasnett_atomic32_t gasnett_atomic_t;
typedef gasnett_atomic32_t gasnett_strongatomic_t;
typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;

#define GASNETT_ATOMIC_MAX        UINT32_MAX
#define GASNETT_ATOMIC_SIGNED_MIN INT32_MIN
#define GASNETT_ATOMIC_SIGNED_MAX INT32_MAX

#define gasnett_atomic_init(v)         {PSI_STATIC_CAST(uint32_t, (v))}
#define gasnett_atomic32_init(v)       {PSI_STATIC_CAST(uint32_t, (v))}
#define gasnett_atomic64_init(v)       {PSI_STATIC_CAST(uint64_t, (v))}
#define gasnett_strongatomic_init(v)   {PSI_STATIC_CAST(uint32_t, (v))}
#define gasnett_strongatomic32_init(v) {PSI_STATIC_CAST(uint32_t, (v))}
#define gasnett_strongatomic64_init(v) {PSI_STATIC_CAST(uint64_t, (v))}

#define GASNETT_HAVE_ATOMIC_ADD_SUB       1
#define GASNETT_HAVE_ATOMIC_CAS           1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS     1

#define GASNETT_ATOMIC_CONFIG   atomics_native
#define GASNETT_ATOMIC32_CONFIG atomic32_native
#define GASNETT_ATOMIC64_CONFIG atomic64_native

PSI_BEGIN_DECLS

PSI_INLINE gasnett_atomic_sval_t
gasnett_atomic_signed(gasnett_atomic_val_t value)
{
	return PSI_STATIC_CAST(gasnett_atomic_sval_t, value);
}

/* Where each read-modify-write is a full barrier, as on x86, fences beside it are for the
 * compiler. */
#if defined(PLATFORM_ARCH_X86_64) || defined(PLATFORM_ARCH_X86)
#define PSI_LOCKED_IS_FENCE 1
#else
#define PSI_LOCKED_IS_FENCE 0
#endif

enum { PSI_ATOMIC_LOADS, PSI_ATOMIC_STORES, PSI_ATOMIC_BOTH };

enum {
	PSI_ATOMIC_RELEASES = GASNETT_ATOMIC_WMB_PRE,
	PSI_ATOMIC_ACQUIRES = GASNETT_ATOMIC_RMB_POST | GASNETT_ATOMIC_RMB_POST_IF_TRUE |
			      GASNETT_ATOMIC_RMB_POST_IF_FALSE
};

/* C11 order of an operation that loads and stores, loads, stores. */
GASNETT_INLINE(psi_order_both) int
psi_order_both(int flags)
{
	if (flags & PSI_ATOMIC_RELEASES)
		return flags & PSI_ATOMIC_ACQUIRES ? __ATOMIC_ACQ_REL : __ATOMIC_RELEASE;
	return flags & PSI_ATOMIC_ACQUIRES ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
}

GASNETT_INLINE(psi_order_load) int
psi_order_load(int flags)
{
	return flags & PSI_ATOMIC_ACQUIRES ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
}

GASNETT_INLINE(psi_order_store) int
psi_order_store(int flags)
{
	return flags & PSI_ATOMIC_RELEASES ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;
}

/* ThreadSanitizer does not model fences, and gcc says so at each. */
#if GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
/* What the order of the operation does not give: a load has no release, a store no acquire. */
GASNETT_INLINE(psi_fence_before) void
psi_fence_before(int flags, int does)
{
	int full = (flags & GASNETT_ATOMIC_MB_PRE) == GASNETT_ATOMIC_MB_PRE ||
		   (does == PSI_ATOMIC_LOADS && (flags & GASNETT_ATOMIC_WMB_PRE));

	if (does == PSI_ATOMIC_BOTH && PSI_LOCKED_IS_FENCE)
		PSI_COMPILER_FENCE();
	else if (full)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else if (flags & GASNETT_ATOMIC_RMB_PRE)
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

GASNETT_INLINE(psi_fence_after) void
psi_fence_after(int flags, int does)
{
	if (does == PSI_ATOMIC_BOTH && PSI_LOCKED_IS_FENCE)
		PSI_COMPILER_FENCE();
	else if (flags & GASNETT_ATOMIC_WMB_POST)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else if (does == PSI_ATOMIC_STORES && (flags & GASNETT_ATOMIC_RMB_POST))
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
}
#if GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif

#define PSI_ATOMIC_TRUE(name, value_t)                                                        \
	PSI_INLINE void name##_set(name##_t *p, value_t v, int flags)                         \
	{                                                                                     \
		psi_fence_before(flags, PSI_ATOMIC_STORES);                                   \
		__atomic_store_n(&p->psi_value, v, psi_order_store(flags));                   \
		psi_fence_after(flags, PSI_ATOMIC_STORES);                                    \
	}                                                                                     \
	PSI_INLINE value_t name##_read(name##_t *p, int flags)                                \
	{                                                                                     \
		value_t v;                                                                    \
                                                                                              \
		psi_fence_before(flags, PSI_ATOMIC_LOADS);                                    \
		v = __atomic_load_n(&p->psi_value, psi_order_load(flags));                    \
		psi_fence_after(flags, PSI_ATOMIC_LOADS);                                     \
		return v;                                                                     \
	}                                                                                     \
	PSI_INLINE value_t name##_add(name##_t *p, value_t v, int flags)                      \
	{                                                                                     \
		value_t now;                                                                  \
                                                                                              \
		psi_fence_before(flags, PSI_ATOMIC_BOTH);                                     \
		now = __atomic_add_fetch(&p->psi_value, v, psi_order_both(flags));            \
		psi_fence_after(flags, PSI_ATOMIC_BOTH);                                      \
		return now;                                                                   \
	}                                                                                     \
	PSI_INLINE value_t name##_subtract(name##_t *p, value_t v, int flags)                 \
	{                                                                                     \
		value_t now;                                                                  \
                                                                                              \
		psi_fence_before(flags, PSI_ATOMIC_BOTH);                                     \
		now = __atomic_sub_fetch(&p->psi_value, v, psi_order_both(flags));            \
		psi_fence_after(flags, PSI_ATOMIC_BOTH);                                      \
		return now;                                                                   \
	}                                                                                     \
	PSI_INLINE value_t name##_swap(name##_t *p, value_t v, int flags)                     \
	{                                                                                     \
		value_t old;                                                                  \
                                                                                              \
		psi_fence_before(flags, PSI_ATOMIC_BOTH);                                     \
		old = __atomic_exchange_n(&p->psi_value, v, psi_order_both(flags));           \
		psi_fence_after(flags, PSI_ATOMIC_BOTH);                                      \
		return old;                                                                   \
	}                                                                                     \
	PSI_INLINE int name##_compare_and_swap(name##_t *p, value_t oldval, value_t newval,   \
					       int flags)                                     \
	{                                                                                     \
		int swapped;                                                                  \
                                                                                              \
		psi_fence_before(flags, PSI_ATOMIC_BOTH);                                     \
		swapped = __atomic_compare_exchange_n(&p->psi_value, &oldval, newval, 0,      \
						      psi_order_both(flags),                  \
						      psi_order_load(flags));                 \
		psi_fence_after(flags, PSI_ATOMIC_BOTH);                                      \
		return swapped;                                                               \
	}

/* Without threads; flags cost nothing when there are none. */
#define PSI_ATOMIC_PLAIN(name, value_t)                                                     \
	PSI_INLINE void name##_set(name##_t *p, value_t v, int flags)                       \
	{                                                                                   \
		(void)flags;                                                                \
		p->psi_value = v;                                                           \
	}                                                                                   \
	PSI_INLINE value_t name##_read(name##_t *p, int flags)                              \
	{                                                                                   \
		(void)flags;                                                                \
		return p->psi_value;                                                        \
	}                                                                                   \
	PSI_INLINE value_t name##_add(name##_t *p, value_t v, int flags)                    \
	{                                                                                   \
		(void)flags;                                                                \
		return p->psi_value += v;                                                   \
	}                                                                                   \
	PSI_INLINE value_t name##_subtract(name##_t *p, value_t v, int flags)               \
	{                                                                                   \
		(void)flags;                                                                \
		return p->psi_value -= v;                                                   \
	}                                                                                   \
	PSI_INLINE value_t name##_swap(name##_t *p, value_t v, int flags)                   \
	{                                                                                   \
		value_t old = p->psi_value;                                                 \
                                                                                            \
		(void)flags;                                                                \
		p->psi_value = v;                                                           \
		return old;                                                                 \
	}                                                                                   \
	PSI_INLINE int name##_compare_and_swap(name##_t *p, value_t oldval, value_t newval, \
					       int flags)                                   \
	{                                                                                   \
		(void)flags;                                                                \
		if (p->psi_value != oldval)                                                 \
			return 0;                                                           \
		p->psi_value = newval;                                                      \
		return 1;                                                                   \
	}

/* In terms of those. */
#define PSI_ATOMIC_COUNT(name)                                                    \
	PSI_INLINE void name##_increment(name##_t *p, int flags)                  \
	{                                                                         \
		(void)name##_add(p, 1, flags);                                    \
	}                                                                         \
	PSI_INLINE void name##_decrement(name##_t *p, int flags)                  \
	{                                                                         \
		(void)name##_subtract(p, 1, flags);                               \
	}                                                                         \
	PSI_INLINE int name##_decrement_and_test(name##_t *p, int flags)          \
	{                                                                         \
		return name##_subtract(p, 1, flags) == 0;                         \
	}

#if defined(GASNETT_THREAD_SINGLE) && !defined(GASNET_PARSYNC)
#define PSI_ATOMIC_WEAK PSI_ATOMIC_PLAIN
#else
#define PSI_ATOMIC_WEAK PSI_ATOMIC_TRUE
#endif

PSI_ATOMIC_WEAK(gasnett_atomic, uint32_t)
PSI_ATOMIC_COUNT(gasnett_atomic)
PSI_ATOMIC_WEAK(gasnett_atomic32, uint32_t)
PSI_ATOMIC_COUNT(gasnett_atomic32)
PSI_ATOMIC_WEAK(gasnett_atomic64, uint64_t)
PSI_ATOMIC_COUNT(gasnett_atomic64)
PSI_ATOMIC_TRUE(gasnett_strongatomic, uint32_t)
PSI_ATOMIC_COUNT(gasnett_strongatomic)
PSI_ATOMIC_TRUE(gasnett_strongatomic32, uint32_t)
PSI_ATOMIC_COUNT(gasnett_strongatomic32)
PSI_ATOMIC_TRUE(gasnett_strongatomic64, uint64_t)
PSI_ATOMIC_COUNT(gasnett_strongatomic64)

PSI_END_DECLS

#endif
