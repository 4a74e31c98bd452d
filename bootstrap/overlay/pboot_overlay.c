/* Opens and closes the overlay, makes the steps of the caller's loop, and computes their times. */
#include "bootstrap/overlay/pboot_overlay.h"

#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- opening --- */

static void
net_set_options(struct pboot_overlay *net, const struct pboot_overlay_options *options)
{
	net->options = *options;
	net->options.version = net->options.iface = net->options.toward = NULL;
	if (!options->period_ns)
		net->options.period_ns = PBOOT_OVERLAY_PERIOD_NS;
	if (!options->limit_ns)
		net->options.limit_ns = PBOOT_OVERLAY_LIMIT_NS;
	if (!options->handshake_ns)
		net->options.handshake_ns = PBOOT_OVERLAY_HANDSHAKE_NS;
	snprintf(net->version, sizeof net->version, "%s", options->version);
	net->identity = (struct pboot_shake_identity){
		.self = options->self,
		.host_count = options->host_count,
		.protocol = PBOOT_SHAKE_PROTOCOL,
		.version = net->version,
		.secret = net->options.secret,
	};
}

static void
net_set_links(struct pboot_overlay *net)
{
	const uint32_t self = net->options.self, count = net->options.host_count;
	uint32_t branch;

	net->children = pboot_tree_children(self, count);
	for (branch = 0; branch < PBOOT_TREE_BRANCHES; branch++) {
		net->link[branch].branch = branch;
		net->link[branch].fd = -1;
		net->link[branch].peer = pboot_tree_neighbour(self, branch, count);
		net->link[branch].state = net->link[branch].peer == PBOOT_TREE_NONE ?
		    PBOOT_LINK_ABSENT : PBOOT_LINK_AWAITED;
	}
}

static struct pboot_overlay *
net_allocate(const struct pboot_overlay_options *options)
{
	struct pboot_overlay *net = calloc(1, sizeof *net);
	unsigned i;

	if (!net)
		return NULL;
	net->losses = calloc(options->host_count, sizeof *net->losses);
	if (!net->losses) {
		free(net);
		return NULL;
	}
	net->listener = net->attempt.fd = -1;
	for (i = 0; i < PBOOT_OVERLAY_HALF_OPEN; i++)
		net->half[i].fd = -1;
	for (i = 0; i < PBOOT_TREE_BRANCHES; i++)
		net->probe[i].fd = -1;
	net->expected_ns = net->deadline_ns = UINT64_MAX;
	net_set_options(net, options);
	net_set_links(net);
	return net;
}

struct pboot_overlay *
pboot_overlay_open(const struct pboot_overlay_options *options,
    char why_out[PBOOT_OVERLAY_WHY_BYTES])
{
	struct pboot_address address;
	struct pboot_overlay *net;

	if (options->self >= options->host_count) {
		snprintf(why_out, PBOOT_OVERLAY_WHY_BYTES, "a job of %u hosts has no host %u",
		    options->host_count, options->self);
		return NULL;
	}
	if (!pboot_address_choose(options->iface, options->toward, &address, why_out))
		return NULL;
	net = net_allocate(options);
	if (!net) {
		snprintf(why_out, PBOOT_OVERLAY_WHY_BYTES, "no memory for links between hosts");
		return NULL;
	}
	if (!pboot_answer_listen(net, options, &address)) {
		snprintf(why_out, PBOOT_OVERLAY_WHY_BYTES, "cannot listen for other hosts: %s; %s",
		    strerror(errno), options->last_port ? "PST_NET_PORTS names the ports to use" :
		    "PST_NET_IFACE names the interface to use");
		pboot_overlay_free(net);
		return NULL;
	}
	return net;
}

void
pboot_overlay_free(struct pboot_overlay *net)
{
	struct pboot_link *link;

	pboot_join_close(net);
	for (link = net->link; link < net->link + PBOOT_TREE_BRANCHES; link++)
		pboot_link_close(link, PBOOT_LINK_CLOSED);
	pboot_gather_free(net);
	free(net->losses);
	free(net->hosts);
	free(net->host_texts);
	free(net);
}

const char *
pboot_overlay_address(const struct pboot_overlay *net)
{
	return net->address;
}

