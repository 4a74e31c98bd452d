/*
 * The smp conduit: the contract's operations over sysvnet, the message queue in shared memory.
 *
 * A port of the contract is the same object as a port of sysvnet; the type alone differs.
 */
#ifndef PSMP_H
#define PSMP_H

#include "runtime/conduit/conduit.h"
#include "smp-conduit/sysvnet/sysvnet.h"

struct psi_conduit {
	const struct psi_services *services;
	struct sysvnet *net;
	uint32_t host_index;            /* of this process */
	bool crowded;                   /* more ranks than CPUs on this host */
	const char *fence_reason;       /* why senders fence, or do not */
};

static inline struct psi_port *
psmp_port_of(struct sysvnet_port *port)
{
	return (struct psi_port *)(void *)port;
}

static inline struct sysvnet_port *
psmp_net_port_of(struct psi_port *port)
{
	return (struct sysvnet_port *)(void *)port;
}

/* psmp_open.c: the operations that need no port. */
bool psmp_probe(const struct psi_services *services, char *reason, size_t reason_bytes);
int psmp_open(const struct psi_services *services, const struct psi_conduit_job *job,
              struct psi_attributes *attributes_out, struct psi_conduit **conduit_out);
int psmp_connect(struct psi_conduit *conduit);
void psmp_describe(struct psi_conduit *conduit, char *text, size_t text_bytes);
bool psmp_memory_area(struct psi_conduit *conduit, unsigned i,
                      struct psi_memory_area *area_out);
size_t psmp_queue_bytes(uint32_t endpoints);

extern const struct psi_conduit_ops psmp_ops;

#endif
