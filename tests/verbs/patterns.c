/*
 * "patterns PATTERN TIMES": two ranks do one thing that often, for counting what it takes of a
 * device (counting.c).
 *
 *     short    a Short with two arguments, and one in answer: two messages
 *     put      a put of 8 bytes that is waited for
 *     stream   puts of 4 KiB, of which the last is waited for
 *     signal   puts of 8 bytes with signal, to a thread that waits for each
 *     large    the same of 64 KiB
 */
#include <penstock.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_SHORT = GEX_AM_INDEX_BASE, ON_ANSWER, SMALL = 8, PAGE = 4096, LARGE = 65536 };

static gex_TM_t tm;
static gex_Rank_t rank;
static unsigned answers;
static char *mine, *theirs;
static pst_sem_set_t signals;

static void
on_short(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b)
{
	gex_AM_ReplyShort2(token, ON_ANSWER, 0, a, b);
}

static void
on_answer(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b)
{
	(void)token;
	answers += a == 11 && b == 12;
}

static void
start(int *argc, char ***argv)
{
	gex_AM_Entry_t table[] = {
		{ ON_SHORT, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL,
		  "short" },
		{ ON_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, NULL,
		  "answer" },
	};
	gex_Client_t client;
	gex_Segment_t segment;
	gex_EP_t ep;
	void *there = NULL;

	if (gex_Client_Init(&client, &ep, &tm, "PATTERNS", argc, argv, 0) != GASNET_OK ||
	    gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table) != GASNET_OK ||
	    gex_Segment_Attach(&segment, tm, 2 * LARGE) != GASNET_OK ||
	    gex_TM_QuerySize(tm) != 2 ||
	    pst_sem_set_create(tm, 1, PST_SEM_INTEGER, &signals, 0) != GASNET_OK)
		exit(98);
	rank = gex_TM_QueryRank(tm);
	mine = gex_Segment_QueryAddr(segment);
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, !rank, &there, NULL, NULL, 0));
	theirs = there;
}

static void
barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void
shorts(unsigned times)
{
	for (unsigned i = 1; rank == 0 && i <= times; i++) {
		gex_AM_RequestShort2(tm, 1, ON_SHORT, 0, 11, 12);
		GASNET_BLOCKUNTIL(answers == i);
	}
}

static void
puts_waited(unsigned times)
{
	while (rank == 0 && times-- > 0)
		gex_RMA_PutBlocking(tm, 1, theirs, mine, SMALL, 0);
}

static void
puts_streamed(unsigned times)
{
	while (rank == 0 && times-- > 0)
		gex_RMA_PutNBI(tm, 1, theirs + times % 16 * PAGE, mine, PAGE, GEX_EVENT_DEFER, 0);
	gex_NBI_Wait(GEX_EC_PUT, 0);
}

static void
puts_signalled(unsigned times, size_t nbytes)
{
	const pst_sem_ref_t there = pst_sem_set_ref(signals, 1, 0);

	while (times-- > 0)
		if (rank == 1)
			pst_sem_wait(pst_sem_set_mine(signals, 0), 1);
		else if (pst_memput_signal_nbi(tm, 1, theirs, mine, nbytes, there, 1, 0) !=
		         GASNET_OK)
			exit(97);
	gex_NBI_Wait(GEX_EC_PUT, 0);
}

int
main(int argc, char **argv)
{
	const char *pattern;
	unsigned times;

	start(&argc, &argv);
	if (argc != 3)
		return 2;
	pattern = argv[1];
	times = (unsigned)strtoul(argv[2], NULL, 10);
	barrier();
	if (strcmp(pattern, "short") == 0)
		shorts(times);
	else if (strcmp(pattern, "put") == 0)
		puts_waited(times);
	else if (strcmp(pattern, "stream") == 0)
		puts_streamed(times);
	else if (strcmp(pattern, "signal") == 0)
		puts_signalled(times, SMALL);
	else if (strcmp(pattern, "large") == 0)
		puts_signalled(times, LARGE);
	else
		return 2;
	barrier();
	gasnet_exit(0);
	return 0;
}
