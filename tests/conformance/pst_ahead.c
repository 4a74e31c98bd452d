/*
 * How far one rank gets ahead of another with short collectives: what comes early is kept, so a
 * root that never waits for those that are late would fill their memory.
 */
#include <penstock.h>

#include "tests/lib/pt.h"

enum { CALLS = 300, AHEAD_MOST = 64, REQ_DONE = 128 };

/* Of the rank that is late: how many calls rank 0 has made. */
static PT_OWN unsigned ahead;

static void
req_done(gex_Token_t token)
{
	(void)token;
	ahead++;
}

static void
calls_make(gex_Rank_t late)
{
	for (uint64_t call = 0; call < CALLS; call++) {
		const uint64_t sent = call * 3 + 1;
		uint64_t got = 0;

		pst_bcast(pt.tm, 0, &got, &sent, sizeof got, 0);
		PT_EQ(got, sent);
		if (pt.rank == 0)
			PT_OK(gex_AM_RequestShort0(pt.tm, late, REQ_DONE, 0));
	}
}

/* Until nothing more has come for a while. */
static void
others_go_ahead(void)
{
	unsigned seen = 0, still = 0;

	while (still < 100) {
		PT_OK(gasnet_AMPoll());
		pt_sleep_ms(1);
		still = ahead == seen ? still + 1 : 0;
		seen = ahead;
	}
	PT_LE(ahead, AHEAD_MOST);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		{ REQ_DONE, (gex_AM_Fn_t)req_done, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0,
		  NULL, "done" },
	};

	pt_start(&argc, &argv, table, PT_COUNT(table), 4096);
	if (pt.rank == pt.size - 1 && pt.size > 1)
		others_go_ahead();
	calls_make(pt.size - 1);
	pt_finish();
}
