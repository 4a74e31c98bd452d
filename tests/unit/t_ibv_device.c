/*
 * The ibv conduit's choice of device and port, and what it says where there is none or where a call
 * of the device fails.  Whatever fails, everything that was taken is given back.
 */
#include "tests/unit/fake_root.h"
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct mock_device *device(unsigned index) { return &mock.devices[0][index]; }

/* Two devices of two ports each, all down. */
static void
devices_start(void)
{
	mock_reset(1);
	for (unsigned i = 0; i < MOCK_DEVICES; i++) {
		device(i)->present = true;
		device(i)->limits.phys_port_cnt = MOCK_PORTS;
		for (unsigned port = 0; port < MOCK_PORTS; port++)
			device(i)->ports[port].attr.state = IBV_PORT_DOWN;
	}
	rig_job(1, false);
}

static void
port_up(unsigned index, unsigned port)
{
	device(index)->ports[port - 1].attr.state = IBV_PORT_ACTIVE;
}

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

/* -- calls that fail --------------------------------------------------------------------------- */

static const struct { enum mock_call call; const char *part; } opening[] = {
	{ MOCK_PD, "has no protection domain" },
	{ MOCK_CHANNEL, "has no completion channel" },
	{ MOCK_CQ, "has no completion queue" },
	{ MOCK_SRQ, "has no shared receive queue" },
	{ MOCK_MR, "cannot register" },
	{ MOCK_POST_SRQ, "receive buffers; lower GASNET_RBUF_COUNT" },
	{ MOCK_QP, "no queue pair for datagrams" },
	{ MOCK_MODIFY, "no queue pair for datagrams" },
	{ MOCK_POST_RECV, "no queue pair for datagrams" },
};

START_TEST(open_that_fails_says_why_once_and_gives_all_back)
{
	mock_reset(1);
	rig_job(1, false);
	device(0)->refuse[opening[_i].call] = ENOMEM;
	ck_assert_int_eq(rig_open(0), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, opening[_i].part) != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_uint_eq(device(0)->counts.objects, 0);
	ck_assert_uint_eq(device(0)->counts.registrations, 0);
}
END_TEST

/* The second and third registration too. */
START_TEST(memory_that_cannot_be_registered)
{
	mock_reset(1);
	rig_job(1, false);
	device(0)->refuse[MOCK_MR] = ENOMEM;
	device(0)->refuse_after[MOCK_MR] = (unsigned)_i;
	ck_assert_int_eq(rig_open(0), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_uint_eq(device(0)->counts.objects, 0);
}
END_TEST

/* A small device: queues are as large as it has them. */
START_TEST(queues_are_cut_to_what_the_device_has)
{
	mock_reset(1);
	rig_job(1, false);
	device(0)->limits.max_qp_wr = 100;
	device(0)->limits.max_srq_wr = 60;
	device(0)->limits.max_cqe = 900;
	device(0)->limits.max_qp_rd_atom = 2;
	ck_assert_msg(rig_open(0) == PSI_OK, "%s", rig_ranks[0].said);
	ck_assert_uint_eq(rig_ranks[0].conduit->depth, 64);
	ck_assert_uint_eq(rig_ranks[0].conduit->receive_count, 60);
	ck_assert_uint_eq(rig_ranks[0].conduit->reads, 2);
	ck_assert_uint_le((unsigned)rig_ranks[0].conduit->devices[0].cq->cqe, 900);
	ck_assert_uint_ge(rig_ranks[0].conduit->signals_most, 64);
}
END_TEST

/* Each receive buffer may have a completion in the queue. */
START_TEST(receives_leave_room_for_other_completions)
{
	const struct psi_conduit *conduit;

	mock_reset(1);
	rig_job(1, false);
	rig_set(PSI_NO_PEER, "GASNET_RBUF_COUNT", "65536");
	device(0)->limits.max_qp_wr = 100;
	device(0)->limits.max_srq_wr = 100000;
	device(0)->limits.max_cqe = 900;
	ck_assert_msg(rig_open(0) == PSI_OK, "%s", rig_ranks[0].said);
	conduit = rig_ranks[0].conduit;
	ck_assert_uint_ge(conduit->receive_count, 400);
	ck_assert_uint_le(conduit->receive_count + 4 * conduit->depth + conduit->signals_most, 900);
}
END_TEST

/* Down to the least: all that can complete at once has an entry. */
START_TEST(queues_fit_a_small_completion_queue)
{
	static const char *const entries[] = { "256", "300", "512", "700", "5000" };
	const unsigned most = (unsigned)atoi(entries[_i]);
	const struct psi_conduit *conduit;

	rig_set(PSI_NO_PEER, "PST_IBV_COMPLETION_QUEUE", entries[_i]);
	rig_start(1);
	conduit = rig_ranks[0].conduit;
	ck_assert_int_le(conduit->devices[0].cq->cqe, (int)most);
	ck_assert_uint_ge(conduit->receive_count, 32);
	ck_assert_uint_ge(conduit->signals_most, conduit->depth);
	ck_assert_uint_le(conduit->receive_count + 2 * PIBV_HELLOS + 4 * conduit->depth +
	                  conduit->signals_most, most);
}
END_TEST

/* As the runtime accepts them. */
START_TEST(settings_may_be_hexadecimal)
{
	rig_set(PSI_NO_PEER, "PST_IBV_SEND_QUEUE", "0x20");
	rig_set(PSI_NO_PEER, "PST_IBV_MAX_MEDIUM", "16KB");
	rig_start(1);
	ck_assert_uint_eq(rig_ranks[0].conduit->depth, 32);
	ck_assert_uint_eq(rig_ranks[0].conduit->medium_bytes, 16384);
}
END_TEST

START_TEST(describe_names_port_and_reason)
{
	char text[640];

	rig_set(PSI_NO_PEER, "GASNET_MAX_MTU", "2047");
	rig_start(1);
	pibv_ops.describe(rig_as(0)->conduit, text, sizeof text);
	ck_assert_msg(strstr(text, ", MTU 1024, ") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "port 1 of mock0 (RoCE v2 over IPv4, GID 0, the first that is "
	                           "up), 1 rail, ") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "bytes per peer") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "traffic class") == NULL, "%s", text);
}
END_TEST

