/*
 * Draining, as the rank ends, and what a thread asks before it sleeps.
 */
#include "ofi-conduit/pofi_look.h"

static const uint64_t sleep_busy_ns = 1000000;

/* Sends one more message with a completion behind those that went without.  False if one found no
 * room. */
static bool
injected_mark(struct psi_conduit *conduit)
{
	for (uint32_t process = 0; process < conduit->places; process++) {
		struct pofi_peer *peer = &conduit->peers[process];

		if (!peer->injected || peer->broken)
			continue;
		if (pofi_mark_behind(conduit, process) != PSI_OK)
			return false;
		peer->injected = false;
	}
	return true;
}

/* True if nothing is left to send.  Nobody learns of the transfers that end here: the threads that
 * might ask are about to. */
static bool
drain_step(struct psi_conduit *conduit)
{
	struct pofi_look look = { .port = NULL };
	bool marked;

	pofi_backlog_flush(conduit);
	pofi_waiting_flush(conduit);
	marked = injected_mark(conduit);
	(void)pofi_completions_read(conduit, &look, POFI_BATCH);
	return marked && !pofi_sends_pending(conduit) && !pofi_puts_pending(conduit);
}

int
pofi_drain(struct psi_conduit *conduit)
{
	bool done;

	if (!psi_guard_trylock(&conduit->guard))
		return PSI_AGAIN;
	done = conduit->left || drain_step(conduit);
	if (done)
		pofi_leave(conduit);
	psi_guard_unlock(&conduit->guard);
	return done ? PSI_OK : PSI_AGAIN;
}

/* -- sleeping ---------------------------------------------------------------------------------- */

/* AGAIN: a message is kept for this port. */
int
pofi_arm(struct psi_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out)
{
	(void)room_peer, (void)ticket_out;
	return psi_kept_any(port->kept, networks) ? PSI_AGAIN : PSI_OK;
}

/* What is being sent needs the provider's own progress, for which it need not wake anybody; so does
 * a peer that is lost, of which a poll tells; and what a descriptor may miss. */
int
pofi_wait_on(struct psi_conduit *conduit, int *fd_out, uint64_t *most_ns_out)
{
	struct fid *fids[] = { &conduit->cq->fid };
	bool quiet, busy;

	if (conduit->wait_fd < 0)
		return PSI_UNSUPPORTED;
	psi_guard_lock(&conduit->guard);
	quiet = fi_trywait(conduit->fabric, fids, 1) == 0;
	busy = pofi_sends_pending(conduit) || pofi_transfers_pending(conduit) ||
	       psi_lost_peer_any(&conduit->lost_peer) || conduit->wait_misses ||
	       conduit->reach.asks;
	psi_guard_unlock(&conduit->guard);
	if (!quiet)
		return PSI_AGAIN;
	*fd_out = conduit->wait_fd;
	*most_ns_out = busy ? sleep_busy_ns : 0;
	return PSI_OK;
}
