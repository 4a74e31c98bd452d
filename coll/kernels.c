/*
 * The built-in operations on the built-in types: out[i] = left[i] op right[i].  Signed integers
 * wrap, so they are added and multiplied as unsigned ones, and short ones as unsigned int.
 *
 * They are compiled for vectors (tests/unit/t_vectors looks at them), on x86 also for AVX2,
 * which is used where the processor has it.
 */
#include "coll/kernels.h"

#include <stdint.h>

/* At -O2 this compiler takes vectors only where it needs no loop behind them. */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3")
#endif

/* `out' may be an operand, and is not shifted against one (kernels.h), so no iteration depends on
 * another. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"        /* long double has no vectors */
#define ITERATIONS_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define ITERATIONS_APART _Pragma("GCC ivdep")
#endif

#define KERNEL_TARGET
#define KERNEL(name) name
#define KERNELS      kernels
#include "coll/kernels_body.h"

#ifdef __x86_64__
#undef KERNEL_TARGET
#undef KERNEL
#undef KERNELS
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL(name)  name##_avx2
#define KERNELS       kernels_avx2
#include "coll/kernels_body.h"
#endif

pcoll_kernel_fn
pcoll_kernel(unsigned op, unsigned type)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return kernels_avx2[op][type];
#endif
	return kernels[op][type];
}
