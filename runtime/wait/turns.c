/*
 * Waiters that yield on a CPU have their turns in the order of their ranks.
 *
 * A rank most often waits for the one before it: in a ring, in a pipeline, where roots take turns.
 * The kernel lets those that yield on a CPU run one after the other, in an order that chance has
 * made, and that stays.  With four ranks of a CPU, a message to the next rank waits for one or two
 * turns by the middle.  In the order of ranks the next rank has the next turn.  Where ranks are
 * dealt out to the CPUs one by one, it has it at the same time on another CPU (docs/performance.md,
 * Turns in the order of ranks).
 *
 * A thread takes its position by its virtual time (virtual_time.h).  All that yield advance by one
 * slice in each turn, so their order is that of their virtual times modulo a slice.  Rank i of n
 * makes that i / n of a slice.
 *
 * A thread that has slept, or is on another CPU, has lost its position.  One that has computed has
 * lost it too, and does not know.  So each thread notes its rank in a word of its CPU, and finds
 * the rank that had the turn before.  Where that is higher than its own, the order descends.  In
 * the right order it descends at the lowest rank of the CPU alone.  Where it descends at others too
 * for a while, all are asked to take their positions.
 *
 * To take a position costs 5 us, so a thread does it at most once in 8 ms.  At first it looks
 * whether it came there.  If most do not, the kernel orders turns otherwise, and all that is left.
 *
 * All of it is relaxed: words of a CPU are hints, and a wrong one costs a position.
 */
#include "runtime/wait/turns.h"

#include "runtime/process/endpoint.h"
#include "runtime/settings/settings.h"
#include "runtime/wait/spread.h"
#include "runtime/wait/virtual_time.h"

#include "runtime/util/clock.h"

#include <sched.h>

enum {
	DESCENTS_MOST = 16,             /* at other ranks than the one before */
	RESTS_TO_FORGET = 8, REST_MOST = 16,    /* in epochs, from one request to the next */
	LOOKS_LEAST = 16, LOOKS_MOST = 64,      /* of a process, whether threads came there */
};

_Atomic uint32_t psi_turns_state;

