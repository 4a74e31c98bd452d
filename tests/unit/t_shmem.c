/* Memory of segments. */
#include "gasnetex.h"
#include "bootstrap/bootstrap.h"
#include "tests/unit/main.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static blkcnt_t
blocks_of(int fd)
{
	struct stat info;

	ck_assert_int_eq(fstat(fd, &info), 0);
	return info.st_blocks;
}

/* The file keeps its length, since peers may map the range, but the pages go. */
START_TEST(a_destroyed_segment_gives_its_pages_back)
{
	const size_t size = 1 << 20, page = GASNET_PAGESIZE;
	int fd = memfd_create("segment", MFD_CLOEXEC);
	char *first, *second;
	struct stat info;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)(2 * size)), 0);
	first = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	second = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)size);
	ck_assert(first != MAP_FAILED && second != MAP_FAILED);
	memset(first, 1, size);
	memset(second, 2, page);
	ck_assert_int_ge(blocks_of(fd), (blkcnt_t)((size + page) / 512));
	pboot_range_unmap(first, 0, size - 1); /* whole pages */
	ck_assert_int_eq(blocks_of(fd), (blkcnt_t)(page / 512));
	ck_assert_int_eq(second[page - 1], 2);
	ck_assert_int_eq(fstat(fd, &info), 0);
	ck_assert_int_eq(info.st_size, (off_t)(2 * size));
	munmap(second, size);
	close(fd);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("shmem");

	tcase_add_test(tests, a_destroyed_segment_gives_its_pages_back);
	return unit_run("shmem", tests);
}
