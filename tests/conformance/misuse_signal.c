/* Semaphores, puts with signal and words that are used as they may not be. */
#include "tests/lib/pt_misuse.h"

#include <penstock.h>
#include <pthread.h>

static char memory[64];

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

static pst_sem_t
waited_for(void)
{
	pst_sem_t sem = make(PST_SEM_SCONSUMER);
	pthread_t id;

	PT_EQ(pthread_create(&id, NULL, wait_for, sem), 0);
	pt_sleep_ms(100);
	return sem;
}

static void
free_waited(void)
{
	pst_sem_t sem = waited_for();

	pst_sem_free(&sem, 1);
}

static void wait_twice(void) { pst_sem_wait(waited_for(), 1); }
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

/* -- puts ------------------------------------------------------------------------------------ */

static void
put(const pst_signal_t *sig, gex_Event_t *lc_opt, gex_Flags_t flags)
{
	gex_Event_Wait(pst_put_signal_nb(pt.tm, 0, pt.base, memory, 8, sig, lc_opt, flags));
}

static pst_signal_t
word_at(char *at)
{
	return pst_signal_word(PST_SIGNAL_ADD, (uint64_t *)(void *)at, 1);
}

static void
no_lc(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	put(&sig, NULL, 0);
}

static void
group_lc(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	put(&sig, GEX_EVENT_GROUP, 0);
}

static void no_signal(void) { put(NULL, GEX_EVENT_DEFER, 0); }

