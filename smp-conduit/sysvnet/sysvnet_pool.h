/*
 * Buffers of a receiver for payloads that do not fit in a lane, and for claims: per network a few
 * large and some small ones, so that neither network can starve the other.
 *
 * Pairs:  R3 (give back) -> A3 (take)   last access by one user before the first by the next
 */
#ifndef SYSVNET_POOL_H
#define SYSVNET_POOL_H

#include "runtime/util/delay.h"
#include "smp-conduit/sysvnet/sysvnet_shared.h"

#include <stdbool.h>

enum { SYSVNET_NO_BUFFER = -1 };

/* A buffer's name: its size class in the upper half, its number in the lower. */
static inline uint32_t sysvnet_buffer_name(enum sysvnet_size size, unsigned number)
{
	return (uint32_t)size << 16 | number;
}

static inline size_t sysvnet_buffer_bytes(enum sysvnet_size size)
{
	return size == SYSVNET_LARGE ? SYSVNET_LARGE_BYTES : SYSVNET_SMALL_BYTES;
}

/* Offset of a buffer among those of its network. */
static inline size_t
sysvnet_buffer_offset(uint32_t name)
{
	size_t number = name & 0xffff;

	if (name >> 16 == SYSVNET_LARGE)
		return number * SYSVNET_LARGE_BYTES;
	return (size_t)SYSVNET_LARGE_COUNT * SYSVNET_LARGE_BYTES + number * SYSVNET_SMALL_BYTES;
}

/* Takes a free buffer; its number, or SYSVNET_NO_BUFFER. */
static inline int
sysvnet_pool_take(_Atomic uint64_t *busy, enum sysvnet_size size)
{
	const unsigned count = size == SYSVNET_LARGE ? SYSVNET_LARGE_COUNT : SYSVNET_SMALL_COUNT;
	const uint64_t all = ((uint64_t)1 << count) - 1;
	uint64_t taken = atomic_load_explicit(busy, memory_order_relaxed);

	for (;;) {
		uint64_t left = ~taken & all, bit = left & (~left + 1);

		if (!left)
			return SYSVNET_NO_BUFFER;
		if (atomic_compare_exchange_weak_explicit(
			    busy, &taken, taken | bit,
			    memory_order_acquire, /* A3: acquire, from R3 in sysvnet_pool_give */
			    memory_order_relaxed)) {
			PSI_DELAY_POINT(claim);
			return __builtin_ctzll(bit);
		}
	}
}

static inline void
sysvnet_pool_give(_Atomic uint64_t *busy, unsigned number)
{
	PSI_DELAY_POINT(give);
	atomic_fetch_and_explicit(
		busy, ~((uint64_t)1 << number),
		memory_order_release); /* R3: release, to A3 in sysvnet_pool_take */
}

#endif
