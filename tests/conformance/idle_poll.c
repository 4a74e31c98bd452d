/* The cost of a poll that finds nothing, printed for the program that compares rank counts. */
#include "tests/lib/pt_spawn.h"

#include <unistd.h>

enum { POLLS = 20000, YIELD_NS = 20 };

/* The least of several batches, in ns per poll, while all other ranks sleep. */
static double
cost_of_poll(void)
{
	double best = 1e9;

	for (int batch = 0; batch < 20; batch++) {
		uint64_t start = pt_now_ns();
		double each;

		for (int i = 0; i < POLLS; i++)
			PT_OK(gasnet_AMPoll());
		each = (double)(pt_now_ns() - start) / POLLS;
		best = each < best ? each : best;
	}
	return best;
}

static void
job(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 1);
	/* everybody has spoken to everybody's lanes at least through the barrier */
	for (int i = 0; i < 3; i++)
		pt_barrier();
	if (pt.rank == 0) {
		pt_sleep_ms(300);
		printf("poll %.2f ns\n", cost_of_poll());
		fflush(stdout);
	}
	pt_finish();
}

static double
measure(const char *ranks)
{
	const char *const settings[] = { ranks, NULL };
	struct pt_outcome out;
	const char *found;

	pt_spawn("/proc/self/exe", "job", settings, 60000, &out);
	found = strstr(out.text, "poll ");
	if (out.status || !found)
		PT_FAIL("%s ended with %d; it said:\n%s", ranks, out.status, out.text);
	return atof(found + 5);
}

int
main(int argc, char **argv)
{
	double few, many;

	pt_prepare(argv);
	if (argc > 1)
		job(argc, argv);
	few = measure("GASNET_PSHM_NODES=2");
	many = measure("GASNET_PSHM_NODES=256");
	printf("an idle poll costs %.1f ns with 2 ranks, %.1f ns with 256\n", few, many);
	/* one in 32 polls of crowded ranks yields, for half a microsecond: a second look before
	 * judging; a look at each of the ranks would be ten times as much */
	if (many >= 2 * few + YIELD_NS)
		many = measure("GASNET_PSHM_NODES=256");
	PT_UNDER(many, 2 * few + YIELD_NS);
	return 0;
}
