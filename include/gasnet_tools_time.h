/*
 * gasnet_tools_time.h: the clock, sleeping, and memory barriers: the part of
 * gasnet_tools.h that takes no heed of threads.
 */
#ifndef GASNET_TOOLS_TIME_H
#define GASNET_TOOLS_TIME_H

#include "gasnet_ex_port.h"
#include "gasnet_portable_platform.h"

PSI_BEGIN_DECLS

/*
 * Ticks of a monotonic clock. Any thread, any time, handlers included; only
 * differences of ticks taken on one thread mean something.
 */
typedef uint64_t gasnett_tick_t;

#define GASNETT_TICK_MIN UINT64_C(0)
#define GASNETT_TICK_MAX UINT64_MAX

/*
 * What a tick is: one of the processor's counter, or a nanosecond of
 * CLOCK_MONOTONIC. Chosen once, before main; penstock-info says which.
 */
enum psi_tick_source { PSI_TICKS_UNKNOWN, PSI_TICKS_COUNTER, PSI_TICKS_CLOCK };
PSI_API enum psi_tick_source psi_ticks_from;

/* Chooses if need be, then reads. */
PSI_API gasnett_tick_t psi_ticks_read(void);

/* The processor's counter, where the compiler can read it. */
#if defined(PLATFORM_ARCH_X86_64) && defined(__GNUC__)
#define PSI_HAS_COUNTER 1
PSI_INLINE uint64_t
psi_counter_read(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(PLATFORM_ARCH_AARCH64) && defined(__GNUC__)
#define PSI_HAS_COUNTER 1
PSI_INLINE uint64_t
psi_counter_read(void)
{
	uint64_t ticks;

	__asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
}
#else
#define PSI_HAS_COUNTER 0
PSI_INLINE uint64_t
psi_counter_read(void)
{
	return 0;
}
#endif

PSI_INLINE gasnett_tick_t
gasnett_ticks_now(void)
{
	if (PSI_HAS_COUNTER && PSI_LIKELY(psi_ticks_from == PSI_TICKS_COUNTER))
		return psi_counter_read();
	return psi_ticks_read();
}

/*
 * A difference of ticks in nanoseconds and microseconds, rounded down. The
 * first call may wait 2 ms, to measure the counter's rate against the clock.
 */
PSI_API uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks);
PSI_API uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks);

/* Least difference seen between two readings, and the cost of one; in microseconds. */
PSI_API double gasnett_tick_granularityus(void);
PSI_API double gasnett_tick_overheadus(void);

/* The wall clock, in microseconds since 1970; may jump. */
PSI_API uint64_t gasnett_gettimeofday_us(void);

/*
 * Sleeps for ns_delay nanoseconds or a little more; 0 returns at once.
 * Returns 0, or -1 with errno EINTR when a signal handler ended the sleep.
 */
PSI_API int gasnett_nsleep(uint64_t ns_delay);

/* Lets another thread or process run on this CPU. */
PSI_API void gasnett_sched_yield(void);

/*
 * Memory barriers between the processors of a host, for ordinary memory.
 * wmb: stores before it are visible before any access after it. rmb: loads
 * after it see what was visible before it. mb: both. The weak forms are for
 * the threads of one program, and free where there is one thread.
 * ThreadSanitizer does not model fences and gcc says so at each.
 */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
PSI_INLINE void
gasnett_compiler_fence(void)
{
	PSI_COMPILER_FENCE();
}

PSI_INLINE void
gasnett_local_wmb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

PSI_INLINE void
gasnett_local_rmb(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	PSI_COMPILER_FENCE();
}

PSI_INLINE void
gasnett_local_mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif

#if defined(GASNETT_THREAD_SINGLE) && !defined(GASNET_PARSYNC)
#define PSI_WEAK_BARRIER(strong) PSI_COMPILER_FENCE()
#else
#define PSI_WEAK_BARRIER(strong) strong()
#endif

PSI_INLINE void
gasnett_weak_wmb(void)
{
	PSI_WEAK_BARRIER(gasnett_local_wmb);
}

PSI_INLINE void
gasnett_weak_rmb(void)
{
	PSI_WEAK_BARRIER(gasnett_local_rmb);
}

PSI_INLINE void
gasnett_weak_mb(void)
{
	PSI_WEAK_BARRIER(gasnett_local_mb);
}

/* For the body of a loop that waits for memory to change. */
PSI_INLINE void
gasnett_spinloop_hint(void)
{
	psi_pause();
}

PSI_END_DECLS

#endif
