/*
 * Semaphores: kinds, names, takes, arrays, time-outs, sets; posts from all ranks, in handlers, and
 * by the owner.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

enum { REQ_REF = 128, REQ_POST_LOCAL, REQ_FREE, REP_POST };
enum { SECOND_NS = 1000000000 };

static const unsigned kinds[] = {
	0,
	PST_SEM_INTEGER | PST_SEM_SPRODUCER | PST_SEM_SCONSUMER,
	PST_SEM_INTEGER | PST_SEM_MPRODUCER | PST_SEM_SCONSUMER,
	PST_SEM_SPRODUCER,
	PST_SEM_BOOLEAN,
	PST_SEM_BOOLEAN | PST_SEM_SPRODUCER | PST_SEM_SCONSUMER,
};

static PT_OWN pst_sem_ref_t refs[64]; /* by rank: what came from there */
static PT_OWN pt_count refs_here;
static PT_OWN pst_sem_t local;
static PT_OWN pst_sem_t doomed;

static gex_Rank_t
next(void)
{
	return (pt.rank + 1) % pt.size;
}

static gex_Rank_t
before(void)
{
	return (pt.rank + pt.size - 1) % pt.size;
}

static void
req_ref(gex_Token_t token, void *buf, size_t nbytes)
{
	PT_EQ(nbytes, sizeof refs[0]);
	memcpy(&refs[pt_source(token)], buf, nbytes);
	PT_INC(refs_here);
}

static void
rep_post(gex_Token_t token, gex_AM_Arg_t n)
{
	(void)token;
	pst_sem_post_local(local, (unsigned)n);
}

static void
req_post_local(gex_Token_t token, gex_AM_Arg_t n)
{
	pst_sem_post_local(local, (unsigned)n);
	PT_OK(gex_AM_ReplyShort1(token, REP_POST, 0, n));
}

static void
req_free(gex_Token_t token)
{
	(void)token;
	pst_sem_free(&doomed, 1);
	doomed = PST_SEM_INVALID;
}

/* Everybody learns the name of everybody's semaphore. */
static void
exchange(pst_sem_t sem)
{
	pst_sem_ref_t mine = pst_sem_ref(sem);

	PT_SET(refs_here, 0);
	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_OK(gex_AM_RequestMedium0(pt.tm, rank, REQ_REF, &mine, sizeof mine,
		                            GEX_EVENT_NOW, 0));
	GASNET_BLOCKUNTIL(PT_GET(refs_here) == (int)pt.size);
}

static void
names(void)
{
	pst_sem_t sem;
	pst_sem_ref_t ref, again;
	uint64_t key;

	PT_OK(pst_sem_alloc(pt.ep, 0, 1, &sem));
	exchange(sem);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		gex_EP_Location_t owner = pst_sem_ref_owner(refs[rank]);

		PT_EQ(owner.gex_rank, pt.where[rank].gex_rank);
		PT_EQ(owner.gex_ep_index, pt.where[rank].gex_ep_index);
		key = pst_sem_ref_key(refs[rank]);
		PT_CHECK(key != 0 && key >> 48 == 0);
		again = pst_sem_ref_make(pt.tm, rank, key);
		PT_EQ(memcmp(&again, &refs[rank], sizeof again), 0);
	}
	ref = pst_sem_ref(sem);
	PT_EQ(sizeof ref, 16);
	PT_EQ(memcmp(&ref, &refs[pt.rank], sizeof ref), 0);
	pt_barrier();
	pst_sem_free(&sem, 1);
	/* the slot is used again, under another name */
	PT_OK(pst_sem_alloc(pt.ep, 0, 1, &sem));
	PT_CHECK(pst_sem_ref_key(pst_sem_ref(sem)) != pst_sem_ref_key(ref));
	pst_sem_free(&sem, 1);
}

