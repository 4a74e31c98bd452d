/*
 * Transfers that wait for a slot, or for room at the provider: a queue for each process, so that
 * one that takes nothing holds up no other.  While a queue holds something, later transfers with
 * that process go behind it.
 */
#include "ofi-conduit/pofi.h"

#include <stdlib.h>

static void
waiting_enlist(struct psi_conduit *conduit, struct pofi_peer *peer)
{
	peer->next_waiting = conduit->rma.peers;
	conduit->rma.peers = peer;
	peer->waiting_last = &peer->waiting;
}

int
pofi_waiting_add(struct psi_conduit *conduit, uint32_t process, const struct pofi_move *move)
{
	struct pofi_peer *peer = &conduit->peers[process];
	struct pofi_waiting *waiting = malloc(sizeof *waiting);

	if (!waiting)
		return PSI_AGAIN;
	*waiting = (struct pofi_waiting){ .move = *move };
	if (!peer->waiting)
		waiting_enlist(conduit, peer);
	*peer->waiting_last = waiting;
	peer->waiting_last = &waiting->next;
	conduit->rma.waiting++;
	return PSI_OK;
}

void
pofi_waiting_drop_first(struct psi_conduit *conduit, struct pofi_peer *peer)
{
	struct pofi_waiting *waiting = peer->waiting;

	peer->waiting = waiting->next;
	conduit->rma.waiting--;
	free(waiting);
}

/* True if nothing is left.  A source that is read here early counts as read when its transfer ends.
 * Those with a lost process never end: the job does. */
static bool
peer_start_waiting(struct psi_conduit *conduit, struct pofi_peer *peer)
{
	const uint32_t process = (uint32_t)(peer - conduit->peers);

	while (peer->waiting) {
		const struct pofi_waiting *first = peer->waiting;

		if (!peer->broken &&
		    pofi_move_start(conduit, process, &first->move, NULL) != PSI_OK &&
		    !peer->broken)
			return false;
		pofi_waiting_drop_first(conduit, peer);
	}
	return true;
}

void
pofi_waiting_flush(struct psi_conduit *conduit)
{
	struct pofi_peer **link = &conduit->rma.peers;

	while (*link) {
		if (peer_start_waiting(conduit, *link))
			*link = (*link)->next_waiting;
		else
			link = &(*link)->next_waiting;
	}
}
