/*
 * The store-load fence of the sleeping protocols.  It is the only fence that stands alone: data is
 * always handed over by an ordered operation on the flag itself.
 *
 * ThreadSanitizer does not see stand-alone fences; there, a read-modify-write of a word of the
 * calling thread takes its place.
 */
#ifndef PSI_UTIL_FENCE_H
#define PSI_UTIL_FENCE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define PSI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PSI_TSAN 1
#endif
#endif

/*
 * ThreadSanitizer sees one process.  What this one hands to another and gets back is in order by
 * the pairs of both hand-overs, of which it misses the other process's halves.  What a thread did
 * before it said so here is in order before an acquire of the same word, which gets the thing back.
 */
#ifdef PSI_TSAN
void __tsan_release(void *word);
void __tsan_acquire(void *word);
enum { PSI_TSAN_HERE = 1 };
#else
enum { PSI_TSAN_HERE = 0 };
#endif

static inline void
psi_handed_to_process(void *word)
{
#ifdef PSI_TSAN
	__tsan_release(word);
#else
	(void)word;
#endif
}

/* Called by a thread that gets the thing back without an acquire of that word. */
static inline void
psi_back_from_process(void *word)
{
#ifdef PSI_TSAN
	__tsan_acquire(word);
#else
	(void)word;
#endif
}

/*
 * The same of memory that peers read and write by messages, whose next transfer overlaps the last
 * one, but need not begin where that did: each page that it touches is such a word, too.
 */
enum { PSI_PAGE_BYTES = 4096 };

static inline void *
psi_page_of(void *memory, size_t at)
{
	return (void *)(((uintptr_t)memory + at) / PSI_PAGE_BYTES * PSI_PAGE_BYTES);
}

static inline size_t
psi_next_page(void *memory, size_t at)
{
	return at + PSI_PAGE_BYTES - ((uintptr_t)memory + at) % PSI_PAGE_BYTES;
}

static inline void
psi_memory_to_process(void *memory, size_t len_bytes)
{
	psi_handed_to_process(memory);
	for (size_t at = 0; PSI_TSAN_HERE && at < len_bytes; at = psi_next_page(memory, at))
		psi_handed_to_process(psi_page_of(memory, at));
}

static inline void
psi_memory_from_process(void *memory, size_t len_bytes)
{
	psi_back_from_process(memory);
	for (size_t at = 0; PSI_TSAN_HERE && at < len_bytes; at = psi_next_page(memory, at))
		psi_back_from_process(psi_page_of(memory, at));
}

static inline void
psi_store_load_fence(void)
{
#ifdef PSI_TSAN
	_Atomic int here = 0;

	atomic_fetch_add(&here, 1);
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Returns when what this thread has stored is where others see it; for taking times, not for an
 * order. */
static inline void
psi_stores_drain(void)
{
	psi_store_load_fence();
}

#endif
