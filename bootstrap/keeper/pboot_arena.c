/* Maps ranges of the control arena and of the ranks' files in the keeper, for reading; for every
 * kind of shared memory. */
#include "bootstrap/keeper/pboot_keeper.h"

#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

static const struct pboot_keeper *owner;	/* NULL until there is an arena */
static uint64_t first_key;

static const void *
arena_map_file(unsigned number, uint64_t offset, size_t len_bytes)
{
	const int fd = owner->files[number].fd;
	struct stat info;
	void *base;

	if (fstat(fd, &info) != 0 || offset > (uint64_t)info.st_size ||
	    len_bytes > (uint64_t)info.st_size - offset)
		return NULL;
	base = mmap(NULL, len_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
	return base == MAP_FAILED ? NULL : base;
}

static const void *
arena_map_sysv(int id, size_t len_bytes)
{
	struct shmid_ds info;
	const void *base;

	if (shmctl(id, IPC_STAT, &info) != 0 || info.shm_segsz < len_bytes)
		return NULL;
	base = shmat(id, NULL, SHM_RDONLY);
	return base == (const void *)-1 ? NULL : base;
}

static const void *
arena_map_inherited(unsigned number, uint64_t offset, size_t len_bytes)
{
	uint64_t len;
	const char *part = pboot_memory_part(&owner->memory, owner->plan->size, number, &len);

	return offset > len || len_bytes > len - offset ? NULL : part + offset;
}

/* The keeper attaches a System V segment of ranks: such a segment ends with the last process that
 * has attached it, and the keeper outlives the ranks. */
void
pboot_arena_note(const struct pboot_keeper *keeper, int key)
{
	if (owner)
		return;
	owner = keeper;
	first_key = (uint64_t)key;
	if (keeper->memory.kind == PBOOT_SHM_SYSV)
		arena_map_sysv(key, 0);
}

static const void *
arena_map(unsigned number, uint64_t key, size_t len_bytes)
{
	if (!owner)
		return NULL;
	switch (owner->memory.kind) {
	case PBOOT_SHM_SYSV:
		return arena_map_sysv((int)key, len_bytes);
	case PBOOT_SHM_MMAP:
		return arena_map_inherited(number, key, len_bytes);
	default:
		return arena_map_file(number, key, len_bytes);
	}
}

const void *
pboot_arena_map(uint64_t key, size_t len_bytes)
{
	return arena_map(PBOOT_FILE_ARENA, key, len_bytes);
}

const void *
pboot_arena_map_of(uint32_t rank, uint64_t key, size_t len_bytes)
{
	return arena_map(PBOOT_FILE_ARENA + 1 + rank, key, len_bytes);
}

const void *
pboot_arena_map_first(size_t len_bytes)
{
	return pboot_arena_map(first_key, len_bytes);
}

void
pboot_arena_unmap(const void *base, size_t len_bytes)
{
	if (owner->memory.kind == PBOOT_SHM_SYSV)
		shmdt(base);
	else if (owner->memory.kind != PBOOT_SHM_MMAP)
		munmap((void *)(uintptr_t)base, len_bytes);
}
