/*
 * A client whose ranks all talk to all for some time: "traffic SECONDS [DEAF]".  Each round puts
 * blocks of several sizes into every peer's segment, gets them back and compares, and sends
 * Mediums and a Long, which the peer checks and answers.  So bytes that are lost, doubled or out of
 * place show.  Now and then it forks a child meanwhile.  Rank DEAF makes no call for a third of the
 * time.
 *
 * Once all have done some rounds, each makes the file that MEMBER_AT names, with its rank appended
 * and its pid inside.  At the end each says how many rounds it did, and the longest of them.
 */
#include <gasnetex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/job/touch.h"

enum { ON_BLOCK = GEX_AM_INDEX_BASE, ON_LONG, ON_ANSWER, BLOCK = 1024, RANKS = 16, MEDIUMS = 8 };

static const size_t sizes[] = { 8, 200, 6000, 100000 };
enum { SIZES = sizeof sizes / sizeof *sizes, SLOT = 131072 };

static gex_TM_t tm;
static gex_Rank_t rank, size;
static char *base[RANKS], mine[SIZES][SLOT], back[SLOT];
static unsigned answers, wrong;

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void
fill(char *bytes, size_t len_bytes, unsigned seed)
{
	for (size_t i = 0; i < len_bytes; i++)
		bytes[i] = (char)(seed * 31 + i * 7 + i / 251);
}

static void
compare(const char *bytes, size_t len_bytes, unsigned seed, const char *what)
{
	for (size_t i = 0; i < len_bytes; i++)
		if (bytes[i] != (char)(seed * 31 + i * 7 + i / 251)) {
			fprintf(stderr, "WRONG: rank %u: byte %zu of %zu of %s\n", rank, i,
			        len_bytes, what);
			wrong++;
			return;
		}
}

static void
on_block(gex_Token_t token, void *buf, size_t len_bytes, gex_AM_Arg_t seed)
{
	compare(buf, len_bytes, (unsigned)seed, "a request");
	gex_AM_ReplyMedium1(token, ON_ANSWER, buf, len_bytes, GEX_EVENT_NOW, 0, seed);
}

static void
on_long(gex_Token_t token, void *buf, size_t len_bytes, gex_AM_Arg_t seed)
{
	compare(buf, len_bytes, (unsigned)seed, "a Long");
	gex_AM_ReplyMedium1(token, ON_ANSWER, buf, 1, GEX_EVENT_NOW, 0, seed);
}

static void
on_answer(gex_Token_t token, void *buf, size_t len_bytes, gex_AM_Arg_t seed)
{
	(void)token;
	compare(buf, len_bytes, (unsigned)seed, "an answer");
	answers++;
}

static void
start(int *argc, char ***argv)
{
	gex_AM_Entry_t table[] = {
		{ ON_BLOCK, (gex_AM_Fn_t)on_block, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1,
		  NULL, "block" },
		{ ON_LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL,
		  "long" },
		{ ON_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1,
		  NULL, "answer" },
	};
	gex_Client_t client;
	gex_Segment_t segment;
	gex_EP_t ep;

	if (gex_Client_Init(&client, &ep, &tm, "TRAFFIC", argc, argv, 0) != GASNET_OK ||
	    gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table) != GASNET_OK ||
	    gex_Segment_Attach(&segment, tm, (uintptr_t)2 * RANKS * SLOT) != GASNET_OK)
		exit(98);
	rank = gex_TM_QueryRank(tm);
	size = gex_TM_QuerySize(tm);
	if (size > RANKS)
		exit(97);
	for (gex_Rank_t peer = 0; peer < size; peer++) {
		void *owner = NULL;

		gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, peer, &owner, NULL, NULL, 0));
		base[peer] = owner;
	}
}

/* A child whose memory is a copy writes to what the device reads and writes here. */
static void
child_run(void)
{
	const pid_t child = fork();

	if (child < 0)
		exit(96);
	if (!child) {
		memset(mine, 0xee, sizeof mine);
		memset(back, 0xee, sizeof back);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* The puts are under way while the messages are. */
static void
exchange(gex_Rank_t peer, unsigned round)
{
	static char block[BLOCK];
	const unsigned seed = round * 64 + rank;
	const size_t which = round % SIZES;
	char *slot = base[peer] + rank * (size_t)SLOT;
	char *long_slot = slot + RANKS * (size_t)SLOT;
	gex_Event_t put;

	fill(mine[which], sizes[which], seed);
	put = gex_RMA_PutNB(tm, peer, slot, mine[which], sizes[which], GEX_EVENT_DEFER, 0);
	fill(block, sizeof block, seed);
	answers = 0;
	for (unsigned i = 0; i < MEDIUMS; i++)
		gex_AM_RequestMedium1(tm, peer, ON_BLOCK, block, sizeof block, GEX_EVENT_NOW, 0,
		                      (gex_AM_Arg_t)seed);
	if (round % (2 * SIZES + 1) == 0)
		child_run();
	gex_AM_RequestLong1(tm, peer, ON_LONG, mine[which], sizes[which], long_slot,
	                    GEX_EVENT_NOW, 0, (gex_AM_Arg_t)seed);
	gex_Event_Wait(put);
	gex_RMA_GetBlocking(tm, back, peer, slot, sizes[which], 0);
	compare(back, sizes[which], seed, "what was put");
	GASNET_BLOCKUNTIL(answers == MEDIUMS + 1);
}

static double
round_of(unsigned round)
{
	const double began_s = now_s();

	for (gex_Rank_t i = 1; i < size; i++)
		exchange((rank + i) % size, round);
	return now_s() - began_s;
}

int
main(int argc, char **argv)
{
	enum { FIRST = 2 * SIZES };
	double length_s, deadline_s, longest_s = 0;
	int deaf = -1;
	unsigned round;

	start(&argc, &argv);
	length_s = argc > 1 ? atof(argv[1]) : 5;
	if (argc > 2)
		deaf = atoi(argv[2]);
	for (round = 0; round < FIRST; round++)
		round_of(round);
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	pt_touch(rank);
	deadline_s = now_s() + length_s;
	if (deaf == (int)rank)
		usleep((useconds_t)(1e6 * length_s / 3));
	for (; now_s() < deadline_s; round++) {
		const double took_s = round_of(round);

		longest_s = took_s > longest_s ? took_s : longest_s;
	}
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	printf("rank %u: %u rounds, the longest %.1f s\n", rank, round, longest_s);
	fflush(stdout);
	gasnet_exit(wrong != 0);
	return 0;
}
