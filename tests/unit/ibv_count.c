/*
 * Messages through the ibv conduit over the mock, for callgrind: `ibv_count PATTERN TIMES' does one
 * thing that often, and t_ibv_count sums up the instructions of the library's files.
 *
 *     short    a Short with two arguments, and one in answer: two messages
 *     stream   a Short with two arguments; the receiver polls after each, the sender after 16
 *     put      a put of 8 bytes whose completion is waited for
 *     empty    a poll that finds nothing
 */
#include "tests/unit/ibv_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int32_t args[2] = { 11, 12 };

/* Without the rig's delivery, which copies. */
static unsigned delivered;

static void
deliver(void *owner, const struct psi_arrival *arrival)
{
	(void)owner;
	delivered += arrival->args[0] == 11 && arrival->args[1] == 12;
}

static unsigned completed_count;

static void
completed(uint64_t cookie)
{
	completed_count += cookie != 0;
}

static void
short_send(struct psi_port *port, uint32_t to, unsigned network)
{
	struct psi_am am = psi_am_of(to, PSI_SHORT, psi_am_tag(network, 200, 2), args);

	if (pibv_ops.am_send(port, &am) != PSI_OK)
		abort();
}

static void
poll_once(struct psi_port *port)
{
	pibv_ops.poll(port, PSI_BOTH_NETWORKS, 16);
}

static void
shorts(struct psi_port *a, struct psi_port *b, unsigned times)
{
	while (times-- > 0) {
		short_send(a, 1, PSI_REQUESTS);
		poll_once(b);
		short_send(b, 0, PSI_REPLIES);
		poll_once(a);
	}
}

static void
stream(struct psi_port *a, struct psi_port *b, unsigned times)
{
	while (times-- > 0) {
		short_send(a, 1, PSI_REQUESTS);
		poll_once(b);
		if (times % 16 == 0)
			poll_once(a);
	}
}

static void
puts_waited(struct psi_port *a, unsigned times)
{
	static uint64_t there, here;
	const struct psi_segment_name name = rig_bind(1, &there, sizeof there);
	struct psi_transfer transfer = rig_transfer(1, name, 0, &here, sizeof here, 7);

	transfer.waited = true;

	while (times-- > 0) {
		if (pibv_ops.put(a, &transfer) != PSI_OK)
			abort();
		poll_once(a);
	}
}

static void
polls(struct psi_port *a, unsigned times)
{
	while (times-- > 0)
		poll_once(a);
}

int
main(int argc, char **argv)
{
	struct psi_services services = rig_services;
	const char *pattern = argc > 2 ? argv[1] : "";
	const unsigned times = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	struct psi_port *a, *b;

	rig_start(2);
	rig_meet(0, 1);
	services.deliver = deliver;
	services.completed = completed;
	a = rig_ranks[0].port;
	b = rig_ranks[1].port;
	a->conduit->services = b->conduit->services = &services;
	if (strcmp(pattern, "short") == 0)
		shorts(a, b, times);
	else if (strcmp(pattern, "stream") == 0)
		stream(a, b, times);
	else if (strcmp(pattern, "put") == 0)
		puts_waited(a, times);
	else if (strcmp(pattern, "empty") == 0)
		polls(a, times);
	else
		return 2;
	printf("%u messages, %u completions\n", delivered, completed_count);
	return 0;
}
