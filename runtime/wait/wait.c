/*
 * The one way to wait, for everything: poll for a while, yield while other runnable ranks share the
 * CPU, then sleep on the endpoint's wake word.
 *
 * Where ranks share CPUs, a waiter yields for some milliseconds before it sleeps.  A switch to the
 * next process costs less than a wake-up; the wake-up of a CPU that became idle costs ten times as
 * much.
 * Only YIELDERS_PER_CPU of a CPU's waiters yield, since with more of them a turn takes longer than
 * a wake-up; but all do where turns have an order (turns.h).  Waits that end once the other ranks
 * have had their turn always yield: those for room in a queue, and those for events, which
 * collectives have too.
 *
 * Nothing is lost between the last look and the sleep.  The wait first arms.  It
 * then runs the progress functions and returns once more to its caller, so that both look again.
 * Only the next step sleeps.  A thread that makes a condition true wakes the sleeper: a sender with
 * its message, a receiver that made room, a thread of this process that ran a handler or finished a
 * phase (psi_wake_own).  Conditions that no thread announces, such as plain memory, are looked at
 * again after PST_SLEEP_MAX.
 */
#include "runtime/wait/wait.h"

#include "runtime/process/rules.h"
#include "runtime/wait/pollset.h"
#include "runtime/wait/spread.h"
#include "runtime/wait/turns.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/clock.h"

#include <sched.h>

enum phase { LOOKING, YIELDING, ARMED, SLEPT };

enum {
	POLL_BUDGET = 64,               /* messages per poll and network */
	MAX_PROGRESS = 16,
	/* Looks before a thread yields, and yields before it sleeps. */
	LOOKS_ALONE = 20000,            /* a CPU of its own: about as long as waking it would
	                                 * take */
	/* Other programs may need this rank's CPU, and would otherwise take it for a whole time
	 * slice.  If no program does, a yield costs some hundred nanoseconds. */
	LOOKS_PER_YIELD = 512,
	/* A pause takes as long as half the look: worth it for the sake of the CPU's other thread,
	 * if there is one, once the wait has lasted for some ten microseconds. */
	LOOKS_EAGER = 2048,
	LOOKS_CROWDED = 4,
	/* Between two yields, divided by the square of the ranks per CPU: with two, the message is
	 * likely under way, and the look lasts as long as a switch; the more there are, the
	 * likelier it is another's turn. */
	LOOKS_BETWEEN = 128,
	/* Where turns have an order, a message is likely under way, so the look lasts as long as
	 * two switches.  A wait that begins, or is for all ranks, looks once. */
	LOOKS_ORDERED = 16,
	/* Where a look is at the network too, which takes as long as a switch, or longer: in place
	 * of LOOKS_PER_YIELD, and between two yields. */
	NETWORKED_PER_YIELD = 32,
	LOOKS_NETWORKED = 1,
	YIELDS_ALONE = 2,
	YIELDERS_PER_CPU = 4,
	YIELD_NS = 2000000,
	YIELDS_PER_CLOCK = 2,           /* most waits end before the second */
	EMPTY_POLLS_BEFORE_YIELD = 32,
	SPINS_PER_REPORT = 256,         /* looks at the clock of a wait that never sleeps */
	TURNS_PER_REPORT = 128,         /* ... and of one that messages keep awake */
};

static void (*progress[MAX_PROGRESS])(void);
static unsigned progress_count;
_Atomic uint32_t psi_progress_open;

void
psi_progress_add(void (*advance)(void))
{
	if (progress_count == MAX_PROGRESS)
		psi_fatal("more than %d progress functions", MAX_PROGRESS);
	progress[progress_count++] = advance;
}

/* The caller has written a condition for which others may wait.  A sleeping thread counted
 * itself, then announced its sleep, then looked.  On this side psi_thread_others and wake() keep
 * the order. */
void
psi_wake_own(void)
{
	if (psi.threaded && psi_thread_others() && (!psi_are_several() || psi_pollset_sleepers()))
		psi.ops->wake(psi.ep->port);
}

static inline __attribute__((always_inline)) unsigned
poll_networks(unsigned networks)
{
	unsigned delivered = psi_are_several() ? psi_pollset_poll(networks, POLL_BUDGET)
	                                   : psi.ops->poll(psi.ep->port, networks, POLL_BUDGET);
	uint64_t *counts = psi_block()->count;

	psi_count(counts, PSI_COUNT_POLLS);
	if (delivered)
		psi_count(counts, PSI_COUNT_POLLS_FULL);
	return delivered;
}

static void __attribute__((noinline))
run_all_progress(void)
{
	psi_room_retry();
	for (unsigned i = 0; i < progress_count; i++)
		progress[i]();
}

