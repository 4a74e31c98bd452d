/*
 * Rails: ports beyond the first, of the same device or of another.  They carry shares of large puts
 * and gets alone, so they need no receive queue and no datagrams.  A port of the first device
 * shares its protection domain and its completion queue; another device has its own, and a key of
 * its own for each segment.
 */
#include "ibv-conduit/pibv.h"

#include <errno.h>
#include <string.h>

static struct pibv_rail *
rail_at(struct psi_conduit *conduit, unsigned rail)
{
	return &conduit->more[rail - 1];
}

/* The rail that has the same device already; 0: the first; PIBV_RAILS: none has. */
static unsigned
rail_of_device(struct psi_conduit *conduit, const struct pibv_device *device)
{
	unsigned rail = 0;

	while (rail < conduit->rail_count &&
	       strcmp(pibv_device_of(conduit, rail)->name, device->name) != 0)
		rail++;
	return rail < conduit->rail_count ? rail : PIBV_RAILS;
}

/* Takes the objects of an earlier rail with that device. */
static void
rail_share(struct psi_conduit *conduit, struct pibv_rail *made, unsigned other)
{
	ibv_close_device(made->device.context);
	made->device.context = pibv_device_of(conduit, other)->context;
	made->device_index = pibv_device_index(conduit, other);
	made->pd = other ? rail_at(conduit, other)->pd : conduit->pd;
	made->cq = other ? rail_at(conduit, other)->cq : conduit->cq;
}

/* Makes objects for a further device; false after one line. */
static bool
rail_open_device(struct psi_conduit *conduit, struct pibv_rail *made)
{
	const uint32_t most = (uint32_t)made->device.limits.max_cqe;
	const uint32_t wanted = conduit->signals_most + 4 * conduit->depth;

	made->device_index = conduit->device_count;
	made->pd = ibv_alloc_pd(made->device.context);
	if (made->pd)
		made->cq = ibv_create_cq(made->device.context,
		                         (int)(wanted < most ? wanted : most), NULL, NULL, 0);
	if (made->cq && pibv_fd_unblock(made->device.context->async_fd) == 0) {
		conduit->device_count++;
		return true;
	}
	conduit->services->log("ibv: device %s has no queues: %s; lower PST_IBV_RAILS",
	                       made->device.name, strerror(errno));
	if (made->cq)
		ibv_destroy_cq(made->cq);
	if (made->pd)
		ibv_dealloc_pd(made->pd);
	pibv_device_close(&made->device);
	return false;
}

/* Where there are fewer ports than asked for, fewer are used. */
int
pibv_rails_open(struct psi_conduit *conduit)
{
	const uint64_t wanted = pibv_setting(conduit->services, "PST_IBV_RAILS", 1);
	const struct pibv_device *taken[PIBV_RAILS] = { &conduit->device };
	char lack[PIBV_LACK_BYTES];

	conduit->rail_count = conduit->device_count = 1;
	while (conduit->rail_count < wanted && conduit->rail_count < PIBV_RAILS) {
		struct pibv_rail *made = rail_at(conduit, conduit->rail_count);
		unsigned other;

		if (!pibv_device_open(conduit->services, taken, conduit->rail_count,
		                      &made->device, lack, sizeof lack))
			return PSI_OK;
		other = rail_of_device(conduit, &made->device);
		if (other < PIBV_RAILS) {
			rail_share(conduit, made, other);
		} else if (conduit->device_count == PIBV_DEVICES) {
			pibv_device_close(&made->device);
			return PSI_OK;
		} else if (!rail_open_device(conduit, made)) {
			return PSI_FAILED;
		}
		taken[conduit->rail_count++] = &made->device;
	}
	return PSI_OK;
}

void
pibv_rails_close(struct psi_conduit *conduit)
{
	unsigned closed = 0;

	for (unsigned rail = 1; rail < conduit->rail_count; rail++) {
		struct pibv_rail *at = rail_at(conduit, rail);

		if (at->device_index <= closed)
			continue;
		closed = at->device_index;
		ibv_destroy_cq(at->cq);
		ibv_dealloc_pd(at->pd);
		pibv_device_close(&at->device);
	}
}

int
pibv_rails_read(struct psi_conduit *conduit, struct ibv_wc *wcs, int most)
{
	unsigned read = 0;

	for (unsigned rail = 1; rail < conduit->rail_count; rail++) {
		const struct pibv_rail *at = rail_at(conduit, rail);
		int count;

		if (at->device_index <= read)
			continue;
		read = at->device_index;
		count = ibv_poll_cq(at->cq, most, wcs);
		if (count)
			return count;
	}
	return 0;
}