int
pboot_overlay_descriptor(const struct pboot_overlay *net)
{
	return net->listener;
}

const struct pboot_overlay_counts *
pboot_overlay_counted(const struct pboot_overlay *net)
{
	return &net->counts;
}

static const char *
text_copy(char **at, const char *text)
{
	const size_t bytes = strlen(text) + 1;
	const char *copy = memcpy(*at, text, bytes);

	*at += bytes;
	return copy;
}

static bool
net_copy_hosts(struct pboot_overlay *net, const struct pboot_overlay_host *hosts)
{
	const uint32_t count = net->options.host_count;
	size_t bytes = 0;
	uint32_t i;
	char *at;

	for (i = 0; i < count; i++)
		bytes += strlen(hosts[i].address) + strlen(hosts[i].name) + 2;
	net->hosts = calloc(count, sizeof *net->hosts);
	at = net->host_texts = malloc(bytes);
	if (!net->hosts || !at)
		return false;
	for (i = 0; i < count; i++) {
		net->hosts[i].address = text_copy(&at, hosts[i].address);
		net->hosts[i].name = text_copy(&at, hosts[i].name);
	}
	return true;
}

enum pboot_overlay_result
pboot_overlay_connect(struct pboot_overlay *net, const struct pboot_overlay_host *hosts,
    uint64_t now_ns, uint64_t deadline_ns)
{
	if (net->state != PBOOT_NET_OPEN || net->hosts)
		return PBOOT_OVERLAY_MISUSE;
	if (!net_copy_hosts(net, hosts))
		return PBOOT_OVERLAY_NO_MEMORY;
	net->state = PBOOT_NET_CONNECTING;
	net->now_ns = now_ns;
	net->deadline_ns = deadline_ns;
	pboot_gather_begin(net, PBOOT_COLLECTIVE_BARRIER, NULL, 0);
	pboot_call_begin(net);
	pboot_probe_begin(net);
	return PBOOT_OVERLAY_OK;
}

void
pboot_overlay_close(struct pboot_overlay *net)
{
	struct pboot_link *link;

	if (net->state >= PBOOT_NET_CLOSING)
		return;
	for (link = net->link; net->state == PBOOT_NET_OPEN &&
	    link < net->link + PBOOT_TREE_BRANCHES; link++)
		if (link->state == PBOOT_LINK_AWAITED)
			link->state = PBOOT_LINK_CLOSED;
	if (net->state != PBOOT_NET_CONNECTING)
		pboot_join_close(net);
	net->state = PBOOT_NET_CLOSING;
}

/* ------------------------------------------------------------------- collectives --- */

static enum pboot_overlay_result
collective_begin(struct pboot_overlay *net, enum pboot_collective_kind kind, const void *blob,
    uint32_t len_bytes)
{
	enum pboot_overlay_result result;

	if (net->state == PBOOT_NET_OPEN || len_bytes > PBOOT_FRAME_BLOB_BYTES)
		return PBOOT_OVERLAY_MISUSE;
	if (net->state >= PBOOT_NET_CLOSING || net->loss_count > 0)
		return PBOOT_OVERLAY_GONE;
	if (net->state == PBOOT_NET_CONNECTING)
		return PBOOT_OVERLAY_AGAIN;
	result = pboot_gather_begin(net, kind, blob, len_bytes);
	if (result == PBOOT_OVERLAY_OK)
		pboot_route_flush(net);
	return result;
}

enum pboot_overlay_result
pboot_overlay_allgather(struct pboot_overlay *net, const void *blob, uint32_t len_bytes)
{
	return collective_begin(net, PBOOT_COLLECTIVE_GATHER, blob, len_bytes);
}

enum pboot_overlay_result
pboot_overlay_barrier(struct pboot_overlay *net)
{
	return collective_begin(net, PBOOT_COLLECTIVE_BARRIER, NULL, 0);
}

/* ------------------------------------------------------------------- the loop --- */

static bool
listener_is_used(const struct pboot_overlay *net)
{
	return net->listener >= 0 && net->hosts && net->listen_from_ns <= net->now_ns;
}

