/* Semaphores that are used as they may not be. */
#include "tests/lib/pt_misuse.h"

#include <penstock.h>
#include <pthread.h>

static pst_sem_t
make(unsigned kind)
{
	pst_sem_t sem;

	PT_OK(pst_sem_alloc(pt.ep, kind, 1, &sem));
	return sem;
}

static pst_sem_t
freed(void)
{
	pst_sem_t sem = make(0);

	pst_sem_free(&sem, 1);
	return sem;
}

static pst_sem_set_t
make_set(void)
{
	pst_sem_set_t set;

	PT_OK(pst_sem_set_create(pt.tm, 2, 0, &set, 0));
	return set;
}

static gex_EP_t
second_endpoint(void)
{
	gex_EP_t ep;

	PT_OK(gex_EP_Create(&ep, pt.client, GEX_EP_CAPABILITY_ALL, 0));
	return ep;
}

/* -- making, freeing, naming ----------------------------------------------------------------- */

static void
kind_of_both(void)
{
	pst_sem_t sem;

	PT_EQ(pst_sem_alloc(pt.ep, PST_SEM_BOOLEAN | PST_SEM_INTEGER, 1, &sem), GASNET_ERR_BAD_ARG);
}

static void
too_many(void)
{
	static pst_sem_t sems[70000];

	PT_EQ(pst_sem_alloc(pt.ep, 0, PT_COUNT(sems), sems), GASNET_ERR_RESOURCE);
}

static void
set_kind(void)
{
	pst_sem_set_t set;

	PT_EQ(pst_sem_set_create(pt.tm, 1, 64, &set, 0), GASNET_ERR_BAD_ARG);
}

static void free_none(void) { pst_sem_free(NULL, 1); }

static void
free_twice(void)
{
	pst_sem_t sem = freed();

	pst_sem_free(&sem, 1);
}

static void
free_of_set(void)
{
	pst_sem_t sem = pst_sem_set_mine(make_set(), 0);

	pst_sem_free(&sem, 1);
}

static void *
wait_for(void *sem)
{
	pst_sem_wait((pst_sem_t)sem, 1);
	return NULL;
}

static void *
wait_for_array(void *sem)
{
	pst_sem_t sems[2] = { (pst_sem_t)sem, make(0) };
	int done[2] = { 0, 0 };

	pst_sem_wait_all(sems, NULL, 2, done, PST_FOREVER);
	return NULL;
}

/* The thread that waits has marked that before it first polls, and so before it sleeps. */
static void
let_wait(void *(*wait)(void *sem), pst_sem_t sem)
{
	const uint64_t before = pt_counter(PST_COUNTERS_OWN, "sleeps");
	pthread_t id;

	PT_EQ(pthread_create(&id, NULL, wait, sem), 0);
	while (pt_counter(PST_COUNTERS_OWN, "sleeps") == before)
		pt_sleep_ms(1);
}

static pst_sem_t
waited_for(unsigned kind, void *(*wait)(void *sem))
{
	pst_sem_t sem = make(kind);

	let_wait(wait, sem);
	return sem;
}

static void
free_waited(void)
{
	pst_sem_t sem = waited_for(PST_SEM_SCONSUMER, wait_for);

	pst_sem_free(&sem, 1);
}

static void wait_twice(void) { pst_sem_wait(waited_for(PST_SEM_SCONSUMER, wait_for), 1); }

static void
wait_twice_in_arrays(void)
{
	pst_sem_t sem = waited_for(PST_SEM_SCONSUMER, wait_for_array);

	PT_LE(pst_sem_wait_any(&sem, NULL, 1, NULL, PST_FOREVER), 0);
}

static void
free_waited_in_array(void)
{
	pst_sem_t sem = waited_for(0, wait_for_array);

	pst_sem_free(&sem, 1);
}

static void
destroy_waited(void)
{
	pst_sem_set_t set = make_set();

	let_wait(wait_for, pst_sem_set_mine(set, 1));
	pst_sem_set_destroy(set, 0);
}

/* As if the handle came from another process. */
static void
wait_foreign(void)
{
	static char memory[256];

	(void)make(0);
	pst_sem_wait((pst_sem_t)(void *)memory, 1);
}

static void leak_one(void) { (void)make(0); }

static void
leak_several(void)
{
	pst_sem_t kept = make(0), given = make(0);

	PT_CHECK(kept);
	pst_sem_free(&given, 1);
	(void)make_set();
}

static void wait_none(void) { pst_sem_wait(PST_SEM_INVALID, 1); }
static void wait_freed(void) { pst_sem_wait(freed(), 1); }
static void no_key(void) { PT_CHECK(pst_sem_ref_make(pt.tm, 0, 5).pst_w[0]); }

static void
no_reference(void)
{
	pst_sem_ref_t ref = { { 0, 0 } };

	PT_CHECK(pst_sem_ref_key(ref));
}

static void no_set(void) { PT_CHECK(pst_sem_set_mine(NULL, 0)); }
static void set_index(void) { PT_CHECK(pst_sem_set_mine(make_set(), 2)); }

