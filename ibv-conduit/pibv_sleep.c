/*
 * Draining, and sleeping on the completion channel.
 */
#include "ibv-conduit/pibv.h"

static const uint64_t look_ns = 1000000000, busy_ns = 1000000;

/* -- draining ---------------------------------------------------------------------------------- */

/* All has left when all has completed, so each connection is asked to tell. */
int
pibv_drain(struct psi_conduit *conduit)
{
	bool done;

	if (!psi_guard_trylock(&conduit->guard))
		return PSI_AGAIN;
	pibv_progress_alone(conduit);
	pibv_work_flush_all(conduit);
	done = conduit->lost || !pibv_work_pending(conduit);
	psi_guard_unlock(&conduit->guard);
	return done ? PSI_OK : PSI_AGAIN;
}

/* -- sleeping ---------------------------------------------------------------------------------- */

/* AGAIN: a message is kept for this port. */
int
pibv_arm(struct psi_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out)
{
	(void)room_peer, (void)ticket_out;
	return psi_kept_any(port->kept, networks) ? PSI_AGAIN : PSI_OK;
}

/* Events of earlier sleeps, which would end this one. */
static void
events_drop(struct psi_conduit *conduit)
{
	unsigned count = 0;
	struct ibv_cq *cq;
	void *context;

	while (ibv_get_cq_event(conduit->channel, &cq, &context) == 0)
		count++;
	if (count)
		ibv_ack_cq_events(conduit->devices[0].cq, count);
}

/* The queue is looked at after it was asked for an event, so no completion falls between. */
static bool
queue_is_empty(struct psi_conduit *conduit)
{
	events_drop(conduit);
	return ibv_req_notify_cq(conduit->devices[0].cq, 0) == 0 && !pibv_completions_read(conduit);
}

/* Knocks are heard between two sleeps.  Hellos and lost peers are matters of time, and so is an
 * event of the device, which has another descriptor; devices beyond the first have one more each.
 * Who sleeps polls too seldom to find events there. */
int
pibv_wait_on(struct psi_conduit *conduit, int *fd_out, uint64_t *most_ns_out)
{
	bool empty, busy;

	psi_guard_lock(&conduit->guard);
	pibv_work_flush_wanted(conduit, true);
	pibv_events_read(conduit);
	pibv_knock_look(conduit, look_ns);
	if (conduit->striped)
		pibv_stripes_watch(conduit);
	empty = queue_is_empty(conduit);
	busy = conduit->hello.first || conduit->striped || psi_lost_peer_any(&conduit->lost_peer);
	psi_guard_unlock(&conduit->guard);
	if (!empty)
		return PSI_AGAIN;
	*fd_out = conduit->channel->fd;
	*most_ns_out = busy ? busy_ns : look_ns;
	return PSI_OK;
}
