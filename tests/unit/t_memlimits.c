/* The largest segment: what is typed, what the host gives, and what comes out. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/segment/memlimits.h"
#include "runtime/util/limit_hint.h"
#include "runtime/settings/settings.h"
#include "runtime/util/oom.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/main.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define NONE UINT64_MAX

START_TEST(syntax)
{
	static const struct {
		const char *text;
		bool relative, per_host;
		uint64_t bytes;
		double fraction;
	} good[] = {
		{ "64MB", false, false, 64 * MIB, 0 }, { "64MB/P", false, false, 64 * MIB, 0 },
		{ "64mb/h", false, true, 64 * MIB, 0 }, { "4096", false, false, 4096, 0 },
		{ "1", false, false, 1, 0 }, { "0.85/H", true, true, 0, 0.85 },
		{ "0.5", true, false, 0, 0.5 }, { "1.0/P", true, false, 0, 1 },
		{ "3/8", true, false, 0, 0.375 }, { "3/8/H", true, true, 0, 0.375 },
		{ "1.5GB", false, false, 3 * GIB / 2, 0 }, { ".25/p", true, false, 0, 0.25 },
	};
	static const char *const bad[] = {
		"",
		"0",
		"0/H",
		"0.0",
		"0MB",
		"0.0001KB",
		"abc",
		"1.5",
		"9/8",
		"-1",
		"64QB",
		"/H",
		"/P",
		"64MB/X",
		"64MB/",
		"64MB/H/P",
		"64 MB /H",
		"1/0",
		"0.85 /H",
		"1e9",
		"50%",
		"64MB/HH",
		"99999999999999999999",
		"1111111111111111111111111111111111111111111111111111111111111111",
	};
	struct psi_segsize size;
	size_t i;

	for (i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(psi_segsize_parse(good[i].text, &size), "%s", good[i].text);
		ck_assert_msg(
			size.relative == good[i].relative && size.per_host == good[i].per_host &&
				size.bytes == good[i].bytes && size.fraction == good[i].fraction,
			"%s", good[i].text);
	}
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		memset(&size, 7, sizeof size);
		ck_assert_msg(!psi_segsize_parse(bad[i], &size), "%s", bad[i]);
		ck_assert_msg(size.bytes == UINT64_C(0x0707070707070707), "%s", bad[i]);
	}
}
END_TEST

/* One line per case: what is asked for, the host, the job, and the answer. */
static const struct {
	const char *asked;
	struct psi_segment_case job;
	uint64_t bytes;
	const char *clipped_by;
} table[] = {
	/* physical, cgroup, address space, file size; store, internal, ranks, mapped, page, file */
	{ "64MB", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 4, 4, 4096, 0 }, 64 * MIB, NULL },
	{ "64MB/H", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 4, 4, 4096, 0 }, 16 * MIB, NULL },
	{ "64MB/H", { { 8 * GIB, NONE, NONE, NONE }, NONE, MIB, 4, 4, 4096, 0 }, 15 * MIB, NULL },
	{ "64MB/P", { { 8 * GIB, NONE, NONE, NONE }, NONE, MIB, 4, 4, 4096, 0 }, 64 * MIB, NULL },
	{ "0.5/H", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 4, 4, 4096, 0 }, GIB, NULL },
	{ "0.5/H", { { 8 * GIB, 4 * GIB, NONE, NONE }, NONE, 0, 4, 4, 4096, 0 }, GIB / 2, NULL },
	{ "0.25", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 4, 4, 4096, 0 }, 2 * GIB, NULL },
	{ "0.5", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 4, 4, 4096, 0 }, 2 * GIB, "memory" },
	{ "9GB", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 1, 1, 4096, 0 }, 8 * GIB, "memory" },
	{ "9GB", { { 8 * GIB, 2 * GIB, NONE, NONE }, NONE, 0, 1, 1, 4096, 0 }, 2 * GIB, "cgroup" },
	{ "9GB", { { 8 * GIB, NONE, NONE, GIB }, NONE, 0, 2, 2, 4096, 0 }, GIB, "RLIMIT_FSIZE" },
	{ "9GB", { { 8 * GIB, NONE, NONE, GIB }, NONE, 0, 2, 2, 4096, GIB / 8 }, GIB - GIB / 8,
	  "RLIMIT_FSIZE" },
	{ "9GB", { { 8 * GIB, NONE, NONE, GIB }, NONE, 0, 2, 2, 4096, GIB }, GIB - GIB / 4,
	  "RLIMIT_FSIZE" },
	{ "9GB",
	  { { 8 * GIB, NONE, NONE, NONE }, GIB, 0, 2, 2, 4096, 0 },
	  GIB / 2,
	  "place for shared" },
	{ "1GB",
	  { { 8 * GIB, NONE, GIB + 16 * MIB, NONE }, NONE, 0, 4, 4, 4096, 0 },
	  GIB / 4,
	  "RLIMIT_AS" },
	{ "1GB", { { 8 * GIB, NONE, GIB + 16 * MIB, NONE }, NONE, 0, 4, 1, 4096, 0 }, GIB, NULL },
	{ "1GB", { { 8 * GIB, NONE, 0, NONE }, NONE, 0, 1, 1, 4096, 0 }, 4096, "RLIMIT_AS" },
	{ "1", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 1, 1, 4096, 0 }, 4096, NULL },
	{ "10000", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 1, 1, 4096, 0 }, 8192, NULL },
	{ "100KB", { { 8 * GIB, NONE, NONE, NONE }, NONE, 0, 1, 1, 65536, 0 }, 65536, NULL },
	{ "4KB/H", { { 8 * GIB, NONE, NONE, NONE }, NONE, MIB, 8, 8, 4096, 0 }, 4096, NULL },
	{ "1.0/H", { { NONE, NONE, NONE, NONE }, NONE, 0, 1, 1, 4096, 0 }, NONE - 4095, NULL },
	{ "0.85/H", { { 8 * GIB + 5, NONE, NONE, NONE }, NONE, 0, 3, 3, 4096, 0 }, 2433814528,
	  NULL },
};

