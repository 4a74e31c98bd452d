/* Groups the CPUs that this process may use by core. */
#include "bootstrap/keeper/pboot_keeper.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns the lowest CPU of the core to which this CPU belongs; the CPU itself if the system does
 * not tell. */
static int
cpu_core(int cpu)
{
	char path[96];
	FILE *file;
	int first;

	snprintf(path, sizeof path,
	    "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	file = fopen(path, "re");
	if (!file)
		return cpu;
	if (fscanf(file, "%d", &first) != 1)
		first = cpu;
	fclose(file);
	return first;
}

static uint32_t
core_find(const int *names, uint32_t count, int name)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (names[i] == name)
			break;
	return i;
}

uint32_t
pboot_bind_cores(cpu_set_t **cores_out)
{
	static int names[CPU_SETSIZE];
	cpu_set_t allowed, *cores;
	uint32_t count = 0, core;
	size_t cpu;

	if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
		return 0;
	cores = calloc((size_t)CPU_COUNT(&allowed), sizeof *cores);
	if (!cores)
		return 0;
	for (cpu = 0; cpu < (size_t)CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		core = core_find(names, count, cpu_core((int)cpu));
		if (core == count)
			names[count++] = cpu_core((int)cpu);
		CPU_SET(cpu, &cores[core]);
	}
	*cores_out = cores;
	return count;
}
