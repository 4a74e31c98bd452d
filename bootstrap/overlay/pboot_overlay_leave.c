/*
 * Closes the overlay in order.  BYE goes up the tree when a keeper and all below it close, and down
 * from the root when all do; so no link ends that a keeper still needs.
 *
 *     child                                   parent
 *     BYE, when its children have said it -->
 *                                         <-- BYE, when its own parent has said it
 *     closes                                  shuts its direction after BYE, and waits for that
 *
 * The side that closes first has read everything, so no byte is lost to a reset.  A link that ends
 * after BYE of both is no loss.
 *
 * A keeper does not wait for a lost neighbour.  It waits for one that has not connected yet, until
 * the deadline of connect, since that neighbour must be told why the job ends before it began.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Has this neighbour nothing more to say? */
static bool
link_is_done(const struct pboot_link *link)
{
	if (link->state == PBOOT_LINK_AWAITED)
		return false;
	return link->state != PBOOT_LINK_UP || link->bye_taken;
}

static bool
children_are_done(const struct pboot_overlay *net)
{
	uint32_t branch;

	for (branch = 1; branch <= net->children; branch++)
		if (!link_is_done(&net->link[branch]))
			return false;
	return true;
}

/* Sends BYE once all frames of the link are in its buffer. */
static void
bye_put(struct pboot_overlay *net, struct pboot_link *link)
{
	const struct pboot_frame frame = { .type = PBOOT_FRAME_BYE };

	if (link->state == PBOOT_LINK_UP && !link->bye_sent && pboot_route_pump(net, link))
		link->bye_sent = pboot_link_put(link, &frame, NULL, 0, NULL);
}

static void
link_finish(struct pboot_overlay *net, struct pboot_link *link)
{
	if (!link->bye_sent || !link->bye_taken || pboot_buffer_used(&link->out) > 0)
		return;
	if (link->branch == PBOOT_TREE_UP) {
		pboot_link_limit_socket(link->fd, net->options.limit_ns);
		pboot_link_close(link, PBOOT_LINK_CLOSED);
	} else if (!link->shut) {
		shutdown(link->fd, SHUT_WR);
		link->shut = true;
	}
}

void
pboot_leave_step(struct pboot_overlay *net)
{
	struct pboot_link *up = &net->link[PBOOT_TREE_UP], *link;

	if (net->state != PBOOT_NET_CLOSING)
		return;
	if (children_are_done(net)) {
		bye_put(net, up);
		for (link = net->link + 1; link <= net->link + net->children; link++)
			if (link_is_done(up))
				bye_put(net, link);
	}
	for (link = net->link; link <= net->link + net->children; link++)
		if (link->state == PBOOT_LINK_UP)
			link_finish(net, link);
}

/* Does this error mean that the kernel got no answer from the other side? */
static bool
error_is_silence(int error)
{
	return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}

void
pboot_leave_ended(struct pboot_overlay *net, struct pboot_link *link)
{
	const char *here = pboot_net_name(net, net->options.self);
	const char *there = pboot_net_name(net, link->peer);

	if (link->bye_sent && link->bye_taken)
		pboot_link_close(link, PBOOT_LINK_CLOSED);
	else if (link->news == PBOOT_LINK_ENDED)
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_KERNEL,
		    "the keeper of %.60s closed its connection to %.60s", there, here);
	else
		pboot_net_lose_format(net, link, error_is_silence(link->error) ?
		    PBOOT_OVERLAY_BY_SILENCE : PBOOT_OVERLAY_BY_KERNEL,
		    "the connection of %.40s to the keeper of %.40s broke: %.50s", here, there,
		    strerror(link->error));
}
