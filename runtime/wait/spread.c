/*
 * Waiters that yield are spread over the CPUs that they may use.
 *
 * The kernel may leave six of eight ranks on one of two CPUs for seconds.  A thread that yields ran
 * a moment ago, so that it seems worth keeping where it is.  A collective then takes as long as the
 * fullest CPU needs for its ranks (docs/performance.md, Ranks spread over the CPUs).
 *
 * Time is divided into epochs of 17 ms.  Each thread that yields is counted once in each of them,
 * at the CPU where it is.  A CPU where more were counted in the epoch before than its share,
 * psi.ranks_per_cpu, gives up one for each that is too many: the thread that takes itself off that
 * count moves to the CPU, of those that it may use, with the least count.
 *
 * Threads that compute or sleep are not counted, and other programs are not, so a CPU may only seem
 * to have room.  The kernel moves the thread away again then.  So one that moves twice in a short
 * time rests before the next move, each time twice as long.
 *
 * All of it is relaxed: counts are hints, and a wrong one costs a move.
 */
#include "runtime/wait/spread.h"

#include "runtime/settings/settings.h"

#include "runtime/util/clock.h"
#include "runtime/util/cpuset.h"
#include "runtime/util/topology.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* A word of counts: the epoch, and how many threads yielded in it. */
enum { EPOCH_NS_LOG = 24, COUNT_BITS = 16, COUNT_MASK = (1 << COUNT_BITS) - 1 };

/* A thread that moved longer ago than so many times its rest rests no more; the longest rest is 17
 * s. */
enum { RESTS_TO_FORGET = 8, REST_MOST = 1024 };

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

/* The CPU with the least count, of those that are allowed and the thread's own. */
static uint32_t
cpu_of_fewest(const cpu_set_t *allowed, uint32_t own, uint64_t epoch)
{
	uint32_t best = own;

	for (uint32_t cpu = 0; cpu < PSI_SHARED_CPUS && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && count_get(cpu, epoch) < count_get(best, epoch))
			best = cpu;
	return best;
}

/* Goes to a CPU, and may then use those that it could use before.  That they are all of the cpuset
 * is asked for by naming all there are, so that a cpuset which grows later is followed.  Where
 * somebody else changes what the thread may use meanwhile, that stays.  False: the kernel does not
 * let it go there. */
static bool
thread_go(uint32_t cpu, const cpu_set_t *allowed)
{
	cpu_set_t one, now;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0)
		return false;
	if (sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, &one))
		return true;
	memset(&now, 0xff, sizeof now);
	(void)sched_setaffinity(0, sizeof now, &now);
	if (sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, allowed))
		(void)sched_setaffinity(0, sizeof *allowed, allowed);
	return true;
}

/* May the thread move?  If so, its next rest is set. */
static bool
thread_has_rested(struct psi_thread *thread, uint64_t epoch)
{
	const uint64_t since = epoch - thread->moved_epoch;

	if (since < thread->rest_epochs)
		return false;
	if (since >= thread->rest_epochs * RESTS_TO_FORGET)
		thread->rest_epochs = 1;
	else if (thread->rest_epochs < REST_MOST)
		thread->rest_epochs *= 2;
	thread->moved_epoch = epoch;
	return true;
}

/* Leaves a CPU at which more than its share were counted in that epoch.  Returns the CPU where the
 * thread is now. */
static __attribute__((noinline)) uint32_t
thread_leave(struct psi_thread *thread, uint32_t cpu, uint64_t epoch, uint32_t share)
{
	cpu_set_t allowed;
	uint32_t to = cpu;

	if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
		to = cpu_of_fewest(&allowed, cpu, epoch);
	else
		atomic_store_explicit(&is_on, false, memory_order_relaxed);
	if (count_get(to, epoch) + 1 >= count_get(cpu, epoch) ||
	    !thread_has_rested(thread, epoch) || !count_down(cpu, epoch, share))
		return cpu;
	if (!thread_go(to, &allowed)) {
		if (errno == EPERM || errno == ENOSYS)
			atomic_store_explicit(&is_on, false, memory_order_relaxed);
		count_up(cpu, epoch);
		return cpu;
	}
	count_up(to, epoch);
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
	if (PSI_UNLIKELY(count_get(cpu, epoch - 1) > share) && !thread->is_dealt)
		to = thread_leave(thread, cpu, epoch - 1, share);
	count_up(to, epoch);
	thread->counted_epoch = epoch;
	thread->counted_cpu = to;
	return to != cpu;
}

/* Do all CPUs that the thread may use share a cache?  Asked once, since that takes time. */
static bool
cpus_share_cache(void)
{
	static _Atomic uint32_t answer; /* 0: not known yet; 1: no; 2: yes */
	struct psi_topology topology;

	if (!atomic_load_explicit(&answer, memory_order_relaxed)) {
		psi_topology_read("", &topology);
		atomic_store_explicit(
			&answer,
			psi_topology_cache("", &topology.allowed) == PSI_NO_CACHE ? 1 : 2,
			memory_order_relaxed);
	}
	return atomic_load_explicit(&answer, memory_order_relaxed) == 2;
}

bool
psi_spread_deal(struct psi_thread *thread, uint32_t number)
{
	cpu_set_t allowed;
	uint32_t to;

	thread->is_dealt = false;       /* the CPUs may have changed */
	if (!atomic_load_explicit(&is_on, memory_order_relaxed) ||
	    sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2 ||
	    (uint32_t)CPU_COUNT(&allowed) != psi.sharers_cpus || !cpus_share_cache())
		return false;
	thread->is_dealt = true;
	to = psi_cpuset_numbered(&allowed, number);
	if ((int)to == sched_getcpu() ||
	    !thread_has_rested(thread, psi_now_ns() >> EPOCH_NS_LOG) || !thread_go(to, &allowed))
		return false;
	psi_count(psi_block()->count, PSI_COUNT_CPU_MOVES);
	return true;
}

void
psi_spread_before_yield(int cpu)
{
	struct psi_thread *thread = psi_thread_known();

	if (!thread || ++thread->yields % PSI_YIELDS_PER_SPREAD != 0)
		return;
	if (cpu >= 0 && cpu < PSI_SHARED_CPUS &&
	    atomic_load_explicit(&is_on, memory_order_relaxed))
		(void)psi_spread_look(thread, (uint32_t)cpu, psi_now_ns() >> EPOCH_NS_LOG);
}
