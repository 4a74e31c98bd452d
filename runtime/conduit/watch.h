/*
 * How a process sleeps that both smp and a network wake.
 */
#ifndef PSI_WATCH_H
#define PSI_WATCH_H

#include "runtime/conduit/conduit.h"

#include <stdatomic.h>

struct psi_watch {
	const struct psi_services *services;
	const struct psi_conduit_ops *local, *network;
	uint64_t *counts;               /* of the process; NULL: each thread has its own */
	bool threaded;
	bool waits_on_network;          /* false: it naps */
	int wake_fd;                    /* its own; -1: nobody wakes it but the network */
	uint64_t limit_ns;              /* of a sleep; 0: none */
	_Atomic bool watched;           /* a thread sleeps on the descriptors */
};

/* Chooses how to sleep; where a neighbour or a thread may wake this process, asks for its
 * descriptor (service wake_fd). */
void psi_watch_init(struct psi_watch *watch, const struct psi_services *services,
                    const struct psi_conduit_job *job, const struct psi_conduit_ops *local,
                    const struct psi_conduit_ops *network);

/* In place of smp's `sleep', on a port of smp that is armed.  Any thread. */
void psi_watch_sleep(struct psi_watch *watch, struct psi_conduit *network, struct psi_port *local,
                     uint32_t ticket, uint64_t timeout_ns);

#endif
