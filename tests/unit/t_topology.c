/* CPUs and quotas as /proc and /sys tell them, and when ranks are too many for them. */
#include <stdlib.h>
#include <string.h>

#include "runtime/util/cgroup.h"
#include "runtime/util/topology.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/main.h"

#define V1_MOUNT "40 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
#define V2_MOUNT "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"

static const char *root;

static void
setup(void)
{
	root = pt_root_make();
}

static void
teardown(void)
{
	pt_root_remove();
}

static struct psi_topology
read_topology(void)
{
	struct psi_topology topology;

	psi_topology_read(root, &topology);
	return topology;
}

static struct psi_cpus
cpus(const char *list)
{
	struct psi_cpus set = { { 0 } };

	ck_assert(psi_cpus_parse(list, &set));
	return set;
}

START_TEST(lists_of_cpus)
{
	static const char *const bad[] = { "", "a", "1-", "1,", "1,,2", "-1", "1 2", "2x" };
	static const char *const good[] = { "0", "0-3", "0,2,4-6", "63-64", "1023" };
	struct psi_cpus set = { { 0 } };
	char text[100];
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!psi_cpus_parse(bad[i], &set) && psi_cpus_count(&set) == 0, "%s",
		              bad[i]);
	for (i = 0; i < sizeof good / sizeof *good; i++) {
		set = cpus(good[i]);
		ck_assert_str_eq(psi_cpus_print(&set, text, sizeof text), good[i]);
	}
	set = cpus("0,2,4-6");
	ck_assert_uint_eq(psi_cpus_count(&set), 5);
	set = cpus("5-3,2000");
	ck_assert_uint_eq(psi_cpus_count(&set), 0);
	ck_assert_str_eq(psi_cpus_print(&set, text, sizeof text), "");
}
END_TEST

START_TEST(affinity_and_online)
{
	struct psi_topology topology;

	pt_root_file("/proc/thread-self/status", "Name:\tx\nCpus_allowed:\tc\n"
		     "Cpus_allowed_list:\t2-3\nMems_allowed:\t1\n");
	pt_root_file("/sys/devices/system/cpu/online", "0-7\n");
	topology = read_topology();
	ck_assert_uint_eq(topology.usable_cpus, 2);
	ck_assert_uint_eq(topology.host_cpus, 8);
	ck_assert_uint_eq(topology.quota_milli, 0);
	ck_assert_uint_eq(topology.allowed.bits[0], 12);
}
END_TEST

START_TEST(last_cache_in_common)
{
	struct psi_cpus own = cpus("6"), pair = cpus("6-7"), all = cpus("0-7");

	ck_assert_uint_eq(psi_topology_cache(root, &own), PSI_NO_CACHE);
	pt_root_file("/sys/devices/system/cpu/cpu6/cache/index0/shared_cpu_list", "6\n");
	pt_root_file("/sys/devices/system/cpu/cpu6/cache/index1/shared_cpu_list", "4-7\n");
	pt_root_file("/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-3\n");
	ck_assert_uint_eq(psi_topology_cache(root, &own), 4);
	ck_assert_uint_eq(psi_topology_cache(root, &pair), 4);
	ck_assert_uint_eq(psi_topology_cache(root, &all), PSI_NO_CACHE);
	pt_root_file("/sys/devices/system/cpu/cpu0/cache/index1/shared_cpu_list", "0-7\n");
	ck_assert_uint_eq(psi_topology_cache(root, &all), 0);
	memset(&own, 0, sizeof own);
	ck_assert_uint_eq(psi_topology_cache(root, &own), PSI_NO_CACHE);
}
END_TEST

START_TEST(nothing_to_read)
{
	struct psi_topology topology = read_topology();

	ck_assert_uint_ge(topology.usable_cpus, 1);
	ck_assert_uint_ge(topology.host_cpus, topology.usable_cpus);
	ck_assert_uint_eq(topology.quota_milli, 0);
}
END_TEST

START_TEST(quota_v1_is_the_least_on_the_way_up)
{
	pt_root_file("/proc/self/cgroup", "9:name=systemd:/\n1:cpu,cpuacct:/job/step\n0::/\n");
	pt_root_file("/proc/self/mountinfo", V2_MOUNT V1_MOUNT);
	pt_root_file("/sys/fs/cgroup/cpu/job/step/cpu.cfs_quota_us", "-1\n");
	pt_root_file("/sys/fs/cgroup/cpu/job/step/cpu.cfs_period_us", "100000\n");
	pt_root_file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "250000\n");
	pt_root_file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
	pt_root_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
	pt_root_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	ck_assert_uint_eq(read_topology().quota_milli, 2500);
}
END_TEST

