/*
 * The built-in operations on the built-in types: out[i] = left[i] op out[i].  Signed integers wrap,
 * so they are added and multiplied as unsigned ones, and short ones as unsigned int.
 *
 * They are compiled for vectors (tests/unit/t_kernels looks at the result), on x86 also for AVX2,
 * which is used where the processor has it.
 */
#include "coll/kernels.h"

#include <stddef.h>
#include <stdint.h>

/* At -O2 this compiler takes vectors only where it needs no loop behind them. */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3")
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

gex_Coll_ReduceFn_t
pcoll_kernel(unsigned op, unsigned type)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return kernels_avx2[op][type];
#endif
	return kernels[op][type];
}
