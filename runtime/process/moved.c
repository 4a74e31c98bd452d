#include "runtime/process/moved.h"

/* The number nearest to 0 that equals the difference modulo 2^bits. */
static uint64_t
moved_nearest(uint64_t difference, unsigned bits)
{
	const uint64_t sign = (uint64_t)1 << (bits - 1), mask = (sign << 1) - 1;

	return ((difference & mask) ^ sign) - sign;
}

static struct psi_moved_sum
moved_sum_of(uint64_t word, struct psi_moved_sum near)
{
	const unsigned shift = PSI_RMA_MOVED_SHIFT;
	const uint64_t calls = near.calls + moved_nearest(word - near.calls, shift);
	const uint64_t bytes = (word - calls) >> shift;

	return (struct psi_moved_sum){ calls,
		                       near.bytes + moved_nearest(bytes - near.bytes, 64 - shift) };
}

static struct psi_moved_sum
moved_noted(const struct psi_moved *moved, unsigned which)
{
	return (struct psi_moved_sum){
		__atomic_load_n(&moved->noted[which].calls, __ATOMIC_RELAXED),
		__atomic_load_n(&moved->noted[which].bytes, __ATOMIC_RELAXED)
	};
}

/* A reader that was delayed between the loads reads again. */
struct psi_moved_sum
psi_moved_read(const struct psi_moved *moved, unsigned which)
{
	enum { FAR = 1 << 14 };
	struct psi_moved_sum before, after = moved_noted(moved, which);
	uint64_t word;

	do {
		before = after;
		PSI_COMPILER_FENCE();
		word = __atomic_load_n(&moved->inlined[which], __ATOMIC_RELAXED);
		PSI_COMPILER_FENCE();
		after = moved_noted(moved, which);
	} while (after.calls - before.calls > FAR);
	return moved_sum_of(word, before);
}

void
psi_moved_note(struct psi_moved *moved, unsigned which)
{
	const struct psi_moved_sum sum = psi_moved_read(moved, which);

	__atomic_store_n(&moved->noted[which].calls, sum.calls, __ATOMIC_RELAXED);
	__atomic_store_n(&moved->noted[which].bytes, sum.bytes, __ATOMIC_RELAXED);
}
