/*
 * Which device and port the process uses: those that GASNET_IBV_PORTS and PST_NET_IFACE name, else
 * the nearest one that is up.
 */
#include "config.h"

#include "ibv-conduit/pibv.h"

#include "runtime/util/net_wish.h"
#include "runtime/util/settings_parse.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the user wants; NULL: anything. */
struct wish {
	const char *ports, *interface, *pkey;
	uint64_t gid_index;             /* UINT64_MAX: any */
	uint8_t service_level, traffic_class;
};

/* How near a port or device came to being taken. */
enum step { STEP_NONE, STEP_DOWN, STEP_DEVICE, STEP_OPEN, STEP_ADDRESS, STEP_PARTITION };

/* What was looked at, for people. */
struct search {
	struct wish wish;
	const struct psi_conduit *conduit;      /* whose rails are taken; or NULL */
	unsigned devices;               /* that open */
	enum step step;                 /* of the one that came nearest, the first of several ... */
	char lack[PIBV_LACK_BYTES];     /* ... and why it was not taken */
};

/* Keeps the reason of the port that came nearest to being taken.  Hosts have ports that nobody
 * uses, and these are down; the user asks about the others. */
static void __attribute__((format(printf, 3, 4)))
lack_note(struct search *search, enum step step, const char *format, ...)
{
	va_list arguments;

	if (step <= search->step)
		return;
	search->step = step;
	va_start(arguments, format);
	vsnprintf(search->lack, sizeof search->lack, format, arguments);
	va_end(arguments);
}

static const char *
setting_or_null(const struct psi_services *services, const char *name)
{
	const char *text = services->setting(name);

	return text && *text ? text : NULL;
}

static struct wish
wish_read(const struct psi_services *services)
{
	return (struct wish){
		.ports = setting_or_null(services, "GASNET_IBV_PORTS"),
		.interface = setting_or_null(services, "PST_NET_IFACE"),
		.pkey = setting_or_null(services, "GASNET_IBV_PKEY"),
		.gid_index = pibv_setting(services, "PST_IBV_GID_INDEX", UINT64_MAX),
		.service_level = (uint8_t)pibv_setting(services, "PST_IBV_SERVICE_LEVEL", 0),
		.traffic_class = (uint8_t)pibv_setting(services, "PST_IBV_TRAFFIC_CLASS", 0),
	};
}

/* -- a port ------------------------------------------------------------------------------------ */

/* Is the entry of the interface, or the address, that is wished for? */
static bool
gid_is_on(const struct ibv_gid_entry *entry, const struct psi_net_wish *wish)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	char name[IF_NAMESIZE] = "";

	if_indextoname(entry->ndev_ifindex, name);
	memcpy(&in6.sin6_addr, entry->gid.raw, sizeof in6.sin6_addr);
	if (!IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		return psi_net_wish_takes(wish, name, (const struct sockaddr *)&in6);
	memcpy(&in.sin_addr, entry->gid.raw + 12, sizeof in.sin_addr);
	return psi_net_wish_takes(wish, name, (const struct sockaddr *)&in);
}

