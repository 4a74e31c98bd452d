/*
 * Making all other processes of the job fence, so that senders need not: membarrier, for which
 * every process registers.  Costs the caller some microseconds and the others an interrupt.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "runtime/util/deny.h"
#include "runtime/util/fence.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_membarrier
#include <linux/membarrier.h>
#endif

bool
sysvnet_fence_register(const char *denied)
{
#if defined(SYS_membarrier) && !defined(PSI_TSAN)
	const bool is_denied = psi_deny_lists(denied, "membarrier");
	long offered = is_denied ? -1 : syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	const long needed = MEMBARRIER_CMD_GLOBAL_EXPEDITED |
	                    MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;

	return offered > 0 && (offered & needed) == needed &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#else
	(void)denied;
	return false;
#endif
}

/*
 * The kernel records for each CPU whether the memory map in use there is registered.  It does that
 * when the CPU changes maps.  A CPU that a process left idle before it registered still has the
 * process's map.  When the process comes back there, the map does not change, and membarrier passes
 * the CPU over: a fence is missing, and a message may not wake its receiver.  (Seen with Linux
 * 6.18.)  So the process runs once on every CPU, which makes each change maps, except those that
 * have its map.
 */
void
sysvnet_fence_settle(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t before, one;

	if (sched_getaffinity(0, sizeof before, &before) != 0)
		return;
	for (unsigned cpu = 0; cpu < (unsigned long)cpus && cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof one, &one);         /* fails where nobody may run */
	}
	sched_setaffinity(0, sizeof before, &before);
}

void
sysvnet_fence_others(void)
{
#ifdef SYS_membarrier
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
#endif
}
