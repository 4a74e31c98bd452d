/*
 * Memory that processes of one host share: ranges of the job's shared files, which bootstrap hands
 * out as descriptors.  File 0 is the control arena; file 1 + r holds the segments of rank r, one range
 * after the other.  Nothing is touched here, and descriptors are closed once mapped.
 */
#include "runtime/psi.h"

#include "runtime/memlimits.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = GASNET_PAGESIZE };

static uint64_t arena_used;                     /* of init */
static pthread_mutex_t segments_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t segments_used;                  /* under segments_lock, like growing the file */

static size_t
whole_pages(size_t len_bytes)
{
	return (len_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static void *
map_range(unsigned file, uint64_t offset, size_t len_bytes, bool grow)
{
	int fd = pboot_memory(file);
	void *base = MAP_FAILED;
	int error;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	if (!grow || ftruncate(fd, (off_t)(offset + len_bytes)) == 0)
		base = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
		            (off_t)offset);
	error = errno;
	close(fd);
	errno = error;
	return base == MAP_FAILED ? NULL : base;
}

void *
psi_host_memory(size_t len_bytes)
{
	const bool makes = psi.boot.rank == 0;
	size_t bytes = whole_pages(len_bytes);
	void *base;

	if (!makes)
		pboot_barrier();        /* before it the file may be too short to touch */
	base = map_range(0, arena_used, bytes, makes);
	if (!base)
		psi_fatal("cannot map %zu bytes of shared memory: %s", bytes, strerror(errno));
	if (makes)
		pboot_barrier();
	arena_used += bytes;
	return base;
}

uint64_t
psi_store_limit(void)
{
	int fd = pboot_memory(1 + psi.boot.rank);
	uint64_t bytes = fd < 0 ? UINT64_MAX : psi_store_bytes(fd);

	if (fd >= 0)
		close(fd);
	return bytes;
}

void *
psi_segment_memory(size_t len_bytes, uint64_t *file_offset_out)
{
	void *base;

	pthread_mutex_lock(&segments_lock);
	base = map_range(1 + psi.boot.rank, segments_used, whole_pages(len_bytes), true);
	if (base) {
		*file_offset_out = segments_used;
		segments_used += whole_pages(len_bytes);
	}
	pthread_mutex_unlock(&segments_lock);
	return base;
}

void *
psi_segment_map(uint32_t rank, uint64_t file_offset, size_t len_bytes)
{
	return map_range(1 + rank, file_offset, whole_pages(len_bytes), false);
}

/* The range stays in the file, without pages; peers that map it keep it mapped. */
void
psi_segment_unmap(void *base, size_t len_bytes)
{
	madvise(base, whole_pages(len_bytes), MADV_REMOVE);
	munmap(base, whole_pages(len_bytes));
}
