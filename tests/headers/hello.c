/* A small client, C99 and C++11 alike: every rank greets rank 0, which says so. */
#include <gasnetex.h>

#include <stdio.h>

#ifdef __cplusplus
#define FN(f)  (reinterpret_cast<gex_AM_Fn_t>(f))
#define INT(n) (static_cast<int>(n))
extern "C" int hello(int argc, char **argv);
#else
#define FN(f)  ((gex_AM_Fn_t)(f))
#define INT(n) ((int)(n))
int hello(int argc, char **argv);
#endif

enum { GREET = GEX_AM_INDEX_BASE };

static volatile int greeted;

static void
greet(gex_Token_t token, gex_AM_Arg_t rank, gex_AM_Arg_t twice)
{
	(void)token;
	if (twice == 2 * rank)
		greeted++;
}

int
hello(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		{GREET, FN(greet), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "greet"},
	};
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	gex_Segment_t segment;
	int rank, size;

	if (gex_Client_Init(&client, &ep, &tm, "HELLO", &argc, &argv, 0) != GASNET_OK ||
	    gex_EP_RegisterHandlers(ep, table, 1) != GASNET_OK ||
	    gex_Segment_Attach(&segment, tm, GASNET_PAGESIZE) != GASNET_OK)
		return 1;
	rank = INT(gex_TM_QueryRank(tm));
	size = INT(gex_TM_QuerySize(tm));
	gex_AM_RequestShort(tm, 0, GREET, 0, rank, 2 * rank);
	if (rank == 0) {
		GASNET_BLOCKUNTIL(greeted == size);
		printf("hello from %d ranks, %s\n", size, GASNET_CONFIG_STRING);
		fflush(stdout);
	}
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	gasnet_exit(0);
}

#ifndef HELLO_LIBRARY
int
main(int argc, char **argv)
{
	return hello(argc, argv);
}
#endif
