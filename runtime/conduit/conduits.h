/* The conduits of this build, and the table that is called. */
#ifndef PSI_CONDUITS_H
#define PSI_CONDUITS_H

#include "runtime/conduit/conduit.h"

/* A conduit of this build, or NULL. */
const struct psi_conduit_ops *psi_conduit_named(const char *name);
/* As the conduit's queue_bytes; 0 if none has that name.  Needs no job. */
size_t psi_conduit_queue_bytes(const char *name, uint32_t endpoints);

/* The name of a required operation that a conduit has not; NULL: it has all. */
const char *psi_conduit_lacks(const struct psi_conduit_ops *ops);
/* Lays a conduit's operations over those of the reference (NULL: there is none), and those over
 * fillers.  NULL, or the name of a required one that the conduit lacks. */
const char *psi_conduit_lay(const struct psi_conduit_ops *ops,
                            const struct psi_conduit_ops *reference,
                            const struct psi_conduit_ops **in_force_out);

#endif
