/*
 * Addresses: which port a user names, which entry of a port's table is its own address, and how a
 * peer is reached.  Nothing here asks a device, so all of it has unit tests.
 */
#include "ibv-conduit/pibv.h"

#include <string.h>

/* -- the filter -------------------------------------------------------------------------------- */

/* One word of it, hca[:port,port]. */
static bool
word_takes(const char *word, size_t len, const char *device, unsigned port)
{
	const size_t name_len = strlen(device);
	const char *end = word + len, *at = word + name_len;

	if (len < name_len || memcmp(word, device, name_len) != 0)
		return false;
	if (at == end)
		return true;
	if (*at != ':')
		return false;
	while (at < end && (*at == ':' || *at == ',')) {
		const char *digit = ++at;
		unsigned long number = 0;

		for (; at < end && *at >= '0' && *at <= '9' && number <= UINT8_MAX; at++)
			number = number * 10 + (unsigned long)(*at - '0');
		if (at > digit && number == port && (at == end || *at == ','))
			return true;
	}
	return false;
}

bool
pibv_filter_takes(const char *filter, const char *device, unsigned port)
{
	while (*filter) {
		const size_t len = strcspn(filter, "+");

		if (word_takes(filter, len, device, port))
			return true;
		filter += len + (filter[len] == '+');
	}
	return false;
}

/* -- a port's own address ---------------------------------------------------------------------- */

static bool
gid_is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(gid->raw, mapped, sizeof mapped) == 0;
}

static bool
gid_is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

enum pibv_gid_kind
pibv_gid_kind_of(const struct ibv_gid_entry *entry)
{
	if (entry->gid_type == IBV_GID_TYPE_IB)
		return PIBV_GID_INFINIBAND;
	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2)
		return PIBV_GID_ROCE_V1;
	return gid_is_ipv4(&entry->gid)         ? PIBV_GID_IPV4
	       : gid_is_link_local(&entry->gid) ? PIBV_GID_LINK : PIBV_GID_IPV6;
}

const char *
pibv_gid_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[PIBV_GID_INFINIBAND] = "InfiniBand", [PIBV_GID_IPV4] = "RoCE v2 over IPv4",
		[PIBV_GID_IPV6] = "RoCE v2 over IPv6",
		[PIBV_GID_LINK] = "RoCE v2 over IPv6 of the link", [PIBV_GID_ROCE_V1] = "RoCE v1",
	};

	return kind < PIBV_GID_KINDS ? names[kind] : "another kind";
}

static bool kind_is_ipv6(unsigned kind) { return kind == PIBV_GID_IPV6 || kind == PIBV_GID_LINK; }

/* The two of IPv6 may be of one link. */
bool
pibv_gid_kinds_meet(unsigned a, unsigned b)
{
	return a == b || (kind_is_ipv6(a) && kind_is_ipv6(b));
}

const struct ibv_gid_entry *
pibv_gid_choose(const struct ibv_gid_entry *entries, size_t count)
{
	const struct ibv_gid_entry *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (!best || pibv_gid_kind_of(&entries[i]) < pibv_gid_kind_of(best))
			best = &entries[i];
	return best;
}

/* -- a peer's ---------------------------------------------------------------------------------- */

/* Ethernet has no local identifiers, and on InfiniBand they reach the same subnet alone; 0 is
 * none. */
static bool
needs_global(const struct pibv_rail *rail, const struct pibv_port_card *peer)
{
	return rail->port.link_layer == IBV_LINK_LAYER_ETHERNET || !peer->lid ||
	       rail->gid.gid.global.subnet_prefix != peer->gid.global.subnet_prefix;
}

struct ibv_ah_attr
pibv_address_of(const struct pibv_rail *rail, const struct pibv_port_card *peer)
{
	struct ibv_ah_attr address = {
		.dlid = peer->lid, .sl = rail->service_level, .port_num = rail->port_number,
	};

	if (!needs_global(rail, peer))
		return address;
	address.is_global = 1;
	address.grh = (struct ibv_global_route){
		.dgid = peer->gid, .sgid_index = (uint8_t)rail->gid.gid_index, .hop_limit = 64,
		.traffic_class = rail->traffic_class,
	};
	return address;
}
