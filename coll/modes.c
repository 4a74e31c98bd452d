#include "coll/modes.h"

#include "runtime/process/endpoint.h"

#include <stddef.h>
#include <string.h>

/* Conduits' own, then libfabric's (fi_provider(7)), without the layers above them. */
static const char *const known[] = {
	"smp", "ibv",
	"bgq", "cxi", "efa", "gni", "lpp", "mlx", "net", "opx", "psm", "psm2", "psm3", "shm",
	"sm2", "sockets", "tcp", "ucx", "udp", "usnic", "verbs",
};

bool
pcoll_mode_is_known(const char *mode)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i], mode) == 0)
			return true;
	return strcmp(mode, psi_transport_between(2)) == 0;
}
