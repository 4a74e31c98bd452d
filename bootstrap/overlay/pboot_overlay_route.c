/*
 * Frames on their way, and the events that arise from them.
 *
 * A frame stays in the buffer of the link by which it came until the links by which it leaves have
 * room.  Then it is copied there, or given to the caller.  A frame that waits holds up the frames
 * behind it, and in time its sender.  No deadlock can arise: frames on their way up wait for links
 * further up or down, frames on their way down wait for links further down, and the last link waits
 * for the caller, which takes all events.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <string.h>

/* What was done with the first frame of a link. */
enum look {
	LOOK_NOTHING,		/* there is none, or it has to wait */
	LOOK_DONE,
	LOOK_EVENT,
};

/* ------------------------------------------------------------------- out --- */

/* The cursors yield when the buffer is not low, so that frames have room beside them. */
bool
pboot_route_pump(struct pboot_overlay *net, struct pboot_link *link)
{
	while (pboot_buffer_used(&link->out) <= PBOOT_LINK_LOW_BYTES) {
		if (!pboot_net_tell_losses(net, link))
			return false;
		if (!pboot_gather_put(net, link))
			return true;
	}
	return false;
}

static bool
link_flush(struct pboot_overlay *net, struct pboot_link *link)
{
	uint32_t before;

	if (!link->bye_sent)
		pboot_route_pump(net, link);
	before = pboot_buffer_used(&link->out);
	pboot_link_write(link, net->now_ns);
	return pboot_buffer_used(&link->out) < before;
}

bool
pboot_route_flush(struct pboot_overlay *net)
{
	struct pboot_link *link;
	bool wrote = false;

	for (link = net->link; link <= net->link + net->children; link++)
		if (link->state == PBOOT_LINK_UP && link_flush(net, link))
			wrote = true;
	return wrote;
}

/* Must the frame go out by this link?  It goes to one host, or to all but those behind the branch
 * from which it came. */
static bool
link_takes(const struct pboot_overlay *net, const struct pboot_link *link,
    const struct pboot_frame *frame, uint32_t from_branch)
{
	if (link->state != PBOOT_LINK_UP || link->bye_sent || link->branch == from_branch)
		return false;
	return frame->to == PBOOT_FRAME_ALL ||
	    pboot_tree_branch(net->options.self, frame->to) == link->branch;
}

/* Is there room for a frame?  What the link has to carry goes first, above all the news that all
 * hosts are connected. */
static bool
link_has_room(struct pboot_overlay *net, struct pboot_link *link, const struct pboot_frame *frame)
{
	pboot_route_pump(net, link);
	return pboot_link_has_room(link, frame->len_bytes);
}

/* Puts the frame into all links that take it, or into none if one has no room.  A sender on this
 * host is told when there is room again. */
static bool
frame_put(struct pboot_overlay *net, const struct pboot_frame *frame, const void *body,
    uint32_t from_branch)
{
	const bool own = from_branch == PBOOT_TREE_NONE;
	struct pboot_link *link;
	bool room = true;

	for (link = net->link; link <= net->link + net->children; link++)
		if (link_takes(net, link, frame, from_branch) &&
		    !link_has_room(net, link, frame)) {
			room = false;
			link->room_requested |= own;
		}
	for (link = net->link; room && link <= net->link + net->children; link++)
		if (link_takes(net, link, frame, from_branch))
			pboot_link_put(link, frame, NULL, 0, body);
	return room;
}

