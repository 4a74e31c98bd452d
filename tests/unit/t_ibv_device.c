/* The ibv conduit's choice of device, port, address and partition, and what it says where there is
 * none. */
#include "tests/unit/fake_root.h"
#include "tests/unit/ibv_devices.h"
#include "tests/unit/main.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
device_opens(struct pibv_device *found_out, struct pibv_rail *rail_out)
{
	char lack[PIBV_LACK_BYTES];

	rig_as(0);
	ck_assert_msg(pibv_device_open(&rig_services, NULL, found_out, rail_out, lack,
	                               sizeof lack), "%s", lack);
}

static void
opens_at(const char *name, unsigned port)
{
	struct pibv_device found;
	struct pibv_rail rail;

	device_opens(&found, &rail);
	ck_assert_str_eq(found.name, name);
	ck_assert_uint_eq(rail.port_number, port);
	pibv_device_close(&found);
	ck_assert_uint_eq(device(0)->counts.objects + device(1)->counts.objects, 0);
}

/* What the conduit took and why. */
static void
took_address(uint32_t index, const char *why)
{
	struct pibv_device found;
	struct pibv_rail rail;

	device_opens(&found, &rail);
	ck_assert_uint_eq(rail.gid.gid_index, index);
	ck_assert_msg(strstr(rail.reason, why) != NULL, "%s", rail.reason);
	pibv_device_close(&found);
}

static void
lacks(const char *part)
{
	char reason[PIBV_LACK_BYTES] = "";

	rig_as(0);
	ck_assert(!pibv_ops.probe(&rig_services, reason, sizeof reason));
	ck_assert_msg(strstr(reason, part) != NULL, "%s", reason);
	ck_assert_uint_eq(device(0)->counts.objects + device(1)->counts.objects, 0);
}

/* -- the choice -------------------------------------------------------------------------------- */

START_TEST(first_port_that_is_up)
{
	devices_start();
	port_up(1, 2);
	opens_at("mock1", 2);
	port_up(1, 1);
	opens_at("mock1", 1);
	port_up(0, 2);
	opens_at("mock0", 2);
}
END_TEST

START_TEST(port_that_the_filter_names)
{
	devices_start();
	port_up(0, 1);
	port_up(1, 1);
	port_up(1, 2);
	rig_set(PSI_NO_PEER, "GASNET_IBV_PORTS", "mock1:2");
	opens_at("mock1", 2);
	rig_set(PSI_NO_PEER, "GASNET_IBV_PORTS", "mock0:2+mock1");
	opens_at("mock1", 1);
	rig_set(PSI_NO_PEER, "GASNET_IBV_PORTS", "mock7");
	lacks("GASNET_IBV_PORTS=mock7 names no port");
	rig_set(PSI_NO_PEER, "GASNET_IBV_PORTS", "mock0:2");
	lacks("port 2 of mock0 is down");
}
END_TEST

START_TEST(device_without_ports)
{
	devices_start();
	for (unsigned i = 0; i < MOCK_DEVICES; i++)
		device(i)->limits.phys_port_cnt = 0;
	lacks("no device of this host has a port; `ibv_devinfo`");
}
END_TEST

/* What the kernel says of where a device is. */
static void
device_is_at_node(unsigned index, const char *root, int node)
{
	char name[64], text[16];

	snprintf(device(index)->device.ibdev_path, IBV_SYSFS_PATH_MAX, "%s/%u", root, index);
	snprintf(name, sizeof name, "/%u/device/numa_node", index);
	snprintf(text, sizeof text, "%d\n", node);
	pt_root_file(name, text);
}

/* One that is at no node is as near as can be. */
START_TEST(nearest_device_is_taken_first)
{
	const char *const root = pt_root_make();
	unsigned cpu, node;

	ck_assert_int_eq(syscall(SYS_getcpu, &cpu, &node, NULL), 0);
	devices_start();
	port_up(0, 1);
	port_up(1, 2);
	device_is_at_node(0, root, (int)node + 1);
	device_is_at_node(1, root, _i ? (int)node : -1);
	opens_at("mock1", 2);
	took_address(0, _i ? "the first that is up, near the processor" : "the first that is up");
	device(1)->ports[1].attr.state = IBV_PORT_DOWN;
	opens_at("mock0", 1);
	took_address(0, "the first that is up, far from the processor");
	pt_root_remove();
}
END_TEST

