/*
 * Peers: the processes to which messages go, their addresses, the replies that wait for room there,
 * and those that were lost.
 */
#include "ofi-conduit/pofi.h"

#include "runtime/util/clock.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t broken_grace_ns = 2000000000;

struct pofi_peer *
pofi_peers_new(uint32_t places)
{
	struct pofi_peer *peers = calloc(places, sizeof *peers);

	for (uint32_t process = 0; peers && process < places; process++)
		peers[process].address = FI_ADDR_NOTAVAIL;
	return peers;
}

/* What a peer costs if this process and the peer have one port each. */
size_t
pofi_peer_bytes(const struct psi_conduit *conduit)
{
	return conduit->info->src_addrlen + sizeof *conduit->peers + sizeof **conduit->spent +
	       sizeof *conduit->ports[0]->owed +
	       (conduit->records.rings ? sizeof *conduit->records.names : 0);
}

uint16_t *
pofi_spent_at(struct psi_conduit *conduit, uint32_t place)
{
	const uint32_t index = pofi_index_of(conduit, place);

	if (index >= PSI_PORTS_MOST)
		return NULL;
	if (!conduit->spent[index])
		conduit->spent[index] = calloc(conduit->places, sizeof **conduit->spent);
	return conduit->spent[index]
	               ? &conduit->spent[index][pofi_process_of(conduit, place)] : NULL;
}

int
pofi_address_of(struct psi_conduit *conduit, uint32_t process, fi_addr_t *address_out)
{
	fi_addr_t *known = &conduit->peers[process].address;

	if (*known == FI_ADDR_NOTAVAIL &&
	    fi_av_insert(conduit->av, conduit->addresses + process * conduit->address_bytes, 1,
	                 known, 0, NULL) != 1) {
		*known = FI_ADDR_NOTAVAIL;
		conduit->services->log("ofi: provider %s does not take the address of rank %u; "
		                       "is there memory?", conduit->info->fabric_attr->prov_name,
		                       process);
		pofi_lose(conduit);
		return PSI_FATAL;
	}
	*address_out = *known;
	return PSI_OK;
}

/* -- the backlog ------------------------------------------------------------------------------- */

static void
backlog_enlist(struct psi_conduit *conduit, struct pofi_peer *peer)
{
	peer->next_queued = conduit->queued;
	conduit->queued = peer;
	peer->last = &peer->first;
}

char *
pofi_backlog_room(struct psi_conduit *conduit, uint32_t process, size_t len_bytes)
{
	struct pofi_peer *peer = &conduit->peers[process];
	struct pofi_queued *queued;

	if (peer->queued >= conduit->credits)
		return NULL;
	queued = malloc(sizeof *queued + len_bytes);
	if (!queued)
		return NULL;
	queued->len_bytes = (uint32_t)len_bytes;
	queued->next = NULL;
	if (!peer->first)
		backlog_enlist(conduit, peer);
	*peer->last = queued;
	peer->last = &queued->next;
	peer->queued++;
	return queued->bytes;
}

static void
backlog_drop_first(struct pofi_peer *peer)
{
	struct pofi_queued *queued = peer->first;

	peer->first = queued->next;
	peer->queued--;
	free(queued);
}

/* The port that the message is from pays what it owes by now. */
static int
queued_send(struct psi_conduit *conduit, uint32_t process, struct pofi_queued *queued)
{
	struct pofi_header header;
	uint16_t *owed;
	int result;

	memcpy(&header, queued->bytes, POFI_HEADER_BYTES);
	owed = &conduit->ports[pofi_index_of(conduit, header.source)]->owed[process];
	header.credits = *owed;
	header.records = conduit->peers[process].records_taken;
	memcpy(queued->bytes, &header, POFI_HEADER_BYTES);
	result = pofi_message_send(conduit, process, header.network, queued->bytes,
	                           queued->len_bytes);
	if (result == PSI_OK)
		*owed = 0;
	return result;
}

/* True if nothing is left. */
static bool
peer_flush(struct psi_conduit *conduit, struct pofi_peer *peer)
{
	const uint32_t process = (uint32_t)(peer - conduit->peers);

	while (peer->first) {
		if (!peer->broken && queued_send(conduit, process, peer->first) != PSI_OK &&
		    !peer->broken)
			return false;
		backlog_drop_first(peer);
	}
	return true;
}

void
pofi_backlog_flush(struct psi_conduit *conduit)
{
	struct pofi_peer **link = &conduit->queued;

	while (*link) {
		if (peer_flush(conduit, *link))
			*link = (*link)->next_queued;
		else
			link = &(*link)->next_queued;
	}
}

/* -- those that are lost ----------------------------------------------------------------------- */

void
pofi_lose(struct psi_conduit *conduit)
{
	conduit->lost = true;
	psi_lost_peer_note(&conduit->lost_peer, PSI_NO_PEER, 0, "see the line before");
}

void
pofi_peer_break(struct psi_conduit *conduit, uint32_t process, int code, const char *detail)
{
	if (process != PSI_NO_PEER)
		conduit->peers[process].broken = true;
	psi_lost_peer_note(&conduit->lost_peer, process, psi_now_ns() + broken_grace_ns,
	                   "%s%s%s%s", fi_strerror(code), detail ? " (" : "",
	                   detail ? detail : "", detail ? ")" : "");
}

void
pofi_tell_broken(struct psi_conduit *conduit)
{
	bool is_time;

	if (!psi_lost_peer_any(&conduit->lost_peer) || !psi_guard_trylock(&conduit->guard))
		return;
	is_time = psi_now_ns() >= conduit->lost_peer.tell_at_ns;
	psi_guard_unlock(&conduit->guard);
	if (is_time)
		conduit->services->unreachable(conduit->lost_peer.place, conduit->lost_peer.why);
}

void
pofi_peers_free(struct psi_conduit *conduit)
{
	for (uint32_t process = 0; conduit->peers && process < conduit->places; process++) {
		while (conduit->peers[process].first)
			backlog_drop_first(&conduit->peers[process]);
		while (conduit->peers[process].waiting)
			pofi_waiting_drop_first(conduit, &conduit->peers[process]);
	}
	for (unsigned index = 0; index < PSI_PORTS_MOST; index++)
		free(conduit->spent[index]);
	free(conduit->peers);
}
