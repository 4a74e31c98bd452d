/* What machine and installation this is. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gasnet_tools.h"
#include "runtime/segment/memlimits.h"
#include "runtime/util/cpuset.h"
#include "runtime/util/topology.h"
#include "runtime/util/hostname.h"

/* Found once; text that others may hold stays as it is. */
static pthread_once_t name_once = PTHREAD_ONCE_INIT;
static char exe_name[PATH_MAX];

static void
system_find_name(void)
{
	ssize_t len = readlink("/proc/self/exe", exe_name, sizeof exe_name - 1);

	exe_name[len > 0 ? len : 0] = '\0';
}

const char *
gasnett_gethostname(void)
{
	return psi_hostname();
}

const char *
gasnett_exe_name(void)
{
	pthread_once(&name_once, system_find_name);
	return exe_name;
}

int
gasnett_cpu_count(void)
{
	struct psi_topology topology;

	psi_topology_read("", &topology);
	return (int)topology.host_cpus;
}

uint64_t
gasnett_getPhysMemSz(int failureIsFatal)
{
	struct psi_host_memory memory;

	psi_host_memory_read("", &memory);
	if (memory.physical != UINT64_MAX)
		return memory.physical;
	if (failureIsFatal)
		gasnett_fatalerror_nopos("gasnett_getPhysMemSz: neither /proc/meminfo nor sysconf "
					 "says how much memory this host has");
	return 0;
}

const char *
gasnett_performance_warning_str(void)
{
#if PSI_CONFIG_DEBUG
	return "this is a debug build of the library, which checks its callers and is slow\n";
#else
	return "";
#endif
}

const char *
gasnett_release_version_str(void)
{
	return PSI_STRING(GASNETT_RELEASE_VERSION_MAJOR) "." PSI_STRING(
		GASNETT_RELEASE_VERSION_MINOR) "." PSI_STRING(GASNETT_RELEASE_VERSION_PATCH);
}

uint64_t
gasnett_release_version(void)
{
	return GASNETT_RELEASE_VERSION_MAJOR * UINT64_C(1000000) +
	       GASNETT_RELEASE_VERSION_MINOR * 10000 + GASNETT_RELEASE_VERSION_PATCH;
}

/* The CPU that has as many allowed ones before it as `rank', counted round and round. */
int
gasnett_set_affinity(int rank)
{
	cpu_set_t allowed, one;

	if (rank < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
	    CPU_COUNT(&allowed) == 0)
		return 1;
	CPU_ZERO(&one);
	CPU_SET(psi_cpuset_numbered(&allowed, (uint32_t)rank), &one);
	return sched_setaffinity(0, sizeof one, &one) != 0;
}