START_TEST(device_that_does_not_open_is_passed_over)
{
	devices_start();
	port_up(0, 1);
	port_up(1, 1);
	device(0)->refuse[MOCK_OPEN] = EACCES;
	opens_at("mock1", 1);
	device(1)->refuse[MOCK_OPEN] = EACCES;
	lacks("/dev/infiniband/uverbs0");
	device(0)->refuse[MOCK_OPEN] = 0;
	device(0)->refuse[MOCK_QUERY] = EIO;
	device(1)->present = false;
	lacks("tells nothing of itself");
}
END_TEST

START_TEST(host_without_a_device)
{
	mock_reset(0);
	rig_job(1, false);
	lacks("has no RDMA device");
}
END_TEST

/* Only where the kernel does not copy them. */
START_TEST(registered_pages_are_kept_from_children)
{
	mock_reset(1);
	rig_job(1, false);
#ifdef HAVE_IBV_IS_FORK_INITIALIZED
	mock.fork_status = IBV_FORK_UNNEEDED;
	opens_at("mock0", 1);
	ck_assert_uint_eq(mock.fork_inits, 0);
	mock.fork_status = IBV_FORK_DISABLED;
#endif
	opens_at("mock0", 1);
	ck_assert_uint_eq(mock.fork_inits, 1);
}
END_TEST

START_TEST(no_port_is_up)
{
	devices_start();
	device(1)->present = false;
	lacks("port 1 of mock0 is down");
}
END_TEST

/* A port that is down, as that which nobody uses, hides not what the other one lacks. */
START_TEST(port_that_came_nearest_is_told_of)
{
	devices_start();
	port_up(0, 2);
	rig_set(PSI_NO_PEER, "GASNET_IBV_PKEY", "0x456");
	lacks("port 2 of mock0 is not in partition 0x456");
	rig_set(PSI_NO_PEER, "PST_IBV_GID_INDEX", "9");
	lacks("port 2 of mock0 has no address");
	device(1)->refuse[MOCK_OPEN] = EACCES;
	lacks("port 2 of mock0 has no address");
	device(0)->ports[1].attr.state = IBV_PORT_DOWN;
	lacks("device mock1 does not open");
}
END_TEST

/* -- addresses --------------------------------------------------------------------------------- */

