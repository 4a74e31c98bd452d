/*
 * Addresses of the ibv conduit: which ports a filter names, which entry of a table of addresses is
 * taken and why, and how a peer is reached: by its local identifier or by its global address.
 */
#include "ibv-conduit/pibv.h"
#include "tests/unit/main.h"

#include <arpa/inet.h>
#include <string.h>

/* -- filters ----------------------------------------------------------------------------------- */

START_TEST(filter_names_ports)
{
	static const struct { const char *filter, *device; unsigned port; bool taken; } cases[] = {
		{ "mlx5_0", "mlx5_0", 1, true },
		{ "mlx5_0", "mlx5_0", 2, true },
		{ "mlx5_0", "mlx5_1", 1, false },
		{ "mlx5_1", "mlx5_10", 1, false },      /* not a prefix */
		{ "mlx5_10", "mlx5_1", 1, false },
		{ "mlx5_0:1", "mlx5_0", 1, true },
		{ "mlx5_0:1", "mlx5_0", 2, false },
		{ "mlx5_0:1", "mlx5_0", 11, false },
		{ "mlx5_0:11", "mlx5_0", 1, false },
		{ "mlx5_0:1,2", "mlx5_0", 2, true },
		{ "mlx5_0:1,3", "mlx5_0", 2, false },
		{ "mlx5_0:1+mlx5_1:2", "mlx5_1", 2, true },
		{ "mlx5_0:1+mlx5_1:2", "mlx5_1", 1, false },
		{ "mlx5_0:2+mlx5_0:1", "mlx5_0", 1, true },
		{ "mlx5_0:1+mlx5_1", "mlx5_1", 2, true },
		{ "mlx5_0+mlx5_1:2", "mlx5_0", 7, true },
		{ "+mlx5_1", "mlx5_1", 1, true },
		{ "mlx5_1+", "mlx5_1", 1, true },
		{ "mlx5_0:", "mlx5_0", 1, false },
		{ "mlx5_0:x", "mlx5_0", 1, false },
		{ "mlx5_0:1;2", "mlx5_0", 2, false },
		{ "mlx5_0:1;2", "mlx5_0", 1, false },
		{ "mlx5_0:1-2", "mlx5_0", 1, false },   /* no range, so not its first alone */
		{ "mlx5_0:1x,2", "mlx5_0", 1, false },
		{ "mlx5_0:1,", "mlx5_0", 1, true },
		{ "mlx5_0 ", "mlx5_0", 1, false },
		{ ":1", "mlx5_0", 1, false },
		{ "", "mlx5_0", 1, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ck_assert_msg(pibv_filter_takes(cases[i].filter, cases[i].device, cases[i].port) ==
		              cases[i].taken, "%s takes port %u of %s", cases[i].filter,
		              cases[i].port, cases[i].device);
}
END_TEST

/* A number at the end of a word is that of the word, not of what stands behind it. */
START_TEST(filter_reads_its_own_word)
{
	ck_assert(!pibv_filter_takes("a:+1", "a", 1));
	ck_assert(!pibv_filter_takes("a:1,+2", "a", 2));
}
END_TEST

/* -- a port's own address ---------------------------------------------------------------------- */

static struct ibv_gid_entry
entry_of(uint32_t index, enum ibv_gid_type type, const char *address)
{
	struct ibv_gid_entry entry = { .gid_index = index, .port_num = 1, .gid_type = type };

	ck_assert_int_eq(inet_pton(AF_INET6, address, entry.gid.raw), 1);
	return entry;
}

/* The better of each pair is taken, whatever their order. */
START_TEST(address_is_the_one_that_reaches_furthest)
{
	static const struct { enum ibv_gid_type type; const char *address, *name; } ranked[] = {
		{ IBV_GID_TYPE_IB, "fe80::1", "InfiniBand" },
		{ IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.1", "RoCE v2 over IPv4" },
		{ IBV_GID_TYPE_ROCE_V2, "2001:db8::1", "RoCE v2 over IPv6" },
		{ IBV_GID_TYPE_ROCE_V2, "fe80::1", "RoCE v2 over IPv6 of the link" },
		{ IBV_GID_TYPE_ROCE_V1, "::ffff:10.0.0.1", "RoCE v1" },
	};
	const size_t count = sizeof ranked / sizeof *ranked;

	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b < count; b++) {
			const struct ibv_gid_entry entries[] = {
				entry_of(0, ranked[a].type, ranked[a].address),
				entry_of(1, ranked[b].type, ranked[b].address),
			};
			const struct ibv_gid_entry *taken = pibv_gid_choose(entries, 2);

			ck_assert_ptr_eq(taken, &entries[a <= b ? 0 : 1]);
			ck_assert_str_eq(pibv_gid_kind_name(pibv_gid_kind_of(taken)),
			                 ranked[a <= b ? a : b].name);
		}
}
END_TEST

/* All of fe80::/10 is of the link, and nothing else. */
START_TEST(link_local_is_told_from_others)
{
	const struct ibv_gid_entry entries[] = {
		entry_of(0, IBV_GID_TYPE_ROCE_V2, "febf::1"),
		entry_of(1, IBV_GID_TYPE_ROCE_V2, "fec0::1"),
	};

	ck_assert_uint_eq(pibv_gid_choose(entries, 2)->gid_index, 1);
	ck_assert_int_eq(pibv_gid_kind_of(&entries[0]), PIBV_GID_LINK);
	ck_assert_int_eq(pibv_gid_kind_of(&entries[1]), PIBV_GID_IPV6);
}
END_TEST

START_TEST(no_entries_are_no_address)
{
	ck_assert_ptr_null(pibv_gid_choose(NULL, 0));
}
END_TEST

/* Those of one kind, and the two of IPv6. */
START_TEST(kinds_that_reach_each_other)
{
	for (unsigned a = 0; a < PIBV_GID_KINDS; a++)
		for (unsigned b = 0; b < PIBV_GID_KINDS; b++) {
			const bool both_ipv6 = (a == PIBV_GID_IPV6 && b == PIBV_GID_LINK) ||
			                       (a == PIBV_GID_LINK && b == PIBV_GID_IPV6);

			ck_assert_int_eq(pibv_gid_kinds_meet(a, b), a == b || both_ipv6);
		}
	ck_assert_str_eq(pibv_gid_kind_name(PIBV_GID_KINDS), "another kind");
}
END_TEST

/* -- a peer's ---------------------------------------------------------------------------------- */

static struct pibv_rail
rail_of(uint8_t link_layer, const char *gid)
{
	struct pibv_rail rail = {
		.port_number = 2, .port = { .link_layer = link_layer, .sm_sl = 9, .lid = 4 },
		.service_level = 3, .traffic_class = 104,
	};

	rail.gid = entry_of(5, link_layer == IBV_LINK_LAYER_ETHERNET ? IBV_GID_TYPE_ROCE_V2
	                                                             : IBV_GID_TYPE_IB, gid);
	return rail;
}

static struct pibv_port_card
card_of(uint16_t lid, const char *gid)
{
	struct pibv_port_card card = { .lid = lid };

	card.gid = entry_of(0, IBV_GID_TYPE_IB, gid).gid;
	return card;
}

START_TEST(peer_of_the_subnet_is_reached_by_its_lid)
{
	const struct pibv_rail rail = rail_of(IBV_LINK_LAYER_INFINIBAND, "fec0::1:0:0:0:1");
	const struct pibv_port_card peer = card_of(77, "fec0::1:0:0:0:2");
	const struct ibv_ah_attr address = pibv_address_of(&rail, &peer);

	ck_assert_uint_eq(address.is_global, 0);
	ck_assert_uint_eq(address.dlid, 77);
	ck_assert_uint_eq(address.sl, 3);
	ck_assert_uint_eq(address.port_num, 2);
}
END_TEST

static void
is_global(const struct pibv_rail *rail, const struct pibv_port_card *peer)
{
	const struct ibv_ah_attr address = pibv_address_of(rail, peer);

	ck_assert_uint_eq(address.is_global, 1);
	ck_assert_uint_eq(address.dlid, peer->lid);
	ck_assert_mem_eq(&address.grh.dgid, &peer->gid, sizeof peer->gid);
	ck_assert_uint_eq(address.grh.sgid_index, 5);
	ck_assert_uint_gt(address.grh.hop_limit, 1);
	ck_assert_uint_eq(address.grh.traffic_class, 104);
	ck_assert_uint_eq(address.sl, 3);
	ck_assert_uint_eq(address.port_num, 2);
}

START_TEST(others_are_reached_by_their_global_address)
{
	const struct pibv_rail infiniband = rail_of(IBV_LINK_LAYER_INFINIBAND, "fec0:0:0:1::1");
	const struct pibv_rail ethernet = rail_of(IBV_LINK_LAYER_ETHERNET, "::ffff:10.0.0.1");
	const struct pibv_port_card elsewhere = card_of(77, "fec0:0:0:2::2");
	const struct pibv_port_card without_lid = card_of(0, "fec0:0:0:1::2");
	const struct pibv_port_card roce = card_of(0, "::ffff:10.0.0.2");

	is_global(&infiniband, &elsewhere);
	is_global(&infiniband, &without_lid);
	is_global(&ethernet, &roce);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("address");

	tcase_add_test(tests, filter_names_ports);
	tcase_add_test(tests, filter_reads_its_own_word);
	tcase_add_test(tests, address_is_the_one_that_reaches_furthest);
	tcase_add_test(tests, link_local_is_told_from_others);
	tcase_add_test(tests, no_entries_are_no_address);
	tcase_add_test(tests, kinds_that_reach_each_other);
	tcase_add_test(tests, peer_of_the_subnet_is_reached_by_its_lid);
	tcase_add_test(tests, others_are_reached_by_their_global_address);
	return unit_run("ibv address", tests);
}
