/*
 * A keeper listens before any keeper begins to connect, so a keeper that refuses connections has
 * ended.  The attempts to connect to the parent find that out (pboot_overlay_call.c).  This file
 * finds it out for children that have not connected yet: the parent connects to each of them now
 * and then, and closes the connection at once.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* Children usually connect before the first probe. */
static const uint64_t first_ns = 300 * MS, again_ns = 200 * MS;

static struct pboot_probe *
probe_of(struct pboot_overlay *net, const struct pboot_link *link)
{
	return &net->probe[link->branch];
}

static void
probe_close(struct pboot_probe *probe)
{
	if (probe->fd >= 0)
		close(probe->fd);
	probe->fd = -1;
}

static void
probe_end(struct pboot_overlay *net, struct pboot_link *link, int error)
{
	struct pboot_probe *probe = probe_of(net, link);

	probe_close(probe);
	probe->due_ns = net->now_ns + again_ns;
	if (pboot_join_is_refused(&probe->refused_ns, error, net->now_ns))
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_KERNEL,
		    "the keeper of %.60s has ended before it connected to %.60s",
		    pboot_net_name(net, link->peer), pboot_net_name(net, net->options.self));
}

static void
probe_start(struct pboot_overlay *net, struct pboot_link *link)
{
	struct pboot_probe *probe = probe_of(net, link);
	const int error = pboot_join_connect(net, link->peer, &probe->fd);

	probe->poll_index = UINT_MAX;
	probe->due_ns = net->now_ns + again_ns;
	if (error != EINPROGRESS)
		probe_end(net, link, error);
}

void
pboot_probe_begin(struct pboot_overlay *net)
{
	uint32_t branch;

	for (branch = 1; branch <= net->children; branch++)
		net->probe[branch].due_ns = net->now_ns + first_ns;
}

void
pboot_probe_step(struct pboot_overlay *net, struct pboot_link *link, bool ready)
{
	struct pboot_probe *probe = probe_of(net, link);

	if (link->state != PBOOT_LINK_AWAITED)
		probe_close(probe);
	else if (ready)
		probe_end(net, link, pboot_join_socket_error(probe->fd));
	else if (net->now_ns >= probe->due_ns && probe->fd >= 0)
		probe_end(net, link, ETIMEDOUT);
	else if (net->now_ns >= probe->due_ns)
		probe_start(net, link);
}

void
pboot_probe_close(struct pboot_overlay *net)
{
	uint32_t branch;

	for (branch = 0; branch < PBOOT_TREE_BRANCHES; branch++)
		probe_close(&net->probe[branch]);
}