static void
kinds_taken_and_refused(void)
{
	static const unsigned bad[] = {
		PST_SEM_BOOLEAN | PST_SEM_INTEGER, PST_SEM_SPRODUCER | PST_SEM_MPRODUCER,
		PST_SEM_SCONSUMER | PST_SEM_MCONSUMER, 64,
	};
	pst_sem_t sem = PST_SEM_INVALID;
	pst_sem_set_t set = NULL;

	gex_System_SetVerboseErrors(0);
	for (unsigned i = 0; i < PT_COUNT(bad); i++) {
		PT_EQ(pst_sem_alloc(pt.ep, bad[i], 1, &sem), GASNET_ERR_BAD_ARG);
		PT_EQ(pst_sem_set_create(pt.tm, 1, bad[i], &set, 0), GASNET_ERR_BAD_ARG);
	}
	PT_EQ(pst_sem_alloc(GEX_EP_INVALID, 0, 1, &sem), GASNET_ERR_BAD_ARG);
	PT_EQ(pst_sem_alloc(pt.ep, 0, 1000000, &sem), GASNET_ERR_RESOURCE);
	PT_EQ(pst_sem_set_create(pt.tm, 1000000, 0, &set, 0), GASNET_ERR_RESOURCE);
	PT_CHECK(!sem && !set);
	pt_barrier();   /* it is for all ranks of the process */
	gex_System_SetVerboseErrors(1);
	PT_OK(pst_sem_alloc(pt.ep, 0, 0, &sem));
	PT_CHECK(!sem);
}

/* One kind, by the owner alone. */
static void
counting(unsigned kind)
{
	const int boolean = (kind & PST_SEM_BOOLEAN) != 0;
	pst_sem_t sem;

	PT_OK(pst_sem_alloc(pt.ep, kind, 1, &sem));
	PT_EQ(pst_sem_value(sem), 0);
	PT_EQ(pst_sem_try(sem, 1), 0);
	pst_sem_post_local(sem, 1);
	pst_sem_post_local(sem, 1);
	PT_EQ(pst_sem_value(sem), boolean ? 1 : 2);
	PT_EQ(pst_sem_try(sem, 1), 1);
	PT_EQ(pst_sem_value(sem), boolean ? 0 : 1);
	PT_EQ(pst_sem_try(sem, 1), !boolean);
	PT_EQ(pst_sem_try(sem, 1), 0);
	if (!boolean) {
		pst_sem_post_local(sem, 65535);
		PT_EQ(pst_sem_value(sem), 65535);
		PT_EQ(pst_sem_try(sem, 40000), 1);
		PT_EQ(pst_sem_try(sem, 40000), 0); /* never in parts */
		PT_EQ(pst_sem_value(sem), 25535);
		pst_sem_wait(sem, 25535);
	}
	PT_EQ(pst_sem_timedwait(sem, 1, 0), 0);
	PT_EQ(pst_sem_value(sem), 0);
	pst_sem_free(&sem, 1);
}

static void
time_outs(void)
{
	pst_sem_t sems[2];
	int done[2] = { 0, 0 };
	uint64_t start;

	PT_OK(pst_sem_alloc(pt.ep, 0, 2, sems));
	start = pt_now_ns();
	PT_EQ(pst_sem_timedwait(sems[0], 1, SECOND_NS / 50), 0);
	PT_EQ(pst_sem_wait_any(sems, NULL, 2, done, SECOND_NS / 50), PST_NONE);
	PT_EQ(pst_sem_wait_some(sems, NULL, 2, done, SECOND_NS / 50, NULL), 0);
	PT_EQ(pst_sem_wait_all(sems, NULL, 2, done, SECOND_NS / 50), 0);
	PT_LE(SECOND_NS / 50 * 4, pt_now_ns() - start);
	pst_sem_post_local(sems[0], 1);
	PT_EQ(pst_sem_timedwait(sems[0], 1, PST_FOREVER), 1);
	pst_sem_free(sems, 2);
}

