/* Small text files of the kernel: what is read of them, and that reading one whole allocates
 * nothing. */
#include "runtime/util/hostfile.h"

#include "tests/unit/fake_root.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned allocations;

/* Sanitizers have their own; clang says in another way that they are there. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
void *__libc_malloc(size_t);

void *
malloc(size_t len_bytes)
{
	allocations++;
	return __libc_malloc(len_bytes);
}
#endif

static const char *root;

static void
root_make(void)
{
	root = pt_root_make();
	pt_root_file("/proc/short", "first\nsecond\n");
	pt_root_file("/proc/empty", "");
}

START_TEST(reads_all_that_fits)
{
	char text[32] = "before", cut[4];

	ck_assert(psi_hostfile_read(root, "/proc/short", text, sizeof text));
	ck_assert_str_eq(text, "first\nsecond\n");
	ck_assert(psi_hostfile_read(root, "/proc/short", cut, sizeof cut));
	ck_assert_str_eq(cut, "fir");
	ck_assert(psi_hostfile_read(root, "/proc/empty", text, sizeof text));
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(says_why_not)
{
	char text[32], path[2 * PSI_HOSTFILE_PATH];

	ck_assert(!psi_hostfile_read(root, "/proc/none", text, sizeof text));
	ck_assert_int_eq(errno, ENOENT);
	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	ck_assert(!psi_hostfile_read(root, path, text, sizeof text));
	ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

START_TEST(allocates_nothing)
{
	const unsigned before = allocations;
	char text[4096];
	const bool good = psi_hostfile_read("", "/proc/self/status", text, sizeof text);
	const unsigned after = allocations;

	ck_assert(good);
	ck_assert_ptr_nonnull(strstr(text, "Name:"));
	ck_assert_uint_eq(after, before);
}
END_TEST

static bool
line_is_second(char *text, void *context)
{
	++*(unsigned *)context;
	return strcmp(text, "second") == 0;
}

START_TEST(goes_over_lines)
{
	unsigned lines = 0;

	ck_assert(psi_hostfile_lines(root, "/proc/short", line_is_second, &lines));
	ck_assert_uint_eq(lines, 2);
	ck_assert(!psi_hostfile_lines(root, "/proc/empty", line_is_second, &lines));
	ck_assert(!psi_hostfile_lines(root, "/proc/none", line_is_second, &lines));
	ck_assert_uint_eq(lines, 2);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("hostfile");

	tcase_add_checked_fixture(tests, root_make, pt_root_remove);
	tcase_add_test(tests, reads_all_that_fits);
	tcase_add_test(tests, says_why_not);
	tcase_add_test(tests, allocates_nothing);
	tcase_add_test(tests, goes_over_lines);
	return unit_run("hostfile", tests);
}
