/*
 * The operation table, and the operations on ports.  Each of them calls one function of sysvnet.
 */
#include "config.h"

#include "smp-conduit/psmp.h"
#include "smp-conduit/sysvnet/sysvnet_inline.h"

static int
port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
          struct psi_port **port_out)
{
	struct sysvnet_port *port;
	const int result = sysvnet_port_open(conduit->net, place, serial, owner, &port);

	if (result == PSI_OK)
		*port_out = psmp_port_of(port);
	return result;
}

/* -------------------------------------------------------------------- active messages --- */

static size_t
am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	(void)port, (void)peer, (void)network, (void)nargs;
	return SYSVNET_MEDIUM_BYTES;
}

static int
am_send(struct psi_port *port, const struct psi_am *am)
{
	return sysvnet_send(psmp_net_port_of(port), am);
}

static int
am_short(struct psi_port *port, uint32_t peer, uint32_t tag, const int32_t *args)
{
	return sysvnet_send_short(psmp_net_port_of(port), peer, tag, args);
}

static int
am_medium(struct psi_port *port, uint32_t peer, uint32_t tag, const int32_t *args,
          const void *payload, size_t len_bytes)
{
	return sysvnet_send_medium(psmp_net_port_of(port), peer, tag, args, payload, len_bytes);
}

static int
am_send_alone(struct psi_port *port, const struct psi_am *am)
{
	return sysvnet_send_alone(psmp_net_port_of(port), am);
}

static int
am_claim(struct psi_port *port, struct psi_claim *claim)
{
	return sysvnet_claim(psmp_net_port_of(port), claim);
}

static int
am_publish(struct psi_port *port, const struct psi_claim *claim, const struct psi_am *am)
{
	return sysvnet_publish(psmp_net_port_of(port), claim, am);
}

static void
am_cancel(struct psi_port *port, const struct psi_claim *claim)
{
	sysvnet_cancel(psmp_net_port_of(port), claim);
}

/* --------------------------------------------------------------------------- progress --- */

static unsigned
port_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	return sysvnet_poll(psmp_net_port_of(port), networks, budget);
}

static int
port_arm(struct psi_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out)
{
	return sysvnet_arm(psmp_net_port_of(port), networks, room_peer, ticket_out);
}

static void
port_sleep(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns)
{
	sysvnet_sleep(psmp_net_port_of(port), ticket, timeout_ns);
}

static int
port_fd_sleep_begin(struct psi_port *port, uint32_t ticket)
{
	return sysvnet_fd_sleep_begin(psmp_net_port_of(port), ticket);
}

static void
port_fd_sleep_end(struct psi_port *port)
{
	sysvnet_fd_sleep_end(psmp_net_port_of(port));
}

static void
port_disarm(struct psi_port *port)
{
	sysvnet_disarm(psmp_net_port_of(port));
}

static int
port_arm_more(struct psi_port *port, unsigned networks)
{
	return sysvnet_arm_more(psmp_net_port_of(port), networks);
}

static void
port_disarm_more(struct psi_port *port)
{
	sysvnet_disarm_more(psmp_net_port_of(port));
}

static const uint32_t *
port_sleep_word(struct psi_port *port, uint32_t peer, bool *fence_out)
{
	return sysvnet_wake_word(psmp_net_port_of(port), peer, fence_out);
}

static void
port_wake_peer(struct psi_port *port, uint32_t peer)
{
	sysvnet_wake_peer(psmp_net_port_of(port), peer);
}

static void
port_wake_process(struct psi_port *port)
{
	sysvnet_wake(psmp_net_port_of(port));
}

static void
port_wake_host(struct psi_port *port)
{
	sysvnet_wake_host(psmp_net_port_of(port));
}

static void
port_request_room(struct psi_port *port, uint32_t peer)
{
	sysvnet_request_room(psmp_net_port_of(port), peer);
}

const struct psi_conduit_ops psmp_ops = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof(struct psi_conduit_ops),
	.name = "smp",
	.release = PACKAGE_VERSION,
	.probe = psmp_probe,
	.open = psmp_open,
	.port_open = port_open,
	.connect = psmp_connect,
	.am_max_medium = am_max_medium,
	.am_send = am_send,
	.am_short = am_short,
	.am_medium = am_medium,
	.am_send_alone = am_send_alone,
	.am_claim = am_claim,
	.am_publish = am_publish,
	.am_cancel = am_cancel,
	.poll = port_poll,
	.arm = port_arm,
	.sleep = port_sleep,
	.fd_sleep_begin = port_fd_sleep_begin,
	.fd_sleep_end = port_fd_sleep_end,
	.disarm = port_disarm,
	.arm_more = port_arm_more,
	.disarm_more = port_disarm_more,
	.sleep_word = port_sleep_word,
	.wake_peer = port_wake_peer,
	.wake = port_wake_process,
	.wake_host = port_wake_host,
	.request_room = port_request_room,
	.describe = psmp_describe,
	.queue = sysvnet_view,
	.memory_area = psmp_memory_area,
	.queue_bytes = psmp_queue_bytes,
};
