/*
 * How links come up: this keeper's attempts to connect to its parent, and the connections that it
 * accepts.  Whoever connects is a stranger until its handshake is over.  A stranger costs a slot of
 * PBOOT_OVERLAY_HALF_OPEN and some hundred bytes, for handshake_ns at most.  If all slots are taken
 * the oldest gives way, and before all others those that have not said a whole HELLO.  So strangers
 * cannot keep a child out: its handshake takes two round trips, and it tries again.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum {
	BACKLOG = 128,
	/* Connections taken in one step: of a flood, no more than leave a child some steps for its
	 * handshake. */
	ACCEPTED_AT_ONCE = PBOOT_OVERLAY_HALF_OPEN / 4,
};

static const uint64_t first_pause_ns = 20 * MS, most_pause_ns = 500 * MS;
/* Before the next look at the listener, when descriptors or memory ran out. */
static const uint64_t listen_pause_ns = 100 * MS;

bool
pboot_join_listen(struct pboot_overlay *net, const struct pboot_address *address)
{
	struct pboot_address bound = { .len_bytes = sizeof bound.name };

	net->listener = socket(address->name.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return net->listener >= 0 &&
	    bind(net->listener, (const struct sockaddr *)&address->name, address->len_bytes) == 0 &&
	    listen(net->listener, BACKLOG) == 0 &&
	    getsockname(net->listener, (struct sockaddr *)&bound.name, &bound.len_bytes) == 0 &&
	    pboot_address_format(&bound, net->address);
}

/* Without a nonce nobody is let in. */
static bool
nonce_make(uint8_t nonce_out[PBOOT_SHAKE_NONCE_BYTES])
{
	return getrandom(nonce_out, PBOOT_SHAKE_NONCE_BYTES, GRND_NONBLOCK) ==
	    PBOOT_SHAKE_NONCE_BYTES;
}

/* Sends and reads until the verdict, or until the other side has to do something first. */
static enum pboot_link_news
shake_move(struct pboot_shake *shake, int fd)
{
	uint8_t bytes[PBOOT_SHAKE_ANSWER_BYTES];
	const uint8_t *due;
	size_t len;
	ssize_t moved;

	for (;;) {
		due = pboot_shake_due(shake, &len);
		if (due)
			moved = send(fd, due, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		else if ((len = pboot_shake_lacks(shake)) > 0)
			moved = recv(fd, bytes, len, MSG_DONTWAIT);
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

/* ------------------------------------------------------------------- to the parent --- */

static void
attempt_close(struct pboot_attempt *attempt, enum pboot_attempt_state state)
{
	if (attempt->fd >= 0)
		close(attempt->fd);
	attempt->fd = -1;
	attempt->state = state;
}

/* The next attempt comes after a pause, which grows. */
static void
attempt_failed(struct pboot_overlay *net, const char *trouble)
{
	struct pboot_attempt *attempt = &net->attempt;

	attempt_close(attempt, PBOOT_ATTEMPT_PAUSE);
	attempt->trouble = trouble;
	attempt->due_ns = net->now_ns + attempt->pause_ns;
	attempt->pause_ns *= 2;
	if (attempt->pause_ns > most_pause_ns)
		attempt->pause_ns = most_pause_ns;
}

static void
attempt_shake(struct pboot_overlay *net)
{
	uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES];

	if (!nonce_make(nonce)) {
		attempt_failed(net, "no random bytes");
		return;
	}
	pboot_shake_init(&net->attempt.shake, PBOOT_SHAKE_CALLER, &net->who,
	    net->link[PBOOT_TREE_UP].peer, nonce);
	net->attempt.state = PBOOT_ATTEMPT_SHAKE;
}

static void
attempt_start(struct pboot_overlay *net)
{
	struct pboot_attempt *attempt = &net->attempt;
	struct pboot_address to;

	if (!pboot_address_parse(net->hosts[net->link[PBOOT_TREE_UP].peer].address, &to)) {
		attempt_failed(net, "its address makes no sense");
		return;
	}
	attempt->fd = socket(to.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (attempt->fd < 0) {
		attempt_failed(net, strerror(errno));
		return;
	}
	pboot_link_prepare_socket(attempt->fd);
	attempt->poll_index = UINT_MAX;
	attempt->due_ns = net->now_ns + net->options.handshake_ns;
	attempt->state = PBOOT_ATTEMPT_CONNECT;
	if (connect(attempt->fd, (const struct sockaddr *)&to.name, to.len_bytes) == 0)
		attempt_shake(net);
	else if (errno != EINPROGRESS && errno != EINTR)
		attempt_failed(net, strerror(errno));
}

static void
attempt_connected(struct pboot_overlay *net)
{
	socklen_t len = sizeof(int);
	int error = 0;

	if (getsockopt(net->attempt.fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error)
		attempt_failed(net, strerror(error));
	else
		attempt_shake(net);
}

static void
lose_by_memory(struct pboot_overlay *net, struct pboot_link *link)
{
	pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_FAULT,
	    "%.60s has no memory for its links", pboot_net_name(net, net->options.self));
}

/* Both hosts have the same sentence. */
static void
lose_by_version(struct pboot_overlay *net, struct pboot_link *link, const struct pboot_shake *shake)
{
	const uint32_t self = net->options.self;
	const bool first = self < link->peer;
	const char *here = pboot_net_name(net, self), *there = pboot_net_name(net, link->peer);
	const unsigned ours = net->who.protocol, theirs = shake->peer_protocol;

	pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_VERSION,
	    "%.40s has Penstock %.27s (protocol %u) and %.40s has %.27s (protocol %u): "
	    "all hosts need the same", first ? here : there,
	    first ? net->who.version : shake->peer_version, first ? ours : theirs,
	    first ? there : here, first ? shake->peer_version : net->who.version,
	    first ? theirs : ours);
}

/* The attempt's connection becomes the link, or there will never be one. */
static void
attempt_settle(struct pboot_overlay *net)
{
	struct pboot_link *link = &net->link[PBOOT_TREE_UP];
	const struct pboot_shake *shake = &net->attempt.shake;
	const int fd = net->attempt.fd;

	net->attempt.fd = -1;
	attempt_close(&net->attempt, PBOOT_ATTEMPT_NONE);
	if (shake->verdict == PBOOT_SHAKE_WELCOME) {
		net->counts.linked++;
		if (!pboot_link_open(link, fd, net->now_ns))
			lose_by_memory(net, link);
		return;
	}
	close(fd);
	if (shake->verdict == PBOOT_SHAKE_VERSION)
		lose_by_version(net, link, shake);
	else if (shake->verdict == PBOOT_SHAKE_TWICE)
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_FAULT,
		    "%.60s does not take a second keeper of %.60s",
		    pboot_net_name(net, link->peer), pboot_net_name(net, net->options.self));
	else
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_FAULT,
		    "%.60s and %.60s do not agree on which hosts the job has",
		    pboot_net_name(net, link->peer), pboot_net_name(net, net->options.self));
}

static void
count_verdict(struct pboot_overlay *net, enum pboot_shake_verdict verdict)
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

/* Another program may have the port that was the parent's: that is trouble, and no verdict. */
static void
attempt_move(struct pboot_overlay *net)
{
	struct pboot_attempt *attempt = &net->attempt;
	const enum pboot_link_news news = shake_move(&attempt->shake, attempt->fd);

	switch (attempt->shake.verdict) {
	case PBOOT_SHAKE_OPEN:
		if (news != PBOOT_LINK_FINE)
			attempt_failed(net, news == PBOOT_LINK_ENDED ?
			    "it closed the connection" : strerror(errno));
		break;
	case PBOOT_SHAKE_NONSENSE:
	case PBOOT_SHAKE_STRANGER:
		count_verdict(net, attempt->shake.verdict);
		attempt_failed(net, "who answers there does not know the job's secret");
		break;
	default:
		attempt_settle(net);
	}
}

/* Once the parent may have let this host in, another attempt would be one too many. */
static bool
attempt_is_late(const struct pboot_overlay *net)
{
	const struct pboot_attempt *attempt = &net->attempt;

	return attempt->due_ns <= net->now_ns && !(attempt->state == PBOOT_ATTEMPT_SHAKE &&
	    pboot_shake_is_proven(&attempt->shake));
}

void
pboot_join_attempt(struct pboot_overlay *net, bool ready)
{
	struct pboot_attempt *attempt = &net->attempt;

	if (attempt->state == PBOOT_ATTEMPT_CONNECT && ready)
		attempt_connected(net);
	if (attempt->state == PBOOT_ATTEMPT_SHAKE)
		attempt_move(net);
	if (attempt->state == PBOOT_ATTEMPT_NONE || !attempt_is_late(net))
		return;
	if (attempt->state == PBOOT_ATTEMPT_PAUSE)
		attempt_start(net);
	else
		attempt_failed(net, "it does not answer");
}

void
pboot_join_begin(struct pboot_overlay *net)
{
	net->attempt.pause_ns = first_pause_ns;
	if (net->link[PBOOT_TREE_UP].state == PBOOT_LINK_AWAITED)
		attempt_start(net);
}

/* ------------------------------------------------------------------- from the children --- */

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

/* A free slot, or that of the one that has to go. */
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

/* The child that this connection proved to be; NULL if it is linked or lost already. */
static struct pboot_link *
half_child(struct pboot_overlay *net, const struct pboot_half *half)
{
	struct pboot_link *link =
	    &net->link[pboot_tree_branch(net->options.self, half->shake.peer)];

	return link->state == PBOOT_LINK_AWAITED ? link : NULL;
}

/* The verdict is a few bytes on a connection that has sent nothing for a round trip: they fit. */
static void
half_judge(struct pboot_overlay *net, struct pboot_half *half)
{
	struct pboot_link *link = half_child(net, half);
	size_t left;

	pboot_shake_judge(&half->shake, link ? PBOOT_SHAKE_WELCOME : PBOOT_SHAKE_TWICE);
	shake_move(&half->shake, half->fd);
	pboot_shake_due(&half->shake, &left);
	if (!link || left > 0) {
		if (link)
			net->counts.left++;
		else
			net->counts.twice++;
		half_close(half);
		return;
	}
	count_verdict(net, PBOOT_SHAKE_WELCOME);
	if (!pboot_link_open(link, half->fd, net->now_ns))
		lose_by_memory(net, link);
	half->fd = -1;
}

static void
half_refuse(struct pboot_overlay *net, struct pboot_half *half)
{
	struct pboot_link *link;

	count_verdict(net, half->shake.verdict);
	if (half->shake.verdict == PBOOT_SHAKE_VERSION) {
		link = half_child(net, half);
		if (link)
			lose_by_version(net, link, &half->shake);
	}
	half_close(half);
}

void
pboot_join_half(struct pboot_overlay *net, struct pboot_half *half, bool ready)
{
	const enum pboot_link_news news = ready ? shake_move(&half->shake, half->fd) :
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
	if (!nonce_make(nonce)) {
		close(fd);
		return;
	}
	half = half_slot(net);
	pboot_link_prepare_socket(fd);
	half->fd = fd;
	half->poll_index = UINT_MAX;
	half->due_ns = net->now_ns + net->options.handshake_ns;
	pboot_shake_init(&half->shake, PBOOT_SHAKE_ANSWERER, &net->who, PBOOT_TREE_NONE, nonce);
	pboot_join_half(net, half, true);
}

/* A bounded number at a time, so that a flood of strangers leaves time for the job. */
void
pboot_join_accept(struct pboot_overlay *net)
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

/* ------------------------------------------------------------------------- the end --- */

static void
give_up_link(struct pboot_overlay *net, struct pboot_link *link)
{
	const char *here = pboot_net_name(net, net->options.self);
	const char *there = pboot_net_name(net, link->peer);
	const char *trouble = net->attempt.trouble;

	if (link->branch == PBOOT_TREE_UP)
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_DEADLINE,
		    "%.40s could not connect to %.40s: %.60s", here, there,
		    trouble ? trouble : "it does not answer");
	else
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_DEADLINE,
		    "%.60s has not connected to %.60s in time", there, here);
}

void
pboot_join_give_up(struct pboot_overlay *net)
{
	struct pboot_link *link;

	for (link = net->link; link < net->link + PBOOT_TREE_BRANCHES; link++)
		if (link->state == PBOOT_LINK_AWAITED)
			give_up_link(net, link);
	attempt_close(&net->attempt, PBOOT_ATTEMPT_NONE);
	net->deadline_ns = UINT64_MAX;
}

void
pboot_join_close(struct pboot_overlay *net)
{
	struct pboot_half *half;

	attempt_close(&net->attempt, PBOOT_ATTEMPT_NONE);
	for (half = net->half; half < net->half + PBOOT_OVERLAY_HALF_OPEN; half++)
		if (half->fd >= 0)
			half_close(half);
	if (net->listener >= 0)
		close(net->listener);
	net->listener = -1;
}
