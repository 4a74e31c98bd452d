/*
 * gasnet_tools.h: timers, sleeping, memory barriers, stack traces and small
 * helps for portable code. In a program that uses a conduit it comes after
 * gasnetex.h; otherwise it stands alone.
 */
#ifndef GASNET_TOOLS_H
#define GASNET_TOOLS_H

#include "gasnet_ex_port.h"
#include "gasnet_portable_platform.h"
#include "portable_inttypes.h"

/* Which threads may call; given by the conduit's mode, or chosen by the program. */
#if defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR)
#ifndef GASNETEX_H
#error "include gasnetex.h before gasnet_tools.h in a file that is compiled for a conduit"
#endif
#if defined(GASNETT_LITE_MODE)
#error "GASNETT_LITE_MODE cannot be combined with GASNET_SEQ, GASNET_PAR or GASNET_PARSYNC"
#endif
#if defined(GASNET_PAR)
#if defined(GASNETT_THREAD_SINGLE)
#error "GASNETT_THREAD_SINGLE contradicts GASNET_PAR"
#endif
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE 1
#else
#if defined(GASNETT_THREAD_SAFE)
#error "GASNETT_THREAD_SAFE needs GASNET_PAR"
#endif
#undef GASNETT_THREAD_SINGLE
#define GASNETT_THREAD_SINGLE 1
#endif
#elif defined(GASNETT_THREAD_SAFE) + defined(GASNETT_THREAD_SINGLE) + defined(GASNETT_LITE_MODE) > 1
#error "define at most one of GASNETT_THREAD_SAFE, GASNETT_THREAD_SINGLE and GASNETT_LITE_MODE"
#elif !defined(GASNETT_THREAD_SAFE) && !defined(GASNETT_THREAD_SINGLE) && \
	!defined(GASNETT_LITE_MODE)
#if defined(_REENTRANT) || defined(_THREAD_SAFE) || defined(_PTHREAD_H)
#define GASNETT_THREAD_SAFE 1
#else
#define GASNETT_THREAD_SINGLE 1
#endif
#endif

#if defined(GASNETT_LITE_MODE)
#define GASNETT_THREAD_MODEL LITE
#elif defined(GASNETT_THREAD_SAFE)
#define GASNETT_THREAD_MODEL PAR
#else
#define GASNETT_THREAD_MODEL SEQ
#endif

/* Versions: the level of compatibility, as in gasnetex.h, and that of the tools text. */
#define GASNETT_RELEASE_VERSION_MAJOR 2025
#define GASNETT_RELEASE_VERSION_MINOR 8
#define GASNETT_RELEASE_VERSION_PATCH 0
#define GASNETT_SPEC_VERSION_MAJOR    1
#define GASNETT_SPEC_VERSION_MINOR    20

/* System. */
#define GASNETT_SYSTEM_TUPLE     PSI_CONFIG_SYSTEM_TUPLE
#define GASNETT_PAGESIZE         4096
#define GASNETT_PAGESHIFT        12
#define GASNETT_CACHE_LINE_BYTES 64
#if defined(GASNETT_THREAD_SINGLE)
#define GASNETT_MAX_THREADS 1
#else
#define GASNETT_MAX_THREADS 65535
#endif

/* How this header was configured, as text. */
#if defined(PLATFORM_ARCH_64)
#define GASNETT_PTR_CONFIG 64bit
#else
#define GASNETT_PTR_CONFIG 32bit
#endif
#if PSI_CONFIG_DEBUG
#define GASNETT_DEBUG_CONFIG debug
#else
#define GASNETT_DEBUG_CONFIG nodebug
#endif
#define GASNETT_TIMER_CONFIG  timers_os
#define GASNETT_MEMBAR_CONFIG membars_native
#define GASNETT_CONFIG_STRING                                                           \
	"RELEASE=" PSI_STRING(GASNETT_RELEASE_VERSION_MAJOR) "."                        \
	PSI_STRING(GASNETT_RELEASE_VERSION_MINOR) "."                                   \
	PSI_STRING(GASNETT_RELEASE_VERSION_PATCH)                                       \
	",SPEC=" PSI_STRING(GASNETT_SPEC_VERSION_MAJOR) "."                             \
	PSI_STRING(GASNETT_SPEC_VERSION_MINOR)                                          \
	",THREADMODEL=" PSI_STRING(GASNETT_THREAD_MODEL)                                \
	",PTR=" PSI_STRING(GASNETT_PTR_CONFIG) "," PSI_STRING(GASNETT_DEBUG_CONFIG)     \
	"," PSI_STRING(GASNETT_TIMER_CONFIG) "," PSI_STRING(GASNETT_MEMBAR_CONFIG)

