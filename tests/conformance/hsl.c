/*
 * Handler-safe locks: exclusion between threads and handlers, trylock, both
 * ways of initialisation, EX and legacy names.
 */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { REQ_ADD = 128, REP_ADD };
enum { LOCKS = 5 };

static gex_HSL_t fixed_lock = GEX_HSL_INITIALIZER;
static gasnet_hsl_t legacy_lock = GASNET_HSL_INITIALIZER;
static PT_OWN struct {
	int before;
	gex_HSL_t lock;
	int after;
} made[LOCKS];

/* Two halves that only the lock keeps together; deliberately not atomic. */
static volatile long left, right;
static pt_count added;          /* of the same, counted in another way */
static pt_count replies_to[16]; /* by rank; of several in one process, or of its threads */

static void
add_one(void)
{
	long old = left;

	PT_EQ(old, right);
	left = old + 1;
	for (volatile int i = 0; i < 20; i++)
		;
	PT_EQ(left, old + 1);
	right = old + 1;
	PT_INC(added);
}

/* All is added that was begun; every rank asks. */
static void
check_sum(void)
{
	pt_barrier();
	gex_HSL_Lock(&fixed_lock);
	PT_EQ(left, right);
	PT_EQ(left, PT_GET(added));
	gex_HSL_Unlock(&fixed_lock);
	pt_barrier();
}

static void
req_add(gex_Token_t token, gex_AM_Arg_t legacy)
{
	if (legacy) {
		gasnet_hsl_lock(&legacy_lock);
		gasnet_hsl_unlock(&legacy_lock);
	}
	gex_HSL_Lock(&fixed_lock);
	add_one();
	gex_HSL_Unlock(&fixed_lock);
	PT_OK(gex_AM_ReplyShort0(token, REP_ADD, 0));
}

static void
rep_add(gex_Token_t token)
{
	(void)token;
	gex_HSL_Lock(&fixed_lock);
	add_one();
	gex_HSL_Unlock(&fixed_lock);
	PT_INC(replies_to[pt.rank]);
}

static void
single_thread(void)
{
	static PT_OWN gex_HSL_t fixed = GEX_HSL_INITIALIZER;
	static PT_OWN gasnet_hsl_t legacy = GASNET_HSL_INITIALIZER;

	for (int i = 0; i < LOCKS; i++) {
		memset(&made[i].lock, 0xa5, sizeof(made[i].lock)); /* as memory from malloc may
		                                                    * be */
		gex_HSL_Init(&made[i].lock);
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < LOCKS; i++)
			gex_HSL_Lock(&made[i].lock);
		/* the queries of the restricted list work under a lock */
		PT_EQ(gex_System_QueryJobRank(), pt.where[pt.rank].gex_rank);
		PT_CHECK(gex_TM_QueryEP(pt.tm) == pt.ep);
		for (int i = LOCKS - 1; i >= 0; i--)
			gex_HSL_Unlock(&made[i].lock);
	}
	PT_OK(gex_HSL_Trylock(&made[0].lock));
	gex_HSL_Unlock(&made[0].lock);
	PT_OK(gex_HSL_Trylock(&fixed));
	gex_HSL_Unlock(&fixed);
	PT_OK(gasnet_hsl_trylock(&legacy));
	gasnet_hsl_unlock(&legacy);
	for (int i = 0; i < LOCKS; i++) {
		gex_HSL_Destroy(&made[i].lock);
		PT_EQ(made[i].before, 0);
		PT_EQ(made[i].after, 0);
		memset(&made[i].lock, 0xa5, sizeof(made[i].lock));
		gasnet_hsl_init(&made[i].lock);
		gasnet_hsl_lock(&made[i].lock);
		gasnet_hsl_unlock(&made[i].lock);
		gasnet_hsl_destroy(&made[i].lock);
	}
}

