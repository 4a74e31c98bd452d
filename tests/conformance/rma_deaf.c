/*
 * Transfers by messages to a rank that does not poll: starting them waits for nobody, until they
 * are more than 65535; IMMEDIATE is refused once there is no room; and all is in place when the
 * rank listens again.
 */
#include <gasnetex.h>
#include <penstock.h>

#include "tests/lib/pt.h"

#include <time.h>

enum {
	LARGE_BYTES = 1 << 20, LARGE = 6,
	SMALL = 4096, SMALL_AT = LARGE * LARGE_BYTES,
	PROMISED = 65535,
	MANY = PROMISED + 8 * SMALL, MANY_AT = SMALL_AT + SMALL * 8,
	TOLD_AT = MANY_AT + MANY * 8, STARTED_AT = TOLD_AT + 64,
	AREA_BYTES = STARTED_AT + 64,
};

/* The partner of an even rank is deaf until told. */
static volatile uint32_t *
told(gex_Rank_t rank)
{
	return (volatile uint32_t *)(void *)(pt.peers[rank].local + TOLD_AT);
}

static void
be_deaf(void)
{
	while (!__atomic_load_n(told(pt.rank), __ATOMIC_ACQUIRE))
		;
	*told(pt.rank) = 0;
}

/* How many transfers the partner of an odd rank has started. */
static volatile uint32_t *
started(gex_Rank_t rank)
{
	return (volatile uint32_t *)(void *)(pt.peers[rank].local + STARTED_AT);
}

static uint32_t
have_started(void)
{
	return __atomic_load_n(started(pt.rank), __ATOMIC_ACQUIRE);
}

/* Listens when the partner has started all that may wait, and a while later has not started all. */
static void
be_deaf_to_many(void)
{
	const struct timespec a_while = { 0, 50000000 };

	while (have_started() < PROMISED)
		;
	nanosleep(&a_while, NULL);
	PT_CHECK(have_started() < MANY);
}

static void
many_to_the_deaf(void)
{
	char *there = pt.peers[pt.rank + 1].owner + MANY_AT;
	uint64_t *words = malloc(MANY * sizeof(*words)), *back = calloc(MANY, sizeof(*back));

	PT_CHECK(words && back);
	pt_fill(words, MANY * 8, pt.rank + 70);
	for (uint32_t i = 0; i < MANY; i++) {
		PT_OK(gex_RMA_PutNBI(pt.tm, pt.rank + 1, there + 8 * i, &words[i], 8,
		                     GEX_EVENT_DEFER, 0));
		__atomic_store_n(started(pt.rank + 1), i + 1, __ATOMIC_RELEASE);
	}
	gex_NBI_Wait(GEX_EC_PUT, 0);
	PT_OK(gex_RMA_GetBlocking(pt.tm, back, pt.rank + 1, there, MANY * 8, 0));
	PT_EQ(memcmp(back, words, MANY * 8), 0);
	free(words);
	free(back);
}

/* Puts until one is refused; returns how many were taken. */
static size_t
put_immediate(char *at, const uint64_t *words)
{
	size_t taken = 0;

	while (taken < SMALL) {
		const uint64_t began = pt_now_ns();
		const int refused =
			gex_RMA_PutNBI(pt.tm, pt.rank + 1, at + 8 * taken, &words[taken], 8,
		                       GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);

		PT_UNDER((double)(pt_now_ns() - began) * 1e-9, 5);
		if (refused)
			break;
		taken++;
	}
	return taken;
}

static uint64_t counted(const char *name) { return pt_counter(PST_COUNTERS_OWN, name); }

static void
to_the_deaf(void)
{
	char *base = pt.peers[pt.rank + 1].owner, *from = malloc(SMALL_AT), *to = malloc(SMALL_AT);
	uint64_t *words = malloc(SMALL * sizeof(*words)), *back = calloc(SMALL, sizeof(*back));
	gex_Event_t events[LARGE], gets[LARGE];
	const uint64_t put_before = counted("puts"), got_before = counted("gets");
	size_t taken;

	PT_CHECK(from && to && words && back);
	pt_fill(from, SMALL_AT, pt.rank);
	pt_fill(words, SMALL * 8, pt.rank + 50);
	taken = put_immediate(base + SMALL_AT, words);
	PT_CHECK(taken < SMALL);
	PT_CHECK(gex_RMA_GetNB(pt.tm, back, pt.rank + 1, base, 8, GEX_FLAG_IMMEDIATE) ==
	         GEX_EVENT_NO_OP);
	PT_CHECK(gex_RMA_GetBlocking(pt.tm, back, pt.rank + 1, base, 8, GEX_FLAG_IMMEDIATE) != 0);
	PT_EQ(counted("puts"), put_before + taken);   /* the refused are not among them */
	PT_EQ(counted("gets"), got_before);
	for (int i = 0; i < LARGE; i++)
		events[i] = gex_RMA_PutNB(pt.tm, pt.rank + 1, base + i * LARGE_BYTES,
		                          from + i * LARGE_BYTES, LARGE_BYTES, GEX_EVENT_DEFER, 0);
	PT_OK(gex_RMA_GetNBI(pt.tm, back, pt.rank + 1, base + SMALL_AT, taken * 8, 0));
	PT_CHECK(gex_NBI_Test(GEX_EC_GET, 0) != GASNET_OK);
	PT_CHECK(gex_Event_TestSome(events, LARGE, 0) != GASNET_OK);
	__atomic_store_n(told(pt.rank + 1), 1, __ATOMIC_RELEASE);
	gex_Event_WaitAll(events, LARGE, 0);
	for (int i = 0; i < LARGE; i++)
		gets[i] = gex_RMA_GetNB(pt.tm, to + i * LARGE_BYTES, pt.rank + 1,
		                        base + i * LARGE_BYTES, LARGE_BYTES, 0);
	gex_Event_WaitAll(gets, LARGE, 0);
	PT_MEM(to, SMALL_AT, pt.rank);
	gex_NBI_Wait(GEX_EC_ALL, 0);
	/* only now are the puts known to be there */
	PT_OK(gex_RMA_GetBlocking(pt.tm, back, pt.rank + 1, base + SMALL_AT, taken * 8, 0));
	PT_EQ(memcmp(back, words, taken * 8), 0);
	free(from);
	free(to);
	free(words);
	free(back);
}

int
main(int argc, char **argv)
{
	setenv("PST_TEST_CONDUIT_MASK", "put,get", 1);
	pt_start(&argc, &argv, NULL, 0, AREA_BYTES);
	if (pt.rank % 2)
		be_deaf_to_many();
	else if (pt.rank + 1 < pt.size)
		many_to_the_deaf();
	for (unsigned long i = 0; i < pt_scale(2, 5); i++) {
		pt_barrier();
		if (pt.rank % 2)
			be_deaf();
		else if (pt.rank + 1 < pt.size)
			to_the_deaf();
		pt_barrier();
	}
	pt_finish();
}
