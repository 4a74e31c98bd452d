/*
 * Waiters that yield on a CPU have their turns in the order of their ranks.
 *
 * A rank most often waits for the one before it: in a ring, in a pipeline, where roots take turns.
 * The kernel lets those that yield on a CPU run one after the other, in an order that chance has
 * made, and that stays.  With four ranks of a CPU, a message to the next rank waits for one or two
 * turns by the middle.  In the order of ranks the next rank has the next turn, and where ranks are
 * dealt out to the CPUs one by one, it has it at the same time on another CPU (docs/performance.md,
 * Turns in the order of ranks).
 *
 * A thread takes its place by its virtual time (virtual_time.h).  All that yield advance by one
 * slice in each turn, so their order is that of their virtual times modulo a slice.  Rank i of n
 * makes that i / n of a slice, and goes to the CPU that is dealt out to it.
 *
 * A thread that has slept, or is on another CPU, has lost its place.  One that has computed has
 * lost it too, and does not know.  So each thread notes its rank in a word of its CPU, and finds
 * whose turn was before.  A rank that is lower than that is a descent; in the right order only the
 * lowest rank of the CPU finds any.  Where others do again and again, all are asked to take their
 * places.
 *
 * A place costs 5 us, so a thread takes one at most once in 8 ms.  It looks whether the first
 * ones came about; if not, the kernel orders turns otherwise, and no more are taken.
 *
 * All of it is relaxed: words of a CPU are hints, and a wrong one costs a place.
 */
#include "runtime/wait/turns.h"

#include "runtime/process/endpoint.h"
#include "runtime/settings/settings.h"
#include "runtime/wait/spread.h"
#include "runtime/wait/virtual_time.h"

#include "runtime/util/clock.h"

#include <sched.h>

enum {
	EPOCH_NS_LOG = 23,              /* 8 ms */
	WRONG_MOST = 16,                /* descents that not always the same rank finds */
	RESTS_TO_FORGET = 8, REST_MOST = 16,    /* in epochs, from one request to the next */
	LOOKS_AT_PLACES = 3,
};

_Atomic bool psi_turns_on;

void
psi_turns_open(void)
{
	atomic_store_explicit(&psi_turns_on, psi_setting_bool(psi_setting_named("PST_TURNS")),
	                      memory_order_relaxed);
}

/* -- the order --------------------------------------------------------------------------------- */

/* Of the thread's endpoint.  Threads that are ranks of one process have one each. */
static uint32_t
index_of(const struct psi_thread *thread)
{
	return thread->bound ? thread->bound->index : 0;
}

/* By this the threads of a host have their order. */
static uint32_t
key_of(const struct psi_thread *thread)
{
	return psi.host_index[psi.boot.rank] * GASNET_MAXEPS + index_of(thread);
}

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

static uint32_t
epoch_now(void)
{
	return (uint32_t)(psi_now_ns() >> EPOCH_NS_LOG);
}

/* Several ranks find descents.  Asks for places, unless that was done a short time ago: each rest
 * is twice as long as the one before, until an order lasts. */
static __attribute__((noinline)) void
order_ask(struct psi_turns *turns)
{
	const uint32_t now = epoch_now(), rest = word_get(&turns->rest);
	const uint32_t since = now - word_get(&turns->asked_epoch);

	word_set(&turns->wrong, 0);
	if (since < rest)
		return;
	if (since >= rest * RESTS_TO_FORGET)
		word_set(&turns->rest, 1);
	else if (rest < REST_MOST)
		word_set(&turns->rest, rest * 2);
	word_set(&turns->asked_epoch, now);
	word_set(&turns->asked, word_get(&turns->asked) + 1);
}

