/*
 * A rank of the failure matrix: "matrix-member WHO HOW WHEN DELAY_US".  All ranks come to the
 * moment WHEN and say so on the page.  Then the ranks that WHO names do HOW, or wait in that moment
 * until it is done to them.  One of the others, the holder, keeps barrier and attach from being
 * complete and queues from being emptied.  When they are told to go on, all end by gasnet_exit(0).
 */
#include <gasnetex.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/job/matrix_page.h"

enum { ON_MOMENT = GEX_AM_INDEX_BASE, ON_END, ON_FLOOD, LIMIT_S = 60 };

static struct pt_matrix_page *page;
static gex_Client_t client;
static gex_EP_t ep;
static gex_TM_t tm;
static gex_Rank_t rank, size;
static const char *who, *how, *when;
static unsigned delay_us;
static pthread_t main_thread;
static volatile int never, left_moment;
static volatile char *volatile nowhere = (volatile char *)8; /* UBSan sees to null itself */
static char payload[4096];

static int
is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

/* -- who ------------------------------------------------------------------------------------- */

static int
chosen(gex_Rank_t other)
{
	if (is(how, "gexit-all"))
		return 1;
	if (is(how, "term") || is(how, "int"))
		return 0;
	if (is(who, "half"))
		return other % 2 == 1;
	return is(who, "rank0") ? other == 0 : is(who, "other") && other == size - 1;
}

static int
anyone_chosen(void)
{
	gex_Rank_t other;

	for (other = 0; other < size; other++)
		if (chosen(other))
			return 1;
	return 0;
}

/* Who waits for what will happen to it: the chosen, else one rank. */
static int
is_victim(void)
{
	return anyone_chosen() ? chosen(rank) : rank == 0;
}

static int
is_holder(void)
{
	if (is(how, "gexit-all"))
		return rank == size - 1;
	return rank == (chosen(0) ? 1u : 0u);
}

/* A rank that does it by a call of main's; others are in the moment when it happens to them. */
static int
acts_in_main(void)
{
	return chosen(rank) && !is(how, "gexit-handler") &&
	       (strncmp(how, "exit", 4) == 0 || is(how, "return") || is(how, "gexit") ||
	        is(how, "gexit-all"));
}

/* -- how ------------------------------------------------------------------------------------- */

static void
stamp(void)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&page->acted_ns, &none, pt_matrix_now_ns());
}

static void
arrive(void)
{
	atomic_store(&page->pids[rank], (int)getpid());
	atomic_fetch_add(&page->at, 1);
}

static void
wait_all(void)
{
	while (atomic_load(&page->at) < size)
		usleep(200);
	usleep(delay_us);
}

static int
told_to_go(void)
{
	return atomic_load_explicit(&page->go, memory_order_relaxed) != 0;
}

static void
wait_go(void)
{
	while (!told_to_go())
		usleep(500);
}

/* Returns where the rank ends by return from main. */
static void
act(void)
{
	stamp();
	if (is(how, "abort"))
		abort();
	else if (is(how, "segv"))
		*nowhere = 1;
	else if (strncmp(how, "gexit", 5) == 0)
		gasnet_exit(5);
	else if (!is(how, "return"))
		exit(is(how, "exit3") ? 3 : 0);
}

/* On the way out the others come first. */
static void
wait_turn(void)
{
	wait_all();
	if (is(when, "exit"))
		usleep(5000);
}

static void
act_when_all(void)
{
	wait_turn();
	act();
}

static void
on_turn(int sig)
{
	(void)sig;
	act();
}

/* Another thread does it, or makes the main thread fail in the middle of what it is at. */
static void *
act_beside(void *unused)
{
	wait_turn();
	if (is(how, "gexit-thread"))
		act();
	pthread_kill(main_thread, SIGUSR1);
	return unused;
}

static void
prepare(void)
{
	pthread_t thread;

	alarm(LIMIT_S);
	main_thread = pthread_self();
	if (!chosen(rank) || (!is(how, "abort") && !is(how, "segv") && !is(how, "gexit-thread")))
		return;
	signal(SIGUSR1, on_turn);
	if (pthread_create(&thread, NULL, act_beside, NULL) != 0)
		exit(99);
}

static void
on_end(gex_Token_t token)
{
	(void)token;
	act();
}

/* The rank next to a chosen one makes it run the handler that ends the job. */
static void
send_ends(void)
{
	gex_Rank_t other;

	if (!is(how, "gexit-handler") || !is_holder())
		return;
	wait_all();
	for (other = 0; other < size; other++)
		if (chosen(other))
			gex_AM_RequestShort0(tm, other, ON_END, 0);
}

/* -- when ------------------------------------------------------------------------------------ */

static void
barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* What keeps the others in the moment. */
static void
hold(void)
{
	send_ends();
	wait_go();
}