/* Room that was lacked may be no longer, although nothing is under way. */
static inline void
progress_run(void)
{
	if (PSI_UNLIKELY(atomic_load_explicit(&psi_progress_open, memory_order_relaxed) ||
	                 psi_is_room_missing()))
		run_all_progress();
}

static inline __attribute__((always_inline)) unsigned
poll_both(void)
{
	unsigned delivered;

	psi_rule_poll_begin();
	delivered = poll_networks(PSI_BOTH_NETWORKS);
	progress_run();
	psi_rule_poll_end();
	return delivered;
}

unsigned
psi_poll(void)
{
	return poll_both();
}

/* Yields where ranks share CPUs; here as psi_turns_yield's cpu. */
static void
wait_yield(int here)
{
	psi_spread_before_yield(here);
	psi_turns_yield(here);
}

int
gasnet_AMPoll(void)
{
	struct psi_thread *thread;

	psi_need_init("gasnet_AMPoll");
	psi_rule_call("gasnet_AMPoll");
	thread = psi_thread_self();
	if (psi_poll() || !psi_is_crowded()) {
		thread->empty_polls = 0;
	} else if (++thread->empty_polls >= EMPTY_POLLS_BEFORE_YIELD) {
		thread->empty_polls = 0;
		wait_yield(sched_getcpu());
	}
	return GASNET_OK;
}

int
gasnet_set_waitmode(int wait_mode)
{
	if (wait_mode < GASNET_WAIT_SPIN || wait_mode > GASNET_WAIT_SPINBLOCK)
		return GASNET_ERR_BAD_ARG;
	atomic_store_explicit(&psi.wait_mode, wait_mode, memory_order_relaxed);
	return GASNET_OK;
}

static _Atomic int32_t *
yielders_of(uint32_t cpu)
{
	return &psi.shared->cpus[cpu].yielders;
}

/* Counts the waiter among those of the CPU where it is; false if there are enough of them. */
static bool
yielding_start(struct psi_wait *wait, uint16_t cpu, bool always)
{
	const uint32_t ranks = atomic_load_explicit(&psi.ranks_per_cpu, memory_order_relaxed);

	if (atomic_fetch_add_explicit(yielders_of(cpu), 1, memory_order_relaxed) <
	            YIELDERS_PER_CPU ||
	    always || psi_turns_are_ordered(ranks)) {
		wait->cpu = cpu;
		wait->phase = YIELDING;
		return true;
	}
	atomic_fetch_sub_explicit(yielders_of(cpu), 1, memory_order_relaxed);
	return false;
}

static void
yielding_stop(struct psi_wait *wait)
{
	if (wait->phase != YIELDING)
		return;
	atomic_fetch_sub_explicit(yielders_of(wait->cpu), 1, memory_order_relaxed);
	wait->phase = LOOKING;
}

/* True once it has yielded for YIELD_NS.  The clock is read at each second yield. */
static bool
wait_yielded_for_long(struct psi_wait *wait)
{
	uint64_t now;

	if (++wait->yields % YIELDS_PER_CLOCK)
		return false;
	now = psi_now_ns();
	if (!wait->since)
		wait->since = now;
	return now - wait->since > YIELD_NS;
}

/* May this waiter yield, rather than sleep?  One that was moved to another CPU while it did goes
 * on. */
static bool
wait_may_yield(struct psi_wait *wait, int here)
{
	const uint16_t cpu = (uint16_t)(here < 0 ? 0 : here % PSI_SHARED_CPUS);
	bool always = wait->turns & PSI_WAIT_PATIENT;

	if (wait_yielded_for_long(wait))
		return false;
	if (wait->phase == YIELDING) {
		if (wait->cpu == cpu)
			return true;
		yielding_stop(wait);
		always = true;
	}
	return yielding_start(wait, cpu, always);
}

/* Nothing arrived, where each rank has a CPU.  True if it is time to sleep. */
static bool
wait_spin_alone(struct psi_wait *wait, int mode)
{
	if (++wait->spins < LOOKS_ALONE) {
		if (wait->spins % (psi.networked ? NETWORKED_PER_YIELD : LOOKS_PER_YIELD) == 0)
			sched_yield();
		else if (wait->spins > LOOKS_EAGER)
			psi_pause();
		return false;
	}
	if (mode == GASNET_WAIT_SPIN) {
		if (wait->spins % SPINS_PER_REPORT == 0)
			psi_hang_look(wait, psi_wait_limit_ns(wait));
		return false;
	}
	if (wait->spins >= LOOKS_ALONE + YIELDS_ALONE)
		return true;
	sched_yield();
	return false;
}

