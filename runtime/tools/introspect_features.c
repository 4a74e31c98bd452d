#include "runtime/tools/introspect_features.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool
feature_opened(long fd)
{
	if (fd < 0)
		return false;
	close((int)fd);
	return true;
}

static bool
memfd_works(void)
{
	return feature_opened(memfd_create("penstock-probe", MFD_CLOEXEC));
}

static bool
tmpfile_works(void)
{
	return feature_opened(open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

static bool
pidfd_works(void)
{
	return feature_opened(syscall(SYS_pidfd_open, getpid(), 0));
}

static bool
subreaper_works(void)
{
	int is_one;

	return prctl(PR_GET_CHILD_SUBREAPER, &is_one) == 0;
}

static bool
vm_readv_works(void)
{
	char from = 1, to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 && to == 1;
}

static bool
membarrier_works(void)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

const struct psi_feature psi_features[] = {
	{ "memfd", memfd_works, "shared memory without a name",
	  "unlinked files in /dev/shm or GASNET_TMPDIR" },
	{ "tmpfile", tmpfile_works, "files without a name where there is no memfd",
	  "files that have a name for a moment" },
	{ "pidfd", pidfd_works, "signals that never hit another process of the same number",
	  "a look at the parent before each signal" },
	{ "subreaper", subreaper_works, "finding what ranks leave behind",
	  "a mark in the environment of the job's processes" },
	{ "vm_readv", vm_readv_works, "one copy to and from segments over the client's memory",
	  "messages" },
	{ "membarrier", membarrier_works, "sleepers pay for a fence, senders do not",
	  "senders fence before they look for sleepers" },
	{ NULL, NULL, NULL, NULL },
};
