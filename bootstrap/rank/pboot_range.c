/* Makes, maps and unmaps ranges of shared memory in a rank, for each kind of memory. */
#include "bootstrap/rank/pboot_rank.h"

#include "bootstrap/rank/pboot_huge.h"
#include "bootstrap/share/pboot_sysv.h"
#include "runtime/util/limit_hint.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

/* Bytes of the arena and of this rank's segment file that ranges use; under the lock. */
static uint64_t arena_used, segments_used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t
range_whole_pages(size_t len_bytes)
{
	return (len_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static const struct pboot_memory *
range_memory(void)
{
	return &pboot_self.startup.memory;
}

/* -- memfd and posix: ranges of files ---------------------------------------------------------- */

static void *
range_map_file(unsigned number, uint64_t offset, size_t bytes, bool grow)
{
	int fd = pboot_file_take(number), err = 0;
	void *base = MAP_FAILED;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	if (grow)
		err = psi_file_grow(fd, offset, bytes);
	if (!err) {
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
		    (off_t)offset);
		err = errno;
	}
	close(fd);
	errno = err;
	return base == MAP_FAILED ? NULL : base;
}

/* -- mmap: parts of the inherited mapping ------------------------------------------------------ */

static void *
range_map_inherited(unsigned number, uint64_t offset, size_t bytes)
{
	uint64_t len;
	char *part = pboot_memory_part(range_memory(), pboot_self.startup.local_size, number,
	    &len);

	if (offset > len || bytes > len - offset) {
		errno = ENOMEM;
		return NULL;
	}
	madvise(part + offset, bytes, MADV_DODUMP);
	return part + offset;
}

/* -- all --------------------------------------------------------------------------------------- */

static void *
range_map_kind(unsigned number, uint64_t key, size_t bytes, bool grow)
{
	switch (range_memory()->kind) {
	case PBOOT_SHM_SYSV:
		return pboot_sysv_map((int)key);
	case PBOOT_SHM_MMAP:
		return range_map_inherited(number, key, bytes);
	default:
		return range_map_file(number, key, bytes, grow);
	}
}

void *
pboot_exchange_map(size_t len_bytes)
{
	const bool sysv = range_memory()->kind == PBOOT_SHM_SYSV;

	return range_map_kind(PBOOT_FILE_EXCHANGE, sysv ? (uint64_t)range_memory()->exchange_id : 0,
	                      len_bytes, false);
}

static void *
range_make_next(unsigned number, uint64_t *used, size_t bytes, uint64_t *key_out)
{
	void *base;
	int id = -1;

	if (range_memory()->kind == PBOOT_SHM_SYSV)
		base = pboot_sysv_make(bytes, &id);
	else
		base = range_map_kind(number, *used, bytes, true);
	if (!base)
		return NULL;
	*key_out = range_memory()->kind == PBOOT_SHM_SYSV ? (uint64_t)id : *used;
	*used += bytes;
	return base;
}

static void *
range_make_in(unsigned file, size_t len_bytes, bool huge, uint64_t *key_out)
{
	uint64_t *used = file == 0 ? &arena_used : &segments_used;
	const unsigned own = 1 + pboot_self.startup.local_rank;
	void *base;
	bool first;

	if (file != (own == 1 && file == 0 ? 0 : own)) {
		errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&lock);
	first = file == 0 && arena_used == 0;
	base = huge ? pboot_huge_make(len_bytes, key_out) : NULL;
	if (!base)
		base = range_make_next(PBOOT_FILE_ARENA + file, used, range_whole_pages(len_bytes),
		                       key_out);
	pthread_mutex_unlock(&lock);
	if (base && huge && !pboot_huge_is(*key_out))
		pboot_huge_advise(base, len_bytes);
	if (base && first)
		pboot_note_arena((int)*key_out);
	return base;
}

void *
pboot_range_make(unsigned file, size_t len_bytes, uint64_t *key_out)
{
	return range_make_in(file, len_bytes, file > 0, key_out);
}

void *
pboot_range_make_sparse(unsigned file, size_t len_bytes, uint64_t *key_out)
{
	return range_make_in(file, len_bytes, false, key_out);
}

void *
pboot_range_map(unsigned file, uint64_t key, size_t len_bytes)
{
	void *base;

	if (file > 0 && pboot_huge_is(key))
		return pboot_huge_map(file - 1, key, len_bytes);
	base = range_map_kind(PBOOT_FILE_ARENA + file, key, range_whole_pages(len_bytes), false);
	if (base && file > 0)
		pboot_huge_advise(base, len_bytes);
	return base;
}

/* The range keeps its bytes of the file, but no pages.  Peers that have mapped it keep it
 * mapped. */
void
pboot_range_unmap(void *base, uint64_t key, size_t len_bytes)
{
	size_t bytes = range_whole_pages(len_bytes);

	if (pboot_huge_is(key)) {
		pboot_huge_unmap(base, len_bytes);
		return;
	}
	madvise(base, bytes, MADV_REMOVE);
	if (range_memory()->kind == PBOOT_SHM_SYSV)
		shmdt(base);
	else if (range_memory()->kind == PBOOT_SHM_MMAP)
		madvise(base, bytes, MADV_DONTDUMP);
	else
		munmap(base, bytes);
}

static const char *
range_hint_sysv(int err)
{
	switch (err) {
	case ENOSPC:
		return "; raise kernel.shmmni or kernel.shmall";
	case EINVAL:
		return "; raise kernel.shmmax";
	default:
		return psi_limit_hint(err);
	}
}

const char *
pboot_range_error_text(int err, char text[PBOOT_ERROR_TEXT_BYTES])
{
	const char *how = pboot_self.startup.file_kind;

	if (range_memory()->kind == PBOOT_SHM_SYSV)
		snprintf(text, PBOOT_ERROR_TEXT_BYTES, "%s (sysv)%s", strerror(err),
		         range_hint_sysv(err));
	else
		snprintf(text, PBOOT_ERROR_TEXT_BYTES, "%s (%s)%s", strerror(err),
		         how ? how : pboot_shm_name(range_memory()->kind), psi_limit_hint(err));
	return text;
}

bool
pboot_range_in_file(void)
{
	return range_memory()->kind == PBOOT_SHM_MEMFD || range_memory()->kind == PBOOT_SHM_POSIX;
}

bool
pboot_range_outlives_maker(void)
{
	return range_memory()->kind != PBOOT_SHM_SYSV;
}

static uint64_t
product_capped(uint64_t a, uint64_t b)
{
	return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t
range_limit_sysv(void)
{
	struct shminfo info;
	uint64_t each, all;

	if (shmctl(0, IPC_INFO, (struct shmid_ds *)(void *)&info) < 0)
		return UINT64_MAX;
	each = product_capped(info.shmmax, pboot_self.startup.local_size);
	all = product_capped(info.shmall, PAGE_BYTES);
	return each < all ? each : all;
}

static uint64_t
range_limit_file(void)
{
	int fd = pboot_file_take(PBOOT_FILE_ARENA + 1 + pboot_self.startup.local_rank);
	uint64_t bytes = psi_file_store_bytes(fd);

	if (fd >= 0)
		close(fd);
	return bytes;
}

uint64_t
pboot_range_limit(void)
{
	switch (range_memory()->kind) {
	case PBOOT_SHM_SYSV:
		return range_limit_sysv();
	case PBOOT_SHM_MMAP:
		return product_capped(range_memory()->segment_bytes, pboot_self.startup.local_size);
	default:
		return range_limit_file();
	}
}