/* Looks before the next yield. */
static uint32_t
wait_looks_crowded(const struct psi_wait *wait)
{
	const uint32_t ranks = atomic_load_explicit(&psi.ranks_per_cpu, memory_order_relaxed);

	if (psi.networked)
		return LOOKS_NETWORKED;
	if (psi_turns_are_ordered(ranks))
		return wait->phase == YIELDING && !(wait->turns & PSI_WAIT_LOOKS_ONCE)
		               ? LOOKS_ORDERED
		               : 1;
	if (wait->phase == YIELDING)
		return LOOKS_BETWEEN / (ranks * ranks);
	return ranks > 2 && wait->turns & PSI_WAIT_LOOKS_ONCE ? 1 : LOOKS_CROWDED;
}

/* Nothing arrived, where ranks share CPUs.  True if it is time to sleep. */
static bool
wait_spin_crowded(struct psi_wait *wait, int mode)
{
	int here;

	if (++wait->spins < wait_looks_crowded(wait)) {
		psi_pause();
		return false;
	}
	wait->spins = 0;
	here = sched_getcpu();
	if (mode == GASNET_WAIT_SPIN)
		psi_hang_look(wait, psi_wait_limit_ns(wait));
	else if (!wait_may_yield(wait, here))
		return true;
	wait_yield(here);
	return false;
}

/* True if it is time to sleep. */
static bool
wait_spin_on(struct psi_wait *wait)
{
	const int mode = atomic_load_explicit(&psi.wait_mode, memory_order_relaxed);

	if (mode == GASNET_WAIT_BLOCK)
		return true;
	return psi_is_crowded() ? wait_spin_crowded(wait, mode) : wait_spin_alone(wait, mode);
}

/* Does it wait for what may arrive at another endpoint than the thread's own? */
static inline bool
wait_is_elsewhere(const struct psi_wait *wait)
{
	const struct psi_reason *reason = wait->reason;

	return reason && reason->ep && reason->ep != psi_pollset_bound;
}

/* One step: polls these networks, and when there is nothing looks, yields or sleeps; room_peer,
 * unless PSI_NO_PEER, wakes when it makes room. */
static inline __attribute__((always_inline)) void
wait_for(struct psi_wait *wait, unsigned networks, uint32_t room_peer)
{
	unsigned delivered;

	if (wait->phase == ARMED) {
		psi_wait_sleep(wait);
		wait->phase = SLEPT;
	}
	delivered = networks == PSI_BOTH_NETWORKS ? poll_both() : poll_networks(networks);
	if (psi_are_several() && wait_is_elsewhere(wait))
		delivered += psi_pollset_poll_for(wait, networks, POLL_BUDGET);
	if (delivered) {
		yielding_stop(wait);
		wait->phase = LOOKING;
		wait->spins = 0;
		wait->since = 0;
		wait->turns += PSI_WAIT_TURN;
		if (PSI_UNLIKELY(wait->turns / PSI_WAIT_TURN % TURNS_PER_REPORT == 0))
			psi_hang_look(wait, psi_wait_limit_ns(wait));
		return;
	}
	/* One that slept and found nothing goes back to sleep at once. */
	if (wait->phase != SLEPT && !wait_spin_on(wait))
		return;
	yielding_stop(wait);
	(void)psi_thread_self();        /* counted before it sleeps, so that others wake it */
	if (!psi_wait_arm(wait, networks, room_peer))
		return;
	wait->phase = ARMED;
	if (networks == PSI_BOTH_NETWORKS)
		progress_run();
}

void
psi_wait_for_room(struct psi_wait *wait, unsigned network, uint32_t peer)
{
	struct psi_block *block = psi_block();
	/* Perhaps in a handler that replies, and others run meanwhile. */
	const uint64_t handler = atomic_load_explicit(&block->handler, memory_order_relaxed);

	psi_rule_wait_for_room(wait);
	wait->turns |= PSI_WAIT_PATIENT;
	wait_for(wait, network == PSI_REPLIES ? 1 << PSI_REPLIES : PSI_BOTH_NETWORKS, peer);
	atomic_store_explicit(&block->handler, handler, memory_order_relaxed);
}

void
psi_wait_step(struct psi_wait *wait)
{
	if (PSI_UNLIKELY(!psi.open))
		psi_need_init("GASNET_BLOCKUNTIL");
	psi_rule_wait_step(wait);
	wait_for(wait, PSI_BOTH_NETWORKS, PSI_NO_PEER);
}

void
psi_wait_end(struct psi_wait *wait)
{
	if (wait->phase == ARMED)
		psi_wait_disarm(wait);
	if (PSI_UNLIKELY(wait->first > PSI_SLEPT_ONCE))
		psi_hang_over(wait);
	psi_rule_wait_end(wait);
	yielding_stop(wait);
	wait->phase = LOOKING;
}
