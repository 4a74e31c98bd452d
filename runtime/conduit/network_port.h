/*
 * What the networks' conduits keep of a port: messages that wait for it to be polled, and the
 * credits that it owes.  Conduits are plug-ins, so each has a copy of this code.
 */
#ifndef PSI_NETWORK_PORT_H
#define PSI_NETWORK_PORT_H

#include "runtime/conduit/conduit.h"
#include "runtime/util/guard.h"
#include "runtime/util/kept.h"

#include <stdatomic.h>

struct psi_port {
	struct psi_conduit *conduit;
	void *owner;
	uint32_t place;
	uint16_t index;                 /* of those of the process */
	struct psi_kept_queue kept[PSI_NETWORKS];
	_Atomic bool streams;           /* ofi: the last poll found something; none sent since */
	uint16_t *owed;                 /* [places]: credits, to the processes that sent requests */
	bool payment_due;               /* a payment found no room */
};

/* The operation port_open of the conduit of that name: the port of that place, of a job of so many
 * first places, made when it is first asked for.  The guard is of the ports.  OK; or FAILED after
 * one line, where there is no memory, or ports have no more such indices. */
int psi_network_port_open(struct psi_conduit *conduit, const char *name,
                          const struct psi_services *services,
                          struct psi_port *ports[PSI_PORTS_MOST], struct psi_guard *guard,
                          uint32_t place, uint32_t places, void *owner,
                          struct psi_port **port_out);

#endif
