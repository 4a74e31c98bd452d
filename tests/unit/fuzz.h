/* Programs that make up inputs from a seed, for as long as they are told. */
#ifndef UNIT_FUZZ_H
#define UNIT_FUZZ_H

#include "runtime/util/clock.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t fuzz_state;

/* A number from 0 to below - 1: xorshift64*. */
static inline uint64_t
fuzz_draw(uint64_t below)
{
	fuzz_state ^= fuzz_state >> 12;
	fuzz_state ^= fuzz_state << 25;
	fuzz_state ^= fuzz_state >> 27;
	return (fuzz_state * UINT64_C(0x2545f4914f6cdd1d) >> 16) % below;
}

static inline double
fuzz_usual_seconds(void)
{
	const char *level = getenv("CHECK_LEVEL");

	return level && strcmp(level, "quick") == 0 ? 1 : 5;
}

/* The main of a program NAME [SECONDS [SEED]]: calls `one', which tries one input, until the time
 * is over. */
static inline int
fuzz_run(const char *name, int argc, char **argv, void (*one)(void))
{
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : fuzz_usual_seconds();
	const uint64_t start = psi_now_ns();
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : start;
	unsigned long inputs = 0;

	printf("%s %g %llu\n", name, seconds, (unsigned long long)seed);
	fflush(stdout);
	fuzz_state = seed | 1;
	do {
		one();
		inputs++;
	} while (inputs % 256 != 0 || (double)(psi_now_ns() - start) < seconds * 1e9);
	printf("%lu inputs\n", inputs);
	return EXIT_SUCCESS;
}

#endif
