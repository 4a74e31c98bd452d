/*
 * The connections that this keeper accepts.  A process that connects is a stranger until its
 * handshake is over.  A stranger costs one slot of PBOOT_OVERLAY_HALF_OPEN and some hundred bytes,
 * for handshake_ns at most.  If all slots are taken, the oldest connection is closed; those that
 * have not sent a whole HELLO are closed before all others.  So strangers cannot keep a child out:
 * its handshake takes two round trips, and it tries again.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BACKLOG = 128,
	/* Connections that one step accepts.  They are few enough that a child has some steps for
	 * its handshake during a flood. */
	ACCEPTED_AT_ONCE = PBOOT_OVERLAY_HALF_OPEN / 4,
};

/* How long the listener is not polled after descriptors or memory ran out. */
static const uint64_t listen_pause_ns = UINT64_C(100000000);

static bool
port_bind(int sock, const struct pboot_address *address, uint16_t port)
{
	struct pboot_address bound = *address;

	if (address->name.ss_family == AF_INET)
		((struct sockaddr_in *)(void *)&bound.name)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)(void *)&bound.name)->sin6_port = htons(port);
	return bind(sock, (const struct sockaddr *)&bound.name, bound.len_bytes) == 0 &&
	    listen(sock, BACKLOG) == 0;
}

/* Takes the first port that is free, from one on that differs from job to job. */
static bool
ports_bind(int sock, const struct pboot_overlay_options *options,
    const struct pboot_address *address)
{
	const uint32_t first = options->first_port, count = options->last_port - first + 1u;
	const uint32_t from = (uint32_t)getpid() % count;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (port_bind(sock, address, (uint16_t)(first + (from + i) % count)))
			return true;
		if (errno != EADDRINUSE)
			break;
	}
	return false;
}

bool
pboot_answer_listen(struct pboot_overlay *net, const struct pboot_overlay_options *options,
    const struct pboot_address *address)
{
	struct pboot_address bound = { .len_bytes = sizeof bound.name };

	net->listener = socket(address->name.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return net->listener >= 0 && ports_bind(net->listener, options, address) &&
	    getsockname(net->listener, (struct sockaddr *)&bound.name, &bound.len_bytes) == 0 &&
	    pboot_address_format(&bound, net->address);
}

static void
half_close(struct pboot_half *half)
{
	close(half->fd);
	half->fd = -1;
}

static bool
half_goes_before(const struct pboot_half *half, const struct pboot_half *other)
{
	const bool heard = half->shake.said_bytes > PBOOT_SHAKE_HELLO_BYTES;
	const bool other_heard = other->shake.said_bytes > PBOOT_SHAKE_HELLO_BYTES;

	return heard == other_heard ? half->due_ns < other->due_ns : other_heard;
}

/* Returns a free slot.  If there is none, closes the connection that has to go, and returns its
 * slot. */
static struct pboot_half *
half_slot(struct pboot_overlay *net)
{
	struct pboot_half *first = net->half, *half;

	for (half = net->half; half < net->half + PBOOT_OVERLAY_HALF_OPEN; half++) {
		if (half->fd < 0)
			return half;
		if (half_goes_before(half, first))
			first = half;
	}
	net->counts.crowded++;
	half_close(first);
	return first;
}

/* Returns the link of the child that this connection proved to be; NULL if it is linked or lost
 * already. */
static struct pboot_link *
half_child(struct pboot_overlay *net, const struct pboot_half *half)
{
	struct pboot_link *link =
	    &net->link[pboot_tree_branch(net->options.self, half->shake.peer)];

	return link->state == PBOOT_LINK_AWAITED ? link : NULL;
}

/* Sends the verdict to a caller that has proved itself, and opens its link.  The verdict is a few
 * bytes on a connection that has sent nothing for a round trip, so they fit. */
static void
half_judge(struct pboot_overlay *net, struct pboot_half *half)
{
	struct pboot_link *link = half_child(net, half);
	size_t left;

	pboot_shake_judge(&half->shake, link ? PBOOT_SHAKE_WELCOME : PBOOT_SHAKE_TWICE);
	pboot_join_shake(&half->shake, half->fd);
	pboot_shake_due(&half->shake, &left);
	if (!link || left > 0) {
		if (link)
			net->counts.left++;
		else
			net->counts.twice++;
		half_close(half);
		return;
	}
	pboot_join_count(net, PBOOT_SHAKE_WELCOME);
	if (!pboot_link_open(link, half->fd, net->now_ns))
		pboot_join_lose_by_memory(net, link);
	half->fd = -1;
}

static void
half_refuse(struct pboot_overlay *net, struct pboot_half *half)
{
	struct pboot_link *link;

	pboot_join_count(net, half->shake.verdict);
	if (half->shake.verdict == PBOOT_SHAKE_VERSION) {
		link = half_child(net, half);
		if (link)
			pboot_join_lose_by_version(net, link, &half->shake);
	}
	half_close(half);
}

void
pboot_answer_step(struct pboot_overlay *net, struct pboot_half *half, bool ready)
{
	const enum pboot_link_news news = ready ? pboot_join_shake(&half->shake, half->fd) :
	    PBOOT_LINK_FINE;

	if (half->shake.verdict == PBOOT_SHAKE_PROVEN) {
		half_judge(net, half);
	} else if (half->shake.verdict != PBOOT_SHAKE_OPEN) {
		half_refuse(net, half);
	} else if (news != PBOOT_LINK_FINE) {
		net->counts.left++;
		half_close(half);
	} else if (half->due_ns <= net->now_ns) {
		net->counts.silent++;
		half_close(half);
	}
}

static void
half_open(struct pboot_overlay *net, int fd)
{
	uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES];
	struct pboot_half *half;

	net->counts.accepted++;
	if (!pboot_join_nonce(nonce)) {
		close(fd);
		return;
	}
	half = half_slot(net);
	pboot_link_prepare_socket(fd);
	half->fd = fd;
	half->poll_index = UINT_MAX;
	half->due_ns = net->now_ns + net->options.handshake_ns;
	pboot_shake_init(&half->shake, PBOOT_SHAKE_ANSWERER, &net->identity, PBOOT_TREE_NONE,
	    nonce);
	pboot_answer_step(net, half, true);
}

/* Accepts a bounded number at a time, so that a flood of strangers leaves time for the job. */
void
pboot_answer_accept(struct pboot_overlay *net)
{
	unsigned left = ACCEPTED_AT_ONCE;
	int fd;

	while (left-- > 0) {
		fd = accept4(net->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			half_open(net, fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			net->listen_from_ns = net->now_ns + listen_pause_ns;
		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

void
pboot_answer_close(struct pboot_overlay *net)
{
	struct pboot_half *half;

	for (half = net->half; half < net->half + PBOOT_OVERLAY_HALF_OPEN; half++)
		if (half->fd >= 0)
			half_close(half);
	if (net->listener >= 0)
		close(net->listener);
	net->listener = -1;
}