static unsigned
poll_add(struct pollfd *polls, unsigned *count, int fd, short events)
{
	polls[*count] = (struct pollfd){ .fd = fd, .events = events };
	return (*count)++;
}

/* The event for which the handshake waits. */
static short
shake_events(const struct pboot_shake *shake)
{
	size_t len;

	return pboot_shake_due(shake, &len) ? POLLOUT : POLLIN;
}

/* poll does not watch a link whose end is known, or that is full and has an error: it can find
 * nothing there for now. */
static void
link_fill(struct pboot_link *link, struct pollfd *polls, unsigned *count)
{
	const bool read = pboot_link_is_read(link);
	const bool over = link->news != PBOOT_LINK_FINE || (!read && link->error);
	short events = read ? POLLIN : 0;

	if (pboot_buffer_used(&link->out) > 0)
		events |= POLLOUT;
	link->poll_index = poll_add(polls, count, over ? -1 : link->fd, events);
}

unsigned
pboot_overlay_fill(struct pboot_overlay *net, struct pollfd *polls)
{
	struct pboot_attempt *attempt = &net->attempt;
	struct pboot_half *half;
	struct pboot_link *link;
	unsigned count = 0;

	net->listener_poll = poll_add(polls, &count,
	    listener_is_used(net) ? net->listener : -1, POLLIN);
	for (link = net->link; link <= net->link + net->children; link++)
		if (link->state == PBOOT_LINK_UP)
			link_fill(link, polls, &count);
		else if (net->probe[link->branch].fd >= 0)
			net->probe[link->branch].poll_index = poll_add(polls, &count,
			    net->probe[link->branch].fd, POLLOUT);
	if (attempt->fd >= 0)
		attempt->poll_index = poll_add(polls, &count, attempt->fd,
		    attempt->state == PBOOT_ATTEMPT_CONNECT ? POLLOUT :
		    shake_events(&attempt->shake));
	for (half = net->half; half < net->half + PBOOT_OVERLAY_HALF_OPEN; half++)
		if (half->fd >= 0)
			half->poll_index = poll_add(polls, &count, half->fd,
			    shake_events(&half->shake));
	return count;
}

static uint64_t
time_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* May a heartbeat be sent?  One is due when nothing was sent for a period, and nothing waits to be
 * sent. */
static bool
link_may_beat(const struct pboot_link *link)
{
	return pboot_buffer_used(&link->out) == 0 && !link->shut && !link->error;
}

static uint64_t
link_deadline(const struct pboot_overlay *net, const struct pboot_link *link)
{
	uint64_t deadline = UINT64_MAX;

	if (link_may_beat(link))
		deadline = link->spoke_ns + net->options.period_ns;
	if (pboot_link_is_read(link))
		deadline = time_earlier(deadline, link->heard_ns + net->options.limit_ns);
	return deadline;
}

static uint64_t
join_deadline(const struct pboot_overlay *net)
{
	const struct pboot_attempt *attempt = &net->attempt;
	const struct pboot_half *half;
	const struct pboot_link *link;
	uint64_t deadline = UINT64_MAX;

	if (attempt->state != PBOOT_ATTEMPT_NONE && !(attempt->state == PBOOT_ATTEMPT_SHAKE &&
	    pboot_shake_is_proven(&attempt->shake)))
		deadline = attempt->due_ns;
	for (half = net->half; half < net->half + PBOOT_OVERLAY_HALF_OPEN; half++)
		if (half->fd >= 0)
			deadline = time_earlier(deadline, half->due_ns);
	for (link = net->link + 1; net->hosts && link <= net->link + net->children; link++)
		if (link->state == PBOOT_LINK_AWAITED)
			deadline = time_earlier(deadline, net->probe[link->branch].due_ns);
	if (net->listener >= 0 && net->listen_from_ns > net->now_ns)
		deadline = time_earlier(deadline, net->listen_from_ns);
	return time_earlier(deadline, net->deadline_ns);
}

uint64_t
pboot_overlay_deadline(struct pboot_overlay *net)
{
	const struct pboot_link *link;

	net->expected_ns = join_deadline(net);
	for (link = net->link; link <= net->link + net->children; link++)
		if (link->state == PBOOT_LINK_UP)
			net->expected_ns = time_earlier(net->expected_ns, link_deadline(net, link));
	return net->expected_ns;
}

