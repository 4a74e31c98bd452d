/* What litmus tests share: two CPUs, and how many rounds. */
#ifndef TESTS_STRESS_LITMUS_H
#define TESTS_STRESS_LITMUS_H

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Two CPUs that this process may use. */
static inline bool
litmus_two_cpus(int cpu_out[2])
{
	cpu_set_t set;
	int found = 0;

	sched_getaffinity(0, sizeof set, &set);
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET((unsigned)i, &set))
			cpu_out[found++] = i;
	return found == 2;
}

/* Ties the calling thread to that CPU. */
static inline void
litmus_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

/* One of the three, by CHECK_LEVEL. */
static inline long
litmus_rounds(long quick, long full, long most)
{
	const char *level = getenv("CHECK_LEVEL");

	if (level && strcmp(level, "quick") == 0)
		return quick;
	return level && strcmp(level, "long") == 0 ? most : full;
}

#endif
