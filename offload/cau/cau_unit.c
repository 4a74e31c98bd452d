/* What the processes of a host share of its unit. */
#include "offload/cau/cau.h"

#include "runtime/process/process.h"
#include "runtime/process/shared.h"

bool
poff_cau_unit_is_only_one(void)
{
	return !psi.networked;
}

int
poff_cau_unit_take(uint32_t trees)
{
	_Atomic uint64_t *taken = &psi.shared->unit.trees;
	uint64_t before = atomic_load_explicit(taken, memory_order_relaxed);
	int number;

	do {
		number = ~before ? __builtin_ctzll(~before) : CAU_TREES;
		if ((uint32_t)number >= trees)
			return -1;
	} while (!atomic_compare_exchange_weak_explicit(taken, &before,
	                                                before | (uint64_t)1 << number,
	                                                memory_order_relaxed,
	                                                memory_order_relaxed));
	return number;
}

void
poff_cau_unit_give(unsigned number)
{
	atomic_fetch_and_explicit(&psi.shared->unit.trees, ~((uint64_t)1 << number),
	                          memory_order_relaxed);
}

uint64_t
poff_cau_unit_handle(uint64_t at_ns, uint64_t takes_ns)
{
	_Atomic uint64_t *busy_until = &psi.shared->unit.busy_until_ns;
	uint64_t before = atomic_load_explicit(busy_until, memory_order_relaxed), done;

	do
		done = (before > at_ns ? before : at_ns) + takes_ns;
	while (!atomic_compare_exchange_weak_explicit(busy_until, &before, done,
	                                              memory_order_relaxed,
	                                              memory_order_relaxed));
	return done;
}
