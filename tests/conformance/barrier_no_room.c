/*
 * A barrier goes on when there was no room for its messages, with sleeps that have no bound:
 * whoever waits for room is woken by it.
 */
#include "tests/lib/pt.h"

enum { REQ_SHORT = 128 };
enum { MOST_SENT = 1000000 };

static pt_count arrived;

static void
req_short(gex_Token_t token)
{
	(void)token;
	PT_INC(arrived);
}

/* Fills the way to the next rank, which is not in the library. */
static int
fill(gex_Rank_t next)
{
	int sent = 0;

	while (gex_AM_RequestShort0(pt.tm, next, REQ_SHORT, GEX_FLAG_IMMEDIATE) == GASNET_OK)
		PT_LE(++sent, MOST_SENT);
	return sent;
}

static void
plain(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
}

static void
named(void)
{
	gasnet_barrier_notify(5, 0);
	PT_OK(gasnet_barrier_wait(5, 0));
}

static void
tried(void)
{
	gasnet_barrier_notify(5, 0);
	while (gasnet_barrier_try(5, 0) == GASNET_ERR_NOT_READY)
		;
}

/* `full' finds no room at its successor, and sleeps like all others until that one wakes up. */
static void
one_without_room(gex_Rank_t full, void (*barrier)(void))
{
	static int sent_in_all;
	gex_Rank_t next = (full + 1) % pt.size;

	pt_barrier();
	if (pt.rank == next) {
		pt_sleep_ms(60);
	} else if (pt.rank == full) {
		sent_in_all += fill(next);      /* none, if those of before are still there */
		PT_CHECK(sent_in_all > 0);
	}
	barrier();
	pt_barrier();
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0) };

	setenv("PST_SLEEP_MAX", "0", 1);
	setenv("PST_HANG_REPORT", "0", 1);
	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	if (pt.size == 1)
		pt_skip("needs a peer");
	for (gex_Rank_t full = 0; full < pt.size; full++) {
		pt_phase("plain");
		one_without_room(full, plain);
		pt_phase("named");
		one_without_room(full, named);
		pt_phase("tried");
		one_without_room(full, tried);
	}
	PT_CHECK(PT_GET(arrived) > 0);
	pt_finish();
}
