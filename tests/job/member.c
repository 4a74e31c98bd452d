/*
 * A client that ends as its arguments say: "member WHO HOW WHEN" starts as a job; rank WHO (or
 * `all', `half', `last') does HOW at the moment WHEN, and the others stay where they are.  When a
 * rank is at the moment, it first makes the file named by MEMBER_AT, with its rank appended and its
 * pid inside, in one step.  With MEMBER_GO, WHO does HOW once the file of that name is there.
 */
#include <gasnetex.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/job/touch.h"

enum { ON_END = GEX_AM_INDEX_BASE, ON_FLOOD, ON_FLOOD_REPLY };

static gex_Client_t client;
static gex_EP_t ep;
static gex_TM_t tm;
static gex_Rank_t rank, size;
static const char *who, *how, *when;
static volatile int never;
static volatile char *volatile nowhere = (volatile char *)8; /* UBSan sees to null itself */
static char payload[4096];
static jmp_buf main_frame;

static int
is_chosen(void)
{
	if (strcmp(who, "last") == 0)
		return rank == size - 1;
	if (strcmp(who, "all") == 0)
		return 1;
	if (strcmp(who, "half") == 0)
		return rank % 2 == 1;
	return strcmp(who, "nobody") != 0 && (gex_Rank_t)atoi(who) == rank;
}

static void *
leave_in_thread(void *code)
{
	gasnet_exit(*(int *)code);
	return NULL;
}

static void
leave_by_thread(int code)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, leave_in_thread, &code) == 0)
		pthread_join(thread, NULL);
}

static void
barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* A rank that computes goes on with it. */
static void
wait_for_go(void)
{
	const char *go = getenv("MEMBER_GO");
	int i;

	while (go && access(go, F_OK) != 0) {
		if (strcmp(when, "computing") != 0) {
			gasnet_AMPoll();
			usleep(1000);
		}
		for (i = 0; strcmp(when, "computing") == 0 && i < 1000000; i++)
			never = i;
	}
	never = 0;
}

/* As a job ends that nothing has happened to: all talk to their neighbours once more. */
static void
finish(void)
{
	int i;

	for (i = 0; i < 8; i++) {
		gex_AM_RequestMedium0(tm, (rank + 1) % size, ON_FLOOD, payload, sizeof payload,
		    GEX_EVENT_NOW, 0);
		barrier();
	}
	gasnet_exit(0);
}

/* "gasnet_exit=5", "exit=3", "quick-exit=3", "thread=5", "signal=9", "abort", "segv", "finish",
 * "return" as exit, "return=3" from main */
static void
end_now(void)
{
	const char *value = strchr(how, '=');
	int code = value ? atoi(value + 1) : 0;

	wait_for_go();
	if (strncmp(how, "gasnet_exit", 11) == 0)
		gasnet_exit(code);
	else if (strncmp(how, "quick-exit", 10) == 0)
		_exit(code);
	else if (strncmp(how, "return=", 7) == 0)
		longjmp(main_frame, 1 + code);
	else if (strcmp(how, "finish") == 0)
		finish();
	else if (strncmp(how, "exit", 4) == 0 || strncmp(how, "return", 6) == 0)
		exit(code);
	else if (strncmp(how, "thread", 6) == 0)
		leave_by_thread(code);
	else if (strncmp(how, "signal", 6) == 0)
		kill(getpid(), code);
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "segv") == 0)
		*nowhere = 1;
	for (;;)
		pause();
}

static void
on_end(gex_Token_t token)
{
	(void)token;
	pt_touch(rank);
	if (is_chosen())
		end_now();
}

static void
on_flood(gex_Token_t token, void *buf, size_t len_bytes)
{
	gex_AM_ReplyMedium0(token, ON_FLOOD_REPLY, buf, len_bytes, GEX_EVENT_NOW, 0);
}

static void
on_flood_reply(gex_Token_t token, void *buf, size_t len_bytes)
{
	(void)token;
	(void)buf;
	(void)len_bytes;
}

static void
start(int *argc, char ***argv)
{
	gex_AM_Entry_t table[] = {
		{ ON_END, (gex_AM_Fn_t)on_end, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL,
		  "end" },
		{ ON_FLOOD, (gex_AM_Fn_t)on_flood, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "flood" },
		{ ON_FLOOD_REPLY, (gex_AM_Fn_t)on_flood_reply,
		  GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "flood reply" },
	};

	if (gex_Client_Init(&client, &ep, &tm, "MEMBER", argc, argv, 0) != GASNET_OK ||
	    gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table) != GASNET_OK)
		exit(98);
	rank = gex_TM_QueryRank(tm);
	size = gex_TM_QuerySize(tm);
}

/* Where the moment is a state, all are in it, and the chosen end out of it. */
static void
at_barrier(void)
{
	pt_touch(rank);
	if (is_chosen()) {
		usleep(50000);
		end_now();
	}
	barrier();
}

static void
at_computing(void)
{
	unsigned long i;

	pt_touch(rank);
	if (is_chosen())
		end_now();
	for (i = 0;; i++)
		never = (int)i;
}

static void
at_waiting(void)
{
	pt_touch(rank);
	if (is_chosen())
		end_now();
	GASNET_BLOCKUNTIL(never);
}

static void
at_handler(void)
{
	gex_AM_RequestShort0(tm, (rank + 1) % size, ON_END, 0);
	GASNET_BLOCKUNTIL(never);
}

/* Every rank sends to its neighbour for ever, and the chosen stop in the middle of it. */
static void
at_sending(void)
{
	unsigned i;

	for (i = 0;; i++) {
		gex_AM_RequestMedium0(tm, (rank + 1) % size, ON_FLOOD, payload, sizeof payload,
		    GEX_EVENT_NOW, 0);
		if (i == 2000) {
			pt_touch(rank);
			if (is_chosen())
				end_now();
		}
	}
}

static void
at_attach(void)
{
	gex_Segment_t segment;

	pt_touch(rank);
	if (is_chosen())
		end_now();
	gex_Segment_Attach(&segment, tm, 1 << 20);
	GASNET_BLOCKUNTIL(never);
}

/* The others are on their way out. */
static void
at_exit(void)
{
	pt_touch(rank);
	barrier();
	if (is_chosen())
		end_now();
	gasnet_exit(0);
}

static const struct moment {
	const char *name;
	void (*reach)(void);
} moments[] = {
	{ "barrier", at_barrier }, { "computing", at_computing }, { "waiting", at_waiting },
	{ "handler", at_handler }, { "sending", at_sending }, { "attach", at_attach },
	{ "exit", at_exit },
};

int
main(int argc, char **argv)
{
	const char *launched = getenv("PST_JOB_RANK");
	int returned;
	size_t i;

	if (argc != 4) {
		fprintf(stderr, "usage: member WHO HOW WHEN\n");
		return 97;
	}
	who = argv[1];
	how = argv[2];
	when = argv[3];
	returned = setjmp(main_frame);
	if (returned != 0)
		return returned - 1;
	if (strcmp(when, "before") == 0 && launched) {
		rank = (gex_Rank_t)atoi(launched);
		pt_touch(rank);
		if (is_chosen())
			end_now();
	}
	start(&argc, &argv);
	barrier();
	for (i = 0; i < sizeof moments / sizeof *moments; i++)
		if (strcmp(moments[i].name, when) == 0)
			moments[i].reach();
	return 96;
}
