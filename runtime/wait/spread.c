/*
 * Waiters that yield are spread over the CPUs that they may use.
 *
 * The kernel may leave six of eight ranks on one of two CPUs for seconds.  A thread that yields ran
 * a moment ago, so that it seems worth keeping where it is.  A collective then takes as long as the
 * fullest CPU needs for its ranks (docs/performance.md, More ranks than CPUs).
 *
 * Time is divided into epochs of 17 ms.  Each thread that yields is counted once in each of them,
 * at the CPU where it is.  A CPU where more were counted in the epoch before than its share,
 * psi.ranks_per_cpu, gives one up for each that is too many: the thread that takes itself off that
 * count moves to the CPU, of those that it may use, with the least count.  It asks the kernel for
 * that CPU alone, and then for those that it could use before; the second does not move it again.
 *
 * Threads that do not yield, since they compute or sleep, are left to the kernel.  They are not
 * counted, so they move nobody.  All of it is relaxed: counts are hints, and a wrong one costs a
 * move.
 */
#include "runtime/wait/spread.h"

#include "runtime/settings/settings.h"

#include "runtime/util/clock.h"

#include <sched.h>

/* A word of counts: the epoch, and how many threads yielded in it. */
enum { EPOCH_NS_LOG = 24, COUNT_BITS = 16, COUNT_MASK = (1 << COUNT_BITS) - 1 };

static _Atomic bool is_on;

void
psi_spread_open(void)
{
	atomic_store_explicit(&is_on, psi_setting_bool(psi_setting_named("PST_SPREAD")),
	                      memory_order_relaxed);
}

/* Words of two epochs are kept. */
static _Atomic uint64_t *
count_of(uint32_t cpu, uint64_t epoch)
{
	return &psi.shared->cpus[cpu].yielded[epoch % 2];
}

static uint32_t
count_in(uint64_t word, uint64_t epoch)
{
	return word >> COUNT_BITS == epoch ? word & COUNT_MASK : 0;
}

static uint32_t
count_get(uint32_t cpu, uint64_t epoch)
{
	return count_in(atomic_load_explicit(count_of(cpu, epoch), memory_order_relaxed), epoch);
}

static void
count_up(uint32_t cpu, uint64_t epoch)
{
	_Atomic uint64_t *word = count_of(cpu, epoch);
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed), new;

	do {
		if (old >> COUNT_BITS > epoch)
			return;         /* this thread is late */
		new = epoch << COUNT_BITS | ((count_in(old, epoch) + 1) & COUNT_MASK);
	} while (!atomic_compare_exchange_weak_explicit(word, &old, new, memory_order_relaxed,
	                                              memory_order_relaxed));
}

/* Takes one off a count of more than `least'.  False: it is not more. */
static bool
count_down(uint32_t cpu, uint64_t epoch, uint32_t least)
{
	_Atomic uint64_t *word = count_of(cpu, epoch);
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	do
		if (count_in(old, epoch) <= least)
			return false;
	while (!atomic_compare_exchange_weak_explicit(word, &old, old - 1, memory_order_relaxed,
	                                              memory_order_relaxed));
	return true;
}

/* Of these CPUs, and the thread's own, the one that the fewest were counted at. */
static uint32_t
cpu_of_fewest(const cpu_set_t *allowed, uint32_t own, uint64_t epoch)
{
	uint32_t best = own;

	for (uint32_t cpu = 0; cpu < PSI_SHARED_CPUS && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && count_get(cpu, epoch) < count_get(best, epoch))
			best = cpu;
	return best;
}

/* False: the kernel does not let it. */
static bool
thread_go(uint32_t cpu, const cpu_set_t *allowed)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof one, &one) == 0 &&
	       sched_setaffinity(0, sizeof *allowed, allowed) == 0;
}

/* Leaves a CPU with more than its share.  Returns the CPU where the thread is now. */
static __attribute__((noinline)) uint32_t
thread_leave(uint32_t cpu, uint64_t epoch, uint32_t share)
{
	cpu_set_t allowed;
	uint32_t to;

	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return cpu;
	to = cpu_of_fewest(&allowed, cpu, epoch);
	if (count_get(to, epoch) + 1 >= count_get(cpu, epoch) || !count_down(cpu, epoch, share))
		return cpu;
	count_up(to, epoch);
	if (!thread_go(to, &allowed)) {
		atomic_store_explicit(&is_on, false, memory_order_relaxed);
		return cpu;
	}
	psi_count(psi_block()->count, PSI_COUNT_CPU_MOVES);
	return to;
}

bool
psi_spread_look(struct psi_thread *thread, uint32_t cpu, uint64_t epoch)
{
	const uint32_t share = atomic_load_explicit(&psi.ranks_per_cpu, memory_order_relaxed);
	uint32_t to = cpu;

	if (thread->counted_epoch == epoch) {
		if (thread->counted_cpu == cpu)
			return false;
		(void)count_down(thread->counted_cpu, epoch, 0);
	}
	if (PSI_UNLIKELY(count_get(cpu, epoch - 1) > share))
		to = thread_leave(cpu, epoch - 1, share);
	count_up(to, epoch);
	thread->counted_epoch = epoch;
	thread->counted_cpu = to;
	return to != cpu;
}

void
psi_spread_before_yield(int cpu)
{
	struct psi_thread *thread = psi_thread_self();

	if (++thread->yields % PSI_YIELDS_PER_SPREAD == 0 && cpu >= 0 && cpu < PSI_SHARED_CPUS &&
	    atomic_load_explicit(&is_on, memory_order_relaxed))
		(void)psi_spread_look(thread, (uint32_t)cpu, psi_now_ns() >> EPOCH_NS_LOG);
}
