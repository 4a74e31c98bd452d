/* A client that hangs as its argument says; see t_hang. */
#include <gasnetex.h>
#include <penstock.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STUCK = 200, FLOOD, ASK, ANSWER, NEWS, HELLO };

static gex_TM_t tm;
static gex_Rank_t rank, size;
static volatile int never;
static char payload[64];

static void
sleep_forever(void)
{
	for (;;)
		pause();
}

static void
on_stuck(gex_Token_t token)
{
	(void)token;
	sleep_forever();
}

static void
on_flood(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token, (void)buf, (void)nbytes;
}

static void
on_ask(gex_Token_t token)
{
	gex_AM_ReplyShort0(token, ANSWER, 0);
}

static void
on_answer(gex_Token_t token)
{
	(void)token;
}

static volatile int hellos;

static void
on_hello(gex_Token_t token)
{
	(void)token;
	hellos++;
}

/* Rank 0 does not call. */
static void
collective(void)
{
	if (rank == 0)
		sleep_forever();
	pst_bcast(tm, 0, payload, NULL, 24, 0);
}

static void
barrier(void)
{
	if (rank == 0)
		sleep_forever();
	gex_Coll_BarrierBlocking(tm, 0);
}

/* With PST_CHECK the job ends. */
static void
other_call(void)
{
	if (rank == size - 1)
		pst_barrier(tm, 0);
	pst_bcast(tm, 0, payload, payload, 24, 0);
}

static void
named(void)
{
	if (rank == size - 1)
		sleep_forever();
	gasnet_barrier_notify(7, 0);
	gasnet_barrier_wait(7, 0);
}

/* Rank 0 gives a name, which the last one does not; both in one call. */
static void
barrier_calls(void)
{
	if (rank == 1)
		sleep_forever();
	if (rank == size - 1)
		gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED);
	gasnet_barrier(7, 0);
}

static void
barrier_by_pst(void)
{
	if (rank == 0)
		sleep_forever();
	pst_barrier(tm, 0);
}

