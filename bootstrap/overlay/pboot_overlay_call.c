/* The attempts of this keeper to connect to its parent, one after another until one succeeds. */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static const uint64_t first_pause_ns = 20 * MS, most_pause_ns = 500 * MS;

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
attempt_fail(struct pboot_overlay *net, const char *trouble)
{
	struct pboot_attempt *attempt = &net->attempt;

	attempt_close(attempt, PBOOT_ATTEMPT_PAUSE);
	attempt->trouble = trouble;
	attempt->due_ns = net->now_ns + attempt->pause_ns;
	attempt->pause_ns *= 2;
	if (attempt->pause_ns > most_pause_ns)
		attempt->pause_ns = most_pause_ns;
}

/* As attempt_fail.  A parent that goes on refusing has ended. */
static void
attempt_fail_by(struct pboot_overlay *net, int error)
{
	struct pboot_attempt *attempt = &net->attempt;

	attempt_fail(net, strerror(error));
	if (!pboot_join_is_refused(&attempt->refused_ns, error, net->now_ns))
		return;
	attempt_close(attempt, PBOOT_ATTEMPT_NONE);
	pboot_join_lose_parent(net, PBOOT_OVERLAY_BY_KERNEL);
}

static void
attempt_shake(struct pboot_overlay *net)
{
	uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES];

	if (!pboot_join_nonce(nonce)) {
		attempt_fail(net, "the kernel gives no random bytes");
		return;
	}
	pboot_shake_init(&net->attempt.shake, PBOOT_SHAKE_CALLER, &net->identity,
	    net->link[PBOOT_TREE_UP].peer, nonce);
	net->attempt.state = PBOOT_ATTEMPT_SHAKE;
}

static void
attempt_start(struct pboot_overlay *net)
{
	struct pboot_attempt *attempt = &net->attempt;
	const int error = pboot_join_connect(net, net->link[PBOOT_TREE_UP].peer, &attempt->fd);

	attempt->poll_index = UINT_MAX;
	attempt->due_ns = net->now_ns + net->options.handshake_ns;
	attempt->state = PBOOT_ATTEMPT_CONNECT;
	if (error == 0)
		attempt_shake(net);
	else if (error != EINPROGRESS)
		attempt_fail_by(net, error);
}

static void
attempt_connected(struct pboot_overlay *net)
{
	const int error = pboot_join_socket_error(net->attempt.fd);

	if (error)
		attempt_fail_by(net, error);
	else
		attempt_shake(net);
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
			pboot_join_lose_by_memory(net, link);
		return;
	}
	close(fd);
	if (shake->verdict == PBOOT_SHAKE_VERSION)
		pboot_join_lose_by_version(net, link, shake);
	else if (shake->verdict == PBOOT_SHAKE_TWICE)
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_FAULT,
		    "%.60s refuses a second keeper of %.60s",
		    pboot_net_name(net, link->peer), pboot_net_name(net, net->options.self));
	else
		pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_FAULT,
		    "%.60s and %.60s do not agree on which hosts the job has",
		    pboot_net_name(net, link->peer), pboot_net_name(net, net->options.self));
}

/* Makes a step of the handshake.  Another program may have got the parent's port; that is a reason
 * to try again, and no verdict. */
static void
attempt_move(struct pboot_overlay *net)
{
	struct pboot_attempt *attempt = &net->attempt;
	const enum pboot_link_news news = pboot_join_shake(&attempt->shake, attempt->fd);

	switch (attempt->shake.verdict) {
	case PBOOT_SHAKE_OPEN:
		if (news != PBOOT_LINK_FINE)
			attempt_fail(net, news == PBOOT_LINK_ENDED ?
			    "it closed the connection" : strerror(errno));
		break;
	case PBOOT_SHAKE_NONSENSE:
	case PBOOT_SHAKE_STRANGER:
		pboot_join_count(net, attempt->shake.verdict);
		attempt_fail(net, "the program there does not know the job's secret");
		break;
	default:
		attempt_settle(net);
	}
}

/* Is the attempt's time over?  Once the parent may have let this host in, there must be no other
 * attempt. */
static bool
attempt_is_late(const struct pboot_overlay *net)
{
	const struct pboot_attempt *attempt = &net->attempt;

	return attempt->due_ns <= net->now_ns && !(attempt->state == PBOOT_ATTEMPT_SHAKE &&
	    pboot_shake_is_proven(&attempt->shake));
}

void
pboot_call_step(struct pboot_overlay *net, bool ready)
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
		attempt_fail(net, "it does not answer");
}

void
pboot_call_begin(struct pboot_overlay *net)
{
	net->attempt.pause_ns = first_pause_ns;
	if (net->link[PBOOT_TREE_UP].state == PBOOT_LINK_AWAITED)
		attempt_start(net);
}

void
pboot_call_close(struct pboot_overlay *net)
{
	attempt_close(&net->attempt, PBOOT_ATTEMPT_NONE);
}
