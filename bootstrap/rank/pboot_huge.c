#include "bootstrap/rank/pboot_huge.h"

#include "bootstrap/rank/pboot_rank.h"
#include "bootstrap/share/pboot_settings.h"
#include "runtime/util/hostfile.h"
#include "runtime/util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* This bit of a key says that the range lies in the file of huge pages; the other bits are its
 * offset. */
#define HUGE_KEY (UINT64_C(1) << 63)

enum { LEAST_BYTES = 2 << 20 };

static uint64_t used;		/* bytes of the file; under the lock of pboot_range.c */
static bool refused;		/* the reason holds for all ranges: no further one is tried */

static bool
huge_read_page_size(char *line, void *context)
{
	unsigned long long kib;

	if (sscanf(line, "Hugepagesize: %llu kB", &kib) != 1)
		return false;
	*(size_t *)context = (size_t)kib * 1024;
	return true;
}

static size_t
huge_whole_pages(size_t len_bytes)
{
	static _Atomic size_t known;
	size_t page = known;

	if (page == 0) {
		if (!psi_hostfile_lines("", "/proc/meminfo", huge_read_page_size, &page))
			page = LEAST_BYTES;
		known = page;
	}
	return (len_bytes + page - 1) / page * page;
}

/* for_all: the reason is the same for all ranks of a host (no pool, or an empty one), so only the
 * lowest rank prints. */
static void *
huge_refuse(const char *why, bool for_all)
{
	refused = refused || for_all;
	if (!for_all || pboot_self.startup.local_rank == 0)
		psi_log("warning: PST_HUGEPAGES=hugetlb: %s; ordinary pages are used", why);
	return NULL;
}

static bool
huge_read_total(char *line, void *context)
{
	return sscanf(line, "HugePages_Total: %lu", (unsigned long *)context) == 1;
}

static bool
huge_pool_is_empty(void)
{
	unsigned long pages = 0;

	psi_hostfile_lines("", "/proc/meminfo", huge_read_total, &pages);
	return pages == 0;
}

/* A descriptor of this rank's file: a new file the first time, then the one that the keeper has. */
static int
huge_take_file(void)
{
	int fd, err;

	if (used > 0)
		return pboot_file_take(
			PBOOT_FILE_HUGE(pboot_self.startup.local_size,
		                pboot_self.startup.local_rank));
	fd = memfd_create("penstock-huge", MFD_CLOEXEC | MFD_HUGETLB);
	if (fd < 0)
		return -errno;
	err = pboot_file_give(fd);
	if (!err)
		return fd;
	close(fd);
	return -err;
}

/* mmap reserves pages of the pool, so touching them later cannot fail. */
static void *
huge_map_file(int fd, uint64_t offset, size_t bytes, bool grow)
{
	void *base = MAP_FAILED;

	if (!grow || ftruncate(fd, (off_t)(offset + bytes)) == 0)
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	return base == MAP_FAILED ? NULL : base;
}

void *
pboot_huge_make(size_t len_bytes, uint64_t *key_out)
{
	size_t bytes = huge_whole_pages(len_bytes);
	void *base;
	int fd;

	if (len_bytes < LEAST_BYTES || refused || pboot_settings_huge() != PBOOT_HUGE_POOL)
		return NULL;
	if (pboot_self.startup.memory.kind != PBOOT_SHM_MEMFD)
		return huge_refuse("these pages need PST_SHM=memfd", true);
	if (huge_pool_is_empty())
		return huge_refuse("the kernel's pool has no pages (vm.nr_hugepages)", true);
	fd = huge_take_file();
	if (fd < 0)
		return huge_refuse(strerror(-fd), false);
	base = huge_map_file(fd, used, bytes, true);
	close(fd);
	if (!base)
		return huge_refuse("the kernel's pool has too few pages (vm.nr_hugepages)", false);
	*key_out = HUGE_KEY | used;
	used += bytes;
	return base;
}

bool
pboot_huge_is(uint64_t key)
{
	return key & HUGE_KEY;
}

void *
pboot_huge_map(unsigned rank, uint64_t key, size_t len_bytes)
{
	int fd = pboot_file_take(PBOOT_FILE_HUGE(pboot_self.startup.local_size, rank)), err;
	void *base;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	base = huge_map_file(fd, key & ~HUGE_KEY, huge_whole_pages(len_bytes), false);
	err = errno;
	close(fd);
	errno = err;
	return base;
}

void
pboot_huge_unmap(void *base, size_t len_bytes)
{
	size_t bytes = huge_whole_pages(len_bytes);

	madvise(base, bytes, MADV_REMOVE);
	munmap(base, bytes);
}

/* Warns if the user asked for transparent huge pages by name and the kernel gives none. */
static void
huge_check_transparent(void)
{
	static bool checked;
	char text[128];

	if (checked || pboot_self.startup.local_rank != 0 || !getenv("PST_HUGEPAGES") ||
	    pboot_settings_huge() != PBOOT_HUGE_THP)
		return;
	checked = true;
	if (psi_hostfile_read("", "/sys/kernel/mm/transparent_hugepage/shmem_enabled", text,
	    sizeof text) && (strstr(text, "[never]") || strstr(text, "[deny]")))
		psi_log("warning: PST_HUGEPAGES=thp: the kernel gives none to shared memory (see "
		    "/sys/kernel/mm/transparent_hugepage/shmem_enabled); ordinary pages are used");
}

void
pboot_huge_advise(void *base, size_t len_bytes)
{
	if (len_bytes < LEAST_BYTES || pboot_settings_huge() == PBOOT_HUGE_NO)
		return;
	huge_check_transparent();
	madvise(base, len_bytes, MADV_HUGEPAGE);
}