enum pboot_overlay_result
pboot_overlay_send(struct pboot_overlay *net, uint32_t to, uint16_t kind, const void *bytes,
    uint32_t len_bytes)
{
	const struct pboot_frame frame = {
		.type = PBOOT_FRAME_DATA, .kind = kind, .from = net->options.self, .to = to,
		.len_bytes = len_bytes,
	};
	const bool one = to != PBOOT_FRAME_ALL;

	if (len_bytes > PBOOT_FRAME_DATA_BYTES || to == net->options.self ||
	    (one && to >= net->options.host_count) || net->state == PBOOT_NET_OPEN)
		return PBOOT_OVERLAY_MISUSE;
	if (net->state >= PBOOT_NET_CLOSING || (one && !pboot_overlay_reaches(net, to)))
		return PBOOT_OVERLAY_GONE;
	if (net->state == PBOOT_NET_CONNECTING)
		return net->loss_count > 0 ? PBOOT_OVERLAY_GONE : PBOOT_OVERLAY_AGAIN;
	if (!frame_put(net, &frame, bytes, PBOOT_TREE_NONE))
		return PBOOT_OVERLAY_AGAIN;
	pboot_route_flush(net);
	return PBOOT_OVERLAY_OK;
}

/* ------------------------------------------------------------------- in --- */

static enum look
link_lose_by_fault(struct pboot_overlay *net, struct pboot_link *link)
{
	pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_FAULT,
	    "the keeper of %.60s sent a faulty frame to %.60s",
	    pboot_net_name(net, link->peer), pboot_net_name(net, net->options.self));
	return LOOK_DONE;
}

/* The frame leaves the buffer when the caller asks for the next event. */
static enum look
frame_give(struct pboot_overlay *net, const struct pboot_link *link,
    const struct pboot_frame *frame, const uint8_t *body, struct pboot_overlay_event *event_out)
{
	net->frame_given = true;
	net->given_branch = link->branch;
	net->given_frame = *frame;
	event_out->kind = PBOOT_OVERLAY_FRAME;
	event_out->host = frame->from;
	event_out->frame_kind = frame->kind;
	event_out->bytes = body;
	event_out->len_bytes = frame->len_bytes;
	return LOOK_EVENT;
}

static enum look
data_look(struct pboot_overlay *net, struct pboot_link *link, const struct pboot_frame *frame,
    const uint8_t *body, struct pboot_overlay_event *event_out)
{
	if (frame->to != net->options.self && !frame_put(net, frame, body, link->branch))
		return LOOK_NOTHING;
	if (frame->to == net->options.self || frame->to == PBOOT_FRAME_ALL)
		return frame_give(net, link, frame, body, event_out);
	pboot_link_take(link, frame);
	return LOOK_DONE;
}

/* Takes a frame that is for this keeper itself; returns false if it is faulty. */
static bool
frame_hear(struct pboot_overlay *net, struct pboot_link *link, const struct pboot_frame *frame,
    const uint8_t *body)
{
	switch (frame->type) {
	case PBOOT_FRAME_BEAT:
		return true;
	case PBOOT_FRAME_BYE:
		link->bye_taken = true;
		return true;
	case PBOOT_FRAME_LOSS:
		return pboot_net_hear_loss(net, frame, body);
	case PBOOT_FRAME_PIECE:
		return pboot_gather_hear_piece(net, frame, body);
	case PBOOT_FRAME_BARRIER:
		return pboot_gather_hear_barrier(net, link, frame->to);
	case PBOOT_FRAME_DATA:
		break;
	}
	return false;
}

static enum look
link_look(struct pboot_overlay *net, struct pboot_link *link,
    struct pboot_overlay_event *event_out)
{
	struct pboot_frame frame;
	const uint8_t *body;
	int found;

	if (link->state != PBOOT_LINK_UP)
		return LOOK_NOTHING;
	found = pboot_link_peek(link, net->options.self, net->options.host_count, &frame, &body);
	if (found < 0 || (found > 0 && link->bye_taken && frame.type != PBOOT_FRAME_BEAT))
		return link_lose_by_fault(net, link);
	if (found == 0 && link->news == PBOOT_LINK_FINE)
		return LOOK_NOTHING;
	if (found == 0) {
		pboot_leave_ended(net, link);
		return LOOK_DONE;
	}
	if (frame.type == PBOOT_FRAME_DATA)
		return data_look(net, link, &frame, body, event_out);
	if (!frame_hear(net, link, &frame, body))
		return link_lose_by_fault(net, link);
	pboot_link_take(link, &frame);
	return LOOK_DONE;
}

