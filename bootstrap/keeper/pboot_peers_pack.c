/*
 * At the end of a job of several hosts, what the hook of each host has packed goes to host 0, whose
 * hook prints it.  It goes in parts, and an empty part behind the last says that it is complete.
 * Once a host is lost, the others send nothing more; then each prints for itself.
 */
#include "bootstrap/keeper/pboot_peers.h"

#include <stdlib.h>
#include <string.h>

/* -- sending ----------------------------------------------------------------------------------- */

/* The next part, or the empty one.  AGAIN: the loop comes again when there is room. */
static enum pboot_overlay_result
part_send(struct pboot_peers *peers)
{
	const size_t left = peers->own_pack.len_bytes - peers->pack_sent;
	const uint32_t len = left < PBOOT_FRAME_DATA_BYTES ? (uint32_t)left
							   : PBOOT_FRAME_DATA_BYTES;
	enum pboot_overlay_result result = pboot_overlay_send(peers->net, 0, PBOOT_FRAME_PACK,
	    peers->own_pack.bytes + peers->pack_sent, len);

	if (result == PBOOT_OVERLAY_OK) {
		peers->pack_sent += len;
		peers->pack_is_sent = len == 0;
	}
	return result;
}

bool
pboot_peers_pack_tell(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (peers->host_index == 0 || peers->pack_is_sent || *peers->why)
		return true;
	if (!peers->pack_made) {
		peers->own_pack = pboot_report_pack(keeper);
		peers->pack_made = true;
	}
	while (peers->own_pack.bytes && !peers->pack_is_sent)
		switch (part_send(peers)) {
		case PBOOT_OVERLAY_OK:
			break;
		case PBOOT_OVERLAY_AGAIN:
			return false;
		default:
			return true;
		}
	return true;
}

/* -- receiving --------------------------------------------------------------------------------- */

void
pboot_pack_add(struct pboot_pack *pack, const uint8_t *bytes, uint32_t len_bytes)
{
	unsigned char *grown;

	if (pack->missing || pack->complete)
		return;
	if (len_bytes == 0) {
		pack->complete = pack->bytes != NULL;
		return;
	}
	grown = realloc(pack->bytes, pack->len_bytes + len_bytes);
	if (!grown) {
		free(pack->bytes);
		pack->bytes = NULL;
		pack->len_bytes = 0;
		pack->missing = "no memory for what it has sent";
		return;
	}
	memcpy(grown + pack->len_bytes, bytes, len_bytes);
	pack->bytes = grown;
	pack->len_bytes += len_bytes;
}
