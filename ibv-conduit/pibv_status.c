/*
 * What goes wrong: completions that failed, events of the device, peers that are lost, and the
 * words for each.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/clock.h"

#include <stdio.h>

static const uint64_t grace_ns = 2000000000;

void
pibv_lose(struct psi_conduit *conduit)
{
	conduit->lost = true;
	psi_lost_peer_note(&conduit->lost_peer, PSI_NO_PEER, 0, "see the line before");
}

void
pibv_connection_break(struct psi_conduit *conduit, struct pibv_connection *connection,
                      const char *why)
{
	if (connection->rail) {
		pibv_rail_break(conduit, connection, why);
		return;
	}
	connection->broken = true;
	psi_lost_peer_note(&conduit->lost_peer, connection->process, psi_now_ns() + grace_ns, "%s",
	                   why);
}

/* A device that repeats a message may repeat a put or an atomic operation too, so nothing that it
 * did can be relied on. */
void
pibv_message_is_out_of_turn(struct psi_conduit *conduit, const struct pibv_header *header)
{
	const uint32_t process = pibv_process_of(conduit, header->source);
	const int ahead = (int8_t)(header->number - conduit->arrived[process]);

	conduit->lost = true;
	psi_lost_peer_note(&conduit->lost_peer, PSI_NO_PEER, 0,
	                   "device %s has %s a message of rank %u; Soft-RoCE does so where an "
	                   "answer is late, and a GASNET_QP_TIMEOUT of more than %u waits longer",
	                   conduit->devices[0].name, ahead < 0 ? "repeated" : "lost", process,
	                   conduit->timeout);
}

/* -- completions ------------------------------------------------------------------------------- */

/* How long the device has tried: each time for 4.096 us by 2 to the power of the timeout. */
double
pibv_tried_s(const struct psi_conduit *conduit)
{
	return 4.096e-6 * (double)(UINT64_C(1) << conduit->timeout) * (conduit->retries + 1);
}

/* What a status most likely means here.  Requests behind one that failed are flushed; where no
 * other has failed, the device has stopped the queue pair for what the peer sent, or does not say
 * why. */
static const char *
reason_of(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_WR_FLUSH_ERR:
		return "the device has stopped the connection, and does not say why";
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer is gone, or no path leads to it";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer has had no receive buffer";
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_INV_RD_REQ_ERR:
		return "the peer's segment is gone, or was bound anew";
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return "the peer's device could not do it";
	case IBV_WC_LOC_QP_OP_ERR:      /* of Soft-RoCE, before it says that its port goes down */
		return "the port went down, or memory of this process was unmapped while the "
		       "device used it";
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_MW_BIND_ERR:
		return "memory of this process was unmapped while the device used it";
	case IBV_WC_FATAL_ERR:
	case IBV_WC_GENERAL_ERR:
		return "the device has failed, or was removed";
	default:
		return "not expected";
	}
}

/* A device whose port is down, or that was removed, fails in many ways: it is asked first.
 * Soft-RoCE gives up at once what it would send while its port is down. */
static const char *
reason_here(struct psi_conduit *conduit, unsigned rail, enum ibv_wc_status status)
{
	struct ibv_port_attr port;

	if (ibv_query_port(pibv_device_of(conduit, rail)->context,
	                   conduit->rails[rail].port_number, &port) != 0)
		return "the device has failed, or was removed";
	pibv_events_read(conduit);
	if (port.state != IBV_PORT_ACTIVE ||
	    (conduit->port_was_down && status == IBV_WC_LOC_QP_OP_ERR))
		return "that port is down, or was a moment ago";
	return reason_of(status);
}

/* The connection that a completion is of. */
static struct pibv_connection *
connection_at(const struct psi_conduit *conduit, const struct ibv_wc *wc)
{
	struct pibv_connection *at = conduit->made;

	if (pibv_wr_whose(wc->wr_id) == PIBV_OF_SEND)
		return pibv_wr_connection(conduit, wc->wr_id);
	while (at && at->qp->qp_num != wc->qp_num)
		at = at->next_made;
	return at;
}

void
pibv_completion_failed(struct psi_conduit *conduit, const struct ibv_wc *wc)
{
	struct pibv_connection *connection = connection_at(conduit, wc);
	char why[PSI_LOST_WHY_BYTES];
	const char *reason, *name;
	unsigned port;

	if (!connection || connection->broken)
		return;
	reason = reason_here(conduit, connection->rail, wc->status);
	name = pibv_device_of(conduit, connection->rail)->name;
	port = conduit->rails[connection->rail].port_number;
	if (wc->status == IBV_WC_RETRY_EXC_ERR)
		snprintf(why, sizeof why, "%s for %.1f s by port %u of %s: %s",
		         ibv_wc_status_str(wc->status), pibv_tried_s(conduit), port, name,
		         reason);
	else
		snprintf(why, sizeof why, "%s (vendor's number %#x) by port %u of %s: %s",
		         ibv_wc_status_str(wc->status), wc->vendor_err, port, name, reason);
	pibv_connection_break(conduit, connection, why);
}

/* -- events ------------------------------------------------------------------------------------ */

static bool
port_is_used(const struct psi_conduit *conduit, unsigned device, int port)
{
	for (unsigned rail = 0; rail < conduit->rail_count; rail++)
		if (conduit->rails[rail].device_index == device &&
		    conduit->rails[rail].port_number == port)
			return true;
	return false;
}

/* What a further device can do no more shows by its transfers, which then go by the first. */
static void
event_take(struct psi_conduit *conduit, unsigned device, const struct ibv_async_event *event)
{
	const char *name = conduit->devices[device].name;
	const char *what = ibv_event_type_str(event->event_type);

	switch (event->event_type) {
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
		if (!port_is_used(conduit, device, event->element.port_num))
			break;
		conduit->port_was_down = true;
		conduit->services->log("ibv: port %d of %s: %s", event->element.port_num,
		                       name, what);
		break;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_DEVICE_FATAL:
		conduit->services->log("ibv: device %s: %s%s", name, what,
		                       device == 0 ? "; the job cannot go on" : "");
		if (device == 0)
			pibv_lose(conduit);
		break;
	default:
		break;          /* those of queue pairs come as completions too */
	}
}

void
pibv_events_read(struct psi_conduit *conduit)
{
	struct ibv_async_event event;

	for (unsigned device = 0; device < conduit->device_count; device++)
		while (ibv_get_async_event(conduit->devices[device].context, &event) == 0) {
			event_take(conduit, device, &event);
			ibv_ack_async_event(&event);
		}
}

/* ---------------------------------------------------------------------------------------------- */

void
pibv_tell_lost(struct psi_conduit *conduit)
{
	bool is_time;

	if (!psi_guard_trylock(&conduit->guard))
		return;
	is_time = psi_now_ns() >= conduit->lost_peer.tell_at_ns;
	psi_guard_unlock(&conduit->guard);
	if (is_time)
		conduit->services->unreachable(conduit->lost_peer.place, conduit->lost_peer.why);
}