static uint32_t
word_get(const _Atomic uint32_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void
word_set(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static void
state_set(enum psi_turns_state state)
{
	atomic_store_explicit(&psi_turns_state, state, memory_order_relaxed);
}

void
psi_turns_open(void)
{
	state_set(psi_setting_bool(psi_setting_named("PST_TURNS")) ? PSI_TURNS_TRIED
	                                                           : PSI_TURNS_OFF);
}

/* -- which threads ----------------------------------------------------------------------------- */

/* Is the thread a rank?  Several threads of one rank have no order among them. */
static bool
thread_is_rank(const struct psi_thread *thread)
{
	return thread->bound ? word_get(&thread->bound->threads) == 1 : !psi.threaded;
}

/* Threads that are ranks of one process have an endpoint each. */
static uint32_t
thread_index(const struct psi_thread *thread)
{
	return thread->bound ? thread->bound->index : 0;
}

/* The order of a host's threads is that of their keys. */
static uint32_t
thread_key(const struct psi_thread *thread)
{
	return psi.host_index[psi.boot.rank] * GASNET_MAXEPS + thread_index(thread);
}

/* -- the order --------------------------------------------------------------------------------- */

static uint32_t
epoch_now(void)
{
	return (uint32_t)(psi_now_ns() >> PSI_TURNS_EPOCH_NS_LOG);
}

/* Asks for positions, unless that was done a short time ago: each rest is twice as long as the one
 * before, until an order lasts. */
static __attribute__((noinline)) void
order_ask(struct psi_turns *turns)
{
	const uint32_t now = epoch_now(), rest = word_get(&turns->rest);
	const uint32_t since = now - word_get(&turns->asked_epoch);

	word_set(&turns->descents, 0);
	if (since < rest)
		return;
	if (since >= rest * RESTS_TO_FORGET)
		word_set(&turns->rest, 1);
	else if (rest < REST_MOST)
		word_set(&turns->rest, rest * 2);
	word_set(&turns->asked_epoch, now);
	word_set(&turns->asked, word_get(&turns->asked) + 1);
}

/* The order descends at this key. */
static void
descent_note(struct psi_turns *turns, uint32_t key)
{
	const uint32_t descents = word_get(&turns->descents);

	if (PSI_LIKELY(word_get(&turns->lowest) == key)) {
		if (PSI_UNLIKELY(descents))
			word_set(&turns->descents, descents - 1);
		return;
	}
	word_set(&turns->lowest, key);
	word_set(&turns->descents, descents + 1);
	if (descents + 1 >= DESCENTS_MOST)
		order_ask(turns);
}

static uint64_t
thread_sleeps(void)
{
	return psi_block()->count[PSI_COUNT_SLEEPS];
}

/* The thread has lost its position, or is asked to take it.  Is it time to? */
static __attribute__((noinline)) bool
position_is_due(struct psi_thread *thread, uint32_t cpu, uint32_t asked)
{
	const uint32_t now = epoch_now();

	if (thread->position.epoch == now)
		return false;
	thread->position.epoch = now;
	thread->position.cpu_and_1 = cpu + 1;
	thread->position.asked = asked;
	thread->position.sleeps = thread_sleeps();
	return true;
}

bool
psi_turns_note(struct psi_thread *thread, uint32_t cpu)
{
	struct psi_turns *turns = &psi.shared->cpus[cpu].turns;
	const uint32_t key = thread_key(thread);
	uint32_t asked;

	if (PSI_UNLIKELY(word_get(&turns->last) > key))
		descent_note(turns, key);
	word_set(&turns->last, key);
	asked = word_get(&turns->asked);
	return PSI_UNLIKELY(thread->position.asked != asked ||
	                    thread->position.cpu_and_1 != cpu + 1 ||
	                    thread->position.sleeps != thread_sleeps()) &&
	       position_is_due(thread, cpu, asked);
}

/* -- a position -------------------------------------------------------------------------------- */

/* What the looks of this process found. */
static _Atomic uint32_t looks_right, looks_wrong, looks_still;

static void
count_up(_Atomic uint32_t *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* Looks whether the thread came to its position, after one more yield.  A yield does not advance a
 * thread that is alone on its CPU, so that tells nothing, but where it is always so. */
static void
position_look(const struct psi_virtual_time *before, uint64_t position)
{
	struct psi_virtual_time now;
	uint64_t off;

	sched_yield();
	if (psi_virtual_time_read(&now) != PSI_VIRTUAL_KNOWN)
		return;
	off = (now.now + now.slice - position) % now.slice;
	if (now.now - before->now < now.slice) {
		count_up(&looks_still);
	} else if (off < now.slice / 8 || off > now.slice - now.slice / 8) {
		count_up(&looks_right);
		word_set(&psi.shared->turns_work, 1);
	} else {
		count_up(&looks_wrong);
	}
	if ((word_get(&looks_wrong) >= LOOKS_LEAST &&
	     word_get(&looks_right) < 2 * word_get(&looks_wrong)) ||
	    (word_get(&looks_still) >= LOOKS_MOST && !word_get(&looks_right)))
		state_set(PSI_TURNS_OFF);
}

/* Where in a slice the thread's position is, in virtual ns: rank i of n is at i / n. */
static uint64_t
position_of(const struct psi_thread *thread, uint64_t slice)
{
	const uint64_t endpoints = psi_ep_count() ? psi_ep_count() : 1;

	return slice * (psi.host_index[psi.boot.rank] * endpoints + thread_index(thread)) /
	       (psi.shared->size * endpoints);
}

/* Deals the thread out to a CPU, once it is known that positions work.  Returns true if it moved:
 * it takes its position there later. */
static bool
thread_deal(struct psi_thread *thread)
{
	uint32_t threads;

	if (!word_get(&looks_right))
		return false;
	threads = (uint32_t)psi_setting_int(psi_setting_named("PST_RANKS_PER_PROCESS"));
	return psi_spread_deal(thread, psi.alike_before * threads + thread_index(thread));
}

/* Others of this host may know.  A rank that did not would sleep where they yield, and a thread
 * that sleeps has no position. */
static inline void
state_follow(void)
{
	if (PSI_UNLIKELY(word_get(&psi_turns_state) == PSI_TURNS_TRIED) &&
	    word_get(&psi.shared->turns_work))
		state_set(PSI_TURNS_ORDERED);
}

/* Yields. */
static void
position_take(struct psi_thread *thread)
{
	struct psi_virtual_time time;
	const enum psi_virtual known = psi_virtual_time_read(&time);
	const bool looks = word_get(&looks_right) + word_get(&looks_wrong) < LOOKS_MOST;
	uint64_t position;

	if (known == PSI_VIRTUAL_NEVER)
		state_set(PSI_TURNS_OFF);
	if (known != PSI_VIRTUAL_KNOWN || thread_deal(thread)) {
		sched_yield();
		return;
	}
	position = position_of(thread, time.slice);
	if (!psi_virtual_time_yield(&time, (position + time.slice - time.now % time.slice) %
	                                           time.slice)) {
		state_set(PSI_TURNS_OFF);
		return;
	}
	psi_count(psi_block()->count, PSI_COUNT_TURNS_ORDERED);
	if (!looks)
		return;
	if (!word_get(&looks_right))
		thread->position.cpu_and_1 = 0;         /* once more, to be dealt */
	position_look(&time, position);
}

/* ---------------------------------------------------------------------------------------------- */

void
psi_turns_yield(int cpu)
{
	struct psi_thread *thread = psi_thread_known();
	const uint32_t ranks = word_get(&psi.ranks_per_cpu);

	if (!psi_turns_have_state(PSI_TURNS_TRIED, ranks) || !thread || cpu < 0 ||
	    cpu >= PSI_SHARED_CPUS || !thread_is_rank(thread)) {
		sched_yield();
		return;
	}
	state_follow();
	if (psi_turns_note(thread, (uint32_t)cpu))
		position_take(thread);
	else
		sched_yield();
}
