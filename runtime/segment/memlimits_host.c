/* The limits of the host: physical memory, control group, resource limits. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/util/cgroup.h"
#include "runtime/util/hostfile.h"
#include "runtime/segment/memlimits.h"

enum { TEXT_BYTES = 256 };

static bool
meminfo_take_total(char *line, void *context)
{
	unsigned long long kib;

	if (sscanf(line, "MemTotal: %llu kB", &kib) != 1)
		return false;
	*(uint64_t *)context = (uint64_t)kib * 1024;
	return true;
}

static uint64_t
physical_bytes(const char *root)
{
	uint64_t bytes = 0;
	long pages, page;

	if (psi_hostfile_lines(root, "/proc/meminfo", meminfo_take_total, &bytes))
		return bytes;
	pages = sysconf(_SC_PHYS_PAGES);
	page = sysconf(_SC_PAGESIZE);
	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

/* Version 2 says "max", version 1 the largest multiple of a page that a signed number holds. */
static uint64_t
cgroup_limit(const struct psi_cgroup *group)
{
	const char *file = group->version == 2 ? "memory.max" : "memory.limit_in_bytes";
	unsigned long long bytes;
	char text[TEXT_BYTES];

	if (!psi_cgroup_read(group, file, text, sizeof text) || sscanf(text, "%llu", &bytes) != 1)
		return UINT64_MAX;
	return bytes >> 62 ? UINT64_MAX : bytes;
}

static uint64_t
cgroup_memory(const char *root)
{
	struct psi_cgroup group;
	uint64_t least = UINT64_MAX;

	if (!psi_cgroup_find(root, "memory", &group))
		return least;
	do {
		uint64_t limit = cgroup_limit(&group);

		if (limit < least)
			least = limit;
	} while (psi_cgroup_up(&group));
	return least;
}

static uint64_t
rlimit_or_none(int error, const struct rlimit *limit)
{
	return error != 0 || limit->rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit->rlim_cur;
}

/* First field of statm: pages of address space in use. */
static uint64_t
mapped_bytes(const char *root)
{
	unsigned long long pages;
	char text[TEXT_BYTES];

	if (!psi_hostfile_read(root, "/proc/self/statm", text, sizeof text) ||
	    sscanf(text, "%llu", &pages) != 1)
		return 0;
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void
psi_host_memory_read(const char *root, struct psi_host_memory *out)
{
	uint64_t used = mapped_bytes(root);
	struct rlimit limit;

	out->physical = physical_bytes(root);
	out->cgroup = cgroup_memory(root);
	out->file_size = rlimit_or_none(getrlimit(RLIMIT_FSIZE, &limit), &limit);
	out->address_space = rlimit_or_none(getrlimit(RLIMIT_AS, &limit), &limit);
	if (out->address_space != UINT64_MAX)
		out->address_space -= used < out->address_space ? used : out->address_space;
}
