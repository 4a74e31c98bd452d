/*
 * Copies by vectors of 32 bytes, for x86-64 with AVX2; other processors use memcpy.
 *
 * A loop copies four vectors at a time.  Four more end with the last byte, and may overlap the ones
 * before.  Shorter copies take one to four vectors, of which the last may overlap.  Copies below
 * PSI_COPY_ALIGN_BYTES are not aligned first; longer ones would lose a fourth by stores across
 * lines.  ThreadSanitizer does not see vector stores, so memcpy is used under it.
 */
#ifndef PSI_UTIL_COPY_VECTORS_H
#define PSI_UTIL_COPY_VECTORS_H

#include "gasnet_ex_rma.h"

#include "runtime/util/fence.h"
#include "runtime/util/prefetch.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && !defined(PSI_TSAN)

#include <immintrin.h>

enum { PSI_COPY_VECTOR = 32, PSI_COPY_BLOCK = 4 * PSI_COPY_VECTOR, PSI_COPY_ALIGN_BYTES = 512,
       PSI_COPY_OWN_AHEAD = 1024 };

#define PSI_COPY_WIDE __attribute__((target("avx2")))
#define PSI_COPY_AVX2 PSI_COPY_WIDE __attribute__((always_inline)) static inline

/* 0 to 31 bytes; fewer than 16 as the inlines of put and get copy them. */
PSI_COPY_AVX2 void
psi_copy_few(char *dst, const char *src, size_t len)
{
	if (len >= 16) {
		const __m128i head = _mm_loadu_si128((const __m128i *)(const void *)src);
		const __m128i tail =
			_mm_loadu_si128((const __m128i *)(const void *)(src + len - 16));

		_mm_storeu_si128((__m128i *)(void *)dst, head);
		_mm_storeu_si128((__m128i *)(void *)(dst + len - 16), tail);
	} else {
		psi_rma_copy_small(dst, src, len);
	}
}

PSI_COPY_AVX2 __m256i
psi_copy_load(const char *src)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)src);
}

/* In the order of the program: a CPU joins two stores to a line only if they follow each other. */
PSI_COPY_AVX2 void
psi_copy_store(char *dst, __m256i vector)
{
	_mm256_storeu_si256((__m256i *)(void *)dst, vector);
	__asm__ __volatile__("" : : : "memory");
}

/* 32 to 64 bytes. */
PSI_COPY_AVX2 void
psi_copy_ends(char *dst, const char *src, size_t len)
{
	const __m256i head = psi_copy_load(src), tail = psi_copy_load(src + len - PSI_COPY_VECTOR);

	psi_copy_store(dst, head);
	psi_copy_store(dst + len - PSI_COPY_VECTOR, tail);
}

PSI_COPY_AVX2 void
psi_copy_block(char *dst, const char *src)
{
	const __m256i a = psi_copy_load(src), b = psi_copy_load(src + 32);
	const __m256i c = psi_copy_load(src + 64), d = psi_copy_load(src + 96);

	psi_copy_store(dst, a);
	psi_copy_store(dst + 32, b);
	psi_copy_store(dst + 64, c);
	psi_copy_store(dst + 96, d);
}

/* More than 64 bytes. */
PSI_COPY_AVX2 void
psi_copy_blocks(char *dst, const char *src, size_t len)
{
	if (len <= PSI_COPY_BLOCK) {
		const size_t rest = len - 64;

		psi_copy_ends(dst, src, 64);
		psi_copy_ends(dst + rest, src + rest, 64);
		return;
	}
	if (len >= PSI_COPY_ALIGN_BYTES && (uintptr_t)dst % PSI_COPY_VECTOR) {
		const size_t head = PSI_COPY_VECTOR - (uintptr_t)dst % PSI_COPY_VECTOR;

		psi_copy_store(dst, psi_copy_load(src));
		dst += head;
		src += head;
		len -= head;
	}
	for (size_t at = 0; at + PSI_COPY_BLOCK < len; at += PSI_COPY_BLOCK)
		psi_copy_block(dst + at, src + at);
	psi_copy_block(dst + len - PSI_COPY_BLOCK, src + len - PSI_COPY_BLOCK);
}

/* More than PSI_COPY_OWN_AHEAD bytes, the first of which have been asked for. */
PSI_COPY_AVX2 void
psi_copy_owning_blocks(char *dst, const char *src, size_t len)
{
	size_t at = 0;

	for (; at + PSI_COPY_BLOCK + PSI_COPY_OWN_AHEAD < len; at += PSI_COPY_BLOCK) {
		psi_prefetch_write(dst + at + PSI_COPY_OWN_AHEAD);
		psi_prefetch_write(dst + at + PSI_COPY_OWN_AHEAD + 64);
		psi_copy_block(dst + at, src + at);
	}
	psi_copy_blocks(dst + at, src + at, len - at);
}

PSI_COPY_AVX2 void
psi_copy_vectors(void *dst, const void *src, size_t len_bytes)
{
	if (len_bytes > 2 * PSI_COPY_VECTOR)
		psi_copy_blocks(dst, src, len_bytes);
	else if (len_bytes >= PSI_COPY_VECTOR)
		psi_copy_ends(dst, src, len_bytes);
	else
		psi_copy_few(dst, src, len_bytes);
}

/*
 * The same to memory whose lines are in another CPU's cache.  Each line is prefetched for writing
 * some stores ahead, since a CPU that only stores requests few lines at a time.  The stores are
 * aligned, so that none of them needs two lines.
 */
PSI_COPY_AVX2 void
psi_copy_owning_vectors(void *dst_start, const void *src_start, size_t len_bytes)
{
	char *dst = dst_start;
	const char *src = src_start;
	const size_t head = (size_t)-(uintptr_t)dst % 64;

	if (len_bytes < 2 * PSI_COPY_OWN_AHEAD) {
		psi_copy_vectors(dst, src, len_bytes);
		return;
	}
	for (size_t at = 0; at < PSI_COPY_OWN_AHEAD; at += 64)
		psi_prefetch_write(dst + at);
	psi_copy_ends(dst, src, 64);
	psi_copy_owning_blocks(dst + head, src + head, len_bytes - head);
}

static inline bool
psi_copy_can_vectors(void)
{
	return __builtin_cpu_supports("avx2");
}

#else

#define PSI_COPY_WIDE

static inline void
psi_copy_vectors(void *dst, const void *src, size_t len_bytes)
{
	if (len_bytes)
		memcpy(dst, src, len_bytes);
}

#define psi_copy_owning_vectors psi_copy_vectors

static inline bool
psi_copy_can_vectors(void)
{
	return false;
}

#endif

#endif