static void
at_attach(void)
{
	gex_Segment_t segment;

	arrive();
	if (acts_in_main())
		act_when_all();
	else if (is_holder())
		hold();
	if (!acts_in_main())
		gex_Segment_Attach(&segment, tm, 1 << 20);
}

static void
at_barrier(void)
{
	gex_Event_t event;

	if (is_holder() && !acts_in_main()) {
		arrive();
		hold();
		barrier();
		return;
	}
	event = gex_Coll_BarrierNB(tm, 0);
	arrive();
	if (acts_in_main())
		act_when_all();
	else
		gex_Event_Wait(event);
}

static void
on_moment(gex_Token_t token)
{
	(void)token;
	arrive();
	if (acts_in_main() || (chosen(rank) && is(how, "gexit-handler")))
		act_when_all();
	else
		wait_go();
	left_moment = 1;
}

/* To itself: from another it might come before this rank has sent its own. */
static void
at_handler(void)
{
	gex_AM_RequestShort0(tm, rank, ON_MOMENT, 0);
	GASNET_BLOCKUNTIL(left_moment);
}

static void
on_flood(gex_Token_t token, void *buf, size_t len_bytes)
{
	(void)token, (void)buf, (void)len_bytes;
}

/* The holder takes nothing, so that all who send to it have no room left. */
static void
at_sending(void)
{
	gex_Rank_t holder = is(how, "gexit-all") ? size - 1 : chosen(0) ? 1 : 0;

	if (is_holder()) {
		arrive();
		if (acts_in_main())
			act_when_all();
		else
			hold();
		return;
	}
	while (gex_AM_RequestMedium0(tm, holder, ON_FLOOD, payload, sizeof payload, GEX_EVENT_NOW,
	                             GEX_FLAG_IMMEDIATE) == 0)
		;
	arrive();
	if (acts_in_main())
		act_when_all();
	while (!acts_in_main() && !told_to_go())
		gex_AM_RequestMedium0(tm, holder, ON_FLOOD, payload, sizeof payload, GEX_EVENT_NOW,
		                      0);
}

static void
at_computing(void)
{
	arrive();
	if (acts_in_main())
		act_when_all();
	else
		while (!told_to_go())
			never++;
}

/* The others have called gasnet_exit; those it happens to, at least one, have not. */
static void
at_exit(void)
{
	arrive();
	if (acts_in_main()) {
		act_when_all();
	} else if (is_victim()) {
		while (!told_to_go())
			gasnet_AMPoll();
	} else {
		send_ends();
		wait_all();
	}
}

static const struct moment {
	const char *name;
	void (*reach)(void);
} moments[] = {
	{ "attach", at_attach }, { "barrier", at_barrier }, { "handler", at_handler },
	{ "sending", at_sending }, { "computing", at_computing }, { "exit", at_exit },
};

/* -- the job --------------------------------------------------------------------------------- */

static void
start(int *argc, char ***argv)
{
	gex_AM_Entry_t table[] = {
		{ ON_MOMENT, (gex_AM_Fn_t)on_moment, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "moment" },
		{ ON_END, (gex_AM_Fn_t)on_end, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL,
		  "end" },
		{ ON_FLOOD, (gex_AM_Fn_t)on_flood, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "flood" },
	};

	if (gex_Client_Init(&client, &ep, &tm, "MATRIX", argc, argv, 0) != GASNET_OK ||
	    gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table) != GASNET_OK)
		exit(98);
	rank = gex_TM_QueryRank(tm);
	size = gex_TM_QuerySize(tm);
	barrier();
}

/* Before init the others wait inside it. */
static void
before_init(void)
{
	arrive();
	if (acts_in_main())
		act_when_all();
	else if (is_victim())
		wait_go();
}

static void
read_arguments(int argc, char **argv)
{
	const char *rank_text = getenv("PST_JOB_RANK"), *size_text = getenv("PST_JOB_SIZE");

	if (argc != 5) {
		fprintf(stderr, "usage: matrix-member WHO HOW WHEN DELAY_US\n");
		exit(96);
	}
	rank = rank_text ? (gex_Rank_t)atoi(rank_text) : 0;
	size = size_text ? (gex_Rank_t)atoi(size_text) : 0;
	who = argv[1];
	how = argv[2];
	when = argv[3];
	delay_us = (unsigned)atoi(argv[4]);
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, PT_MATRIX_FD, 0);
	if (page == MAP_FAILED || size > PT_MATRIX_RANKS_MAX)
		exit(95);
}

int
main(int argc, char **argv)
{
	size_t i;

	read_arguments(argc, argv);
	if (is(when, "before")) {
		prepare();
		before_init();
		if (acts_in_main())
			return 0;
	}
	start(&argc, &argv);
	prepare();
	for (i = 0; i < sizeof moments / sizeof *moments; i++)
		if (is(moments[i].name, when))
			moments[i].reach();
	if (acts_in_main())
		return 0;
	if (!is(when, "exit"))
		barrier();
	gasnet_exit(0);
}