static void
no_such_signal(void)
{
	pst_signal_t sig = pst_signal_word(9, NULL, 0);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
word_misaligned(void)
{
	pst_signal_t sig = word_at(pt.base + 65);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
word_outside(void)
{
	pst_signal_t sig = word_at(memory);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
word_in_payload(void)
{
	pst_signal_t sig = word_at(pt.base);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
put_outside(void)
{
	pst_memput_signal(pt.tm, 0, memory, memory, 8, pst_sem_ref(make(0)), 1);
}

static void
value_of_nine(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	PT_OK(pst_putval_signal(pt.tm, 0, pt.base, 1, 9, &sig, 0));
}

static void
get_local(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	PT_OK(pst_get_signal(pt.tm, memory, 0, pt.base, 8, &sig, PST_FLAG_LOCAL_ONLY));
}

/* -- words ----------------------------------------------------------------------------------- */

static uint64_t word, *const words[1] = { &word };

static void
wait_misaligned(void)
{
	PT_LE(pst_signal_wait(pt.ep, (uint64_t *)(void *)(memory + 1), PST_CMP_NE, 1), 0);
}

static void no_compare(void) { PT_LE(pst_signal_wait(pt.ep, &word, 7, 0), 0); }

static void
words_none(void)
{
	PT_LE(pst_signal_wait_any(pt.ep, NULL, NULL, 1, PST_CMP_EQ, NULL, 0), 0);
}

static void
words_without_done(void)
{
	const uint64_t value = 1;

	PT_EQ(pst_signal_wait_all(pt.ep, words, &value, 1, PST_CMP_EQ, NULL, 0), 0);
}

static const struct pt_misuse cases[] = {
	{ "kind_of_both", PT_REFUSED, 1, kind_of_both, "a semaphore of both kinds",
	  "pst_sem_alloc: kind must be at most one of BOOLEAN and INTEGER, of SPRODUCER and MPRODUCER, of "
	  "SCONSUMER and MCONSUMER", 0 },
	{ "too_many", PT_REFUSED, 1, too_many, "more semaphores than there are",
	  "pst_sem_alloc: that many semaphores are more than an endpoint has left, of 65536", 0 },
	{ "set_kind", PT_REFUSED, 1, set_kind, "a set of an unknown kind",
	  "pst_sem_set_create: kind must be at most one of BOOLEAN and INTEGER, of SPRODUCER and MPRODUCER, "
	  "of SCONSUMER and MCONSUMER", 0 },
	{ "free_none", PT_ALWAYS, 1, free_none, "an array that is not there",
	  "pst_sem_free: sems is NULL, and count 1; pass what pst_sem_alloc wrote", 0 },
	{ "free_twice", PT_ALWAYS, 1, free_twice, "a semaphore freed twice",
	  "pst_sem_free: semaphore 0 of this rank was freed before; free it when nobody uses it any more", 0 },
	{ "free_of_set", PT_ALWAYS, 1, free_of_set, "a set's semaphore freed alone",
	  "pst_sem_free: semaphore * is of a set; it goes with pst_sem_set_destroy", 0 },
	{ "free_waited", PT_THREADS, 1, free_waited, "a semaphore freed under a thread that waits",
	  "pst_sem_free: a thread waits for semaphore 0; free it when nobody does", 0 },
	{ "wait_twice", PT_THREADS, 1, wait_twice, "two threads that wait for a single consumer's",
	  "pst_sem_wait: a second thread waits for semaphore 0, which is SCONSUMER; make it MCONSUMER, or "
	  "wait in one thread at a time", 0 },
	{ "wait_none", PT_ALWAYS, 1, wait_none, "a wait for no semaphore",
	  "pst_sem_wait: called with PST_SEM_INVALID; pass one that the library gave", 0 },
	{ "wait_freed", PT_ALWAYS, 1, wait_freed, "a wait for a semaphore that was freed",
	  "pst_sem_wait: semaphore 0 of this rank was freed before; free it when nobody uses it any more", 0 },
	{ "no_key", PT_ALWAYS, 1, no_key, "a reference of no key",
	  "pst_sem_ref_make: 0x5 is not a key; pass what pst_sem_ref_key gave", 0 },
	{ "no_reference", PT_ALWAYS, 1, no_reference, "a key of no reference",
	  "pst_sem_ref_key: {0x0, 0x0} is not a reference; pass what pst_sem_ref, pst_sem_ref_make or "
	  "pst_sem_set_ref gave", 0 },
	{ "no_set", PT_ALWAYS, 1, no_set, "a set that is not there",
	  "pst_sem_set_mine: called with a set that is NULL; pass what pst_sem_set_create wrote", 0 },
	{ "set_index", PT_ALWAYS, 1, set_index, "an index beyond a set",
	  "pst_sem_set_mine: index 2 is beyond the set, which has 2 semaphores on each member; count from 0",
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
	  "pst_sem_post: the reference names nothing; pass what pst_sem_ref or pst_sem_set_ref gave", 0 },
	{ "post_elsewhere", PT_ALWAYS, 2, post_elsewhere, "a post to a rank that is not the owner",
	  "pst_sem_post: the reference names a semaphore of rank 0, and the call goes to rank 1; "
	  "pst_sem_ref_owner tells whose it is", 0 },
	{ "post_freed", PT_ALWAYS, 1, post_freed, "a post to a semaphore that was freed",
	  "pst_sem_post: a post by rank 0 to semaphore 0 of rank 0, which was freed before; free it when "
	  "every post has been seen", 0 },
	{ "overshoot", PT_CHECKED, 1, overshoot, "more posts than are taken",
	  "pst_sem_post: 1 posts by rank 0 to semaphore 0 of rank 0, which has 65535, are beyond the limit of "
	  "65535; let the owner take some first", 0 },
	{ "two_producers", PT_CHECKED, 1, two_producers, "posts of two endpoints to a single producer's",
	  "pst_sem_post: endpoint 1 of rank 0 posts to semaphore 0 of rank 0, which has posts of rank 0 and is "
	  "SPRODUCER; make it MPRODUCER, or take those first", 0 },
	{ "no_array", PT_ALWAYS, 1, no_array, "a wait for an array that is not there",
	  "pst_sem_wait_any: sems is NULL, and count 1; pass an array of semaphores", 0 },
	{ "two_endpoints", PT_ALWAYS, 1, two_endpoints, "a wait for semaphores of two endpoints",
	  "pst_sem_wait_any: entry 1 is of another endpoint; pass semaphores of one", 0 },
	{ "all_without_done", PT_ALWAYS, 1, all_without_done, "a wait for all that may end early",
	  "pst_sem_wait_all: done is NULL, and there is a time-out; pass an array, or PST_FOREVER", 0 },
	{ "no_lc", PT_ALWAYS, 1, no_lc, "a put with signal that does not say what of its source",
	  "pst_put_signal_nb: lc_opt is NULL; pass GEX_EVENT_NOW or GEX_EVENT_DEFER", 0 },
	{ "group_lc", PT_ALWAYS, 1, group_lc, "`GEX_EVENT_GROUP` for an explicit one",
	  "pst_put_signal_nb: lc_opt is GEX_EVENT_GROUP, which this call does not allow; pass GEX_EVENT_NOW or "
	  "GEX_EVENT_DEFER", 0 },
	{ "no_signal", PT_CHECKED, 1, no_signal, "a signal that is not there",
	  "pst_put_signal_nb: sig is NULL; pass a signal, such as pst_signal_sem makes", 0 },
	{ "no_such_signal", PT_ALWAYS, 1, no_such_signal, "a signal of no kind",
	  "pst_put_signal_nb: pst_what is 9; it is one of PST_SIGNAL_SEM, _SET and _ADD", 0 },
	{ "word_misaligned", PT_ALWAYS, 1, word_misaligned, "a word that is not aligned",
	  "pst_put_signal_nb: the word at 0x* is not aligned to 8 bytes; align it", 0 },
	{ "word_outside", PT_ALWAYS, 1, word_outside, "a word outside the segment",
	  "pst_put_signal_nb: 8 bytes at 0x* do not lie in the segment of rank 0, which is * bytes at 0x*; "
	  "gex_EP_QueryBoundSegmentNB tells its bounds", 0 },
	{ "word_in_payload", PT_CHECKED, 1, word_in_payload, "a word in the payload",
	  "pst_put_signal_nb: the word at 0x* lies in the payload, 8 bytes at 0x*; put it elsewhere", 0 },
	{ "put_outside", PT_ALWAYS, 1, put_outside, "a payload outside the segment",
	  "pst_memput_signal: 8 bytes at 0x* do not lie in the segment of rank 0, which is * bytes at 0x*; "
	  "gex_EP_QueryBoundSegmentNB tells its bounds", 0 },
	{ "value_of_nine", PT_ALWAYS, 1, value_of_nine, "a value of nine bytes",
	  "pst_putval_signal: a value of 9 bytes; it has 1 to 8", 0 },
	{ "get_local", PT_ALWAYS, 1, get_local, "a get whose event is that of its source",
	  "pst_get_signal: flags 0x80000000 have no meaning in this call, which takes those of 0x*; leave them "
	  "out", 0 },
	{ "wait_misaligned", PT_ALWAYS, 1, wait_misaligned, "a wait for a word that is not aligned",
	  "pst_signal_wait: the word at 0x* is not aligned to 8 bytes; align it", 0 },
	{ "no_compare", PT_ALWAYS, 1, no_compare, "a comparison that there is not",
	  "pst_signal_wait: cmp is 7; it is PST_CMP_EQ, _NE, _GT, _GE, _LT or _LE", 0 },
	{ "words_none", PT_ALWAYS, 1, words_none, "words that are not there",
	  "pst_signal_wait_any: words or values is NULL, and count 1; pass arrays of that length", 0 },
	{ "words_without_done", PT_ALWAYS, 1, words_without_done, "a wait for all words that may end early",
	  "pst_signal_wait_all: done is NULL, and there is a time-out; pass an array, or PST_FOREVER", 0 },
};

int
main(int argc, char **argv)
{
	const struct pt_misuse_set set = { cases, PT_COUNT(cases), NULL, 0 };

	return pt_misuse_main(argc, argv, &set);
}
