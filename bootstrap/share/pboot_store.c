#include "bootstrap/share/pboot_store.h"

#include "bootstrap/share/pboot_job.h"
#include "bootstrap/share/pboot_sysv.h"
#include "runtime/util/lack.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
/* Of 47 bits of address space, what one job's room may take. */
#define ROOM_MAX (UINT64_C(1) << 46)

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

/* Containers often have 64 MB there, which nobody who asks for posix has in mind. */
static bool
posix_is_small(void)
{
	struct statvfs shm;
	uint64_t room;

	if (statvfs(PBOOT_POSIX_DIRECTORY, &shm) < 0)
		return false;	/* making a file will tell */
	room = (uint64_t)shm.f_bavail * shm.f_frsize;
	if (room >= physical_bytes() / 4)
		return false;
	pboot_say("warning: PST_SHM=posix: %s has room for %llu MB, less than a quarter of the "
	    "host's memory; memfd is taken", PBOOT_POSIX_DIRECTORY,
	    (unsigned long long)(room / MIB));
	return true;
}

static int
make_files(enum pboot_shm kind, uint32_t size, struct pboot_file *files, const char **how_out)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < PBOOT_FILES(size) && !err; i++)
		err = pboot_shmfile_make(kind, &files[i], how_out);
	if (!err)
		err = psi_file_grow(files[PBOOT_FILE_BOARD].fd, 0, pboot_board_bytes(size));
	while (err && i-- > 0) {
		if (files[i].fd >= 0)
			close(files[i].fd);
		files[i].fd = -1;
	}
	return err;
}

/* The keeper stays attached, and so the segment lives until the last process that has it ends. */
static int
make_board(uint32_t size, struct pboot_store *store)
{
	return pboot_sysv_make(pboot_board_bytes(size), &store->board_id) ? 0 : errno;
}

/* Address space that a limit leaves for segments; the client needs some as well. */
static uint64_t
room_of_rank(uint32_t size, uint64_t arena_bytes)
{
	uint64_t most = physical_bytes(), total = ROOM_MAX;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 2 < total)
		total = limit.rlim_cur / 2;
	total -= total < arena_bytes ? total : arena_bytes;
	if (most > total / size)
		most = total / size;
	return most / (2 * MIB) * (2 * MIB);
}

/* Where a part of the room begins; PBOOT_FILES(size): its end. */
static uint64_t
part_at(const struct pboot_store *store, uint32_t size, unsigned number)
{
	const uint64_t unit = 2 * MIB;

	if (number == PBOOT_FILE_BOARD)
		return 0;
	if (number == PBOOT_FILE_FIRST_PUBLIC)
		return (pboot_board_bytes(size) + unit - 1) / unit * unit;
	return part_at(store, size, PBOOT_FILE_FIRST_PUBLIC) + store->arena_bytes +
	    store->segment_bytes * (number - PBOOT_FILE_FIRST_PUBLIC - 1);
}

char *
pboot_store_part(const struct pboot_store *store, uint32_t size, unsigned number,
    uint64_t *len_out)
{
	uint64_t at = part_at(store, size, number);

	*len_out = part_at(store, size, number + 1) - at;
	return store->room + at;
}

/* Nothing of it takes memory before it is touched; what nobody took is not written to a core. */
static int
make_room(uint32_t size, struct pboot_store *store)
{
	uint64_t bytes;
	void *room;

	store->arena_bytes = 64 * MIB + size * (4 * MIB + size * (uint64_t)8192);
	store->segment_bytes = room_of_rank(size, store->arena_bytes);
	bytes = part_at(store, size, PBOOT_FILES(size));
	room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);
	if (room == MAP_FAILED)
		return errno;
	madvise(room, bytes, MADV_DONTDUMP);
	store->room = room;
	return 0;
}

static int
make_kind(uint32_t size, struct pboot_store *store, struct pboot_file *files,
    const char **how_out)
{
	*how_out = names[store->kind];
	switch (store->kind) {
	case PBOOT_SHM_SYSV:
		return make_board(size, store);
	case PBOOT_SHM_MMAP:
		return make_room(size, store);
	default:
		return make_files(store->kind, size, files, how_out);
	}
}

int
pboot_store_make(enum pboot_shm wanted, uint32_t size, bool forks, struct pboot_store *store_out,
    struct pboot_file *files_out, const char **how_out)
{
	struct pboot_store store = { .kind = wanted, .board_id = -1 };
	int err;

	if (wanted == PBOOT_SHM_POSIX && posix_is_small())
		store.kind = PBOOT_SHM_MEMFD;
	if (wanted == PBOOT_SHM_MMAP && !forks) {
		pboot_say("warning: PST_SHM=mmap: a program that the launcher runs does not inherit "
		    "mappings (GASNET_PSHM_NODES=N without launcher does); memfd is taken");
		store.kind = PBOOT_SHM_MEMFD;
	}
	err = make_kind(size, &store, files_out, how_out);
	if (err && store.kind != PBOOT_SHM_MEMFD) {
		pboot_say("warning: PST_SHM=%s: %s; memfd is taken", names[wanted], strerror(err));
		store.kind = PBOOT_SHM_MEMFD;
		err = make_kind(size, &store, files_out, how_out);
	}
	*store_out = store;
	return err;
}
