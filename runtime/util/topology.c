#include "runtime/util/topology.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/util/cgroup.h"
#include "runtime/util/hostfile.h"

enum { WORDS = PSI_CPUS_MAX / 64, TEXT_BYTES = 8192 };

static void
cpus_add(struct psi_cpus *cpus, unsigned long cpu)
{
	if (cpu < PSI_CPUS_MAX)
		cpus->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static bool
cpus_have(const struct psi_cpus *cpus, unsigned cpu)
{
	return cpus->bits[cpu / 64] >> (cpu % 64) & 1;
}

uint32_t
psi_cpus_count(const struct psi_cpus *cpus)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < WORDS; i++)
		count += (uint32_t)__builtin_popcountll(cpus->bits[i]);
	return count;
}

/* One number; *end is where it stops.  False if there is none. */
static bool
topology_read_number(const char *text, const char **end, unsigned long *out)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	*out = strtoul(text, &stop, 10);
	*end = stop;
	return true;
}

bool
psi_cpus_parse(const char *text, struct psi_cpus *out)
{
	struct psi_cpus cpus = *out;
	unsigned long first, last;

	for (;;) {
		if (!topology_read_number(text, &text, &first))
			return false;
		last = first;
		if (*text == '-' && !topology_read_number(text + 1, &text, &last))
			return false;
		for (; first <= last && first < PSI_CPUS_MAX; first++)
			cpus_add(&cpus, first);
		if (*text != ',')
			break;
		text++;
	}
	if (*text && strcmp(text, "\n") != 0)
		return false;
	*out = cpus;
	return true;
}

const char *
psi_cpus_print(const struct psi_cpus *cpus, char *buf, size_t size)
{
	unsigned first = 0, last;
	size_t len = 0;

	buf[0] = '\0';
	for (; first < PSI_CPUS_MAX && len < size; first = last + 1) {
		last = first;
		if (!cpus_have(cpus, first))
			continue;
		while (last + 1 < PSI_CPUS_MAX && cpus_have(cpus, last + 1))
			last++;
		len += (size_t)snprintf(buf + len, size - len, first == last ? "%s%u" : "%s%u-%u",
					len ? "," : "", first, last);
	}
	return buf;
}

static bool
cpus_take_allowed(char *line, void *context)
{
	static const char label[] = "Cpus_allowed_list:";

	if (strncmp(line, label, sizeof label - 1) != 0)
		return false;
	line += sizeof label - 1;
	return psi_cpus_parse(line + strspn(line, " \t"), context);
}

/* Without /proc: what the kernel says by system call, for as many CPUs as cpu_set_t holds. */
static void
cpus_allowed_by_call(struct psi_cpus *out)
{
	cpu_set_t set;
	unsigned cpu;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		CPU_SET(0, &set);
	for (cpu = 0; cpu < CPU_SETSIZE && cpu < PSI_CPUS_MAX; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus_add(out, cpu);
	}
}

static uint32_t
cpus_online(const char *root, uint32_t at_least)
{
	struct psi_cpus online = { { 0 } };
	char text[TEXT_BYTES];
	uint32_t count = 0;

	if (psi_hostfile_read(root, "/sys/devices/system/cpu/online", text, sizeof text) &&
	    psi_cpus_parse(text, &online))
		count = psi_cpus_count(&online);
	return count > at_least ? count : at_least;
}

/* Thousandths of a CPU that this one group gives; 0: no limit, or no file. */
static uint64_t
group_quota(const struct psi_cgroup *group)
{
	long long quota = -1, period = 0;
	char text[TEXT_BYTES];

	if (group->version == 2) {
		if (!psi_cgroup_read(group, "cpu.max", text, sizeof text) ||
		    sscanf(text, "%lld %lld", &quota, &period) != 2)
			return 0;
	} else {
		if (psi_cgroup_read(group, "cpu.cfs_quota_us", text, sizeof text))
			sscanf(text, "%lld", &quota);
		if (psi_cgroup_read(group, "cpu.cfs_period_us", text, sizeof text))
			sscanf(text, "%lld", &period);
	}
	if (quota <= 0 || period <= 0)
		return 0;
	return (uint64_t)quota * 1000 < (uint64_t)period
	               ? 1
	               : (uint64_t)quota * 1000 / (uint64_t)period;
}

