/*
 * Does a peer's host answer at the provider's port?  A provider that connects on its own says
 * "again" until it has connected, for minutes if a firewall drops its packets, and as long as the
 * peer computes, which is no fault.  So when a first message has found no room for a while, this
 * process connects to the peer's port itself: the peer's kernel answers, whatever the peer does.
 * The connection is closed at once, which the provider takes for a stranger's.  Without an answer
 * the peer is lost.
 *
 * One peer is looked at at a time.  The guard protects all of it.
 */
#include "ofi-conduit/pofi.h"

#include "runtime/util/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define S ((uint64_t)1000000000)

/* A first message waits so long before the port is asked, and the answer may take so long: TCP asks
 * five times in it. */
static const uint64_t patience_ns = 10 * S, answer_ns = 20 * S;

enum { NAME_BYTES = 64 };

static bool
address_is_inet(const struct psi_conduit *conduit)
{
	const uint32_t format = conduit->info->addr_format;

	return (format == FI_SOCKADDR_IN && conduit->address_bytes >= sizeof(struct sockaddr_in)) ||
	       (format == FI_SOCKADDR_IN6 && conduit->address_bytes >= sizeof(struct sockaddr_in6));
}

void
pofi_reach_close(struct psi_conduit *conduit)
{
	if (conduit->reach.asks && conduit->reach.fd >= 0)
		close(conduit->reach.fd);
	conduit->reach.fd = -1;
	atomic_store_explicit(&conduit->reach.asks, false, memory_order_relaxed);
}

/* "198.18.0.2 port 51000", or nothing. */
static void
address_text(const struct psi_conduit *conduit, uint32_t process, char text_out[NAME_BYTES])
{
	const char *address = conduit->addresses + process * conduit->address_bytes;
	char host[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in6 in6;
	struct sockaddr_in in;
	unsigned port;

	if (conduit->info->addr_format == FI_SOCKADDR_IN) {
		memcpy(&in, address, sizeof in);
		inet_ntop(AF_INET, &in.sin_addr, host, sizeof host);
		port = ntohs(in.sin_port);
	} else {
		memcpy(&in6, address, sizeof in6);
		inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof host);
		port = ntohs(in6.sin6_port);
	}
	snprintf(text_out, NAME_BYTES, "%s port %u", host, port);
}

/* Returns 0, EINPROGRESS or another errno value. */
static int
reach_ask(struct psi_conduit *conduit)
{
	const void *address =
		conduit->addresses + conduit->reach.process * conduit->address_bytes;
	const int family = conduit->info->addr_format == FI_SOCKADDR_IN ? AF_INET : AF_INET6;

	conduit->reach.fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (conduit->reach.fd < 0)
		return 0;       /* nothing can be said */
	return connect(conduit->reach.fd, address, (socklen_t)conduit->address_bytes) == 0 ? 0
	                                                                                   : errno;
}

/* The same of the connection that was begun. */
static int
reach_answer(const struct psi_conduit *conduit)
{
	struct pollfd answer = { .fd = conduit->reach.fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int code = 0;

	if (poll(&answer, 1, 0) != 1)
		return EINPROGRESS;
	getsockopt(conduit->reach.fd, SOL_SOCKET, SO_ERROR, &code, &len);
	return code;
}

static void
reach_give_up(struct psi_conduit *conduit)
{
	char where[NAME_BYTES], why[POFI_WHY_BYTES];
	const uint32_t process = conduit->reach.process;

	address_text(conduit, process, where);
	snprintf(why, sizeof why, "its host has not answered at %s for %u s", where,
	         (unsigned)(answer_ns / S));
	pofi_reach_close(conduit);
	pofi_peer_break(conduit, process, ETIMEDOUT, why);
}

/* Whoever answers, be it that nobody listens there, is reached.  The time for the answer begins
 * when the port is asked, since this process may not have looked for long.  The kernel connects all
 * the same. */
void
pofi_reach_step(struct psi_conduit *conduit)
{
	const uint64_t now = psi_now_ns();
	int code;

	if (!conduit->reach.asks)
		return;
	if (conduit->reach.fd >= 0) {
		code = reach_answer(conduit);
	} else if (now - conduit->reach.since_ns >= patience_ns) {
		conduit->reach.since_ns = now;
		code = reach_ask(conduit);
	} else {
		return;
	}
	if (code == EINPROGRESS || code == ETIMEDOUT) {
		if (now - conduit->reach.since_ns >= answer_ns)
			reach_give_up(conduit);
		return;
	}
	conduit->peers[conduit->reach.process].answers = true;
	pofi_reach_close(conduit);
}

void
pofi_reach_refused(struct psi_conduit *conduit, uint32_t process)
{
	if (conduit->peers[process].answers || conduit->reach.asks || !address_is_inet(conduit))
		return;
	conduit->reach.process = process;
	conduit->reach.since_ns = psi_now_ns();
	conduit->reach.fd = -1;
	atomic_store_explicit(&conduit->reach.asks, true, memory_order_relaxed);
}

void
pofi_reach_taken(struct psi_conduit *conduit, uint32_t process)
{
	conduit->peers[process].answers = true;
	if (conduit->reach.asks && conduit->reach.process == process)
		pofi_reach_close(conduit);
}
