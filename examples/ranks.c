/*
 * ranks: the same computation by ranks that are processes, and by ranks that
 * are threads.
 *
 * Each rank adds up its part of a series for pi and puts the sum into a slot
 * of rank 0's segment; after a barrier rank 0 adds these up. The code of a
 * rank names others by its team alone, so it does not see which kind it is.
 *
 *     penstock-run -n 4 ranks [TERMS]                             four processes
 *     PST_RANKS_PER_PROCESS=4 penstock-run -n 1 ranks [TERMS]     four threads
 *     PST_RANKS_PER_PROCESS=2 penstock-run -n 2 ranks [TERMS]     two of each
 *
 * Threads are ranks where the program is compiled for GASNET_PAR.
 */
#include <gasnetex.h>
#include <penstock.h>
#include <stdio.h>
#include <stdlib.h>

/* What rank 0's segment holds at most: a sum for each rank. */
enum { MOST_RANKS = 4096, SEGMENT_BYTES = MOST_RANKS * sizeof(double) };

static double
sum_of_part(gex_Rank_t me, gex_Rank_t ranks, long terms)
{
	double sum = 0;
	long i;

	for (i = (long)me; i < terms; i += (long)ranks)
		sum += (i % 2 ? -4.0 : 4.0) / (double)(2 * i + 1);
	return sum;
}

static void
barrier(gex_TM_t tm)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* One rank, whatever it is. */
static int
compute(gex_TM_t tm, void *arg)
{
	gex_Rank_t me = gex_TM_QueryRank(tm), ranks = gex_TM_QuerySize(tm), rank;
	double sum = sum_of_part(me, ranks, *(long *)arg), pi = 0;
	void *slots = NULL;

	if (ranks > MOST_RANKS)
		return 1;
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 0, &slots, NULL, NULL, 0));
	gex_RMA_PutBlocking(tm, 0, (double *)slots + me, &sum, sizeof sum, 0);
	barrier(tm);
	if (me != 0)
		return 0;
	for (rank = 0; rank < ranks; rank++)
		pi += ((double *)slots)[rank];
	printf("%u ranks in %u processes: pi is about %.9f\n", (unsigned)ranks,
	       (unsigned)gex_System_QueryJobSize(), pi);
	return 0;
}

#ifdef GASNET_PAR
static int
run(gex_TM_t tm, long *terms)
{
	return pst_threads_run(tm, 0, SEGMENT_BYTES, NULL, 0, compute, terms, 0);
}
#else
static int
run(gex_TM_t tm, long *terms)
{
	gex_Segment_t segment;

	if (gex_Segment_Attach(&segment, tm, SEGMENT_BYTES) != GASNET_OK)
		return 1;
	return compute(tm, terms);
}
#endif

int
main(int argc, char **argv)
{
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	long terms;
	int status;

	if (gex_Client_Init(&client, &ep, &tm, "RANKS", &argc, &argv, 0) != GASNET_OK)
		return 1;
	terms = argc > 1 ? strtol(argv[1], NULL, 10) : 10000000;
	status = run(tm, &terms);
	barrier(tm); /* gasnet_exit by one ends all */
	gasnet_exit(status);
	return 0;
}
