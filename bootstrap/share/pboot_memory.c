#include "bootstrap/share/pboot_memory.h"

#include "bootstrap/share/pboot_job.h"
#include "bootstrap/share/pboot_sysv.h"
#include "runtime/util/limit_hint.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
/* The most that the one mapping of a job may take of 47 bits of address space. */
#define MAPPING_MAX (UINT64_C(1) << 46)

static const char *const names[] = {
	[PBOOT_SHM_MEMFD] = "memfd",
	[PBOOT_SHM_POSIX] = "posix",
	[PBOOT_SHM_SYSV] = "sysv",
	[PBOOT_SHM_MMAP] = "mmap",
};

const char *
pboot_shm_name(enum pboot_shm kind)
{
	return names[kind];
}

int
pboot_shm_find(const char *name)
{
	int i;

	for (i = 0; i < (int)(sizeof names / sizeof *names); i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static uint64_t
physical_bytes(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Has /dev/shm too little room?  Containers often have only 64 MB there, which is not what a user
 * of posix expects. */
static bool
tmpfs_is_small(void)
{
	struct statvfs shm;
	uint64_t free_bytes;

	if (statvfs(PBOOT_POSIX_DIRECTORY, &shm) < 0)
		return false;	/* making a file will fail and say why */
	free_bytes = (uint64_t)shm.f_bavail * shm.f_frsize;
	if (free_bytes >= physical_bytes() / 4)
		return false;
	pboot_say("warning: PST_SHM=posix: %s has room for %llu MB, less than a quarter of the "
	    "host's memory; memfd is used", PBOOT_POSIX_DIRECTORY,
	    (unsigned long long)(free_bytes / MIB));
	return true;
}

static int
files_make(const struct pboot_memory *memory, uint32_t size, struct pboot_file *files,
    const char **how_out)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < PBOOT_FILES(size) && !err; i++)
		err = pboot_shmfile_make(memory->kind, &files[i], how_out);
	if (!err)
		err = psi_file_grow(files[PBOOT_FILE_EXCHANGE].fd, 0, memory->area_bytes);
	while (err && i-- > 0) {
		if (files[i].fd >= 0)
			close(files[i].fd);
		files[i].fd = -1;
	}
	return err;
}

/* Address space for the segments of one rank, within RLIMIT_AS; half of it is left to the
 * client. */
static uint64_t
segment_bytes_for(uint32_t size, uint64_t arena_bytes)
{
	uint64_t most = physical_bytes(), total = MAPPING_MAX;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 2 < total)
		total = limit.rlim_cur / 2;
	total -= total < arena_bytes ? total : arena_bytes;
	if (most > total / size)
		most = total / size;
	return most / (2 * MIB) * (2 * MIB);
}

/* The offset at which a file's part of the mapping begins; that of PBOOT_FILES(size) is the end. */
static uint64_t
mapping_part_at(const struct pboot_memory *memory, uint32_t size, unsigned number)
{
	const uint64_t unit = 2 * MIB;

	if (number == PBOOT_FILE_EXCHANGE)
		return 0;
	if (number == PBOOT_FILE_ARENA)
		return (memory->area_bytes + unit - 1) / unit * unit;
	return mapping_part_at(memory, size, PBOOT_FILE_ARENA) + memory->arena_bytes +
	       memory->segment_bytes * (number - PBOOT_FILE_ARENA - 1);
}

char *
pboot_memory_part(const struct pboot_memory *memory, uint32_t size, unsigned number,
    uint64_t *len_out)
{
	uint64_t at = mapping_part_at(memory, size, number);

	*len_out = mapping_part_at(memory, size, number + 1) - at;
	return memory->mapping + at;
}

/* A page takes memory only when it is touched.  Pages that no range uses are not written to a
 * core. */
static int
mapping_make(uint32_t size, struct pboot_memory *memory)
{
	uint64_t bytes;
	void *mapping;

	memory->arena_bytes = 64 * MIB + size * (4 * MIB + size * (uint64_t)8192);
	memory->segment_bytes = segment_bytes_for(size, memory->arena_bytes);
	bytes = mapping_part_at(memory, size, PBOOT_FILES(size));
	mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapping == MAP_FAILED)
		return errno;
	madvise(mapping, bytes, MADV_DONTDUMP);
	memory->mapping = mapping;
	return 0;
}

static int
mapping_make_kind(uint32_t size, struct pboot_memory *memory, struct pboot_file *files,
                  const char **how_out)
{
	*how_out = names[memory->kind];
	switch (memory->kind) {
	case PBOOT_SHM_SYSV:
		/* The keeper stays attached, so the segment lives until its last process ends. */
		return pboot_sysv_make(memory->area_bytes, &memory->exchange_id) ? 0
		                                                                         : errno;
	case PBOOT_SHM_MMAP:
		return mapping_make(size, memory);
	default:
		return files_make(memory, size, files, how_out);
	}
}

int
pboot_memory_make(enum pboot_shm wanted, uint32_t size, size_t area_bytes, bool forks,
    struct pboot_memory *memory_out, struct pboot_file *files_out, const char **how_out)
{
	struct pboot_memory memory = { .kind = wanted, .exchange_id = -1,
				       .area_bytes = area_bytes };
	int err;

	if (wanted == PBOOT_SHM_POSIX && tmpfs_is_small())
		memory.kind = PBOOT_SHM_MEMFD;
	if (wanted == PBOOT_SHM_MMAP && !forks) {
		pboot_say("warning: PST_SHM=mmap: ranks inherit mappings only in a direct start "
		    "(GASNET_PSHM_NODES=N, without a launcher); memfd is used");
		memory.kind = PBOOT_SHM_MEMFD;
	}
	err = mapping_make_kind(size, &memory, files_out, how_out);
	if (err && memory.kind != PBOOT_SHM_MEMFD) {
		pboot_say("warning: PST_SHM=%s: %s; memfd is used", names[wanted], strerror(err));
		memory.kind = PBOOT_SHM_MEMFD;
		err = mapping_make_kind(size, &memory, files_out, how_out);
	}
	*memory_out = memory;
	return err;
}