/* Requests to all, while the handlers of the others' requests run here. */
static void
handlers_exclude(unsigned long count)
{
	const int before = PT_GET(replies_to[pt.rank]);

	pt_barrier();
	for (unsigned long i = 0; i < count; i++)
		PT_OK(gex_AM_RequestShort1(pt.tm, (pt.rank + (gex_Rank_t)i) % pt.size, REQ_ADD, 0,
		                           i % 2 == 0));
	GASNET_BLOCKUNTIL(PT_GET(replies_to[pt.rank]) >= before + (int)count);
	check_sum();
}

#ifndef GASNET_SEQ
/* In PARSYNC only one thread may be in the library, but the lock is still real. */
struct held {
	gex_HSL_t lock;
	pt_count holding, refused;
};

static void
hold_and_try(unsigned index, void *arg)
{
	struct held *held = (struct held *)arg;

	if (index == 0) {
		gex_HSL_Lock(&held->lock);
		PT_SET(held->holding, 1);
		while (!PT_GET(held->refused))
			;
		gex_HSL_Unlock(&held->lock);
		PT_SET(held->holding, 2);
	} else {
		while (PT_GET(held->holding) != 1)
			;
		PT_EQ(gex_HSL_Trylock(&held->lock), GASNET_ERR_NOT_READY);
		PT_EQ(gasnet_hsl_trylock(&held->lock), GASNET_ERR_NOT_READY);
		PT_SET(held->refused, 1);
		while (PT_GET(held->holding) != 2)
			;
		PT_OK(gex_HSL_Trylock(&held->lock));
		gex_HSL_Unlock(&held->lock);
	}
}

static void
count_up(unsigned index, void *arg)
{
	(void)index;
	for (unsigned long i = 0; i < *(unsigned long *)arg; i++) {
		if (i % 4 == 0) {
			while (gex_HSL_Trylock(&fixed_lock) != GASNET_OK)
				;
		} else {
			gex_HSL_Lock(&fixed_lock);
		}
		add_one();
		gex_HSL_Unlock(&fixed_lock);
	}
}

static void
threads_exclude(void)
{
	struct held held = { GEX_HSL_INITIALIZER, 0, 0 };
	unsigned long count = pt_scale(5000, 50000);

	pt_threads(2, hold_and_try, &held);
	pt_threads(4, count_up, &count);
	check_sum();
}
#endif

#ifdef GASNET_PAR
/* Threads of one process poll and send at once: their handlers share the lock. */
static void
poll_and_send(unsigned index, void *arg)
{
	unsigned long count = *(unsigned long *)arg;

	for (unsigned long i = 0; i < count; i++) {
		PT_OK(gex_AM_RequestShort1(pt.tm, (gex_Rank_t)((index + i) % pt.size), REQ_ADD, 0,
		                           1));
		gex_HSL_Lock(&fixed_lock);
		add_one();
		gex_HSL_Unlock(&fixed_lock);
	}
}

static void
threads_and_handlers(void)
{
	unsigned long count = pt_scale(500, 5000);
	int before = PT_GET(replies_to[pt.rank]);

	pt_threads(4, poll_and_send, &count);
	GASNET_BLOCKUNTIL(PT_GET(replies_to[pt.rank]) >= before + 4 * (int)count);
	PT_EQ(PT_GET(replies_to[pt.rank]), before + 4 * (int)count);
	check_sum();
}
#endif

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_ADD, req_add, PT_REQ_SHORT, 1),
		PT_HANDLER(REP_ADD, rep_add, PT_REP_SHORT, 0),
	};

	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	pt_attach(table, PT_COUNT(table), 1);
	PT_LE(pt.size, PT_COUNT(replies_to));
	single_thread();
	handlers_exclude(pt_scale(500, 5000));
#ifndef GASNET_SEQ
	pt_phase("threads");
	threads_exclude();
#endif
#ifdef GASNET_PAR
	if (!pt_is_thread()) {  /* the rank's endpoint may be for one thread */
		pt_phase("threads and handlers");
		threads_and_handlers();
	}
#endif
	pt_finish();
}
