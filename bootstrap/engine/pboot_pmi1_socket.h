/* The socket over which a PMI-1 client speaks. */
#ifndef PBOOT_PMI1_SOCKET_H
#define PBOOT_PMI1_SOCKET_H

#include <stdbool.h>

/* Is the inherited descriptor an open socket?  If so, makes it close-on-exec. */
bool pboot_pmi1_socket_is(int fd);

/* Connects to "host:port", within `ms' for each address of the host.  Returns a descriptor, or -1
 * with the reason in *why_out, which is not to be freed. */
int pboot_pmi1_socket_connect(const char *port, int ms, const char **why_out);

#endif
