/*
 * Settings of conduit ibv.  They stand in the library and not in the plug-in, so that tools print
 * them, and misspelt ones are told of, where the plug-in is not there.
 */
#include "runtime/settings/settings_tables.h"

static const struct psi_setting rows[] = {
	{ .name = "GASNET_IBV_PORTS", .kind = PSI_SETTING_TEXT,
	  .help = "devices and ports that conduit ibv may use, as mlx5_0:1,2+mlx5_1; unset: the "
	          "first port that is up, of the devices nearest to the processor first" },
	{ .name = "PST_IBV_RAILS", .kind = PSI_SETTING_INT, .default_text = "1", .unit = "ports",
	  .min = 1, .max = 4,
	  .help = "ports of this host, of two devices at most, that share large puts and gets of "
	          "conduit ibv; fewer where the host has fewer" },
	{ .name = "PST_IBV_STRIPE", .kind = PSI_SETTING_SIZE, .default_text = "262144",
	  .unit = "B", .min = 8192, .max = 1 << 30,
	  .help = "puts and gets of more than this are shared by the rails" },
	{ .name = "GASNET_IBV_PKEY", .kind = PSI_SETTING_TEXT,
	  .help = "partition of InfiniBand to use, such as 0x8001; unset: the port's first" },
	{ .name = "PST_IBV_GID_INDEX", .kind = PSI_SETTING_INT, .min = 0, .max = 255,
	  .help = "entry of the port's table of addresses (GIDs) to use; unset: that of RoCE v2 "
	          "over IPv4, then IPv6" },
	{ .name = "PST_IBV_SERVICE_LEVEL", .kind = PSI_SETTING_INT, .default_text = "0", .min = 0,
	  .max = 15,
	  .help = "service level of all packets of conduit ibv; on Ethernet the priority of a VLAN "
	          "tag, 0 to 7" },
	{ .name = "PST_IBV_TRAFFIC_CLASS", .kind = PSI_SETTING_INT, .default_text = "0", .min = 0,
	  .max = 255,
	  .help = "traffic class of packets of conduit ibv with a global address, as all have on "
	          "Ethernet: of RoCE v2 the upper six bits are the DSCP, so 104 is DSCP 26" },
	{ .name = "GASNET_MAX_MTU", .kind = PSI_SETTING_INT, .default_text = "0", .unit = "B",
	  .min = 0, .max = 4096,
	  .help = "largest packet of conduit ibv, 256 to 4096; 0: the ports'" },
	{ .name = "GASNET_CONNECT_STATIC", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "conduit ibv connects each pair of ranks at start, and not on first use" },
	{ .name = "GASNET_CONNECT_RETRANS_MIN", .kind = PSI_SETTING_INT, .default_text = "20000",
	  .unit = "us", .min = 100, .max = 10000000,
	  .help = "time until conduit ibv asks again for a connection, which doubles each time" },
	{ .name = "GASNET_CONNECT_RETRANS_MAX", .kind = PSI_SETTING_INT,
	  .default_text = "1000000", .unit = "us", .min = 100, .max = 100000000,
	  .help = "the longest such time" },
	{ .name = "GASNET_QP_TIMEOUT", .kind = PSI_SETTING_INT, .default_text = "18", .min = 0,
	  .max = 31,
	  .help = "a device of conduit ibv sends again what is not acknowledged within 4.096 us by "
	          "2 to this power (18: 1.07 s); 0 counts as 18" },
	{ .name = "GASNET_QP_RETRY_COUNT", .kind = PSI_SETTING_INT, .default_text = "6", .min = 0,
	  .max = 7,
	  .help = "how often it does so until the peer counts as lost; 7 counts as 6, since with 7 "
	          "some devices never give up" },
	{ .name = "GASNET_QP_RD_ATOM", .kind = PSI_SETTING_INT, .default_text = "0", .min = 0,
	  .max = 128,
	  .help = "gets that a device of conduit ibv serves at once for each peer; 0: 16, or what "
	          "it can" },
	{ .name = "GASNET_INLINESEND_LIMIT", .kind = PSI_SETTING_SIZE, .default_text = "128",
	  .unit = "B", .min = 0, .max = 1 << 20,
	  .help = "messages and puts up to this size that conduit ibv sends within the work "
	          "request; 128 at most, and less where the device has less" },
	{ .name = "PST_IBV_MAX_MEDIUM", .kind = PSI_SETTING_SIZE, .default_text = "8192",
	  .unit = "B", .min = 512, .max = 1 << 20,
	  .help = "largest payload of a Medium of conduit ibv; each receive and send buffer has "
	          "room for one" },
	{ .name = "PST_IBV_PART", .kind = PSI_SETTING_SIZE, .unit = "B", .min = 65536,
	  .max = UINT64_C(1) << 62,
	  .help = "conduit ibv registers segments in parts of at most this size; unset: as much at "
	          "once as the device can" },
	{ .name = "PST_IBV_SEND_QUEUE", .kind = PSI_SETTING_INT, .default_text = "128",
	  .unit = "requests", .min = 16, .max = 256,
	  .help = "work requests that the send queue of each connection of conduit ibv holds; "
	          "rounded down to a power of 2" },
	{ .name = "PST_IBV_COMPLETION_QUEUE", .kind = PSI_SETTING_INT, .unit = "entries",
	  .min = 256, .max = 1 << 24,
	  .help = "completions of conduit ibv that wait to be read, at most; queues are shortened "
	          "to fit; unset: as many as its queues can have, or the device" },
	{ .name = "GASNET_RBUF_COUNT", .kind = PSI_SETTING_INT, .default_text = "512",
	  .unit = "buffers", .min = 0, .max = 65536,
	  .help = "receive buffers of a process with conduit ibv, which all its peers share; 32 at "
	          "least" },
	{ .name = "GASNET_BBUF_COUNT", .kind = PSI_SETTING_INT, .default_text = "256",
	  .unit = "buffers", .min = 0, .max = 65536,
	  .help = "send buffers of a process with conduit ibv; 16 at least" },
};

const struct psi_setting_table psi_settings_ibv = PSI_SETTING_TABLE("Conduit ibv", rows);
