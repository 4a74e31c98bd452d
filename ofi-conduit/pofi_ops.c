/* The operation table. */
#include "config.h"

#include "ofi-conduit/pofi.h"

const struct psi_conduit_ops pofi_ops = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof(struct psi_conduit_ops),
	.name = "ofi",
	.release = PACKAGE_VERSION,
	.probe = pofi_probe,
	.open = pofi_open,
	.port_open = pofi_port_open,
	.connect = pofi_connect,
	.am_max_medium = pofi_am_max_medium,
	.am_send = pofi_am_send,
	.segment_bind = pofi_segment_bind,
	.segment_release = pofi_segment_release,
	.put = pofi_put,
	.get = pofi_get,
	.put_signal = pofi_put_signal,
	.am_long = pofi_am_long,
	.poll = pofi_poll,
	.drain = pofi_drain,
	.arm = pofi_arm,
	.wait_on = pofi_wait_on,
	.describe = pofi_describe,
};
