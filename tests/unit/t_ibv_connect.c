/*
 * Ranks of the ibv conduit connect: what they have to have in common, or agree on, and service
 * level and traffic class of all that they send.
 */
#include "tests/unit/ibv_mock_state.h"
#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

#include <string.h>

/* -- service level and traffic class ----------------------------------------------------------- */

static void
address_has(const struct ibv_ah_attr *address, unsigned level, unsigned class)
{
	ck_assert_uint_eq(address->sl, level);
	ck_assert_uint_eq(address->grh.traffic_class, address->is_global ? class : 0);
}

/* Reliable connections of all rails, and datagrams. */
static void
all_addresses_have(uint32_t host, unsigned level, unsigned class)
{
	unsigned reliable = 0;

	for (unsigned i = 0; i < MOCK_DEVICES; i++)
		for (const struct mock_qp *at = mock.devices[host][i].qps; at; at = at->next)
			if (at->qp.qp_type == IBV_QPT_RC) {
				address_has(&at->attr.ah_attr, level, class);
				reliable++;
			}
	ck_assert_uint_eq(reliable, 2);
	address_has(&((const struct mock_ah *)(void *)rig_connection(host, !host)->ah)->attr,
	            level, class);
}

static const struct { const char *level, *class; uint8_t is; uint8_t of; } classes[] = {
	{ NULL, NULL, 0, 0 }, { "5", NULL, 5, 0 }, { NULL, "104", 0, 104 },
	{ "15", "0xff", 15, 255 },
};

START_TEST(all_that_is_sent_has_level_and_class)
{
	char text[640];

	rig_job(2, true);
	for (uint32_t host = 0; host < 2; host++) {
		mock.devices[host][1].present = true;
		mock.devices[host][0].ports[0].attr.sm_sl = 7;  /* is that of the manager */
	}
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
	if (classes[_i].level)
		rig_set(PSI_NO_PEER, "PST_IBV_SERVICE_LEVEL", classes[_i].level);
	if (classes[_i].class)
		rig_set(PSI_NO_PEER, "PST_IBV_TRAFFIC_CLASS", classes[_i].class);
	rig_start(2);
	rig_meet(0, 1);
	all_addresses_have(0, classes[_i].is, classes[_i].of);
	all_addresses_have(1, classes[_i].is, classes[_i].of);
	pibv_ops.describe(rig_as(0)->conduit, text, sizeof text);
	if (classes[_i].is == 15)
		ck_assert_msg(strstr(text, ", service level 15, traffic class 255, 2 rails") !=
		              NULL, "%s", text);
}
END_TEST

/* Peers of one subnet of InfiniBand have no route header, and so no class. */
START_TEST(level_without_a_route_header)
{
	rig_job(2, true);
	for (uint32_t host = 0; host < 2; host++) {
		struct mock_port *port = &mock.devices[host][0].ports[0];

		mock.devices[host][0].limits.phys_port_cnt = 2;
		for (unsigned i = 0; i < MOCK_PORTS; i++) {
			port[i].attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
			port[i].attr.lid = (uint16_t)(1 + 2 * host + i);
			port[i].gids[0].gid_type = IBV_GID_TYPE_IB;
			port[i].gids[0].gid.global.subnet_prefix = 0;
		}
	}
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
	rig_set(PSI_NO_PEER, "PST_IBV_SERVICE_LEVEL", "4");
	rig_set(PSI_NO_PEER, "PST_IBV_TRAFFIC_CLASS", "104");
	rig_start(2);
	rig_meet(0, 1);
	all_addresses_have(0, 4, 104);
	all_addresses_have(1, 4, 104);
}
END_TEST

/* -- processes that do not fit ----------------------------------------------------------------- */

static void
connect_fails(const char *part)
{
	int results[RIG_RANKS];

	ck_assert_int_eq(rig_open(0), PSI_OK);
	ck_assert_int_eq(rig_open(1), PSI_OK);
	rig_connect(results);
	ck_assert_int_eq(results[0], PSI_FAILED);
	ck_assert_int_eq(results[1], PSI_FAILED);
	ck_assert_msg(strstr(rig_ranks[0].said, part) != NULL, "%s", rig_ranks[0].said);
}

START_TEST(sizes_differ)
{
	rig_job(2, true);
	rig_set(1, "PST_IBV_MAX_MEDIUM", "4096");
	connect_fails("differ in PST_IBV_MAX_MEDIUM (8192, 4096 bytes)");
}
END_TEST

START_TEST(links_differ)
{
	rig_job(2, true);
	mock_device_of(1)->ports[0].attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	connect_fails("rank 0 has Ethernet, rank 1 has InfiniBand");
}
END_TEST

static void
gid_set(uint32_t host, unsigned index, enum ibv_gid_type type, const char *address)
{
	struct mock_device *of = &mock.devices[host][index];

	of->ports[0].gid_count = 0;
	mock_gid_add(of, 1, type, address, 1);
}

/* One line a rank, which names both kinds and the remedy. */
START_TEST(addresses_differ)
{
	rig_job(2, true);
	gid_set(1, 0, IBV_GID_TYPE_ROCE_V2, "fe80::1");
	connect_fails("rank 0 has an address (GID) of RoCE v2 over IPv4 at port 1 of mock0, rank 1 "
	              "one of RoCE v2 over IPv6 of the link; give all such ports an IPv4 address, "
	              "and unset PST_IBV_GID_INDEX");
	ck_assert_msg(strstr(rig_ranks[1].said, "rank 1 has an address (GID) of RoCE v2 over IPv6 "
	                                        "of the link at port 1 of mock0, rank 0 one of "
	                                        "RoCE v2 over IPv4; ") != NULL, "%s",
	              rig_ranks[1].said);
	for (uint32_t place = 0; place < 2; place++) {
		ck_assert_uint_eq(rig_ranks[place].lines, 1);
		rig_turn(place);
		ck_assert_uint_eq(rig_ranks[place].told_lost, 0);
	}
}
END_TEST

