/* Sets of CPUs as the kernel has them. */
#ifndef PSI_UTIL_CPUSET_H
#define PSI_UTIL_CPUSET_H

#include <sched.h>
#include <stdint.h>

/* The CPU that has so many others of the set before it, counted round and round.  The set has at
 * least one. */
static inline uint32_t
psi_cpuset_numbered(const cpu_set_t *set, uint32_t number)
{
	uint32_t cpu = 0, before = number % (uint32_t)CPU_COUNT(set);

	while (!CPU_ISSET(cpu, set) || before-- > 0)
		cpu++;
	return cpu;
}

#endif
