/*
 * ring: a token goes round all ranks.
 *
 * The handler only notes that the token has come; the program of each rank waits
 * for it and passes it on.  With more ranks than processors this shows how fast
 * the library gives way.
 *
 *     ring [ROUNDS]
 */
#include <gasnetex.h>
#include <gasnet_tools.h>
#include <stdio.h>
#include <stdlib.h>

enum { ON_TOKEN = GEX_AM_INDEX_BASE };

static gex_TM_t tm;
static volatile unsigned tokens; /* that came here */
static volatile unsigned seen;   /* ranks that the last one has been to */

static void
on_token(gex_Token_t token, gex_AM_Arg_t ranks_seen)
{
	(void)token;
	seen = (unsigned)ranks_seen;
	tokens++;
}

static double
now_us(void)
{
	return (double)gasnett_ticks_to_ns(gasnett_ticks_now()) * 1e-3;
}

/* One round, counted from 1, as rank `me' sees it; rank 0 begins and ends it. */
static void
pass_on(gex_Rank_t me, gex_Rank_t ranks, unsigned round)
{
	gex_Rank_t next = (me + 1) % ranks;

	if (me == 0)
		gex_AM_RequestShort1(tm, next, ON_TOKEN, 0, 1);
	GASNET_BLOCKUNTIL(tokens == round);
	if (me != 0)
		gex_AM_RequestShort1(tm, next, ON_TOKEN, 0, (gex_AM_Arg_t)seen + 1);
}

static unsigned
go_round(gex_Rank_t me, gex_Rank_t ranks, unsigned rounds)
{
	double start = now_us();
	unsigned round;

	for (round = 1; round <= rounds; round++) {
		pass_on(me, ranks, round);
		if (me == 0 && seen != ranks) {
			fprintf(stderr, "ring: the token has seen %u of %u ranks\n", seen,
			        (unsigned)ranks);
			return 1;
		}
	}
	if (me == 0)
		printf("ring of %u: %u rounds, %.3f us a hop\n", (unsigned)ranks, rounds,
		       (now_us() - start) / rounds / ranks);
	return 0;
}

static void
end(int status)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); /* gasnet_exit by one ends all */
	gasnet_exit(status);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		{ ON_TOKEN, (gex_AM_Fn_t)on_token, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL,
		  "token" },
	};
	gex_Client_t client;
	gex_EP_t ep;
	long rounds;

	if (gex_Client_Init(&client, &ep, &tm, "RING", &argc, &argv, 0) != GASNET_OK)
		return 1;
	gex_EP_RegisterHandlers(ep, table, 1);
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); /* all have the handler */
	rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	if (rounds < 1 || rounds > 1000000000) {
		if (gex_TM_QueryRank(tm) == 0)
			fprintf(stderr, "ring: ROUNDS must be a number from 1 to 1000000000\n");
		end(2);
	}
	if (go_round(gex_TM_QueryRank(tm), gex_TM_QuerySize(tm), (unsigned)rounds) != 0)
		gasnet_exit(1);
	end(0);
	return 0;
}
