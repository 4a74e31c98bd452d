/* A network as a job would find it here. */
#ifndef PSI_INTROSPECT_NETWORK_H
#define PSI_INTROSPECT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the plug-in of that name and its conduit, for no job, and writes what it says of itself:
 * provider, limits, memory per peer.  False: why it does not open.  Once for each name. */
bool psi_introspect_network(const char *name, char *text, size_t text_bytes);

#endif
