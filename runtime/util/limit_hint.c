#include "runtime/util/limit_hint.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *
psi_limit_hint(int err)
{
	switch (err) {
	case EMFILE:
		return "; raise the limit of open files (ulimit -n)";
	case ENFILE:
		return "; raise the host's limit of open files (fs.file-max)";
	case EAGAIN:
		return "; raise the limit of processes (ulimit -u, or pids.max of the control "
		       "group)";
	case EFBIG:
		return "; raise the limit of file sizes (ulimit -f), or use PST_SHM=sysv";
	case ENOSPC:
		return "; make room there, or name another directory by GASNET_TMPDIR";
	case ENOMEM:
		return "; free memory, or raise the limit of address space (ulimit -v)";
	case E2BIG:
		return "; raise the limit of stacks (ulimit -s), or shorten the environment";
	default:
		return "";
	}
}

/* A memfd has no bound of its own: it tells of no blocks at all. */
static int
hint_take_room(int fd, uint64_t offset, size_t len_bytes)
{
	struct statfs store;

	if (fstatfs(fd, &store) < 0 || store.f_blocks == 0)
		return 0;
	if ((uint64_t)store.f_bavail * (uint64_t)store.f_bsize < len_bytes)
		return ENOSPC;
	if ((uint32_t)store.f_type != TMPFS_MAGIC &&
	    fallocate(fd, 0, (off_t)offset, (off_t)len_bytes) < 0 && errno == ENOSPC)
		return ENOSPC;
	return 0;
}

int
psi_file_grow(int fd, uint64_t offset, size_t len_bytes)
{
	uint64_t end = offset + len_bytes;
	struct rlimit limit;
	struct stat info;

	if (fstat(fd, &info) < 0)
		return errno;
	if ((uint64_t)info.st_size >= end)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
		return EFBIG;
	if (ftruncate(fd, (off_t)end) < 0)
		return errno;
	return hint_take_room(fd, offset, len_bytes);
}

uint64_t
psi_file_store_bytes(int fd)
{
	struct statvfs store;

	if (fstatvfs(fd, &store) != 0 || store.f_blocks == 0)
		return UINT64_MAX;
	return (uint64_t)store.f_blocks * store.f_frsize;
}
