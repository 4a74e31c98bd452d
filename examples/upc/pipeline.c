/*
 * pipeline: what a UPC compiler makes of a program with signalling puts.  Blocks go from thread to
 * thread; each adds one to every element and hands the block on.  A producer may be two blocks
 * ahead: the consumer gives a credit for each block that it has used.
 *
 *     pipeline [BLOCKS]
 */
#include "bupc_sem.h"

#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1000, AHEAD = 2 };
enum { ON_NAMES = GEX_AM_INDEX_BASE };

/* What the neighbours need to know of a thread: `full' is posted by the one before, `credit' by the
 * one behind. */
struct names {
	bupc_sem_t full, credit;
};

gex_TM_t upc_team;
static gex_Rank_t mythread, threads;
static struct names own, before, behind;
static volatile unsigned names_here;

static void
on_names(gex_Token_t token, void *buf, size_t nbytes)
{
	gex_Token_Info_t info;

	(void)nbytes;
	gex_Token_Info(token, &info, GEX_TI_SRCRANK);
	if (info.gex_srcrank + 1 == mythread)
		before = *(struct names *)buf;
	else
		behind = *(struct names *)buf;
	names_here++;
}

static void
learn_names(void)
{
	const unsigned wanted = (mythread > 0 ? 1u : 0) + (mythread + 1 < threads ? 1u : 0);

	own.full = bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER);
	own.credit = bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_MPRODUCER | BUPC_SEM_SCONSUMER);
	if (mythread > 0)
		gex_AM_RequestMedium0(upc_team, mythread - 1, ON_NAMES, &own, sizeof own,
		                      GEX_EVENT_NOW, 0);
	if (mythread + 1 < threads)
		gex_AM_RequestMedium0(upc_team, mythread + 1, ON_NAMES, &own, sizeof own,
		                      GEX_EVENT_NOW, 0);
	GASNET_BLOCKUNTIL(names_here == wanted);
}

static upc_shared_t
slot_of(gex_Rank_t thread, unsigned block)
{
	upc_shared_t slot = { thread, NULL };
	void *base;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(upc_team, thread, &base, NULL, NULL, 0));
	slot.addr = (double *)base + block % AHEAD * LENGTH;
	return slot;
}

/* Block number `block' comes, is used and goes on; the first thread makes it, the last looks at
 * it. */
static int
pass(unsigned block)
{
	double *mine = slot_of(mythread, block).addr, work[LENGTH];
	unsigned i;
	int bad = 0;

	if (mythread > 0)
		bupc_sem_wait(own.full);
	for (i = 0; i < LENGTH; i++)
		work[i] = mythread > 0 ? mine[i] + 1 : block + i;
	if (mythread > 0)
		bupc_sem_post(before.credit);
	if (mythread + 1 < threads) {
		bupc_sem_wait(own.credit);
		bupc_memput_signal(slot_of(mythread + 1, block), work, sizeof work, behind.full, 1);
		return 0;
	}
	for (i = 0; i < LENGTH; i++)
		bad |= work[i] != (double)block + i + mythread;
	return bad;
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		{ ON_NAMES, (gex_AM_Fn_t)on_names, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "names" },
	};
	const unsigned blocks = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	gex_Client_t client;
	gex_EP_t ep;
	gex_Segment_t segment;
	unsigned block;
	int bad = 0;

	if (gex_Client_Init(&client, &ep, &upc_team, "PIPELINE", &argc, &argv, 0) != GASNET_OK)
		return 1;
	mythread = gex_TM_QueryRank(upc_team);
	threads = gex_TM_QuerySize(upc_team);
	gex_EP_RegisterHandlers(ep, table, 1);
	if (gex_Segment_Attach(&segment, upc_team, 4 * GASNET_PAGESIZE) != GASNET_OK)
		gasnet_exit(1);
	learn_names();
	bupc_sem_postN(own.credit, AHEAD); /* the one behind has room for that many */
	for (block = 0; block < blocks; block++)
		bad |= pass(block);
	if (mythread + 1 == threads)
		printf("pipeline: %u blocks through %u threads: %s\n", blocks, (unsigned)threads,
		       bad ? "wrong" : "right");
	gex_Event_Wait(gex_Coll_BarrierNB(upc_team, 0));
	bupc_sem_free(own.full);
	bupc_sem_free(own.credit);
	gasnet_exit(bad);
}
