/*
 * A client that goes on until it is ended: "newer_steps WAY [RANK HOW AFTER_MS]".  All ranks do WAY
 * without end; one of them, or the threads that are its ranks, ends by itself when its time has
 * come.  Each rank first makes the file named by MEMBER_AT, with its rank appended and its pid
 * inside.
 */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <penstock.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "tests/job/touch.h"

enum { ON_ASK = GEX_AM_INDEX_BASE, ON_ANSWER, SEGMENT_BYTES = 1 << 20, PAYLOAD_BYTES = 3000 };

static gex_TM_t tm;
static gex_EP_t ep;
static gex_Rank_t rank, size;
static const char *how = "";
static volatile sig_atomic_t due;
static char payload[PAYLOAD_BYTES];
static char *there; /* of the next rank */

static void
on_ask(gex_Token_t token, void *buf, size_t nbytes)
{
	gex_AM_ReplyMedium0(token, ON_ANSWER, buf, nbytes, GEX_EVENT_NOW, 0);
}

static void
on_answer(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token, (void)buf, (void)nbytes;
}

static gex_AM_Entry_t table[] = {
	{ ON_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "ask" },
	{ ON_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL,
	  "answer" },
};

static void
on_time(int sig)
{
	(void)sig;
	due = 1;
}

/* In the middle of what it does. */
static void
end_if_due(void)
{
	if (!due)
		return;
	if (strcmp(how, "leave") == 0)
		gasnet_exit(5);
	else if (strcmp(how, "exit") == 0)
		exit(3);
	else if (strcmp(how, "abort") == 0)
		abort();
}

/* -- ways ------------------------------------------------------------------------------------ */

static void
signals(void)
{
	pst_sem_set_t set;
	pst_sem_t mine;

	pst_sem_set_create(tm, 1, PST_SEM_INTEGER | PST_SEM_SPRODUCER | PST_SEM_SCONSUMER, &set, 0);
	mine = pst_sem_set_mine(set, 0);
	for (;; end_if_due()) {
		pst_signal_t sig = pst_signal_sem(pst_sem_set_ref(set, (rank + 1) % size, 0), 1);

		pst_put_signal_nbi(tm, (rank + 1) % size, there, payload, sizeof payload, &sig,
		                   GEX_EVENT_NOW, 0);
		pst_sem_wait(mine, 1);
	}
}

static void
teams(void)
{
	for (int round = 0;; round++) {
		gex_TM_t half, pair;

		gex_TM_Split(&half, tm, (int)rank % 2, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
		end_if_due();
		gex_TM_Split(&pair, half, (int)gex_TM_QueryRank(half) / 2, round % 3, NULL, 0,
		             GEX_FLAG_TM_NO_SCRATCH);
		gex_Coll_BarrierBlocking(pair, 0);
		gex_TM_Destroy(pair, NULL, 0);
		end_if_due();
		gex_TM_Destroy(half, NULL, 0);
	}
}

static void
collectives(void)
{
	static uint64_t words[512], sums[512];

	for (gex_Rank_t root = 0;; root = (root + 1) % size, end_if_due()) {
		gex_Event_t first = gex_Coll_BroadcastNB(tm, root, sums, words, sizeof words, 0);
		gex_Event_t second = gex_Coll_ReduceToAllNB(tm, words, words + 256, GEX_DT_U64, 8,
		                                            256, GEX_OP_MAX, NULL, NULL, 0);

		gex_Event_Wait(first);
		gex_Event_Wait(second);
	}
}

static void
atomics(void)
{
	gex_AD_t domain;
	uint64_t old;

	gex_AD_Create(&domain, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FCAS, 0);
	for (uint64_t i = 0;; i++, end_if_due()) {
		gex_Event_Wait(gex_AD_OpNB_U64(domain, &old, (rank + 1) % size,
		                               (uint64_t *)(void *)there, GEX_OP_FADD, 1, 0, 0));
		gex_AD_OpNBI_U64(domain, &old, (rank + 1) % size, (uint64_t *)(void *)there + 1,
		                 GEX_OP_FCAS, i, i + 1, 0);
		gex_NBI_Wait(GEX_EC_RMW, 0);
	}
}

static void
strided(void)
{
	static char from[256 * 256];
	const ptrdiff_t stride = 256;
	const size_t count[2] = { 24, 100 };

	for (;; end_if_due())
		gex_VIS_StridedPutBlocking(tm, (rank + 1) % size, there, &stride, from, &stride,
		                           count[0], &count[1], 1, 0);
}

/* Of several threads that are ranks, each sends to all and meets the others. */
static int
thread_rank(gex_TM_t all, void *unused)
{
	const gex_Rank_t others = gex_TM_QuerySize(all);

	(void)unused;
	for (gex_Rank_t to = 0;; to = (to + 1) % others) {
		gex_AM_RequestMedium0(all, to, ON_ASK, payload, sizeof payload, GEX_EVENT_NOW, 0);
		if (to == 0)
			gex_Event_Wait(gex_Coll_BarrierNB(all, 0));
		end_if_due();
	}
	return 0;
}

static void
thread_ranks(void)
{
	pst_threads_run(tm, 3, 0, table, sizeof table / sizeof *table, thread_rank, NULL, 0);
}

/* Threads come and go, and their team with them. */
static int
brief(gex_TM_t all, void *unused)
{
	(void)unused;
	gex_Event_Wait(gex_Coll_BarrierNB(all, 0));
	return 0;
}

static void
thread_teams(void)
{
	for (;; end_if_due())
		pst_threads_run(tm, 2, 4096, NULL, 0, brief, NULL, 0);
}

static const struct {
	const char *name;
	void (*go)(void);
} ways[] = {
	{ "signals", signals },           { "teams", teams },     { "collectives", collectives },
	{ "atomics", atomics },           { "strided", strided }, { "thread_ranks", thread_ranks },
	{ "thread_teams", thread_teams },
};

/* -------------------------------------------------------------------------------------------- */

static void
set_time(int ms)
{
	struct itimerval timer = { .it_value = { .tv_sec = ms / 1000,
		                                 .tv_usec = ms % 1000 * 1000 + 1 } };

	signal(SIGALRM, on_time);
	setitimer(ITIMER_REAL, &timer, NULL);
}

int
main(int argc, char **argv)
{
	gex_Client_t client;
	gex_Segment_t segment;
	void *base = NULL;

	gex_Client_Init(&client, &ep, &tm, "newer_steps", &argc, &argv, 0);
	rank = gex_TM_QueryRank(tm);
	size = gex_TM_QuerySize(tm);
	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
	gex_Segment_Attach(&segment, tm, SEGMENT_BYTES);
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (rank + 1) % size, &base, NULL, NULL, 0));
	there = base;
	gex_Coll_BarrierBlocking(tm, 0);
	pt_touch(rank);
	if (argc > 4 && (gex_Rank_t)atoi(argv[2]) == rank) {
		how = argv[3];
		set_time(atoi(argv[4]));
	}
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (argc > 1 && strcmp(ways[i].name, argv[1]) == 0)
			ways[i].go();
	fprintf(stderr, "newer_steps: no such way\n");
	return 99;
}