/* Addresses of InfiniBand belong to no interface.  Who names a port has chosen already. */
static bool
interface_counts(const struct pibv_rail *rail, const struct wish *wish)
{
	return wish->interface && !wish->ports &&
	       rail->port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

static bool
gid_is_wished(const struct pibv_rail *rail, const struct ibv_gid_entry *entry,
              const struct wish *wish)
{
	struct psi_net_wish net;

	if (wish->gid_index != UINT64_MAX && entry->gid_index != wish->gid_index)
		return false;
	if (!interface_counts(rail, wish))
		return true;
	net = psi_net_wish_parse(wish->interface);
	return gid_is_on(entry, &net);
}

/* The best of the device's table, whose entries are of all its ports; false: there is none. */
static bool
gid_take(const struct pibv_device *device, struct pibv_rail *rail, const struct wish *wish)
{
	const size_t most = (size_t)rail->port.gid_tbl_len * device->limits.phys_port_cnt;
	struct ibv_gid_entry *all = calloc(most, sizeof *all);
	const ssize_t found = all ? ibv_query_gid_table(device->context, all, most, 0) : 0;
	const struct ibv_gid_entry *best;
	size_t count = 0;

	for (ssize_t i = 0; i < found; i++)
		if (all[i].port_num == rail->port_number && gid_is_wished(rail, &all[i], wish))
			all[count++] = all[i];
	best = pibv_gid_choose(all, count);
	if (best)
		rail->gid = *best;
	free(all);
	return best;
}

/* False after the text. */
static bool
gid_find(const struct pibv_device *device, struct pibv_rail *rail, struct search *search)
{
	const bool by_interface = interface_counts(rail, &search->wish);

	if (!gid_take(device, rail, &search->wish)) {
		lack_note(search, STEP_ADDRESS, "port %u of %s has no address%s%s",
		          rail->port_number, device->name,
		          search->wish.gid_index != UINT64_MAX ? " at PST_IBV_GID_INDEX" : "",
		          by_interface ? " on the interface of PST_NET_IFACE" : "");
		return false;
	}
	return true;
}

/* A partition's number has 15 bits, and 0 is none.  Bit 15 says that a port is a full member, which
 * may talk to all others. */
enum { PKEY_NUMBER = 0x7fff, PKEY_FULL = 0x8000 };

/* The place of a partition in the port's table, where the port is a full member of it if possible;
 * -1: it is not there. */
static int
pkey_index_of(const struct pibv_device *device, const struct pibv_rail *rail, unsigned number)
{
	int found = -1;

	for (int i = 0; i < rail->port.pkey_tbl_len; i++) {
		__be16 entry;

		if (ibv_query_pkey(device->context, rail->port_number, i, &entry) != 0 ||
		    (ntohs(entry) & PKEY_NUMBER) != number)
			continue;
		if (ntohs(entry) & PKEY_FULL)
			return i;
		if (found < 0)
			found = i;
	}
	return found;
}

/* Unset, it is the first of the table, which all share. */
static bool
pkey_find(const struct pibv_device *device, struct pibv_rail *rail, struct search *search)
{
	const char *text = search->wish.pkey;
	int64_t key;
	int index = -1;

	rail->pkey_index = 0;
	if (!text)
		return true;
	if (psi_parse_int(text, &key) && key >= 0 && key <= UINT16_MAX && key & PKEY_NUMBER)
		index = pkey_index_of(device, rail, key & PKEY_NUMBER);
	if (index >= 0) {
		rail->pkey_index = (uint16_t)index;
		return true;
	}
	lack_note(search, STEP_PARTITION, "port %u of %s is not in partition %s of "
	          "GASNET_IBV_PKEY", rail->port_number, device->name, text);
	return false;
}

static bool
port_is_taken(const struct pibv_device *device, uint8_t port, const struct psi_conduit *conduit)
{
	for (unsigned rail = 0; conduit && rail < conduit->rail_count; rail++)
		if (strcmp(pibv_device_of(conduit, rail)->name, device->name) == 0 &&
		    conduit->rails[rail].port_number == port)
			return true;
	return false;
}

static bool
port_take(const struct pibv_device *device, struct pibv_rail *rail, struct search *search)
{
	const struct wish *wish = &search->wish;

	if (port_is_taken(device, rail->port_number, search->conduit) ||
	    (wish->ports && !pibv_filter_takes(wish->ports, device->name, rail->port_number)))
		return false;
	if (ibv_query_port(device->context, rail->port_number, &rail->port) != 0 ||
	    rail->port.state != IBV_PORT_ACTIVE) {
		lack_note(search, STEP_DOWN, "port %u of %s is %s", rail->port_number,
		          device->name, ibv_port_state_str(rail->port.state));
		return false;
	}
	return gid_find(device, rail, search) && pkey_find(device, rail, search);
}

/* -- a device ---------------------------------------------------------------------------------- */

/* Gets are reads.  False after the text. */
static bool
device_reads(const struct pibv_device *device, struct search *search)
{
	const int serves = device->limits.max_qp_rd_atom;
	const int asks = device->limits.max_qp_init_rd_atom;

	if (serves > 0 && asks > 0)
		return true;
	lack_note(search, STEP_DEVICE, "device %s has no RDMA reads (max_qp_rd_atom %d, "
	          "max_qp_init_rd_atom %d), and conduit ofi may serve it", device->name, serves,
	          asks);
	return false;
}

static bool
device_has_port(struct pibv_device *device, struct pibv_rail *rail, struct search *search)
{
	if (ibv_query_device(device->context, &device->limits) != 0) {
		lack_note(search, STEP_DEVICE, "device %s tells nothing of itself", device->name);
		return false;
	}
	if (!device_reads(device, search))
		return false;
	for (uint8_t port = 1; port <= device->limits.phys_port_cnt; port++) {
		*rail = (struct pibv_rail){
			.port_number = port, .service_level = search->wish.service_level,
			.traffic_class = search->wish.traffic_class,
		};
		if (port_take(device, rail, search))
			return true;
	}
	return false;
}

static bool
device_try(struct ibv_device *from, struct search *search, struct pibv_device *device,
           struct pibv_rail *rail)
{
	*device = (struct pibv_device){ .context = ibv_open_device(from) };
	snprintf(device->name, sizeof device->name, "%s", ibv_get_device_name(from));
	if (!device->context) {
		lack_note(search, STEP_OPEN, "device %s does not open: %s; may this user read and "
		          "write /dev/infiniband/%s?", device->name, strerror(errno),
		          from->dev_name);
		return false;
	}
	search->devices++;
	if (from->transport_type != IBV_TRANSPORT_IB)
		lack_note(search, STEP_DEVICE, "device %s is neither InfiniBand nor RoCE, and "
		          "conduit ofi may serve it", device->name);
	else if (device_has_port(device, rail, search))
		return true;
	pibv_device_close(device);
	return false;
}

enum distance { NEAR, FAR, UNKNOWN };

/* Is it at the memory of the processor on which this thread runs? */
static enum distance
device_distance(const struct ibv_device *from)
{
	char path[IBV_SYSFS_PATH_MAX + 32];
	unsigned cpu, node;
	int of_device = -1;
	FILE *file;

	snprintf(path, sizeof path, "%s/device/numa_node", from->ibdev_path);
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &of_device) != 1)
		of_device = -1;
	if (file)
		fclose(file);
	if (of_device < 0 || syscall(SYS_getcpu, &cpu, &node, NULL) != 0)
		return UNKNOWN;
	return (unsigned)of_device == node ? NEAR : FAR;
}

