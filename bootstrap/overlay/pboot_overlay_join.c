/*
 * How links come up: what both sides of a handshake do, and the end of waiting for links.  Attempts
 * to connect to the parent are in pboot_overlay_call.c, connections of children in
 * pboot_overlay_answer.c.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>

/* A host that has refused connections for this long has ended. */
static const uint64_t refused_limit_ns = UINT64_C(600000000);

bool
pboot_join_nonce(uint8_t nonce_out[PBOOT_SHAKE_NONCE_BYTES])
{
	return getrandom(nonce_out, PBOOT_SHAKE_NONCE_BYTES, GRND_NONBLOCK) ==
	    PBOOT_SHAKE_NONCE_BYTES;
}

enum pboot_link_news
pboot_join_shake(struct pboot_shake *shake, int fd)
{
	uint8_t bytes[PBOOT_SHAKE_ANSWER_BYTES];
	const uint8_t *due;
	size_t len;
	ssize_t moved;

	for (;;) {
		due = pboot_shake_due(shake, &len);
		if (due)
			moved = sendto(fd, due, len, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
		else if ((len = pboot_shake_lacks(shake)) > 0)
			moved = recvfrom(fd, bytes, len, MSG_DONTWAIT, NULL, NULL);
		else
			return PBOOT_LINK_FINE;
		if (moved < 0 && errno == EINTR)
			continue;
		if (moved < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? PBOOT_LINK_FINE :
			    PBOOT_LINK_BROKEN;
		if (moved == 0)
			return PBOOT_LINK_ENDED;
		if (due)
			pboot_shake_sent(shake, (size_t)moved);
		else
			pboot_shake_feed(shake, bytes, (size_t)moved);
	}
}

int
pboot_join_connect(const struct pboot_overlay *net, uint32_t host, int *fd_out)
{
	struct pboot_address to;

	*fd_out = -1;
	if (!pboot_address_parse(net->hosts[host].address, &to))
		return EADDRNOTAVAIL;
	*fd_out = socket(to.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd_out < 0)
		return errno;
	pboot_link_prepare_socket(*fd_out);
	if (connect(*fd_out, (const struct sockaddr *)&to.name, to.len_bytes) == 0)
		return 0;
	return errno == EINTR ? EINPROGRESS : errno;
}

int
pboot_join_socket_error(int fd)
{
	socklen_t len = sizeof(int);
	int error = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 ? errno : error;
}

bool
pboot_join_is_refused(uint64_t *since, int error, uint64_t now_ns)
{
	if (error != ECONNREFUSED)
		*since = 0;
	else if (*since == 0)
		*since = now_ns;
	return *since != 0 && now_ns - *since >= refused_limit_ns;
}

void
pboot_join_lose_by_memory(struct pboot_overlay *net, struct pboot_link *link)
{
	pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_FAULT,
	    "%.60s has no memory for its links", pboot_net_name(net, net->options.self));
}

void
pboot_join_lose_by_version(struct pboot_overlay *net, struct pboot_link *link,
    const struct pboot_shake *shake)
{
	const uint32_t self = net->options.self;
	const bool first = self < link->peer;
	const char *here = pboot_net_name(net, self), *there = pboot_net_name(net, link->peer);
	const unsigned ours = net->identity.protocol, theirs = shake->peer_protocol;

	pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_VERSION,
	    "%.40s has Penstock %.27s (protocol %u) and %.40s has %.27s (protocol %u): "
	    "all hosts need the same", first ? here : there,
	    first ? net->identity.version : shake->peer_version, first ? ours : theirs,
	    first ? there : here, first ? shake->peer_version : net->identity.version,
	    first ? theirs : ours);
}

void
pboot_join_count(struct pboot_overlay *net, enum pboot_shake_verdict verdict)
{
	switch (verdict) {
	case PBOOT_SHAKE_NONSENSE:
		net->counts.nonsense++;
		break;
	case PBOOT_SHAKE_STRANGER:
		net->counts.stranger++;
		break;
	case PBOOT_SHAKE_VERSION:
		net->counts.version++;
		break;
	case PBOOT_SHAKE_HOST:
		net->counts.host++;
		break;
	case PBOOT_SHAKE_TWICE:
		net->counts.twice++;
		break;
	case PBOOT_SHAKE_WELCOME:
		net->counts.linked++;
		break;
	case PBOOT_SHAKE_OPEN:
	case PBOOT_SHAKE_PROVEN:
		break;
	}
}

void
pboot_join_lose_parent(struct pboot_overlay *net, enum pboot_overlay_loss kind)
{
	struct pboot_link *up = &net->link[PBOOT_TREE_UP];
	const char *trouble = net->attempt.trouble;

	pboot_net_lose_format(net, up, kind, "%.40s could not connect to %.40s: %.60s",
	    pboot_net_name(net, net->options.self), pboot_net_name(net, up->peer),
	    trouble ? trouble : "it does not answer");
}

static void
link_give_up(struct pboot_overlay *net, struct pboot_link *link)
{
	if (link->branch == PBOOT_TREE_UP)
		pboot_join_lose_parent(net, PBOOT_OVERLAY_BY_DEADLINE);
	else
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_DEADLINE,
		    "%.60s has not connected to %.60s in time", pboot_net_name(net, link->peer),
		    pboot_net_name(net, net->options.self));
}

void
pboot_join_give_up(struct pboot_overlay *net)
{
	struct pboot_link *link;

	for (link = net->link; link < net->link + PBOOT_TREE_BRANCHES; link++)
		if (link->state == PBOOT_LINK_AWAITED)
			link_give_up(net, link);
	pboot_call_close(net);
	pboot_probe_close(net);
	net->deadline_ns = UINT64_MAX;
}

void
pboot_join_close(struct pboot_overlay *net)
{
	pboot_call_close(net);
	pboot_probe_close(net);
	pboot_answer_close(net);
}