/* The thread with this key is lower than the one before it. */
static void
descent_note(struct psi_turns *turns, uint32_t key)
{
	const uint32_t wrong = word_get(&turns->wrong);

	if (PSI_LIKELY(word_get(&turns->lowest) == key)) {
		if (PSI_UNLIKELY(wrong))
			word_set(&turns->wrong, wrong - 1);
		return;
	}
	word_set(&turns->lowest, key);
	word_set(&turns->wrong, wrong + 1);
	if (wrong + 1 >= WRONG_MOST)
		order_ask(turns);
}

/* -- a place ----------------------------------------------------------------------------------- */

static uint64_t
thread_sleeps(void)
{
	return psi_block()->count[PSI_COUNT_SLEEPS];
}

/* The thread has lost its place, or is asked to take it.  Is it time to? */
static __attribute__((noinline)) bool
place_is_due(struct psi_thread *thread, uint32_t cpu, uint32_t asked)
{
	const uint32_t now = epoch_now();

	if (thread->place.epoch == now)
		return false;
	thread->place.epoch = now;
	thread->place.cpu = cpu;
	thread->place.asked = asked;
	thread->place.sleeps = thread_sleeps();
	return true;
}

bool
psi_turns_note(struct psi_thread *thread, uint32_t cpu)
{
	struct psi_turns *turns = &psi.shared->cpus[cpu].turns;
	const uint32_t key = key_of(thread);
	uint32_t asked;

	if (PSI_UNLIKELY(word_get(&turns->last) > key))
		descent_note(turns, key);
	word_set(&turns->last, key);
	asked = word_get(&turns->asked);
	return PSI_UNLIKELY(thread->place.asked != asked || thread->place.cpu != cpu ||
	                    thread->place.sleeps != thread_sleeps()) &&
	       place_is_due(thread, cpu, asked);
}

/* How far is it from the one to the other, where a slice on is the same place? */
static uint64_t
way_to(uint64_t place, const struct psi_virtual_time *time)
{
	return (place + time->slice - time->now % time->slice) % time->slice;
}

/* Has it come there? */
static bool
place_is_taken(uint64_t place)
{
	struct psi_virtual_time time;
	uint64_t way;

	sched_yield();
	if (!psi_virtual_time_read(&time))
		return false;
	way = way_to(place, &time);
	return way < time.slice / 8 || way > time.slice - time.slice / 8;
}

/* Yields.  False: the kernel does not let threads take places. */
static bool
place_take(struct psi_thread *thread)
{
	static _Atomic uint32_t missed;
	struct psi_virtual_time time;
	const uint32_t process = psi.host_index[psi.boot.rank], index = index_of(thread);
	const uint32_t endpoints = psi_ep_count() ? psi_ep_count() : 1;
	uint64_t place;

	if (psi_spread_deal(thread, process + index)) {
		thread->place.epoch--;  /* it takes its place there */
		sched_yield();
		return true;
	}
	if (!psi_virtual_time_read(&time))
		return false;
	place = time.slice * (process * endpoints + index) / (psi.shared->size * endpoints);
	if (!psi_virtual_time_yield(&time, way_to(place, &time)))
		return false;
	psi_count(psi_block()->count, PSI_COUNT_TURNS_ORDERED);
	if (thread->place.looks == LOOKS_AT_PLACES)
		return true;
	thread->place.looks++;
	return place_is_taken(place) ||
	       atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed) + 1 < LOOKS_AT_PLACES;
}

/* ---------------------------------------------------------------------------------------------- */

void
psi_turns_yield(int cpu)
{
	struct psi_thread *thread = psi_thread_known();
	const uint32_t ranks = atomic_load_explicit(&psi.ranks_per_cpu, memory_order_relaxed);

	if (psi_turns_are_ordered(ranks) && thread && cpu >= 0 && cpu < PSI_SHARED_CPUS &&
	    psi_turns_note(thread, (uint32_t)cpu)) {
		if (!place_take(thread))
			atomic_store_explicit(&psi_turns_on, false, memory_order_relaxed);
		return;
	}
	sched_yield();
}
