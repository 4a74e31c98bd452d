/*
 * Who sleeps for posts is woken when it has enough of them, not before; and always then, whoever
 * else waits for the same semaphore.  Sleeps have no bound, so a wake-up that is lost ends at the
 * deadline.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

enum {
	POSTS = 8,              /* of each rank to rank 0, one at a time */
	PAUSE_MS = 4,           /* between them: longer than a waiter looks before it sleeps */
	FEW = 2,                /* sleeps beyond one for each time that it is to be woken */
	ENTRIES = 4,
};

static pst_sem_set_t set;

static uint64_t sleeps(void) { return pt_counter(pt.rank, "sleeps"); }

/* To entries from `first' on in turn. */
static void
post_slowly(size_t first, size_t entries)
{
	for (unsigned i = 0; i < POSTS; i++) {
		const size_t entry = first + i % entries;

		pt_sleep_ms(PAUSE_MS);
		PT_OK(pst_sem_post(pt.tm, 0, pst_sem_set_ref(set, 0, entry), 1, 0));
	}
}

static unsigned
all_posts(void)
{
	return POSTS * (pt.size - 1);
}

/* -- one that waits ---------------------------------------------------------------------------- */

static void
wait_one(void)
{
	pst_sem_wait(pst_sem_set_mine(set, 0), all_posts());
}

static void
wait_timed(void)
{
	PT_EQ(pst_sem_timedwait(pst_sem_set_mine(set, 0), all_posts(), PST_FOREVER - 1), 1);
}

/* Each entry gets the same number. */
static void
entries_of(pst_sem_t *sems, unsigned *n)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		sems[i] = pst_sem_set_mine(set, i);
		n[i] = all_posts() / ENTRIES;
	}
}

static void
wait_all_entries(void)
{
	pst_sem_t sems[ENTRIES];
	unsigned n[ENTRIES];
	int done[ENTRIES] = { 0 };

	entries_of(sems, n);
	PT_EQ(pst_sem_wait_all(sems, n, ENTRIES, done, PST_FOREVER), 1);
}

/* By `some', one after the other. */
static void
wait_some_entries(void)
{
	pst_sem_t sems[ENTRIES];
	unsigned n[ENTRIES];
	int done[ENTRIES] = { 0 };
	size_t left = ENTRIES;

	entries_of(sems, n);
	while (left)
		left -= pst_sem_wait_some(sems, n, ENTRIES, done, PST_FOREVER, NULL);
}

/* One semaphore twice: two for any, the rest afterwards. */
static void
wait_twice_listed(void)
{
	pst_sem_t sems[2] = { pst_sem_set_mine(set, 0), pst_sem_set_mine(set, 0) };
	const unsigned n[2] = { 2, all_posts() };

	PT_EQ(pst_sem_wait_any(sems, n, 2, NULL, PST_FOREVER), 0);
	pst_sem_wait(sems[0], all_posts() - 2);
}

static void
woken_once(const char *what, void (*wait)(void), size_t entries, unsigned wakes)
{
	uint64_t before;

	pt_phase(what);
	pt_barrier();
	if (pt.rank != 0) {
		post_slowly(0, entries);
		return;
	}
	before = sleeps();
	wait();
	PT_LE(sleeps() - before, wakes + FEW);
	for (size_t i = 0; i < ENTRIES; i++)
		PT_EQ(pst_sem_value(pst_sem_set_mine(set, i)), 0);
}

/* Posts to a semaphore for which nobody waits wake nobody. */
static void
others_wake_nobody(void)
{
	uint64_t before;

	pt_phase("posts to others");
	pt_barrier();
	if (pt.rank != 0) {
		post_slowly(1, 1);
		PT_OK(pst_sem_post(pt.tm, 0, pst_sem_set_ref(set, 0, 0), 1, 0));
		return;
	}
	before = sleeps();
	pst_sem_wait(pst_sem_set_mine(set, 0), pt.size - 1);
	PT_LE(sleeps() - before, 1 + FEW);
	pst_sem_wait(pst_sem_set_mine(set, 1), all_posts());
}