START_TEST(address_by_preference_by_index_and_by_interface)
{
	mock_reset(1);
	rig_job(1, false);
	device(0)->ports[0].gid_count = 0;
	mock_gid_add(device(0), 1, IBV_GID_TYPE_ROCE_V1, "fe80::1", 1);
	mock_gid_add(device(0), 1, IBV_GID_TYPE_ROCE_V2, "fe80::1", 1);
	mock_gid_add(device(0), 1, IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.7", 1);
	took_address(2, "RoCE v2 over IPv4, GID 2, the first that is up");
	rig_set(PSI_NO_PEER, "PST_IBV_GID_INDEX", "0");
	took_address(0, "RoCE v1, which no router passes on, GID 0 by PST_IBV_GID_INDEX, ");
	rig_set(PSI_NO_PEER, "PST_IBV_GID_INDEX", "9");
	lacks("has no address at PST_IBV_GID_INDEX");
	rig_set(PSI_NO_PEER, "PST_IBV_GID_INDEX", "");
	rig_set(PSI_NO_PEER, "PST_NET_IFACE", "10.0.0.0/24");
	took_address(2, "PST_NET_IFACE");
	rig_set(PSI_NO_PEER, "PST_NET_IFACE", "10.9.0.0/24");
	lacks("no address on the interface of PST_NET_IFACE");
	rig_set(PSI_NO_PEER, "PST_IBV_GID_INDEX", "9");
	lacks("no address at PST_IBV_GID_INDEX on the interface of PST_NET_IFACE");
	rig_set(PSI_NO_PEER, "GASNET_IBV_PORTS", "mock0");      /* no interface counts then */
	lacks("no address at PST_IBV_GID_INDEX;");
}
END_TEST

/* Each port has a table of its own. */
START_TEST(address_is_of_the_port)
{
	struct pibv_device found;
	struct pibv_rail rail;
	char lack[PIBV_LACK_BYTES];

	devices_start();
	port_up(0, 2);
	rig_as(0);
	ck_assert(pibv_device_open(&rig_services, NULL, &found, &rail, lack, sizeof lack));
	ck_assert_uint_eq(rail.gid.port_num, 2);
	ck_assert_mem_eq(&rail.gid.gid, &device(0)->ports[1].gids[0].gid, 16);
	pibv_device_close(&found);
}
END_TEST

START_TEST(partition_is_found_in_the_table)
{
	struct pibv_device found;
	struct pibv_rail rail;
	char lack[PIBV_LACK_BYTES];

	mock_reset(1);
	rig_job(1, false);
	device(0)->ports[0].pkeys[2] = 0x8123;
	rig_set(PSI_NO_PEER, "GASNET_IBV_PKEY", "0x123");
	rig_as(0);
	ck_assert(pibv_device_open(&rig_services, NULL, &found, &rail, lack, sizeof lack));
	ck_assert_uint_eq(rail.pkey_index, 2);
	pibv_device_close(&found);
	rig_set(PSI_NO_PEER, "GASNET_IBV_PKEY", "0x456");
	lacks("not in partition 0x456");
}
END_TEST

/* Limited members cannot talk to each other. */
START_TEST(full_member_of_the_partition_is_preferred)
{
	struct pibv_device found;
	struct pibv_rail rail;
	char lack[PIBV_LACK_BYTES];

	mock_reset(1);
	rig_job(1, false);
	device(0)->ports[0].pkeys[1] = 0x0123;
	device(0)->ports[0].pkeys[2] = _i ? 0x8123 : 0x0123;
	rig_set(PSI_NO_PEER, "GASNET_IBV_PKEY", "0x8123");
	rig_as(0);
	ck_assert(pibv_device_open(&rig_services, NULL, &found, &rail, lack, sizeof lack));
	ck_assert_uint_eq(rail.pkey_index, _i ? 2 : 1);
	pibv_device_close(&found);
}
END_TEST

/* Unused entries of the table are 0, which is no partition. */
START_TEST(text_that_is_no_partition_is_found_nowhere)
{
	static const char *const texts[] = {
		"0", "0x8000", "x", "0x8123x", " 0x8123", "0x18123", "-1", "-32477", "33059K",
	};

	mock_reset(1);
	rig_job(1, false);
	device(0)->ports[0].pkeys[2] = 0x8123;
	for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
		rig_set(PSI_NO_PEER, "GASNET_IBV_PKEY", texts[i]);
		lacks("is not in partition");
		lacks(texts[i]);
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("device");

	tcase_add_test(tests, first_port_that_is_up);
	tcase_add_test(tests, port_that_the_filter_names);
	tcase_add_test(tests, device_without_ports);
	tcase_add_loop_test(tests, nearest_device_is_taken_first, 0, 2);
	tcase_add_test(tests, device_that_does_not_open_is_passed_over);
	tcase_add_test(tests, host_without_a_device);
	tcase_add_test(tests, registered_pages_are_kept_from_children);
	tcase_add_test(tests, no_port_is_up);
	tcase_add_test(tests, port_that_came_nearest_is_told_of);
	tcase_add_test(tests, address_by_preference_by_index_and_by_interface);
	tcase_add_test(tests, address_is_of_the_port);
	tcase_add_test(tests, partition_is_found_in_the_table);
	tcase_add_loop_test(tests, full_member_of_the_partition_is_preferred, 0, 2);
	tcase_add_test(tests, text_that_is_no_partition_is_found_nowhere);
	return unit_run("ibv device", tests);
}