/* -- rails ------------------------------------------------------------------------------------- */

/* Two devices of two ports each, which are all asked for. */
static void
four_ports_up(void)
{
	devices_start();
	for (unsigned i = 0; i < MOCK_DEVICES; i++)
		for (unsigned port = 1; port <= MOCK_PORTS; port++)
			port_up(i, port);
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "4");
}

START_TEST(rails_of_one_device_share_it)
{
	const struct psi_conduit *conduit;

	four_ports_up();
	ck_assert_msg(rig_open(0) == PSI_OK, "%s", rig_ranks[0].said);
	conduit = rig_ranks[0].conduit;
	ck_assert_uint_eq(conduit->device_count, 2);
	ck_assert_uint_eq(conduit->rail_count, 4);
	for (unsigned rail = 0; rail < 4; rail++) {
		ck_assert_uint_eq(conduit->rails[rail].device_index, rail / 2);
		ck_assert_uint_eq(conduit->rails[rail].port_number, rail % 2 + 1);
	}
}
END_TEST

static const struct { unsigned device; enum mock_call call; const char *part; } further[] = {
	{ 1, MOCK_PD, "device mock1 has no queues" },
	{ 1, MOCK_CQ, "device mock1 has no queues" },
	{ 0, MOCK_POST_SRQ, "device mock0 takes 0 of" },
};

START_TEST(device_that_cannot_register_a_segment_is_named)
{
	static char bytes[4096];
	struct psi_segment_name name;
	struct psi_registration *registration;

	four_ports_up();
	ck_assert_int_eq(rig_open(0), PSI_OK);
	device(1)->refuse[MOCK_MR] = ENOMEM;
	ck_assert_int_eq(pibv_ops.segment_bind(rig_as(0)->conduit, bytes, sizeof bytes, &name,
	                                       &registration), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "device mock1 cannot register 4096 bytes") != NULL,
	              "%s", rig_ranks[0].said);
	ck_assert_uint_eq(device(1)->counts.registrations, 0);
}
END_TEST

START_TEST(open_of_rails_that_fails_gives_all_back)
{
	four_ports_up();
	device(further[_i].device)->refuse[further[_i].call] = ENOMEM;
	ck_assert_int_eq(rig_open(0), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, further[_i].part) != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_uint_eq(device(0)->counts.objects + device(1)->counts.objects, 0);
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
	tcase_add_loop_test(tests, open_that_fails_says_why_once_and_gives_all_back, 0,
	                    sizeof opening / sizeof *opening);
	tcase_add_loop_test(tests, memory_that_cannot_be_registered, 0, 3);
	tcase_add_test(tests, queues_are_cut_to_what_the_device_has);
	tcase_add_test(tests, receives_leave_room_for_other_completions);
	tcase_add_loop_test(tests, queues_fit_a_small_completion_queue, 0, 5);
	tcase_add_test(tests, settings_may_be_hexadecimal);
	tcase_add_test(tests, describe_names_port_and_reason);
	tcase_add_test(tests, rails_of_one_device_share_it);
	tcase_add_test(tests, device_that_cannot_register_a_segment_is_named);
	tcase_add_loop_test(tests, open_of_rails_that_fails_gives_all_back, 0,
	                    sizeof further / sizeof *further);
	return unit_run("ibv device", tests);
}
