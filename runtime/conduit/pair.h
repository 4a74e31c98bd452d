/*
 * Two conduits as one: smp between ranks that share memory, and a network between all others.  The
 * route to a peer is chosen by its job rank, once for the job.  A job that has one conduit calls
 * that one's operations and none of these.
 */
#ifndef PSI_PAIR_H
#define PSI_PAIR_H

#include "runtime/conduit/conduit.h"

/* The operations of both; those peers whom the job names local go by the first.  Transfers that the
 * network does not make go to the reference, which may be NULL where there is none.  Once. */
const struct psi_conduit_ops *psi_pair_make(const struct psi_conduit_ops *local,
                                            const struct psi_conduit_ops *network,
                                            const struct psi_conduit_ops *reference);

#endif