static uint64_t
least_quota(const char *root)
{
	struct psi_cgroup group;
	uint64_t least = 0;

	if (!psi_cgroup_find(root, "cpu", &group))
		return 0;
	do {
		uint64_t quota = group_quota(&group);

		if (quota != 0 && (least == 0 || quota < least))
			least = quota;
	} while (psi_cgroup_up(&group));
	return least;
}

void
psi_topology_read(const char *root, struct psi_topology *out)
{
	memset(out, 0, sizeof *out);
	if (!psi_hostfile_lines(root, "/proc/thread-self/status", cpus_take_allowed, &out->allowed))
		cpus_allowed_by_call(&out->allowed);
	out->usable_cpus = psi_cpus_count(&out->allowed);
	out->host_cpus = cpus_online(root, out->usable_cpus);
	out->quota_milli = least_quota(root);
}

static bool
cpus_meet(const struct psi_cpus *a, const struct psi_cpus *b)
{
	uint64_t both = 0;
	size_t i;

	for (i = 0; i < WORDS; i++)
		both |= a->bits[i] & b->bits[i];
	return both != 0;
}

static uint32_t
cpus_lowest(const struct psi_cpus *cpus)
{
	uint32_t cpu = 0;

	while (cpu < PSI_CPUS_MAX && !cpus_have(cpus, cpu))
		cpu++;
	return cpu;
}

static bool
cpus_contain(const struct psi_cpus *cpus, const struct psi_cpus *part)
{
	uint64_t beyond = 0;
	size_t i;

	for (i = 0; i < WORDS; i++)
		beyond |= part->bits[i] & ~cpus->bits[i];
	return beyond == 0;
}

/* The CPUs that share the cache of that index with this one.  Caches are listed from the nearest to
 * the last. */
static bool
cache_read(const char *root, uint32_t cpu, unsigned index, struct psi_cpus *out)
{
	char path[PSI_HOSTFILE_PATH], text[TEXT_BYTES];

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list",
		 cpu, index);
	*out = (struct psi_cpus) { { 0 } };
	return psi_hostfile_read(root, path, text, sizeof text) && psi_cpus_parse(text, out);
}

uint32_t
psi_topology_cache(const char *root, const struct psi_cpus *cpus)
{
	const uint32_t cpu = cpus_lowest(cpus);
	struct psi_cpus sharers;
	uint32_t lowest = PSI_NO_CACHE;
	unsigned index;

	for (index = 0; cpu < PSI_CPUS_MAX && cache_read(root, cpu, index, &sharers); index++)
		if (cpus_contain(&sharers, cpus))
			lowest = cpus_lowest(&sharers);
	return lowest;
}

static void
cpus_join(struct psi_cpus *into, const struct psi_cpus *more)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		into->bits[i] |= more->bits[i];
}

uint32_t
psi_cpus_count_all(const struct psi_cpus *sets, uint32_t count)
{
	struct psi_cpus all = { { 0 } };
	uint32_t i;

	for (i = 0; i < count; i++)
		cpus_join(&all, &sets[i]);
	return psi_cpus_count(&all);
}

static bool
quota_is_exceeded(const struct psi_topology *topology, uint32_t ranks)
{
	return topology->quota_milli != 0 && (uint64_t)ranks * 1000 > topology->quota_milli;
}

uint32_t
psi_topology_sharers(const struct psi_topology *topology, const struct psi_cpus *sets,
		     uint32_t ranks, uint32_t me, uint32_t *cpus_out)
{
	struct psi_cpus shared = { { 0 } };
	uint32_t i, sharers = 0;

	*cpus_out = topology->usable_cpus;
	if (!sets || quota_is_exceeded(topology, ranks))
		return ranks;
	for (i = 0; i < ranks; i++) {
		if (cpus_meet(&sets[me], &sets[i])) {
			cpus_join(&shared, &sets[i]);
			sharers++;
		}
	}
	*cpus_out = psi_cpus_count(&shared);
	return sharers;
}

bool
psi_topology_crowded(const struct psi_topology *topology, const struct psi_cpus *sets,
		     uint32_t ranks, uint32_t me)
{
	uint32_t cpus;

	return quota_is_exceeded(topology, ranks) ||
	       psi_topology_sharers(topology, sets, ranks, me, &cpus) > cpus;
}
