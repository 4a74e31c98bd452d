/* Conversion of ticks, for the unit test, and the settings of the clock. */
#ifndef PSI_TOOLS_TICKS_H
#define PSI_TOOLS_TICKS_H

#include <stdint.h>

/* Nanoseconds of a tick: whole ones, and a part as a fraction of 2^64. */
struct psi_tick_rate {
	uint64_t ns, part;
};

/* The rate of a counter of that frequency, to 53 bits. */
struct psi_tick_rate psi_tick_rate(double hz);

/* Exact for the rate: rounded down, and right as long as the result fits, which is 584 years. */
uint64_t psi_ticks_scale(const struct psi_tick_rate *by, uint64_t ticks);

/* Ticks in a second, by the rate in use; measures it if need be. */
double psi_ticks_hz(void);

#endif
