/*
 * Copies with string moves and with stores past the caches, for x86-64; other processors have none,
 * and use memcpy.
 *
 * A string move may store in any order, but completes before later stores do.  Shape of the others:
 * bytes up to a line of dst by memcpy, whole lines past the caches, the rest by memcpy, and an
 * sfence, since such stores are ordered neither among themselves nor before later stores.
 * ThreadSanitizer does not see vector stores, so under it all is memcpy.
 */
#ifndef PSI_UTIL_COPY_STREAM_H
#define PSI_UTIL_COPY_STREAM_H

#include "runtime/util/fence.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { PSI_COPY_LINE_BYTES = 64, PSI_COPY_AHEAD_BYTES = 512 };

#if defined(__x86_64__) && !defined(PSI_TSAN)

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

/* Copies what lies before the first line of dst; returns how much that is. */
static inline size_t
psi_copy_head(unsigned char *dst, const unsigned char *src, size_t len_bytes)
{
	size_t head = (size_t)-(uintptr_t)dst % PSI_COPY_LINE_BYTES;

	if (head > len_bytes)
		head = len_bytes;
	memcpy(dst, src, head);
	return head;
}

static inline void
psi_copy_line_past(unsigned char *dst, const unsigned char *src)
{
	const __m128i *from = (const __m128i *)(const void *)src;
	__m128i *to = (__m128i *)(void *)dst;
	__m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
	__m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);

	_mm_prefetch((const char *)src + PSI_COPY_AHEAD_BYTES, _MM_HINT_T0);
	_mm_stream_si128(to, a);
	_mm_stream_si128(to + 1, b);
	_mm_stream_si128(to + 2, c);
	_mm_stream_si128(to + 3, d);
}

__attribute__((target("avx"))) static inline void
psi_copy_line_past_wide(unsigned char *dst, const unsigned char *src)
{
	const __m256i *from = (const __m256i *)(const void *)src;
	__m256i *to = (__m256i *)(void *)dst;
	__m256i a = _mm256_loadu_si256(from), b = _mm256_loadu_si256(from + 1);

	_mm_prefetch((const char *)src + PSI_COPY_AHEAD_BYTES, _MM_HINT_T0);
	_mm256_stream_si256(to, a);
	_mm256_stream_si256(to + 1, b);
}

static inline void
psi_copy_stream(void *dst_start, const void *src_start, size_t len_bytes)
{
	unsigned char *dst = dst_start;
	const unsigned char *src = src_start;
	size_t at = psi_copy_head(dst, src, len_bytes);

	for (; len_bytes - at >= PSI_COPY_LINE_BYTES; at += PSI_COPY_LINE_BYTES)
		psi_copy_line_past(dst + at, src + at);
	memcpy(dst + at, src + at, len_bytes - at);
	_mm_sfence();
}

__attribute__((target("avx"))) static inline void
psi_copy_stream_wide(void *dst_start, const void *src_start, size_t len_bytes)
{
	unsigned char *dst = dst_start;
	const unsigned char *src = src_start;
	size_t at = psi_copy_head(dst, src, len_bytes);

	for (; len_bytes - at >= PSI_COPY_LINE_BYTES; at += PSI_COPY_LINE_BYTES)
		psi_copy_line_past_wide(dst + at, src + at);
	memcpy(dst + at, src + at, len_bytes - at);
	_mm_sfence();
}

/* Without stores past the caches; vectors of the width that all x86-64 have. */
static inline void
psi_copy_loop(void *dst_start, const void *src_start, size_t len_bytes)
{
	unsigned char *dst = dst_start;
	const unsigned char *src = src_start;
	size_t at = psi_copy_head(dst, src, len_bytes);

	for (; len_bytes - at >= PSI_COPY_LINE_BYTES; at += PSI_COPY_LINE_BYTES) {
		const __m128i *from = (const __m128i *)(const void *)(src + at);
		__m128i *to = (__m128i *)(void *)(dst + at);
		__m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
		__m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);

		_mm_store_si128(to, a);
		_mm_store_si128(to + 1, b);
		_mm_store_si128(to + 2, c);
		_mm_store_si128(to + 3, d);
	}
	memcpy(dst + at, src + at, len_bytes - at);
}

static inline void
psi_copy_string(void *dst, const void *src, size_t len_bytes)
{
	__asm__ __volatile__("rep movsb" : "+D"(dst), "+S"(src), "+c"(len_bytes) : : "memory");
}

/* Does the CPU say that string moves of bytes are fast?  Asked once: under a hypervisor that takes
 * microseconds. */
static inline bool
psi_copy_can_string(void)
{
	enum { UNKNOWN, NO, YES, EXTENDED_FEATURES = 7, FAST_STRINGS = 1 << 9 };
	static _Atomic int answer;
	int known = atomic_load_explicit(&answer, memory_order_relaxed);

	if (known == UNKNOWN) {
		unsigned a, b = 0, c, d;

		known = __get_cpuid_count(EXTENDED_FEATURES, 0, &a, &b, &c, &d) && b & FAST_STRINGS
		                ? YES : NO;
		atomic_store_explicit(&answer, known, memory_order_relaxed);
	}
	return known == YES;
}

static inline bool
psi_copy_can_stream(void)
{
	return true;
}

static inline bool
psi_copy_can_stream_wide(void)
{
	return __builtin_cpu_supports("avx");
}

#else

static inline void
psi_copy_loop(void *dst, const void *src, size_t len_bytes)
{
	memcpy(dst, src, len_bytes);
}

#define psi_copy_string psi_copy_loop
#define psi_copy_stream psi_copy_loop
#define psi_copy_stream_wide psi_copy_loop

static inline bool
psi_copy_can_stream(void)
{
	return false;
}

#define psi_copy_can_stream_wide psi_copy_can_stream
#define psi_copy_can_string psi_copy_can_stream

#endif

#endif