START_TEST(arithmetic)
{
	struct psi_segment_limit limit;
	struct psi_segsize asked;

	ck_assert(psi_segsize_parse(table[_i].asked, &asked));
	psi_segment_limit(&asked, &table[_i].job, &limit);
	ck_assert_msg(limit.bytes == table[_i].bytes, "case %d, %s: %llu, expected %llu", _i,
		      table[_i].asked, (unsigned long long)limit.bytes,
		      (unsigned long long)table[_i].bytes);
	if (table[_i].clipped_by)
		ck_assert_msg(limit.clipped_by && strstr(limit.clipped_by, table[_i].clipped_by),
			      "case %d: clipped by %s", _i,
			      limit.clipped_by ? limit.clipped_by : "nothing");
	else
		ck_assert_msg(!limit.clipped_by, "case %d: clipped by %s", _i, limit.clipped_by);
}
END_TEST

START_TEST(host_files_v1)
{
	const char *root = pt_root_make();
	struct psi_host_memory host;

	pt_root_file("/proc/meminfo", "MemTotal:       24656852 kB\nMemFree: 1 kB\n");
	pt_root_file("/proc/self/cgroup", "4:memory:/a/b\n0::/\n");
	pt_root_file("/proc/self/mountinfo",
		     "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	pt_root_file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	pt_root_file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
	pt_root_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	psi_host_memory_read(root, &host);
	ck_assert_uint_eq(host.cgroup, GIB);
	pt_root_file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	psi_host_memory_read(root, &host);
	pt_root_remove();
	ck_assert_uint_eq(host.physical, UINT64_C(24656852) * 1024);
	ck_assert_uint_eq(host.cgroup, NONE);
}
END_TEST

START_TEST(host_files_v2)
{
	const char *root = pt_root_make();
	struct psi_host_memory host;

	pt_root_file("/proc/self/cgroup", "0::/job\n");
	pt_root_file("/proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 c rw\n");
	pt_root_file("/sys/fs/cgroup/job/memory.max", "max\n");
	psi_host_memory_read(root, &host);
	ck_assert_uint_eq(host.cgroup, NONE);
	ck_assert_uint_gt(host.physical, MIB);
	pt_root_file("/sys/fs/cgroup/job/memory.max", "2147483648\n");
	psi_host_memory_read(root, &host);
	ck_assert_uint_eq(host.cgroup, 2 * GIB);
	pt_root_remove();
}
END_TEST

START_TEST(file_systems_are_bounded)
{
	int unbounded = memfd_create("store", MFD_CLOEXEC), directory = open("/dev/shm", O_RDONLY);
	uint64_t bytes;

	ck_assert_int_ge(unbounded, 0);
	ck_assert_uint_eq(psi_file_store_bytes(unbounded), NONE);
	ck_assert_uint_eq(psi_file_store_bytes(-1), NONE);
	if (directory >= 0) {
		bytes = psi_file_store_bytes(directory);
		ck_assert_msg(bytes > MIB, "%llu", (unsigned long long)bytes);
		close(directory);
	}
	close(unbounded);
}
END_TEST

START_TEST(kills_for_lack_of_memory)
{
	const char *root = pt_root_make();

	ck_assert_uint_eq(psi_oom_kills(root), 0);
	pt_root_file("/proc/vmstat", "nr_free_pages 7\noom_kill 9\n");
	ck_assert_uint_eq(psi_oom_kills(root), 9);
	pt_root_file("/proc/self/cgroup", "0::/job\n");
	pt_root_file("/proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 c rw\n");
	pt_root_file("/sys/fs/cgroup/job/memory.events", "low 1\noom 4\noom_kill 3\n");
	ck_assert_uint_eq(psi_oom_kills(root), 3);
	pt_root_file("/proc/self/cgroup", "4:memory:/a\n0::/\n");
	pt_root_file("/proc/self/mountinfo",
		     "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	pt_root_file("/sys/fs/cgroup/memory/a/memory.oom_control",
		     "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
	ck_assert_uint_eq(psi_oom_kills(root), 2);
	pt_root_remove();
}
END_TEST

START_TEST(resource_limits_are_read)
{
	struct rlimit files = { 3 * GIB, RLIM_INFINITY }, space = { GIB << 20, RLIM_INFINITY };
	const char *root = pt_root_make();
	struct psi_host_memory host;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &files), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &space), 0);
	pt_root_file("/proc/self/statm", "1024 1 1 1 0 1 0\n");
	psi_host_memory_read(root, &host);
	pt_root_remove();
	ck_assert_uint_eq(host.file_size, 3 * GIB);
	ck_assert_uint_eq(host.address_space, (GIB << 20) - 1024 * (uint64_t)sysconf(_SC_PAGESIZE));
}
END_TEST

