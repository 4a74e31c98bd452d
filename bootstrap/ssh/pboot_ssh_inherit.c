#include "bootstrap/ssh/pboot_ssh_inherit.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* Those that shells set. */
static const int resources[PBOOT_SSH_LIMITS] = {
	RLIMIT_AS, RLIMIT_CORE, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_MEMLOCK,
	RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_RSS, RLIMIT_STACK,
};

/* The process has one thread, so nobody makes a file while the umask is another. */
void
pboot_ssh_inherit_take(struct pboot_ssh_inherit *inherit_out)
{
	const mode_t mask = umask(0);
	struct rlimit limit;
	unsigned i;

	umask(mask);
	inherit_out->umask = mask & PBOOT_SSH_UMASK_MAX;
	for (i = 0; i < PBOOT_SSH_LIMITS; i++) {
		inherit_out->limits[i] = -1;
		if (getrlimit((__rlimit_resource_t)resources[i], &limit) == 0 &&
		    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= INT64_MAX)
			inherit_out->limits[i] = (int64_t)limit.rlim_cur;
	}
}

void
pboot_ssh_inherit_give(const struct pboot_ssh_inherit *inherit)
{
	struct rlimit limit;
	unsigned i;

	umask((mode_t)inherit->umask);
	for (i = 0; i < PBOOT_SSH_LIMITS; i++) {
		const int64_t wanted = inherit->limits[i];

		if (getrlimit((__rlimit_resource_t)resources[i], &limit) < 0)
			continue;
		limit.rlim_cur = wanted < 0 ? RLIM_INFINITY : (rlim_t)wanted;
		if (limit.rlim_cur > limit.rlim_max)
			limit.rlim_cur = limit.rlim_max;
		setrlimit((__rlimit_resource_t)resources[i], &limit);
	}
}
