/*
 * A client of sums whose ranks but one wait for a tenth of a second each time, long enough to
 * go to sleep. Exits with 1 if a value is wrong.
 */
#include <gasnetex.h>
#include <gasnet_coll.h>

#include <unistd.h>

enum { WARM = 1000, ROUNDS = 10, PAUSE_US = 100000 };

static int
sum_is_right(gex_TM_t tm, uint64_t value)
{
	uint64_t got = 0;

	gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &got, &value, GEX_DT_U64, sizeof got, 1,
	                                      GEX_OP_ADD, NULL, NULL, 0));
	return got == value * gex_TM_QuerySize(tm);
}

int
main(int argc, char **argv)
{
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	int right = 1;

	gex_Client_Init(&client, &ep, &tm, "device-waits", &argc, &argv, 0);
	for (uint64_t i = 0; i < WARM; i++)
		right &= sum_is_right(tm, i);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		if (gex_TM_QueryRank(tm) == 0)
			usleep(PAUSE_US);
		right &= sum_is_right(tm, i << 32);
	}
	gasnet_exit(!right);
}