static const struct psi_segment_case plain = {
	{ 8 * GIB, NONE, NONE, NONE }, NONE, 0, 2, 2, 4096, 0
};

START_TEST(environment_goes_before_the_client)
{
	unsetenv("GASNET_MAX_SEGSIZE");
	ck_assert_uint_eq(psi_memlimits_segment(&plain, NULL, 0),
			  (uint64_t)(0.85 * (double)(8 * GIB)) / 2 / 4096 * 4096);
	ck_assert_uint_eq(psi_memlimits_segment(&plain, NULL, 5 * MIB), 5 * MIB);
	ck_assert_uint_eq(psi_memlimits_segment(&plain, "7MB", 5 * MIB), 7 * MIB);
	ck_assert_uint_eq(psi_memlimits_segment(&plain, "", 5 * MIB), 5 * MIB);
	setenv("GASNET_MAX_SEGSIZE", "3MB", 1);
	ck_assert_uint_eq(psi_memlimits_segment(&plain, "7MB", 5 * MIB), 3 * MIB);
	setenv("GASNET_MAX_SEGSIZE", "1TB", 1);
	ck_assert_uint_eq(psi_memlimits_segment(&plain, "7MB", 5 * MIB), 4 * GIB);
}
END_TEST

START_TEST(bad_setting_ends_with_2)
{
	static const char *const bad[] = { "lots", "0", "-5MB", "0.0/H" };

	setenv("GASNET_MAX_SEGSIZE", bad[_i], 1);
	psi_memlimits_segment(&plain, "7MB", 0);
}
END_TEST

START_TEST(bad_client_text_ends_with_2)
{
	unsetenv("GASNET_MAX_SEGSIZE");
	psi_memlimits_segment(&plain, "7XB", 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("memlimits");

	tcase_add_test(tests, syntax);
	tcase_add_loop_test(tests, arithmetic, 0, sizeof table / sizeof *table);
	tcase_add_test(tests, host_files_v1);
	tcase_add_test(tests, host_files_v2);
	tcase_add_test(tests, file_systems_are_bounded);
	tcase_add_test(tests, kills_for_lack_of_memory);
	tcase_add_test(tests, resource_limits_are_read);
	tcase_add_test(tests, environment_goes_before_the_client);
	tcase_add_loop_exit_test(tests, bad_setting_ends_with_2, 2, 0, 4);
	tcase_add_exit_test(tests, bad_client_text_ends_with_2, 2);
	return unit_run("memlimits", tests);
}