/* -- posts ----------------------------------------------------------------------------------- */

static void
post(pst_sem_t sem, unsigned n)
{
	PT_OK(pst_sem_post(pt.tm, 0, pst_sem_ref(sem), n, 0));
}

static void post_zero(void) { post(make(0), 0); }
static void post_large(void) { pst_sem_post_local(make(0), 65536); }
static void post_two(void) { post(make(PST_SEM_BOOLEAN), 2); }
static void take_two(void) { PT_EQ(pst_sem_try(make(PST_SEM_BOOLEAN), 2), 0); }

static void
post_nothing(void)
{
	pst_sem_ref_t ref = { { 0, 0 } };

	PT_OK(pst_sem_post(pt.tm, 0, ref, 1, 0));
}

static void
post_elsewhere(void)
{
	PT_OK(pst_sem_post(pt.tm, 1, pst_sem_ref(make(0)), 1, 0));
}

static void
post_freed(void)
{
	pst_sem_t sem = make(0);
	pst_sem_ref_t ref = pst_sem_ref(sem);

	pst_sem_free(&sem, 1);
	PT_OK(pst_sem_post(pt.tm, 0, ref, 1, 0));
}

static void
overshoot(void)
{
	pst_sem_t sem = make(0);

	post(sem, 65535);
	post(sem, 1);
}

static void
two_producers(void)
{
	pst_sem_t sem = make(PST_SEM_SPRODUCER);

	post(sem, 1);
	PT_OK(pst_sem_post(gex_TM_Pair(second_endpoint(), 0), 0, pst_sem_ref(sem), 1, 0));
}

/* -- arrays ---------------------------------------------------------------------------------- */

static void no_array(void) { PT_LE(pst_sem_wait_any(NULL, NULL, 1, NULL, 0), 0); }

static void
two_endpoints(void)
{
	pst_sem_t sems[2] = { make(0), PST_SEM_INVALID };

	PT_OK(pst_sem_alloc(second_endpoint(), 0, 1, &sems[1]));
	PT_LE(pst_sem_wait_any(sems, NULL, 2, NULL, 0), 0);
}

static void
all_without_done(void)
{
	pst_sem_t sem = make(0);

	PT_EQ(pst_sem_wait_all(&sem, NULL, 1, NULL, 0), 0);
}

