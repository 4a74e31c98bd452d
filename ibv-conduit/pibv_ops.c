/* The operation table. */
#include "config.h"

#include "ibv-conduit/pibv.h"

const struct psi_conduit_ops pibv_ops = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof(struct psi_conduit_ops),
	.name = "ibv",
	.release = PACKAGE_VERSION,
	.probe = pibv_probe,
	.open = pibv_open,
	.port_open = pibv_port_open,
	.connect = pibv_connect,
	.am_max_medium = pibv_am_max_medium,
	.am_send = pibv_am_send,
	.segment_bind = pibv_segment_bind,
	.segment_release = pibv_segment_release,
	.put = pibv_put,
	.get = pibv_get,
	.put_signal = pibv_put_signal,
	.device_atomic = pibv_device_atomic,
	.am_long = pibv_am_long,
	.poll = pibv_poll,
	.drain = pibv_drain,
	.arm = pibv_arm,
	.wait_on = pibv_wait_on,
	.describe = pibv_describe,
};