static bool
loss_give(struct pboot_overlay *net, struct pboot_overlay_event *event_out)
{
	const struct pboot_loss *loss;

	if (net->losses_given == net->loss_count)
		return false;
	loss = &net->losses[net->losses_given++];
	event_out->kind = PBOOT_OVERLAY_LOST;
	event_out->host = loss->host;
	event_out->witness = loss->witness;
	event_out->loss = loss->kind;
	event_out->why = loss->why;
	return true;
}

/* The first barrier is that of connect. */
static bool
collective_give(struct pboot_overlay *net, struct pboot_overlay_event *event_out)
{
	const struct pboot_collective *collective = pboot_gather_completed(net);

	if (!collective)
		return false;
	if (net->completed == 1) {
		if (net->state == PBOOT_NET_CONNECTING)
			net->state = PBOOT_NET_CONNECTED;
		event_out->kind = PBOOT_OVERLAY_CONNECTED;
	} else if (collective->kind == PBOOT_COLLECTIVE_GATHER) {
		event_out->kind = PBOOT_OVERLAY_GATHERED;
		event_out->blobs = collective->blobs;
	} else {
		event_out->kind = PBOOT_OVERLAY_PASSED;
	}
	return true;
}

/* The links take turns, with a frame each. */
static bool
links_look(struct pboot_overlay *net, struct pboot_overlay_event *event_out)
{
	uint32_t idle = 0;
	enum look look;

	while (idle <= net->children) {
		if (loss_give(net, event_out) || collective_give(net, event_out))
			return true;
		look = link_look(net, &net->link[net->turn], event_out);
		net->turn = net->turn == net->children ? 0 : net->turn + 1;
		if (look == LOOK_EVENT)
			return true;
		idle = look == LOOK_DONE ? 0 : idle + 1;
	}
	return false;
}

static bool
room_give(struct pboot_overlay *net, struct pboot_overlay_event *event_out)
{
	struct pboot_link *link;
	bool room = false;

	for (link = net->link; link <= net->link + net->children; link++)
		if (link->room_requested &&
		    pboot_buffer_used(&link->out) <= PBOOT_LINK_LOW_BYTES) {
			link->room_requested = false;
			room = true;
		}
	if (room)
		event_out->kind = PBOOT_OVERLAY_ROOM;
	return room;
}

static bool
closed_give(struct pboot_overlay *net, struct pboot_overlay_event *event_out)
{
	const struct pboot_link *link;

	if (net->state != PBOOT_NET_CLOSING)
		return false;
	for (link = net->link; link <= net->link + net->children; link++)
		if (link->state == PBOOT_LINK_UP || link->state == PBOOT_LINK_AWAITED)
			return false;
	net->state = PBOOT_NET_CLOSED;
	event_out->kind = PBOOT_OVERLAY_CLOSED;
	return true;
}

static void
frame_retire(struct pboot_overlay *net)
{
	struct pboot_link *link = &net->link[net->given_branch];

	if (net->frame_given && link->state == PBOOT_LINK_UP)
		pboot_link_take(link, &net->given_frame);
	net->frame_given = false;
}

/* The loop looks again after it has written, since that may have made room for a frame that
 * waits. */
bool
pboot_overlay_next(struct pboot_overlay *net, struct pboot_overlay_event *event_out)
{
	memset(event_out, 0, sizeof *event_out);
	frame_retire(net);
	pboot_gather_retire(net);
	do {
		if (links_look(net, event_out))
			return true;
		pboot_leave_step(net);
	} while (pboot_route_flush(net));
	pboot_gather_retire(net);
	return room_give(net, event_out) || closed_give(net, event_out);
}
