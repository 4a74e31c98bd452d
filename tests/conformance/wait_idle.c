/*
 * Who waits does not burn the CPU, and wakes soon: in a barrier, in
 * BLOCKUNTIL and in gex_Event_Wait all ranks but one wait for the last.
 */
#include "tests/lib/pt.h"

#include <gasnet_tools.h>

enum { REQ_WAKE = 128, REQ_REPORT };
enum { IN_BARRIER, IN_BLOCKUNTIL, IN_EVENT_WAIT, IN_NAMED_BARRIER, PLACES };

static volatile int woken;
static pt_count reports;
static double worst_cpu, worst_late_ms;

static void
req_wake(gex_Token_t token, gex_AM_Arg_t round)
{
	(void)token;
	PT_SET(woken, round);
}

/* Microseconds late, and thousandths of a CPU used. */
static void
req_report(gex_Token_t token, gex_AM_Arg_t late_us, gex_AM_Arg_t cpu)
{
	(void)token;
	if (late_us / 1000.0 > worst_late_ms)
		worst_late_ms = late_us / 1000.0;
	if (cpu / 1000.0 > worst_cpu)
		worst_cpu = cpu / 1000.0;
	PT_INC(reports);
}

/* When the last rank did what the others wait for; written into its segment first. */
static volatile uint64_t *
cause_time(void)
{
	return (volatile uint64_t *)(void *)pt.base;
}

static void
cause(int place, int round)
{
	*cause_time() = pt_now_ns();
	if (place == IN_BLOCKUNTIL)
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			PT_OK(gex_AM_RequestShort1(pt.tm, rank, REQ_WAKE, 0, round));
}

static void
wait_in(int place, int round)
{
	switch (place) {
	case IN_BARRIER:
		gex_Coll_BarrierBlocking(pt.tm, 0);
		break;
	case IN_BLOCKUNTIL:
		GASNET_BLOCKUNTIL(PT_GET(woken) == round);
		break;
	case IN_EVENT_WAIT:
		gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
		break;
	default:
		PT_OK(gasnet_barrier(round, 0));
	}
}

/* Measures one wait; rank 0 learns the worst of all ranks. */
static void
one_wait(int place, int round, unsigned wait_ms)
{
	int last = pt.rank == pt.size - 1;
	double cpu, share;
	uint64_t start, end, caused;

	worst_late_ms = worst_cpu = 0;
	pt_barrier();
	cpu = pt_cpu_seconds();
	start = pt_now_ns();
	if (last) {
		pt_sleep_ms(wait_ms);
		cause(place, round);
	}
	wait_in(place, round);
	end = pt_now_ns();
	cpu = pt_cpu_seconds() - cpu;
	share = last ? 0 : cpu / ((double)(end - start) * 1e-9);
	caused = gex_RMA_GetBlockingVal(pt.tm, pt.size - 1, pt.peers[pt.size - 1].owner, 8, 0);
	PT_CHECK(end >= caused); /* nobody woke before the cause */
	PT_OK(gex_AM_RequestShort2(pt.tm, 0, REQ_REPORT, 0, (gex_AM_Arg_t)((end - caused) / 1000),
	                           (gex_AM_Arg_t)(share * 1000 + 0.5)));
	if (pt.rank == 0) {
		GASNET_BLOCKUNTIL(PT_GET(reports) == (int)pt.size);
		PT_SET(reports, 0);
	}
}

/* Rank 0's verdict, told to all. */
static int
agree(int verdict)
{
	for (gex_Rank_t rank = 0; pt.rank == 0 && rank < pt.size; rank++)
		PT_OK(gex_RMA_PutBlockingVal(pt.tm, rank, pt.peers[rank].owner + 8,
		                             (gex_RMA_Value_t)verdict, 4, 0));
	pt_barrier();
	return *(volatile int *)(void *)(pt.base + 8);
}

/* Ranks that share a CPU wake one after the other. */
static double
late_limit_ms(void)
{
	return 5 + 0.25 * pt.size / gasnett_cpu_count();
}

/* The machine may be busy with something else: the best of several tries counts. */
static void
one_place(int place, const char *name, unsigned wait_ms)
{
	static int round;
	double late_ms = 1e9, cpu = 1e9;
	int good = 0;

	for (int attempt = 0; attempt < 5 && !good; attempt++) {
		one_wait(place, ++round, attempt ? wait_ms / 2 : wait_ms);
		late_ms = worst_late_ms < late_ms ? worst_late_ms : late_ms;
		cpu = worst_cpu < cpu ? worst_cpu : cpu;
		good = agree(late_ms < late_limit_ms() && cpu < 0.02);
	}
	if (pt.rank == 0) {
		printf("%s: all awake within %.2f ms, at most %.2f %% of a CPU\n", name, late_ms,
		       100 * cpu);
		PT_UNDER(late_ms, late_limit_ms());
		PT_UNDER(cpu, 0.02);
	}
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_WAKE, req_wake, PT_REQ_SHORT, 1),
		PT_HANDLER(REQ_REPORT, req_report, PT_REQ_SHORT, 2),
	};
	static const char *const names[] = { "barrier", "BLOCKUNTIL", "gex_Event_Wait",
		                             "named barrier" };

	pt_start(&argc, &argv, table, PT_COUNT(table), 4096);
	if (pt.size < 2)
		pt_skip("one rank has nobody to wait for");
	for (int place = 0; place < PLACES; place++)
		one_place(place, names[place], (unsigned)pt_scale(500, 2000));
	pt_finish();
}
