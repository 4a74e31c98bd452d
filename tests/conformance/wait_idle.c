/*
 * Who waits does not burn the CPU, and wakes soon: in a barrier, in
 * BLOCKUNTIL and in gex_Event_Wait all ranks but one wait for the last.
 *
 * How soon a machine can wake so many is measured beside each wait, without the library: the ranks
 * sleep on one futex.
 */
#include "tests/lib/pt.h"

#include <gasnet_tools.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REQ_WAKE = 128, REQ_REPORT };
enum { IN_BARRIER, IN_BLOCKUNTIL, IN_EVENT_WAIT, IN_NAMED_BARRIER, PLACES, IN_FUTEX = PLACES };

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

/* Where all ranks sleep without the library: in the segment of the last. */
static uint32_t *
futex_word(void)
{
	return (uint32_t *)(void *)(pt.peers[pt.size - 1].local + 16);
}

static void
futex_wait(uint32_t round)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(futex_word(), __ATOMIC_ACQUIRE)) != round)
		(void)syscall(SYS_futex, futex_word(), FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void
cause(int place, int round)
{
	*cause_time() = pt_now_ns();
	if (place == IN_FUTEX) {
		__atomic_store_n(futex_word(), (uint32_t)round, __ATOMIC_RELEASE);
		(void)syscall(SYS_futex, futex_word(), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
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
	case IN_NAMED_BARRIER:
		PT_OK(gasnet_barrier(round, 0));
		break;
	default:
		futex_wait((uint32_t)round);
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

/*
 * Ranks that share a CPU wake one after the other, each through more code than the futex's caller,
 * none of it in the caches after so long a sleep.
 */
static double
late_limit_ms(double futex_ms)
{
	return 5 + 0.25 * pt.size / gasnett_cpu_count() + 3 * futex_ms;
}

/* The machine may be busy with something else: the best of several tries counts. */
static void
one_place(int place, const char *name, unsigned wait_ms)
{
	static int round;
	int good = 0;

	for (int attempt = 0; attempt < 5 && !good; attempt++) {
		double futex_ms;

		one_wait(IN_FUTEX, ++round, wait_ms / 2);
		futex_ms = worst_late_ms;
		one_wait(place, ++round, attempt ? wait_ms / 2 : wait_ms);
		good = agree(worst_late_ms < late_limit_ms(futex_ms) && worst_cpu < 0.02);
		if (pt.rank == 0)
			printf("%s: all awake within %.2f ms, from a futex %.2f; at most %.2f %% "
			       "of a CPU\n",
			       name, worst_late_ms, futex_ms, 100 * worst_cpu);
		if (pt.rank == 0 && (good || attempt == 4)) {
			PT_UNDER(worst_late_ms, late_limit_ms(futex_ms));
			PT_UNDER(worst_cpu, 0.02);
		}
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
