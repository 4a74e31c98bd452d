/*
 * Stress of the message queue, by several plans in turn.
 *
 *     sysvnet_stress [plan...]
 *
 * Each plan runs twice, the second time with delays (runtime/util/delay.h).
 *
 * PST_STRESS_SECONDS  for all plans together (default 5; at level quick 2, long 60)
 * PST_STRESS_SEED     default: from the clock; printed; of the delays too, unless PT_DELAY_SEED is
 *                     set
 */
#include "runtime/util/delay.h"
#include "tests/stress/sysvnet_storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct storm_plan plans[] = {
	{ "all_to_all", 4, 1, true, 0, true, false, 65536 },
	{ "all_to_all_membarrier", 4, 1, false, 0, true, false, 65536 },
	{ "lockstep", 3, 1, true, 0, true, true, 300 },
	{ "lockstep_membarrier", 2, 1, false, 0, true, true, 300 },
	{ "one_way", 5, 1, true, 1, false, false, 65536 },
	{ "one_way_small", 3, 1, false, 1, false, false, 2000 },
	{ "threads", 2, 3, true, 0, true, false, 65536 },
	{ "threads_membarrier", 2, 3, false, 0, true, false, 20000 },
	{ "threads_lockstep", 2, 4, true, 0, true, true, 300 },
	{ "threads_one_way", 3, 3, true, 1, false, false, 65536 },
	{ "many", 70, 1, true, 0, true, false, 5000 },
};
enum { PLANS = sizeof plans / sizeof *plans };

static const char *delay_every;        /* PT_DELAY_EVERY, as it was set */

static uint32_t
number_from(const char *variable, uint32_t otherwise)
{
	const char *text = getenv(variable);

	return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static uint32_t
default_seconds(void)
{
	const char *level = getenv("CHECK_LEVEL");

	if (level && strcmp(level, "quick") == 0)
		return 2;
	return level && strcmp(level, "long") == 0 ? 60 : 5;
}

static bool
wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc < 2;
}

static bool
run_plan(const struct storm_plan *plan, bool delays, uint32_t run_ms, uint32_t seed)
{
	const uint32_t limit_ms = number_from("TEST_SECONDS", 60) * 800;
	struct storm_result result;
	char text[16];

	snprintf(text, sizeof text, "%u", seed);
	setenv("PT_DELAY_SEED", text, 0);
	/* read anew by each thread; with delays, as often as the user or the default says */
	if (!delays)
		setenv("PT_DELAY_EVERY", "0", 1);
	else if (delay_every)
		setenv("PT_DELAY_EVERY", delay_every, 1);
	else
		unsetenv("PT_DELAY_EVERY");
	result = storm_run(plan, run_ms, limit_ms, seed);
	printf("%s %s%s: %llu requests, %llu replies\n", result.passed ? "passed" : "FAILED",
	       plan->name, delays ? " with delays" : "", (unsigned long long)result.requests,
	       (unsigned long long)result.replies);
	fflush(stdout);
	return result.passed;
}

/* A point where nobody came by is in no protocol, or the plans miss a part of one. */
static bool
all_points_passed(void)
{
	bool passed = true;

	for (unsigned i = 0; i < PSI_DELAYS_COUNT; i++) {
		if (psi_delay_passages((enum psi_delay_point)i))
			continue;
		printf("FAILED: nobody came by the delay point %s\n",
		       psi_delay_name((enum psi_delay_point)i));
		passed = false;
	}
	return passed;
}

int
main(int argc, char **argv)
{
	const uint32_t seconds = number_from("PST_STRESS_SECONDS", default_seconds());
	const uint32_t seed = number_from("PST_STRESS_SEED", (uint32_t)time(NULL));
	uint32_t count = 0;
	bool passed = true;

	for (int i = 0; i < PLANS; i++)
		count += wanted(plans[i].name, argc, argv);
	if (!count) {
		fprintf(stderr, "sysvnet_stress: no plan of that name; the first is %s\n",
		        plans[0].name);
		return 2;
	}
	delay_every = getenv("PT_DELAY_EVERY");
	printf("seed %u\n", seed);
	for (int i = 0; i < PLANS; i++) {
		if (!wanted(plans[i].name, argc, argv))
			continue;
		passed = run_plan(&plans[i], false, seconds * 500 / count, seed) && passed;
		passed = run_plan(&plans[i], true, seconds * 500 / count, seed) && passed;
	}
	if (count == PLANS)
		passed = all_points_passed() && passed;
	return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