static const struct pt_misuse cases[] = {
	{ "kind_of_both", PT_REFUSED, 1, kind_of_both, "a semaphore of both kinds",
	  "pst_sem_alloc: kind must be at most one of BOOLEAN and INTEGER, of SPRODUCER and "
	  "MPRODUCER, of SCONSUMER and MCONSUMER",
	  0 },
	{ "too_many", PT_REFUSED, 1, too_many, "more semaphores than there are",
	  "pst_sem_alloc: that many semaphores are more than an endpoint has left, of 65536", 0 },
	{ "set_kind", PT_REFUSED, 1, set_kind, "a set of an unknown kind",
	  "pst_sem_set_create: kind must be at most one of BOOLEAN and INTEGER, of SPRODUCER and "
	  "MPRODUCER, of SCONSUMER and MCONSUMER",
	  0 },
	{ "free_none", PT_ALWAYS, 1, free_none, "an array that is not there",
	  "pst_sem_free: sems is NULL, but should have 1 entries; pass the list", 0 },
	{ "free_twice", PT_ALWAYS, 1, free_twice, "a semaphore freed twice",
	  "pst_sem_free: semaphore 0 of this rank was freed before; free it when nobody uses it "
	  "any more",
	  0 },
	{ "free_of_set", PT_ALWAYS, 1, free_of_set, "a set's semaphore freed alone",
	  "pst_sem_free: semaphore * is of a set; pst_sem_set_destroy frees it", 0 },
	{ "free_waited", PT_THREADS, 1, free_waited, "a semaphore freed under a thread that waits",
	  "pst_sem_free: a thread waits for semaphore 0; free it when no thread waits", 0 },
	{ "wait_twice", PT_THREADS, 1, wait_twice, "two threads that wait for a single consumer's",
	  "pst_sem_wait: a second thread waits for semaphore 0, which is SCONSUMER; make it "
	  "MCONSUMER, or wait in one thread at a time",
	  0 },
	{ "wait_none", PT_ALWAYS, 1, wait_none, "a wait for no semaphore",
	  "pst_sem_wait: called with PST_SEM_INVALID; pass one that the library gave", 0 },
	{ "wait_freed", PT_ALWAYS, 1, wait_freed, "a wait for a semaphore that was freed",
	  "pst_sem_wait: semaphore 0 of this rank was freed before; free it when nobody uses it "
	  "any more",
	  0 },
	{ "no_key", PT_ALWAYS, 1, no_key, "a reference of no key",
	  "pst_sem_ref_make: 0x5 is not a key; pass what pst_sem_ref_key gave", 0 },
	{ "no_reference", PT_ALWAYS, 1, no_reference, "a key of no reference",
	  "pst_sem_ref_key: {0x0, 0x0} is not a reference; pass what pst_sem_ref, pst_sem_ref_make "
	  "or pst_sem_set_ref gave",
	  0 },
	{ "no_set", PT_ALWAYS, 1, no_set, "a set that is not there",
	  "pst_sem_set_mine: called with a set that is NULL; pass what pst_sem_set_create wrote",
	  0 },
	{ "set_index", PT_ALWAYS, 1, set_index, "an index beyond a set",
	  "pst_sem_set_mine: index 2 is beyond the set, which has 2 semaphores on each member; "
	  "count from 0",
	  0 },
	{ "post_zero", PT_ALWAYS, 1, post_zero, "a post of nothing",
	  "pst_sem_post: n is 0; it is at least 1 and at most 65535", 0 },
	{ "post_large", PT_ALWAYS, 1, post_large, "a post beyond the limit",
	  "pst_sem_post_local: n is 65536; it is at least 1 and at most 65535", 0 },
	{ "post_two", PT_ALWAYS, 1, post_two, "two posts to a BOOLEAN",
	  "pst_sem_post: n is 2, and the semaphore is a BOOLEAN; pass 1", 0 },
	{ "take_two", PT_ALWAYS, 1, take_two, "two posts of a BOOLEAN",
	  "pst_sem_try: n is 2, and the semaphore is a BOOLEAN; pass 1", 0 },
	{ "post_nothing", PT_ALWAYS, 1, post_nothing, "a post to the reference of all zeros",
	  "pst_sem_post: the reference names nothing; pass what pst_sem_ref or pst_sem_set_ref "
	  "gave",
	  0 },
	{ "post_elsewhere", PT_ALWAYS, 2, post_elsewhere, "a post to a rank that is not the owner",
	  "pst_sem_post: the reference names a semaphore of rank 0, and the call goes to rank 1; "
	  "pst_sem_ref_owner tells whose it is",
	  0 },
	{ "post_freed", PT_ALWAYS, 1, post_freed, "a post to a semaphore that was freed",
	  "pst_sem_post: a post by rank 0 to semaphore 0 of rank 0, which was freed before; free "
	  "it when every post has been seen",
	  0 },
	{ "overshoot", PT_CHECKED, 1, overshoot, "more posts than are taken",
	  "pst_sem_post: 1 posts by rank 0 to semaphore 0 of rank 0, which has 65535, are beyond "
	  "the limit of 65535; let the owner take some first",
	  0 },
	{ "two_producers", PT_CHECKED, 1, two_producers,
	  "posts of two endpoints to a single "
	  "producer's",
	  "pst_sem_post: endpoint 1 of rank 0 posts to semaphore 0 of rank 0, which has posts of "
	  "rank 0 and is SPRODUCER; make it MPRODUCER, or take those first",
	  0 },
	{ "no_array", PT_ALWAYS, 1, no_array, "a wait for an array that is not there",
	  "pst_sem_wait_any: sems is NULL, but should have 1 entries; pass the list", 0 },
	{ "two_endpoints", PT_ALWAYS, 1, two_endpoints, "a wait for semaphores of two endpoints",
	  "pst_sem_wait_any: entry 1 is of another endpoint; pass semaphores of one", 0 },
	{ "all_without_done", PT_ALWAYS, 1, all_without_done, "a wait for all that may end early",
	  "pst_sem_wait_all: done is NULL, and there is a time-out; pass an array, or PST_FOREVER",
	  0 },
	{ "wait_twice_in_arrays", PT_THREADS, 1, wait_twice_in_arrays,
	  "the same, where both wait for arrays",
	  "pst_sem_wait_any: a second thread waits for semaphore 0, which is SCONSUMER; make it "
	  "MCONSUMER, or wait in one thread at a time",
	  0 },
	{ "free_waited_in_array", PT_THREADS, 1, free_waited_in_array,
	  "a semaphore freed under a thread that waits for it among others",
	  "pst_sem_free: a thread waits for semaphore 0; free it when no thread waits", 0 },
	{ "destroy_waited", PT_THREADS, 1, destroy_waited,
	  "a set destroyed under a thread that "
	  "waits",
	  "pst_sem_set_destroy: a thread waits for semaphore *; free it when no thread waits", 0 },
	{ "wait_foreign", PT_CHECKED, 1, wait_foreign, "a wait by a process that is not the owner",
	  "pst_sem_wait: * is no semaphore of this process; a handle means nothing elsewhere, send "
	  "what pst_sem_ref gives",
	  0 },
	{ "leak_one", PT_TOLD, 1, leak_one, "a semaphore that is not freed",
	  "gasnet_exit: 1 semaphore has not been freed; free those of pst_sem_alloc, and destroy "
	  "sets",
	  0 },
	{ "leak_several", PT_TOLD, 1, leak_several, "a semaphore and a set of two",
	  "gasnet_exit: 3 semaphores have not been freed; free those of pst_sem_alloc, and destroy "
	  "sets",
	  0 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
