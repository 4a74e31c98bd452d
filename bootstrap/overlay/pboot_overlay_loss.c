/*
 * Lost hosts.  A loss is an edge of the tree that is cut: the host at one end is lost, the other
 * host is its witness.  The list of losses only grows, and each link has a cursor into it.  So
 * every host that can be reached is told of each loss once, also over a link that comes up later,
 * and no memory is needed but that of the list.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
pboot_net_name(const struct pboot_overlay *net, uint32_t host)
{
	return net->hosts[host].name;
}

const char *
pboot_overlay_name(const struct pboot_overlay *net, uint32_t host)
{
	return pboot_net_name(net, host);
}

static bool
host_is_lost(const struct pboot_overlay *net, uint32_t host)
{
	uint32_t i;

	for (i = 0; i < net->loss_count; i++)
		if (net->losses[i].host == host)
			return true;
	return false;
}

/* The text may be that of another host, and will be printed.  Control characters are replaced, so
 * that nothing in it moves a terminal's cursor. */
static void
loss_set_why(struct pboot_loss *loss, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		loss->why[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	loss->why[len] = '\0';
}

static void
loss_add(struct pboot_overlay *net, const struct pboot_frame *frame, const char *text)
{
	struct pboot_loss *loss;

	if (host_is_lost(net, frame->to))
		return;
	loss = &net->losses[net->loss_count++];
	loss->host = frame->to;
	loss->witness = frame->from;
	loss->kind = (enum pboot_overlay_loss)frame->kind;
	loss_set_why(loss, text, frame->len_bytes);
}

void
pboot_net_lose(struct pboot_overlay *net, struct pboot_link *link, enum pboot_overlay_loss kind,
    const char *why)
{
	const struct pboot_frame frame = {
		.from = net->options.self,
		.to = link->peer,
		.kind = (uint16_t)kind,
		.len_bytes = (uint32_t)strnlen(why, PBOOT_FRAME_WHY_BYTES),
	};

	pboot_link_close(link, PBOOT_LINK_LOST);
	loss_add(net, &frame, why);
}

void
pboot_net_lose_format(struct pboot_overlay *net, struct pboot_link *link,
    enum pboot_overlay_loss kind, const char *format, ...)
{
	char why[PBOOT_FRAME_WHY_BYTES + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	pboot_net_lose(net, link, kind, why);
}

bool
pboot_net_hear_loss(struct pboot_overlay *net, const struct pboot_frame *frame, const uint8_t *text)
{
	if (frame->kind >= PBOOT_OVERLAY_LOSSES)
		return false;
	loss_add(net, frame, (const char *)text);
	return true;
}

static bool
loss_put(struct pboot_link *link, const struct pboot_loss *loss)
{
	const struct pboot_frame frame = {
		.type = PBOOT_FRAME_LOSS,
		.kind = (uint16_t)loss->kind,
		.from = loss->witness,
		.to = loss->host,
		.len_bytes = (uint32_t)strlen(loss->why),
	};

	return pboot_link_put(link, &frame, NULL, 0, loss->why);
}

/* A loss that came over this link, or that says that its neighbour is lost, is not sent there. */
bool
pboot_net_tell_losses(struct pboot_overlay *net, struct pboot_link *link)
{
	const struct pboot_loss *loss;

	while (link->cursor.losses < net->loss_count) {
		loss = &net->losses[link->cursor.losses];
		if (pboot_tree_branch(net->options.self, loss->witness) != link->branch &&
		    loss->host != link->peer && !loss_put(link, loss))
			return false;
		link->cursor.losses++;
	}
	return true;
}

/* A cut edge separates the hosts at and below its lower end from the others. */
bool
pboot_overlay_reaches(const struct pboot_overlay *net, uint32_t host)
{
	const struct pboot_loss *loss;
	uint32_t i, lower;

	for (i = 0; i < net->loss_count; i++) {
		loss = &net->losses[i];
		lower = loss->host > loss->witness ? loss->host : loss->witness;
		if (pboot_tree_is_below(lower, host) !=
		    pboot_tree_is_below(lower, net->options.self))
			return false;
	}
	return host < net->options.host_count;
}