static void
arrays(void)
{
	enum { COUNT = 5 };
	const unsigned n[COUNT] = { 1, 2, 3, 4, 5 };
	pst_sem_t sems[COUNT];
	int done[COUNT] = { 0 };
	size_t indices[COUNT], got, seen = 0;

	PT_EQ(pst_sem_wait_any(NULL, NULL, 0, NULL, PST_FOREVER), PST_NONE);
	PT_EQ(pst_sem_wait_some(NULL, NULL, 0, NULL, PST_FOREVER, NULL), 0);
	PT_EQ(pst_sem_wait_all(NULL, NULL, 0, NULL, PST_FOREVER), 1);
	PT_OK(pst_sem_alloc(pt.ep, 0, COUNT, sems));
	PT_EQ(pst_sem_wait_any(sems, n, COUNT, done, 0), PST_NONE);
	pst_sem_post_local(sems[1], 1);
	pst_sem_post_local(sems[3], 4);
	PT_EQ(pst_sem_wait_any(sems, n, COUNT, done, PST_FOREVER), 3);
	PT_EQ(done[3], 1);
	PT_EQ(pst_sem_value(sems[1]), 1); /* not enough, and so untouched */
	pst_sem_post_local(sems[1], 1);
	pst_sem_post_local(sems[4], 5);
	got = pst_sem_wait_some(sems, n, COUNT, done, PST_FOREVER, indices);
	PT_EQ(got, 2);
	for (size_t i = 0; i < got; i++)
		seen |= (size_t)1 << indices[i];
	PT_EQ(seen, 1 << 1 | 1 << 4);
	PT_EQ(pst_sem_wait_all(sems, n, COUNT, done, 0), 0);
	pst_sem_post_local(sems[0], 1);
	PT_EQ(pst_sem_wait_all(sems, n, COUNT, done, 0), 0); /* what it took stays taken */
	PT_EQ(done[0], 1);
	PT_EQ(pst_sem_value(sems[0]), 0);
	pst_sem_post_local(sems[2], 3);
	PT_EQ(pst_sem_wait_all(sems, n, COUNT, done, PST_FOREVER), 1);
	PT_EQ(pst_sem_wait_any(sems, n, COUNT, done, PST_FOREVER), PST_NONE);
	PT_EQ(pst_sem_wait_some(sems, n, COUNT, done, PST_FOREVER, NULL), 0);
	for (unsigned i = 0; i < COUNT; i++)
		pst_sem_post_local(sems[i], 1);
	PT_EQ(pst_sem_wait_all(sems, NULL, COUNT, NULL, PST_FOREVER), 1);
	for (unsigned i = 0; i < COUNT; i++)
		PT_EQ(pst_sem_value(sems[i]), 0);
	/* no entry starves: each comes to its turn */
	for (unsigned i = 0; i < COUNT; i++)
		pst_sem_post_local(sems[i], 100);
	for (unsigned i = 0; i < 100; i++)
		PT_LE(pst_sem_wait_any(sems, NULL, COUNT, NULL, PST_FOREVER), COUNT - 1);
	for (unsigned i = 0; i < COUNT; i++)
		PT_CHECK(pst_sem_value(sems[i]) < 100);
	pst_sem_free(sems, COUNT);
}

/* All post to all, of each kind that takes many producers. */
static void
all_to_all(unsigned kind)
{
	const unsigned long rounds = pt_scale(20, 200);
	pst_sem_t sem;

	PT_OK(pst_sem_alloc(pt.ep, kind, 1, &sem));
	exchange(sem);
	for (unsigned long i = 0; i < rounds; i++) {
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			PT_OK(pst_sem_post(pt.tm, rank, refs[rank], 2, 0));
		pst_sem_wait(sem, 2 * pt.size);
	}
	pt_barrier();
	PT_EQ(pst_sem_value(sem), 0);
	pst_sem_free(&sem, 1);
}

/* Round the ring, one producer and one consumer each, and back by a credit. */
static void
round_the_ring(unsigned kind)
{
	const unsigned long rounds = pt_scale(50, 1000);
	pst_sem_t sems[2];
	pst_sem_ref_t to;
	pst_sem_ref_t back;

	PT_OK(pst_sem_alloc(pt.ep, kind, 2, sems));
	exchange(sems[0]);
	to = refs[next()];
	pt_barrier();
	exchange(sems[1]);
	back = refs[before()];
	for (unsigned long i = 0; i < rounds; i++) {
		PT_OK(pst_sem_post(pt.tm, next(), to, 1, 0));
		pst_sem_wait(sems[0], 1);
		while (pst_sem_post(pt.tm, before(), back, 1, GEX_FLAG_IMMEDIATE) != GASNET_OK)
			PT_OK(pst_poll(pt.ep));
		pst_sem_wait(sems[1], 1);
	}
	pt_barrier();
	pst_sem_free(sems, 2);
}

/* One endpoint's messages arrive by polling it alone. */
static void
polls(void)
{
	PT_OK(pst_sem_alloc(pt.ep, PST_SEM_INTEGER, 1, &local));
	pt_barrier();
	PT_OK(gex_AM_RequestShort1(pt.tm, next(), REQ_POST_LOCAL, 0, 3));
	while (pst_sem_value(local) < 6)
		PT_OK(pst_poll(pt.ep));
	pst_sem_wait(local, 6);
	pt_barrier();
	pst_sem_free(&local, 1);
}

