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

/* Of a key: the range lies in the file of huge pages, at the offset in the other bits. */
#define HUGE_KEY (UINT64_C(1) << 63)

enum { LEAST_BYTES = 2 << 20 };

static uint64_t used;		/* of the file; under the lock of pboot_range.c */
static bool refused;

static bool
take_page_size(char *line, void *context)
{
	unsigned long long kib;

	if (sscanf(line, "Hugepagesize: %llu kB", &kib) != 1)
		return false;
	*(size_t *)context = (size_t)kib * 1024;
	return true;
}

static size_t
whole_pages(size_t len_bytes)
{
	static _Atomic size_t known;
	size_t page = known;

	if (page == 0) {
		if (!psi_hostfile_lines("", "/proc/meminfo", take_page_size, &page))
			page = LEAST_BYTES;
		known = page;
	}
	return (len_bytes + page - 1) / page * page;
}

/* Of a pool that is empty or a kernel without one, which is so for all ranks, one speaks. */
static void *
refuse(const char *why, bool for_all)
{
	refused = refused || for_all;
	if (!for_all || pboot_self.seat.rank == 0)
		psi_log("warning: PST_HUGEPAGES=hugetlb: %s; ordinary pages are taken", why);
	return NULL;
}

static bool
take_total(char *line, void *context)
{
	return sscanf(line, "HugePages_Total: %lu", (unsigned long *)context) == 1;
}

static bool
pool_is_empty(void)
{
	unsigned long pages = 0;

	psi_hostfile_lines("", "/proc/meminfo", take_total, &pages);
	return pages == 0;
}

/* The rank's file: the one the keeper has, or a new one. */
static int
take_file(void)
{
	int fd, err;

	if (used > 0)
		return pboot_file_take(PBOOT_FILE_HUGE(pboot_self.seat.size, pboot_self.seat.rank));
	fd = memfd_create("penstock-huge", MFD_CLOEXEC | MFD_HUGETLB);
	if (fd < 0)
		return -errno;
	err = pboot_file_store(fd);
	if (!err)
		return fd;
	close(fd);
	return -err;
}

/* The pool's pages are set aside here, so that to touch them cannot fail. */
static void *
map_file(int fd, uint64_t offset, size_t bytes, bool grow)
{
	void *base = MAP_FAILED;

	if (!grow || ftruncate(fd, (off_t)(offset + bytes)) == 0)
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	return base == MAP_FAILED ? NULL : base;
}

void *
pboot_huge_make(size_t len_bytes, uint64_t *key_out)
{
	size_t bytes = whole_pages(len_bytes);
	void *base;
	int fd;

	if (len_bytes < LEAST_BYTES || refused || pboot_settings_huge() != PBOOT_HUGE_POOL)
		return NULL;
	if (pboot_self.seat.store.kind != PBOOT_SHM_MEMFD)
		return refuse("they are for PST_SHM=memfd", true);
	if (pool_is_empty())
		return refuse("the kernel's pool has no pages (vm.nr_hugepages)", true);
	fd = take_file();
	if (fd < 0)
		return refuse(strerror(-fd), false);
	base = map_file(fd, used, bytes, true);
	close(fd);
	if (!base)
		return refuse("the kernel's pool has too few pages (vm.nr_hugepages)", false);
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
	int fd = pboot_file_take(PBOOT_FILE_HUGE(pboot_self.seat.size, rank)), err;
	void *base;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	base = map_file(fd, key & ~HUGE_KEY, whole_pages(len_bytes), false);
	err = errno;
	close(fd);
	errno = err;
	return base;
}

void
pboot_huge_unmap(void *base, size_t len_bytes)
{
	size_t bytes = whole_pages(len_bytes);

	madvise(base, bytes, MADV_REMOVE);
	munmap(base, bytes);
}

/* Where a user asked for them and the kernel gives none, that is said. */
static void
check_transparent(void)
{
	static bool checked;
	char text[128];

	if (checked || pboot_self.seat.rank != 0 || !getenv("PST_HUGEPAGES") ||
	    pboot_settings_huge() != PBOOT_HUGE_THP)
		return;
	checked = true;
	if (psi_hostfile_read("", "/sys/kernel/mm/transparent_hugepage/shmem_enabled", text,
	    sizeof text) && (strstr(text, "[never]") || strstr(text, "[deny]")))
		psi_log("warning: PST_HUGEPAGES=thp: the kernel gives none to shared memory (see "
		    "/sys/kernel/mm/transparent_hugepage/shmem_enabled); ordinary pages are taken");
}

void
pboot_huge_advise(void *base, size_t len_bytes)
{
	if (len_bytes < LEAST_BYTES || pboot_settings_huge() == PBOOT_HUGE_NO)
		return;
	check_transparent();
	madvise(base, len_bytes, MADV_HUGEPAGE);
}