/* This process did not run for late_ns.  It moves all limits of waits for others by as much. */
static void
net_shift(struct pboot_overlay *net, uint64_t late_ns)
{
	struct pboot_half *half;
	struct pboot_link *link;

	for (link = net->link; link <= net->link + net->children; link++)
		link->heard_ns += late_ns;
	for (half = net->half; half < net->half + PBOOT_OVERLAY_HALF_OPEN; half++)
		half->due_ns += late_ns;
	net->attempt.due_ns += late_ns;
	if (net->deadline_ns < UINT64_MAX - late_ns)
		net->deadline_ns += late_ns;
}

static void
link_lose_by_silence(struct pboot_overlay *net, struct pboot_link *link)
{
	if (link->bye_sent && link->bye_taken) {
		pboot_link_close(link, PBOOT_LINK_CLOSED);
		return;
	}
	pboot_net_lose_format(net, link, PBOOT_OVERLAY_BY_SILENCE,
	    "%.50s has heard nothing from the keeper of %.50s for %.3g s",
	    pboot_net_name(net, net->options.self), pboot_net_name(net, link->peer),
	    (double)net->options.limit_ns / 1e9);
}

static void
link_beat(struct pboot_overlay *net, struct pboot_link *link)
{
	const struct pboot_frame beat = { .type = PBOOT_FRAME_BEAT };

	if (link_may_beat(link) && net->now_ns - link->spoke_ns >= net->options.period_ns) {
		pboot_link_put(link, &beat, NULL, 0, NULL);
		pboot_link_write(link, net->now_ns);
	}
}

/* A full link whose connection broke is not polled again until there is room to read up to the
 * end. */
static void
link_step(struct pboot_overlay *net, struct pboot_link *link, short found)
{
	if (found & (POLLERR | POLLHUP) && !pboot_link_is_read(link) && !link->error)
		link->error = ECONNRESET;
	if (found & (POLLIN | POLLERR | POLLHUP))
		pboot_link_read(link, net->now_ns);
	if (!pboot_link_is_read(link))
		link->heard_ns = net->now_ns;
	link_beat(net, link);
	if (net->now_ns >= link->heard_ns + net->options.limit_ns)
		link_lose_by_silence(net, link);
}

/* The events that poll found for fd, if it was filled in at this index. */
static short
poll_found(const struct pollfd *polls, unsigned count, unsigned index, int fd)
{
	return index < count && polls[index].fd == fd ? polls[index].revents : 0;
}

static void
join_step(struct pboot_overlay *net, const struct pollfd *polls, unsigned count)
{
	struct pboot_attempt *attempt = &net->attempt;
	struct pboot_half *half;
	struct pboot_link *link;

	pboot_call_step(net, poll_found(polls, count, attempt->poll_index, attempt->fd) != 0);
	for (half = net->half; half < net->half + PBOOT_OVERLAY_HALF_OPEN; half++)
		if (half->fd >= 0)
			pboot_answer_step(net, half,
			    poll_found(polls, count, half->poll_index, half->fd) != 0);
	for (link = net->link + 1; link <= net->link + net->children; link++)
		pboot_probe_step(net, link, poll_found(polls, count,
		    net->probe[link->branch].poll_index, net->probe[link->branch].fd) != 0);
	if (listener_is_used(net) &&
	    poll_found(polls, count, net->listener_poll, net->listener) != 0)
		pboot_answer_accept(net);
	if (net->deadline_ns <= net->now_ns)
		pboot_join_give_up(net);
}

void
pboot_overlay_step(struct pboot_overlay *net, uint64_t now_ns, const struct pollfd *polls,
    unsigned count)
{
	struct pboot_link *link;

	if (now_ns > net->expected_ns)
		net_shift(net, now_ns - net->expected_ns);
	net->now_ns = now_ns;
	for (link = net->link; link <= net->link + net->children; link++)
		if (link->state == PBOOT_LINK_UP)
			link_step(net, link,
			    poll_found(polls, count, link->poll_index, link->fd));
	if (net->hosts)
		join_step(net, polls, count);
	pboot_overlay_deadline(net);
}