static void
in_handlers(void)
{
	PT_OK(pst_sem_alloc(pt.ep, PST_SEM_INTEGER, 1, &local));
	pt_barrier();
	PT_OK(gex_AM_RequestShort1(pt.tm, next(), REQ_POST_LOCAL, 0, 3));
	pst_sem_wait(local, 6); /* the request of the one before, and the reply to ours */
	PT_EQ(pst_sem_value(local), 0);
	pt_barrier();
	doomed = local;
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_FREE, 0));
	GASNET_BLOCKUNTIL(!doomed);
}

static void
sets(void)
{
	enum { COUNT = 3, SETS = 4 };
	pst_sem_set_t set[SETS];

	for (unsigned i = 0; i < SETS; i++)
		PT_OK(pst_sem_set_create(pt.tm, COUNT, kinds[i % 2], &set[i], 0));
	for (unsigned i = 0; i < SETS; i++) {
		for (unsigned k = 0; k < COUNT; k++)
			PT_OK(pst_sem_post(pt.tm, next(), pst_sem_set_ref(set[i], next(), k), k + 1,
			                   0));
		for (unsigned k = 0; k < COUNT; k++)
			pst_sem_wait(pst_sem_set_mine(set[i], k), k + 1);
		PT_EQ(pst_sem_ref_key(pst_sem_set_ref(set[i], pt.rank, 1)),
		      pst_sem_ref_key(pst_sem_ref(pst_sem_set_mine(set[i], 1))));
		PT_EQ(pst_sem_ref_owner(pst_sem_set_ref(set[i], next(), 1)).gex_rank,
		      pt.where[next()].gex_rank);
	}
	pst_sem_set_destroy(set[1], 0);
	PT_OK(pst_sem_set_create(pt.tm, COUNT, 0, &set[1], 0)); /* into the gap */
	PT_EQ(pst_sem_value(pst_sem_set_mine(set[1], 0)), 0);
	for (unsigned i = 0; i < SETS; i++)
		pst_sem_set_destroy(set[i], 0);
	PT_OK(pst_sem_set_create(pt.tm, 0, 0, &set[0], 0));
	pst_sem_set_destroy(set[0], 0);
}

/* As many as must work, and as many again. */
static void
many(void)
{
	const size_t count = pt.level == PT_QUICK ? 2000 : 65535;
	pst_sem_t *sems = (pst_sem_t *)calloc(count, sizeof *sems);

	PT_CHECK(sems);
	for (int again = 0; again < 2; again++) {
		PT_OK(pst_sem_alloc(pt.ep, PST_SEM_SPRODUCER, count, sems));
		for (size_t i = 0; i < count; i += 97)
			pst_sem_post_local(sems[i], (unsigned)(i % 65535 + 1));
		for (size_t i = 0; i < count; i++)
			PT_EQ(pst_sem_value(sems[i]), i % 97 ? 0 : i % 65535 + 1);
		pst_sem_free(sems, count);
	}
	free(sems);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_REF, req_ref, PT_REQ_MEDIUM, 0),
		PT_HANDLER(REQ_POST_LOCAL, req_post_local, PT_REQ_SHORT, 1),
		PT_HANDLER(REQ_FREE, req_free, PT_REQ_SHORT, 0),
		PT_HANDLER(REP_POST, rep_post, PT_REP_SHORT, 1),
	};

	pt_start(&argc, &argv, table, PT_COUNT(table), 4096);
	PT_EQ(PST_API_VERSION, 1);
	PT_EQ(PST_ERR_BARRIER_MISMATCH, GASNET_ERR_BARRIER_MISMATCH);
	pt_phase("names");
	names();
	kinds_taken_and_refused();
	pt_phase("counting");
	for (unsigned i = 0; i < PT_COUNT(kinds); i++)
		counting(kinds[i]);
	time_outs();
	pt_phase("arrays");
	arrays();
	pt_phase("all to all");
	all_to_all(0);
	all_to_all(PST_SEM_SCONSUMER);
	pt_phase("round the ring");
	for (unsigned i = 0; i < PT_COUNT(kinds); i++)
		round_the_ring(kinds[i]);
	pt_phase("handlers");
	polls();
	in_handlers();
	pt_phase("sets");
	sets();
	many();
	pt_finish();
}