START_TEST(quota_v2)
{
	pt_root_file("/proc/self/cgroup", "0::/job\n");
	pt_root_file("/proc/self/mountinfo", V2_MOUNT);
	pt_root_file("/sys/fs/cgroup/job/cpu.max", "50000 100000\n");
	ck_assert_uint_eq(read_topology().quota_milli, 500);
	pt_root_file("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
	ck_assert_uint_eq(read_topology().quota_milli, 0);
	pt_root_file("/sys/fs/cgroup/job/cpu.max", "1 100000\n");
	ck_assert_uint_eq(read_topology().quota_milli, 1);
}
END_TEST

/* A container sees its own group as the mount, and in /proc the path on the host. */
START_TEST(container_paths)
{
	struct psi_cgroup group;

	pt_root_file("/proc/self/cgroup", "0::/docker/abc/sub\n");
	pt_root_file("/proc/self/mountinfo",
		     "41 31 0:38 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	pt_root_file("/sys/fs/cgroup/sub/cpu.max", "max 100000\n");
	pt_root_file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
	ck_assert(psi_cgroup_find(root, "cpu", &group));
	ck_assert_str_eq(group.path, "/sub");
	ck_assert_uint_eq(read_topology().quota_milli, 1500);
	pt_root_file("/proc/self/cgroup", "0::/elsewhere\n");
	ck_assert(psi_cgroup_find(root, "cpu", &group));
	ck_assert_str_eq(group.path, "");
	ck_assert_uint_eq(read_topology().quota_milli, 1500);
}
END_TEST

START_TEST(no_group_for_the_controller)
{
	struct psi_cgroup group;

	pt_root_file("/proc/self/cgroup", "3:memory:/a\n");
	pt_root_file("/proc/self/mountinfo", V1_MOUNT);
	ck_assert(!psi_cgroup_find(root, "cpu", &group));
	ck_assert(!psi_cgroup_find(root, "mem", &group));
	ck_assert(!psi_cgroup_find(root, "memory", &group));
}
END_TEST

START_TEST(crowded_where_all_share)
{
	struct psi_topology topology = { .usable_cpus = 4, .allowed = cpus("0-3") };

	ck_assert(!psi_topology_crowded(&topology, NULL, 4, 0));
	ck_assert(psi_topology_crowded(&topology, NULL, 5, 0));
	topology.quota_milli = 2500;
	ck_assert(!psi_topology_crowded(&topology, NULL, 2, 0));
	ck_assert(psi_topology_crowded(&topology, NULL, 3, 0));
}
END_TEST

START_TEST(crowded_where_ranks_are_bound)
{
	struct psi_topology topology = { .usable_cpus = 1, .allowed = cpus("0") };
	struct psi_cpus apart[3] = { cpus("0"), cpus("1"), cpus("2") };
	struct psi_cpus uneven[3] = { cpus("0"), cpus("0"), cpus("1-2") };

	ck_assert(!psi_topology_crowded(&topology, apart, 3, 0));
	ck_assert(psi_topology_crowded(&topology, uneven, 3, 0));
	ck_assert(psi_topology_crowded(&topology, uneven, 3, 1));
	ck_assert(!psi_topology_crowded(&topology, uneven, 3, 2));
}
END_TEST

START_TEST(sharers_and_their_cpus)
{
	struct psi_topology topology = { .usable_cpus = 1, .allowed = cpus("0") };
	struct psi_cpus bound[3] = { cpus("0"), cpus("0-1"), cpus("2-3") };
	uint32_t count;

	ck_assert_uint_eq(psi_topology_sharers(&topology, bound, 3, 0, &count), 2);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(psi_topology_sharers(&topology, bound, 3, 2, &count), 1);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(psi_topology_sharers(&topology, NULL, 3, 2, &count), 3);
	ck_assert_uint_eq(count, 1);
	topology.quota_milli = 1000;
	ck_assert_uint_eq(psi_topology_sharers(&topology, bound, 3, 2, &count), 3);
	ck_assert_uint_eq(count, 1);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("topology");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, lists_of_cpus);
	tcase_add_test(tests, affinity_and_online);
	tcase_add_test(tests, last_cache_in_common);
	tcase_add_test(tests, nothing_to_read);
	tcase_add_test(tests, quota_v1_is_the_least_on_the_way_up);
	tcase_add_test(tests, quota_v2);
	tcase_add_test(tests, container_paths);
	tcase_add_test(tests, no_group_for_the_controller);
	tcase_add_test(tests, crowded_where_all_share);
	tcase_add_test(tests, crowded_where_ranks_are_bound);
	tcase_add_test(tests, sharers_and_their_cpus);
	return unit_run("topology", tests);
}
