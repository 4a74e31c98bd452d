/*
 * Rails beyond the first: further ports, of the same device or of another.  They carry shares of
 * large puts and gets alone, so they need no receive queue and no datagrams.  Rails of one device
 * share its protection domain and its completion queue; each device has a key of its own for each
 * segment.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/bounds.h"

#include <errno.h>
#include <string.h>

/* device_count: the device of that name is not open yet. */
static unsigned
device_index_of(const struct psi_conduit *conduit, const char *name)
{
	unsigned index = 0;

	while (index < conduit->device_count && strcmp(conduit->devices[index].name, name) != 0)
		index++;
	return index;
}

/* Makes the objects of a further device; false after one line, and it is closed. */
static bool
device_fill(const struct psi_conduit *conduit, struct pibv_device *device)
{
	const uint32_t most = (uint32_t)device->limits.max_cqe;
	const uint32_t wanted = conduit->signals_most + 4 * conduit->depth;

	device->pd = ibv_alloc_pd(device->context);
	if (device->pd)
		device->cq = ibv_create_cq(device->context, (int)psi_least(wanted, most), NULL,
		                           NULL, 0);
	if (device->cq && pibv_fd_unblock(device->context->async_fd) == 0)
		return true;
	conduit->services->log("ibv: device %s has no queues: %s; lower PST_IBV_RAILS",
	                       device->name, strerror(errno));
	pibv_device_close(device);
	return false;
}

/* Fewer rails are used than asked for where there are fewer ports, too many devices, or a device
 * with smaller send queues. */
int
pibv_rails_open(struct psi_conduit *conduit)
{
	const uint64_t wanted = psi_least(pibv_setting(conduit->services, "PST_IBV_RAILS", 1),
	                                  PIBV_RAILS);
	struct pibv_device found;
	char lack[PIBV_LACK_BYTES];

	while (conduit->rail_count < wanted) {
		struct pibv_rail *rail = &conduit->rails[conduit->rail_count];

		if (!pibv_device_open(conduit->services, conduit, &found, rail, lack, sizeof lack))
			return PSI_OK;
		rail->device_index = device_index_of(conduit, found.name);
		if (rail->device_index < conduit->device_count) {
			pibv_device_close(&found);      /* its context is open already */
		} else if (conduit->device_count == PIBV_DEVICES ||
		           found.limits.max_qp_wr < (int)conduit->depth) {
			pibv_device_close(&found);
			return PSI_OK;
		} else if (device_fill(conduit, &found)) {
			conduit->devices[conduit->device_count++] = found;
		} else {
			return PSI_FAILED;
		}
		conduit->rail_count++;
		pibv_limits_share(conduit, rail);
	}
	return PSI_OK;
}