#ifdef GASNET_PAR
/* -- several that wait
 * --------------------------------------------------------------------------- */

enum { THREADS = 4 };

/* Thread i wants 1 + i a time, of all the posts; each takes as often. */
static void
take_shares(unsigned index, void *rounds)
{
	for (unsigned i = 0; i < *(unsigned *)rounds; i++)
		pst_sem_wait(pst_sem_set_mine(set, 0), 1 + index);
}

/* Thread 0 takes from two entries, the others from the first. */
static void
take_any(unsigned index, void *rounds)
{
	pst_sem_t sems[2] = { pst_sem_set_mine(set, 0), pst_sem_set_mine(set, 1) };

	for (unsigned i = 0; i < *(unsigned *)rounds; i++)
		if (index == 0)
			PT_LE(pst_sem_wait_any(sems, NULL, 2, NULL, PST_FOREVER), 1);
		else
			pst_sem_wait(sems[0], 1);
}

/* One at a time, and so that some sleep and some do not. */
static void
post_all(unsigned count)
{
	struct pt_rng rng = pt_rng_make(pt.rank);

	for (unsigned i = 0; i < count; i++) {
		PT_OK(pst_sem_post(pt.tm, 0, pst_sem_set_ref(set, 0, 0), 1, 0));
		if (pt_rand(&rng) % 8 == 0)
			pt_spin_ms(1);
		if (pt_rand(&rng) % 16 == 0)
			pt_sleep_ms(PAUSE_MS);
	}
}

static void
many_waiters(const char *what, void (*take)(unsigned index, void *rounds), unsigned per_round)
{
	unsigned rounds = (unsigned)pt_scale(20, 60);

	pt_phase(what);
	pt_barrier();
	if (pt.rank == 0)
		pt_threads(THREADS, take, &rounds);
	else if (pt.rank == 1)
		post_all(rounds * per_round);
	pt_barrier();
	if (pt.rank == 0)
		PT_EQ(pst_sem_value(pst_sem_set_mine(set, 0)), 0);
}

/* Posts by threads of the owner, who count as its endpoint. */
static void
post_or_take(unsigned index, void *rounds)
{
	const unsigned posts = *(unsigned *)rounds * 3;

	if (index == 0)
		for (unsigned i = 0; i < posts; i++)
			pst_sem_post_local(pst_sem_set_mine(set, 0), 1);
	else if (index == 1)
		for (unsigned i = 0; i < *(unsigned *)rounds; i++)
			pst_sem_wait(pst_sem_set_mine(set, 0), 3);
}

static void
local_posts(void)
{
	unsigned rounds = (unsigned)pt_scale(100, 2000);

	pt_phase("local posts");
	pt_threads(2, post_or_take, &rounds);
	PT_EQ(pst_sem_value(pst_sem_set_mine(set, 0)), 0);
}
#endif

int
main(int argc, char **argv)
{
	setenv("PST_SLEEP_MAX", "0", 1);
	setenv("PST_HANG_REPORT", "0", 1);
	pt_start(&argc, &argv, NULL, 0, 4096);
	PT_OK(pst_sem_set_create(pt.tm, ENTRIES, 0, &set, 0));
	woken_once("one", wait_one, 1, 1);
	woken_once("timed", wait_timed, 1, 1);
	woken_once("all", wait_all_entries, ENTRIES, ENTRIES);
	woken_once("some", wait_some_entries, ENTRIES, ENTRIES);
	woken_once("twice in the list", wait_twice_listed, 1, 2);
	others_wake_nobody();
#ifdef GASNET_PAR
	many_waiters("several threads", take_shares, THREADS * (THREADS + 1) / 2);
	many_waiters("several threads, one for any", take_any, THREADS);
	local_posts();
#endif
	pt_barrier();
	pst_sem_set_destroy(set, 0);
	pt_finish();
}
