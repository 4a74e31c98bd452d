/*
 * What ranks of the ibv conduit have in common when they connect: service level and traffic class
 * of all that they send.
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

int
main(void)
{
	TCase *tests = tcase_create("connect");

	tcase_add_loop_test(tests, all_that_is_sent_has_level_and_class, 0,
	                    sizeof classes / sizeof *classes);
	tcase_add_test(tests, level_without_a_route_header);
	return unit_run("ibv connect", tests);
}
