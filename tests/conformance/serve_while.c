/*
 * Whatever a process does in the library, it answers: while it waits for an
 * event, in a barrier or in BLOCKUNTIL, or only transfers.
 */
#include "tests/lib/pt.h"

enum { REQ_ASK = 128, REP_ASK, REQ_STOP };
enum { IN_EVENT, IN_NAMED, IN_TRY, IN_BLOCKUNTIL, IN_BLOCKING, IN_PUT, IN_GET, PLACES };

static int questions; /* to each rank in each place */

static pt_count answers, stops, asked;

static void
req_ask(gex_Token_t token)
{
	PT_INC(asked);
	PT_OK(gex_AM_ReplyShort0(token, REP_ASK, 0));
}

static void
rep_ask(gex_Token_t token)
{
	(void)token;
	PT_INC(answers);
}

static void
req_stop(gex_Token_t token)
{
	(void)token;
	PT_INC(stops);
}

static const char *const names[PLACES] = { "gex_Event_Wait",
	                                   "gasnet_barrier_wait",
	                                   "gasnet_barrier_try",
	                                   "BLOCKUNTIL",
	                                   "gasnet_barrier",

	                                   "puts",
	                                   "gets" };

/* Stay in one kind of call until rank 0 has had its answers; rank 0 joins at the end. */
static void
stay(int place)
{
	char *flag = pt.peers[pt.rank].owner, block[1000];
	int result;

	switch (place) {
	case IN_EVENT:
		gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
		break;
	case IN_NAMED:
		gasnet_barrier_notify(1, 0);
		PT_OK(gasnet_barrier_wait(1, 0));
		break;
	case IN_TRY:
		gasnet_barrier_notify(2, 0);
		while ((result = gasnet_barrier_try(2, 0)) == GASNET_ERR_NOT_READY)
			;
		PT_OK(result);
		break;
	case IN_BLOCKUNTIL:
		GASNET_BLOCKUNTIL(PT_GET(stops) > 0);
		break;
	case IN_BLOCKING:
		PT_OK(gasnet_barrier(3, 0));
		break;
	case IN_PUT:
		while (!PT_GET(stops))
			PT_OK(gex_RMA_PutBlocking(pt.tm, pt.rank, flag, block, sizeof(block), 0));
		break;
	default:
		while (!PT_GET(stops))
			PT_OK(gex_RMA_GetBlocking(pt.tm, block, pt.rank, flag, sizeof(block), 0));
	}
}

/* Rank 0 asks everyone who stays in that call, and only then lets them go. */
static void
ask_and_release(int place)
{
	for (int round = 0; round < questions; round++) {
		int before = PT_GET(answers);

		for (gex_Rank_t rank = 1; rank < pt.size; rank++)
			PT_OK(gex_AM_RequestShort0(pt.tm, rank, REQ_ASK, 0));
		GASNET_BLOCKUNTIL(PT_GET(answers) == before + (int)pt.size - 1);
		if (round % 16 == 0)
			pt_sleep_ms(1);
	}
	switch (place) {
	case IN_EVENT:
	case IN_NAMED:
	case IN_TRY:
	case IN_BLOCKING:
		stay(place);
		break;
	default:
		for (gex_Rank_t rank = 1; rank < pt.size; rank++)
			PT_OK(gex_AM_RequestShort0(pt.tm, rank, REQ_STOP, 0));
	}
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_ASK, req_ask, PT_REQ_SHORT, 0),
		PT_HANDLER(REP_ASK, rep_ask, PT_REP_SHORT, 0),
		PT_HANDLER(REQ_STOP, req_stop, PT_REQ_SHORT, 0),
	};

	int transfers, rounds = 0;

	/* "transfers": the places in which a process only puts or gets */
	transfers = argc > 1 && !strcmp(argv[1], "transfers");
	pt_start(&argc, &argv, table, PT_COUNT(table), 4096);
	/* who only transfers yields to nobody: an answer may take a time slice of each rank */
	questions = transfers && pt.level != PT_LONG ? 10 : 50;
	if (pt.size < 2)
		pt_skip("nobody else is there to be served");
	for (int place = 0; place < PLACES; place++) {
		if (transfers != (place == IN_PUT || place == IN_GET))
			continue;
		rounds++;
		pt_phase(names[place]);
		pt_barrier();
		PT_SET(stops, 0);
		pt_barrier();
		if (pt.rank == 0)
			ask_and_release(place);
		else
			stay(place);
		pt_barrier();
		PT_LE(pt.rank ? questions * rounds : 0, PT_GET(asked));
	}
	pt_finish();
}
