/*
 * gasnet_ex_port.h: what the other headers need of compiler and platform.
 * PSI_ names are private.
 */
#ifndef GASNET_EX_PORT_H
#define GASNET_EX_PORT_H

#include "gasnet_config.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PSI_BEGIN_DECLS extern "C" {
#define PSI_END_DECLS   }
#define PSI_PTR_BITS(ptr) (reinterpret_cast<uintptr_t>(ptr))
#define PSI_STATIC_CAST(type, value) (static_cast<type>(value))
#else
#define PSI_BEGIN_DECLS
#define PSI_END_DECLS
#define PSI_PTR_BITS(ptr) ((uintptr_t)(ptr))
#define PSI_STATIC_CAST(type, value) ((type)(value))
#endif

/* Visible although the client compiles with -fvisibility=hidden. */
#define PSI_API    extern __attribute__((__visibility__("default")))
#define PSI_INLINE static inline

#define PSI_STRING_(x)   #x
#define PSI_STRING(x)    PSI_STRING_(x)
#define PSI_PASTE_(a, b) a##b
#define PSI_PASTE(a, b)  PSI_PASTE_(a, b)

#ifndef _STRINGIFY
#define _STRINGIFY(x) PSI_STRING(x)
#endif

#define PSI_LIKELY(cond)   __builtin_expect(!!(cond), 1)
#define PSI_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

#define PSI_NORETURN __attribute__((__noreturn__))

/* Keeps the compiler, not the processor, from moving memory accesses. */
#define PSI_COMPILER_FENCE() __asm__ __volatile__("" ::: "memory")

/* For the body of a loop that waits for memory to change. */
PSI_INLINE void
psi_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ __volatile__("pause" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" ::: "memory");
#else
	PSI_COMPILER_FENCE();
#endif
}

/*
 * Adds 1 to a word that the caller alone writes and others may read meanwhile;
 * one short instruction where there is one.
 */
PSI_INLINE void
psi_count_up(uint64_t *count)
{
#if defined(__x86_64__)
	__asm__("incq %0" : "+m"(*count));
#else
	__atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
#endif
}

/* Data that must reach the executable although nothing refers to it. */
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#define PSI_RETAIN __attribute__((__used__, __retain__))
#endif
#endif
#ifndef PSI_RETAIN
#define PSI_RETAIN __attribute__((__used__))
#endif

/*
 * Orders loads before it ahead of all accesses after it. ThreadSanitizer does
 * not model fences and gcc says so at each; the fence itself still works.
 */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
PSI_INLINE void
psi_acquire_fence(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif

#endif