/* Two operations of two teams, and a barrier; rank 0 makes the first call alone. */
static void
several(void)
{
	static int64_t from[10], to[10];
	gex_TM_t new_tm;
	gex_Event_t events[3];

	gex_TM_Split(&new_tm, tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	events[0] = pst_allreduce_nb(new_tm, from, to, GEX_DT_I64, 8, 10, GEX_OP_ADD, NULL, NULL,
	                             0);
	if (rank == 0) {
		usleep(900000);         /* so that the first is noted, and then over */
		gex_Event_Wait(events[0]);
		sleep_forever();
	}
	events[1] = pst_bcast_nb(tm, 0, payload, NULL, 24, 0);
	events[2] = pst_barrier_nb(tm, 0);
	gex_Event_WaitAll(events, 3, 0);
}

static void
some(void)
{
	gex_Event_t events[2];

	if (rank == 0)
		sleep_forever();
	events[0] = GEX_EVENT_INVALID;
	events[1] = pst_barrier_nb(tm, 0);
	gex_Event_WaitSome(events, 2, 0);
}

static void
team(void)
{
	gex_TM_t new_tm;

	if (rank == 0)
		sleep_forever();
	gex_TM_Split(&new_tm, tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

/* Two teams of the same ranks: the last rank calls on another than the others. */
static gex_TM_t
either_team(void)
{
	gex_TM_t one, other;

	gex_TM_Split(&one, tm, 0, (int)rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	gex_TM_Split(&other, tm, 0, (int)rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	return rank == size - 1 ? other : one;
}

static void
two_teams(void)
{
	static int64_t from[10], to[10];

	pst_allreduce(either_team(), from, to, GEX_DT_I64, 8, 10, GEX_OP_ADD, NULL, NULL, 0);
}

static void
two_barriers(void)
{
	pst_barrier(either_team(), 0);
}

/* A team of all ranks in the reverse order, and one of each second rank; rank 0 does not call. */
static void
reverse_team(void)
{
	gex_TM_t new_tm;

	gex_TM_Split(&new_tm, tm, 0, -(int)rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	if (rank == 0)
		sleep_forever();
	pst_bcast(new_tm, size - 1, payload, NULL, 24, 0);
}

static void
second_ranks(void)
{
	gex_TM_t new_tm;

	gex_TM_Split(&new_tm, tm, rank % 2, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	if (rank == 0 || rank % 2)
		sleep_forever();
	gex_Coll_BarrierBlocking(new_tm, 0);
}

/* Each half of the ranks makes a team, for which its rank 0 does not call. */
static void
team_of_team(void)
{
	gex_TM_t half, new_tm;

	gex_TM_Split(&half, tm, rank % 2, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	if (gex_TM_QueryRank(half) == 0)
		sleep_forever();
	gex_TM_Split(&new_tm, half, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

/* A team of all ranks but the first, of which the last does not start the plan. */
static void
plan(void)
{
	static int64_t from[10], to[10];
	gex_TM_t new_tm;
	pst_plan_t sum;

	gex_TM_Split(&new_tm, tm, rank == 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	pst_allreduce_plan(new_tm, from, to, GEX_DT_I64, 8, 10, GEX_OP_ADD, NULL, NULL, &sum, 0);
	if (rank == 0 || rank == size - 1)
		sleep_forever();
	gex_Event_Wait(pst_plan_start(sum));
}

static void
stopped(void)
{
	if (rank == 1)
		raise(SIGSTOP);
	gex_Coll_BarrierBlocking(tm, 0);
}

static void
handler(void)
{
	if (rank == 0)
		gex_AM_RequestShort0(tm, 1, STUCK, 0);
	GASNET_BLOCKUNTIL(never);
}

static void
full(void)
{
	if (rank == 1)
		sleep_forever();
	while (rank == 0)
		gex_AM_RequestMedium0(tm, 1, FLOOD, payload, sizeof payload, GEX_EVENT_NOW, 0);
	GASNET_BLOCKUNTIL(never);
}

/* Rank 0 asks without end and takes no answer, so in the end the other waits in its handler. */
static void
replies(void)
{
	if (rank != 0)
		GASNET_BLOCKUNTIL(never);
	for (int tries = 0; tries < 200; tries++)
		while (gex_AM_RequestShort0(tm, 1, ASK, GEX_FLAG_IMMEDIATE) != GASNET_OK &&
		       ++tries < 200)
			usleep(500);
	sleep_forever();
}

static void
each_other(void)
{
	GASNET_BLOCKUNTIL(never);
}

/* Rank 1 waits, and hears of rank 0 all the time. */
static void
busy(void)
{
	while (rank == 0) {
		gex_AM_RequestShort0(tm, 1, NEWS, 0);
		usleep(1000);
	}
	GASNET_BLOCKUNTIL(never);
}

/* ... and without a pause, so that it never comes to sleep. */
static void
flooded(void)
{
	while (rank == 0)
		gex_AM_RequestShort0(tm, 1, NEWS, 0);
	GASNET_BLOCKUNTIL(never);
}

/* More threads than have blocks of their own in the arena, of rank 0. */
static void *
wait_for_ever(void *unused)
{
	GASNET_BLOCKUNTIL(never);
	return unused;
}

static void
threads(void)
{
	pthread_attr_t small;
	pthread_t id;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 * 1024);
	for (int i = 0; rank == 0 && i < 299; i++)
		if (pthread_create(&id, &small, wait_for_ever, NULL))
			gasnet_exit(3);
	GASNET_BLOCKUNTIL(never);
}

/* Who comes when 299 of them have taken blocks is the only thread that polls, and gets stuck. */
static pthread_barrier_t all_there;

static void *
poll_once(void *unused)
{
	gasnet_AMPoll();
	pthread_barrier_wait(&all_there);
	sleep_forever();
	return unused;
}

static void *
come_late(void *unused)
{
	gex_AM_RequestShort0(tm, 0, HELLO, 0);
	GASNET_BLOCKUNTIL(never);
	return unused;
}

static void
late_handler(void)
{
	enum { EARLY = 299 };
	pthread_attr_t small;
	pthread_t id;
	int failed = 0;

	if (rank == 0) {
		GASNET_BLOCKUNTIL(hellos);
		gex_AM_RequestShort0(tm, 1, STUCK, 0);
		GASNET_BLOCKUNTIL(never);
	}
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 * 1024);
	pthread_barrier_init(&all_there, NULL, EARLY + 1);
	for (int i = 0; i < EARLY; i++)
		failed |= pthread_create(&id, &small, poll_once, NULL);
	if (failed)
		gasnet_exit(3);
	pthread_barrier_wait(&all_there);
	if (pthread_create(&id, &small, come_late, NULL))
		gasnet_exit(3);
	sleep_forever();
}

static gex_AM_Entry_t table[] = {
	{ STUCK, (gex_AM_Fn_t)on_stuck, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "stuck" },
	{ FLOOD, (gex_AM_Fn_t)on_flood, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
	  "flood" },
	{ ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask" },
	{ ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL,
	  "answer" },
	{ NEWS, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "news" },
	{ HELLO, (gex_AM_Fn_t)on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "hello" },
};

/* Two ranks to a process. The last computes; the first sends to it without end, the others enter a
 * barrier. */
static int
thread_rank(gex_TM_t threads_tm, void *unused)
{
	const gex_Rank_t self = gex_TM_QueryRank(threads_tm),
			 last = gex_TM_QuerySize(threads_tm) - 1;

	(void)unused;
	if (self == last)
		sleep_forever();
	while (self == 0)
		gex_AM_RequestMedium0(threads_tm, last, FLOOD, payload, sizeof payload,
		                      GEX_EVENT_NOW, 0);
	gex_Coll_BarrierBlocking(threads_tm, 0);
	return 0;
}

static void
thread_ranks(void)
{
	pst_threads_run(tm, 2, 0, table, sizeof table / sizeof *table, thread_rank, NULL, 0);
}

static const struct {
	const char *name;
	void (*hang)(void);
} ways[] = {
	{ "barrier", barrier },
	{ "collective", collective },
	{ "other_call", other_call },
	{ "named", named },
	{ "barrier_calls", barrier_calls },
	{ "barrier_by_pst", barrier_by_pst },
	{ "several", several },
	{ "some", some },
	{ "stopped", stopped },
	{ "handler", handler },
	{ "team", team },
	{ "team_of_team", team_of_team },
	{ "two_teams", two_teams },
	{ "two_barriers", two_barriers },
	{ "reverse_team", reverse_team },
	{ "second_ranks", second_ranks },
	{ "plan", plan },
	{ "full", full },
	{ "replies", replies },
	{ "each_other", each_other },
	{ "busy", busy },
	{ "flooded", flooded },
	{ "threads", threads },
	{ "thread_ranks", thread_ranks },
	{ "late_handler", late_handler },
};

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "", *here = getenv("PST_JOB_RANK");
	gex_Client_t client;
	gex_EP_t ep;

	if (strcmp(way, "init") == 0 && here && strcmp(here, "1") == 0)
		sleep_forever();
	gex_Client_Init(&client, &ep, &tm, "hangs", &argc, &argv, 0);
	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
	rank = gex_TM_QueryRank(tm);
	size = gex_TM_QuerySize(tm);
	gex_Coll_BarrierBlocking(tm, 0);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(ways[i].name, way) == 0)
			ways[i].hang();
	gasnet_exit(1);
	return 1;
}
