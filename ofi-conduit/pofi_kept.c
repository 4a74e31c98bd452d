/*
 * Messages that wait for their port to be polled: a queue for each network.
 */
#include "ofi-conduit/pofi_look.h"

#include <stdlib.h>
#include <string.h>

struct pofi_kept *
pofi_kept_new(struct psi_conduit *conduit, const char *message, size_t len_bytes)
{
	struct pofi_kept *kept = malloc(offsetof(struct pofi_kept, header) + len_bytes);

	if (!kept) {
		conduit->services->log("ofi: no memory to keep a message of %zu bytes", len_bytes);
		pofi_lose(conduit);
		return NULL;
	}
	memcpy(&kept->header, message, len_bytes);
	return kept;
}

void
pofi_kept_add(struct psi_conduit *conduit, struct pofi_kept *kept)
{
	struct psi_port *port = conduit->ports[kept->header.to];
	const unsigned network = kept->header.network;

	kept->next = NULL;
	*port->kept[network].last = kept;
	port->kept[network].last = &kept->next;
	atomic_fetch_add_explicit(&port->kept_count[network], 1, memory_order_relaxed);
}

/* Replies first. */
struct pofi_kept *
pofi_kept_take(struct psi_port *port, unsigned networks)
{
	for (unsigned network = PSI_NETWORKS; network-- > 0;) {
		struct pofi_kept *kept = networks >> network & 1 ? port->kept[network].first : NULL;

		if (!kept)
			continue;
		port->kept[network].first = kept->next;
		if (!kept->next)
			port->kept[network].last = &port->kept[network].first;
		atomic_fetch_sub_explicit(&port->kept_count[network], 1, memory_order_relaxed);
		return kept;
	}
	return NULL;
}

bool
pofi_has_kept(const struct psi_port *port, unsigned networks)
{
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		if (networks >> network & 1 &&
		    atomic_load_explicit(&port->kept_count[network], memory_order_relaxed))
			return true;
	return false;
}
