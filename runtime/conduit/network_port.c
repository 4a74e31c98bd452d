#include "runtime/conduit/network_port.h"

#include <stdlib.h>

static struct psi_port *
port_make(struct psi_conduit *conduit, uint32_t place, uint32_t places)
{
	struct psi_port *port = calloc(1, sizeof *port);

	if (port)
		port->owed = calloc(places, sizeof *port->owed);
	if (!port || !port->owed) {
		free(port);
		return NULL;
	}
	port->conduit = conduit;
	port->place = place;
	port->index = (uint16_t)(place / places);
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		psi_kept_init(&port->kept[network]);
	return port;
}

/* A serial port needs nothing else: a network is under a lock anyway. */
int
psi_network_port_open(struct psi_conduit *conduit, const char *name,
                      const struct psi_services *services, struct psi_port *ports[PSI_PORTS_MOST],
                      struct psi_guard *guard, uint32_t place, uint32_t places, void *owner,
                      struct psi_port **port_out)
{
	const uint32_t index = place / places;
	struct psi_port *port = NULL;

	if (index < PSI_PORTS_MOST) {
		psi_guard_lock(guard);
		if (!ports[index])
			ports[index] = port_make(conduit, place, places);
		port = ports[index];
		if (port)
			port->owner = owner;
		psi_guard_unlock(guard);
	}
	if (!port) {
		services->log("%s: no memory", name);
		return PSI_FAILED;
	}
	*port_out = port;
	return PSI_OK;
}
