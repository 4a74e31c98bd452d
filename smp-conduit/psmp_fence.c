/*
 * Making all other processes of the job fence, so that senders need not: membarrier, for which every
 * process registers.  Costs the caller some microseconds and the others an interrupt.
 */
#include "smp-conduit/psmp.h"

#include "runtime/util/deny.h"
#include "runtime/util/fence.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_membarrier
#include <linux/membarrier.h>
#endif

bool
psmp_fence_register(const struct psi_services *services)
{
#if defined(SYS_membarrier) && !defined(PSI_TSAN)
	const bool denied = psi_deny_lists(services->setting("PST_DENY"), "membarrier");
	long offered = denied ? -1 : syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	const long needed = MEMBARRIER_CMD_GLOBAL_EXPEDITED |
	                    MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;

	return offered > 0 && (offered & needed) == needed &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#else
	(void)services;
	return false;
#endif
}

void
psmp_fence_others(void)
{
#ifdef SYS_membarrier
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
#endif
}
