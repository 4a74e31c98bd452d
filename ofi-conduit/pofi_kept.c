/*
 * Messages that wait for their port to be polled, and Longs of which a half is not there yet:
 * copies of what arrived.
 */
#include "ofi-conduit/pofi_look.h"

#include <string.h>

struct psi_kept *
pofi_kept_new(struct psi_conduit *conduit, const char *message, size_t len_bytes)
{
	struct psi_kept *kept = psi_kept_new(len_bytes);

	if (!kept) {
		conduit->services->log("ofi: no memory to keep a message of %zu bytes", len_bytes);
		pofi_lose(conduit);
		return NULL;
	}
	memcpy(kept->message, message, len_bytes);
	return kept;
}

void
pofi_kept_add(struct psi_conduit *conduit, struct psi_kept *kept)
{
	const struct pofi_header *header = pofi_header_of(kept);

	psi_kept_add(&conduit->ports[header->to]->kept[header->network], kept);
}