/* C linkage. */
#ifdef __cplusplus
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_EXTERNC       extern "C"
#define GASNETT_END_EXTERNC   }
#else
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_EXTERNC extern
#define GASNETT_END_EXTERNC
#endif

PSI_BEGIN_DECLS

/*
 * Ticks of a monotonic clock. Any thread, any time, handlers included; only
 * differences of ticks taken on one thread mean something.
 */
typedef uint64_t gasnett_tick_t;

#define GASNETT_TICK_MIN UINT64_C(0)
#define GASNETT_TICK_MAX UINT64_MAX

PSI_API gasnett_tick_t gasnett_ticks_now(void);

/* A tick is one nanosecond. */
PSI_INLINE uint64_t
gasnett_ticks_to_ns(gasnett_tick_t ticks)
{
	return ticks;
}

PSI_INLINE uint64_t
gasnett_ticks_to_us(gasnett_tick_t ticks)
{
	return ticks / 1000;
}

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
PSI_INLINE void
gasnett_weak_wmb(void)
{
	PSI_COMPILER_FENCE();
}

PSI_INLINE void
gasnett_weak_rmb(void)
{
	PSI_COMPILER_FENCE();
}

PSI_INLINE void
gasnett_weak_mb(void)
{
	PSI_COMPILER_FENCE();
}
#else
PSI_INLINE void
gasnett_weak_wmb(void)
{
	gasnett_local_wmb();
}

PSI_INLINE void
gasnett_weak_rmb(void)
{
	gasnett_local_rmb();
}

PSI_INLINE void
gasnett_weak_mb(void)
{
	gasnett_local_mb();
}
#endif

/* For the body of a loop that waits for memory to change. */
PSI_INLINE void
gasnett_spinloop_hint(void)
{
#if defined(PLATFORM_ARCH_X86_64) || defined(PLATFORM_ARCH_X86)
	__asm__ __volatile__("pause" ::: "memory");
#elif defined(PLATFORM_ARCH_AARCH64)
	__asm__ __volatile__("yield" ::: "memory");
#else
	PSI_COMPILER_FENCE();
#endif
}

/*
 * Stack traces. init may be called at the start of main with argv[0]; it
 * prepares what must not be prepared in a signal handler. print writes a
 * trace of the calling thread and returns 0, or non-zero if it cannot. Fatal
 * errors call the variable, which by default does as GASNET_BACKTRACE says.
 */
PSI_API void gasnett_backtrace_init(const char *exename);
PSI_API int gasnett_print_backtrace(int fd);
PSI_API int (*gasnett_print_backtrace_ifenabled)(int fd);

/*
 * A program may define gasnett_backtrace_user. Its name is then a value of
 * GASNET_BACKTRACE_TYPE; fnp returns non-zero to let other ways be tried;
 * threadsupport says whether it works in a program with threads.
 */
typedef struct {
	const char *name;
	int (*fnp)(int fd);
	int threadsupport;
} gasnett_backtrace_type_t;

PSI_API gasnett_backtrace_type_t gasnett_backtrace_user;

/*
 * Waits for a debugger: prints how to attach, then sleeps until *flag is
 * changed from zero. The second does so only under GASNET_FREEZE_ON_ERROR.
 */
PSI_API void gasnett_freezeForDebuggerNow(volatile int *flag, const char *flagsymname);
PSI_API void gasnett_freezeForDebuggerErr(void);

PSI_END_DECLS

/* Source positions and the local switch of traces; this library writes no traces. */
#define GASNETT_TRACE_SETSOURCELINE(file, line)   ((void)(file), (void)(line))
#define GASNETT_TRACE_GETSOURCELINE(pfile, pline) ((void)(*(pfile) = "", *(pline) = 0))
#define GASNETT_TRACE_FREEZESOURCELINE()          ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE()        ((void)0)
#define GASNETT_TRACE_GET_TRACELOCAL()            (0)
#define GASNETT_TRACE_SET_TRACELOCAL(value)       ((void)(value))

#endif