/* Those that are not far first, else in the order of the list. */
static bool
device_find(struct ibv_device **list, struct search *search, struct pibv_device *device_out,
            struct pibv_rail *rail_out)
{
	for (int far = 0; far <= 1; far++)
		for (struct ibv_device **at = list; *at; at++)
			if ((device_distance(*at) == FAR) == far &&
			    device_try(*at, search, device_out, rail_out))
				return true;
	return false;
}

void
pibv_device_close(struct pibv_device *device)
{
	if (device->cq)
		ibv_destroy_cq(device->cq);
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	if (device->context)
		ibv_close_device(device->context);
	*device = (struct pibv_device){ .context = NULL };
}

/* -- the choice -------------------------------------------------------------------------------- */

static const char *const distance_names[] = {
	[NEAR] = ", near the processor", [FAR] = ", far from the processor", [UNKNOWN] = "",
};

static void
reason_say(struct pibv_rail *rail, const struct search *search, enum distance distance)
{
	const enum pibv_gid_kind kind = pibv_gid_kind_of(&rail->gid);
	const bool stays = kind == PIBV_GID_LINK || kind == PIBV_GID_ROCE_V1;
	const char *why = search->wish.ports ? "GASNET_IBV_PORTS"
	                  : search->wish.interface ? "PST_NET_IFACE" : "the first that is up";
	const char *index = search->wish.gid_index != UINT64_MAX ? " by PST_IBV_GID_INDEX" : "";

	snprintf(rail->reason, sizeof rail->reason, "%s%s, GID %u%s, %s%s",
	         pibv_gid_kind_name(kind), stays ? ", which no router passes on" : "",
	         rail->gid.gid_index, index, why, distance_names[distance]);
}

static void
lack_say(const struct search *search, char *lack, size_t lack_bytes)
{
	if (search->lack[0])
		snprintf(lack, lack_bytes, "%s; `ibv_devinfo` lists devices and ports",
		         search->lack);
	else if (search->devices && !search->wish.ports)
		snprintf(lack, lack_bytes, "no device of this host has a port; `ibv_devinfo` lists "
		         "devices and ports");
	else if (search->devices)
		snprintf(lack, lack_bytes, "GASNET_IBV_PORTS=%s names no port of this host; "
		         "`ibv_devinfo` lists devices and ports", search->wish.ports);
	else
		snprintf(lack, lack_bytes, "this host has no RDMA device; `ibv_devinfo` lists "
		         "those that it has, `rdma link` those without a driver of libibverbs");
}

/* Older kernels give a child no copy of a registered page, and may take the page from the parent:
 * there libibverbs keeps such pages from children, if it is asked before the first registration.
 * Newer ones copy, and then a child that writes to the page must not lack it.  An error says that
 * other code has registered memory before. */
static void
fork_prepare(void)
{
#ifdef HAVE_IBV_IS_FORK_INITIALIZED
	if (ibv_is_fork_initialized() == IBV_FORK_UNNEEDED)
		return;
#endif
	(void)ibv_fork_init();
}

bool
pibv_device_open(const struct psi_services *services, const struct psi_conduit *conduit,
                 struct pibv_device *device_out, struct pibv_rail *rail_out, char *lack,
                 size_t lack_bytes)
{
	struct search search = { .wish = wish_read(services), .conduit = conduit };
	struct ibv_device **list;
	bool found;

	fork_prepare();
	list = ibv_get_device_list(NULL);
	found = list && device_find(list, &search, device_out, rail_out);

	if (found)
		reason_say(rail_out, &search, device_distance(device_out->context->device));
	else
		lack_say(&search, lack, lack_bytes);
	if (list)
		ibv_free_device_list(list);
	return found;
}

bool
pibv_probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	struct pibv_device device;
	struct pibv_rail rail;

	if (!pibv_device_open(services, NULL, &device, &rail, reason, reason_bytes))
		return false;
	pibv_device_close(&device);
	return true;
}