/* On a rail beyond the first. */
START_TEST(addresses_of_a_rail_differ)
{
	rig_job(2, true);
	for (uint32_t host = 0; host < 2; host++)
		mock.devices[host][1].present = true;
	gid_set(1, 1, IBV_GID_TYPE_ROCE_V1, "::ffff:10.0.0.9");
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
	connect_fails("rank 0 has an address (GID) of RoCE v2 over IPv4 at port 1 of mock1, rank 1 "
	              "one of RoCE v1;");
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_uint_eq(rig_ranks[1].lines, 1);
}
END_TEST

START_TEST(addresses_of_one_kind)
{
	rig_job(2, true);
	gid_set(0, 0, IBV_GID_TYPE_ROCE_V2, "fe80::2");
	gid_set(1, 0, IBV_GID_TYPE_ROCE_V2, _i ? "fe80::1" : "2001:db8::1");
	rig_start(2);
	rig_meet(0, 1);
	rig_no_lines();
}
END_TEST

/* The smaller MTU, and a limit of the user's. */
START_TEST(mixed_mtu_is_the_smaller)
{
	rig_job(2, true);
	mock_device_of(1)->ports[0].attr.active_mtu = IBV_MTU_1024;
	rig_start(2);
	rig_meet(0, 1);
	ck_assert_uint_eq(rig_ranks[0].conduit->card.ports[0].mtu, IBV_MTU_4096);
}
END_TEST

START_TEST(mtu_has_a_limit)
{
	rig_set(0, "GASNET_MAX_MTU", "2048");
	rig_set(1, "GASNET_MAX_MTU", "100");
	rig_start(2);
	ck_assert_uint_eq(rig_ranks[0].conduit->card.ports[0].mtu, IBV_MTU_2048);
	ck_assert_uint_eq(rig_ranks[1].conduit->card.ports[0].mtu, IBV_MTU_256);
	rig_meet(0, 1);
}
END_TEST

/* -- devices of two kinds ---------------------------------------------------------------------- */

static void
second_devices_start(void)
{
	rig_job(2, true);
	for (uint32_t host = 0; host < 2; host++)
		mock.devices[host][1].present = true;
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "2");
}

/* Rank 0's further device can less than its first, and than rank 1's. */
START_TEST(further_device_that_can_less)
{
	enum { READS = 4, PART = 1 << 20, MESSAGE = 65536 };
	struct mock_device *second = &mock.devices[0][1];

	second_devices_start();
	second->limits.max_qp_rd_atom = second->limits.max_qp_init_rd_atom = READS;
	second->limits.max_mr_size = PART;
	second->ports[0].attr.max_msg_sz = MESSAGE;
	rig_start(2);
	rig_meet(0, 1);
	ck_assert_uint_eq(rig_ranks[0].conduit->rail_count, 2);
	ck_assert_uint_eq(rig_ranks[0].conduit->part_bytes, PART);
	ck_assert_uint_eq(rig_ranks[0].conduit->stripe_piece_bytes, MESSAGE);
	for (const struct mock_qp *at = second->qps; at; at = at->next) {
		ck_assert_uint_eq(at->attr.max_dest_rd_atomic, READS);
		ck_assert_uint_eq(at->attr.max_rd_atomic, READS);
	}
	for (const struct mock_qp *at = mock.devices[1][1].qps; at; at = at->next)
		ck_assert_uint_eq(at->attr.max_rd_atomic, READS);
}
END_TEST

START_TEST(further_device_with_smaller_queues_is_no_rail)
{
	second_devices_start();
	mock.devices[0][1].limits.max_qp_wr = 64;
	rig_start(2);
	rig_meet(0, 1);
	ck_assert_uint_eq(rig_ranks[0].conduit->rail_count, 1);
	ck_assert_uint_eq(mock.devices[0][1].counts.objects, 0);
	ck_assert_uint_eq(rig_connection(1, 0)->rail_count, 1);
	rig_no_lines();
}
END_TEST

/* The device is named whose queue it is. */
START_TEST(completions_of_a_further_device_that_cannot_be_read)
{
	second_devices_start();
	rig_start(2);
	rig_meet(0, 1);
	mock.devices[0][1].refuse[MOCK_POLL] = 1;
	rig_turn(0);
	rig_turn(0);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "completion queue of mock1 cannot be read"), "%s",
	              rig_ranks[0].said);
	ck_assert_uint_gt(rig_ranks[0].told_lost, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("connect");

	tcase_add_loop_test(tests, all_that_is_sent_has_level_and_class, 0,
	                    sizeof classes / sizeof *classes);
	tcase_add_test(tests, level_without_a_route_header);
	tcase_add_test(tests, sizes_differ);
	tcase_add_test(tests, links_differ);
	tcase_add_test(tests, addresses_differ);
	tcase_add_test(tests, addresses_of_a_rail_differ);
	tcase_add_loop_test(tests, addresses_of_one_kind, 0, 2);
	tcase_add_test(tests, mixed_mtu_is_the_smaller);
	tcase_add_test(tests, mtu_has_a_limit);
	tcase_add_test(tests, further_device_that_can_less);
	tcase_add_test(tests, further_device_with_smaller_queues_is_no_rail);
	tcase_add_test(tests, completions_of_a_further_device_that_cannot_be_read);
	return unit_run("ibv connect", tests);
}
