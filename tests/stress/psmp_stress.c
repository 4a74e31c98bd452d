/*
 * Stress of the message queue, by several plans in turn.
 *
 *     psmp_stress [plan...]
 *
 * PST_STRESS_SECONDS  for all plans together (default 5; at level quick 2, long 60)
 * PST_STRESS_SEED     default: from the clock; printed
 */
#include "tests/stress/psmp_storm.h"

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

int
main(int argc, char **argv)
{
	const uint32_t seconds = number_from("PST_STRESS_SECONDS", default_seconds());
	const uint32_t seed = number_from("PST_STRESS_SEED", (uint32_t)time(NULL));
	const uint32_t limit_seconds = number_from("TEST_SECONDS", 60);
	uint32_t count = 0;
	bool passed = true;

	for (int i = 0; i < PLANS; i++)
		count += wanted(plans[i].name, argc, argv);
	if (!count) {
		fprintf(stderr, "psmp_stress: no plan of that name; the first is %s\n", plans[0].name);
		return 2;
	}
	printf("seed %u\n", seed);
	for (int i = 0; i < PLANS; i++) {
		struct storm_result result;

		if (!wanted(plans[i].name, argc, argv))
			continue;
		result = storm_run(&plans[i], seconds * 1000 / count, limit_seconds * 800, seed);
		printf("%s %s: %llu requests, %llu replies\n", result.passed ? "passed" : "FAILED",
		       plans[i].name, (unsigned long long)result.requests,
		       (unsigned long long)result.replies);
		fflush(stdout);
		passed = passed && result.passed;
	}
	return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
