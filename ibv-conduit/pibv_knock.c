/*
 * Paths on which no datagram arrives.
 *
 * A process that makes no calls answers no hello, nor does one that no hello reaches.  The sender
 * cannot tell the two from each other.  So once the peer has been silent for 10 s, a knock goes
 * with each hello (service knock, pibv_hello.c), by the keepers and not by this network.  The peer
 * hears it when it polls.  If it polls for 20 s, and hears knocks all the time while no hello
 * comes, then the path is dead, and the job ends.  Where hellos are further apart than usual
 * (GASNET_CONNECT_RETRANS_MAX), it polls for as long as three of them take.
 *
 * A poll after a long computation finds what has come meanwhile, as far as there were buffers.  So
 * time between two looks counts as far as the process may be said to have polled in it.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/bounds.h"
#include "runtime/util/clock.h"

#include <stdio.h>

static const uint64_t listen_ns = 20000000000, forget_ns = 4000000000;

/* One or two of the hellos that are sent meanwhile may be lost. */
static uint64_t
listen_time_ns(const struct psi_conduit *conduit)
{
	return psi_most(listen_ns, 3 * conduit->hello_most_ns);
}

/* Two knocks may be lost. */
static bool
knock_is_over(const struct psi_conduit *conduit, uint64_t now_ns)
{
	const struct pibv_connection *connection = conduit->connections[conduit->knock.process];

	return (connection && (connection->state != PIBV_MADE || connection->broken)) ||
	       now_ns - conduit->knock.heard_ns > forget_ns + 2 * conduit->hello_most_ns;
}

static void
path_is_dead(struct psi_conduit *conduit)
{
	const uint32_t process = conduit->knock.process;
	struct pibv_connection *connection = conduit->connections[process];
	char why[PSI_LOST_WHY_BYTES];

	conduit->knock.heard_ns = 0;
	if (!connection)
		connection = pibv_connection_make(conduit, process);
	if (!connection)
		return;
	snprintf(why, sizeof why,
	         "no path: it sends datagrams, and in %u s none has come to port %u of %s",
	         (unsigned)(listen_time_ns(conduit) / 1000000000), conduit->rails[0].port_number,
	         conduit->devices[0].name);
	pibv_connection_break(conduit, connection, why);
}

/* Takes a knock, if `who' is a process.  False: nobody knocks any more, or a hello has come. */
static bool
knock_lasts(struct psi_conduit *conduit, uint32_t who, uint64_t now_ns)
{
	if (conduit->knock.heard_ns && knock_is_over(conduit, now_ns))
		conduit->knock.heard_ns = 0;
	if (who < conduit->places && !conduit->knock.heard_ns) {
		conduit->knock.process = who;
		conduit->knock.looked_ns = now_ns;
		conduit->knock.listened_ns = 0;
	}
	if (who < conduit->places && who == conduit->knock.process)
		conduit->knock.heard_ns = now_ns;
	return conduit->knock.heard_ns && !knock_is_over(conduit, now_ns);
}

void
pibv_knock_look(struct psi_conduit *conduit, uint64_t most_ns)
{
	const uint32_t who = conduit->services->knocker();
	uint64_t now_ns, since_ns;

	if (who == PSI_NO_PEER && !conduit->knock.heard_ns)
		return;
	now_ns = psi_now_ns();
	if (!knock_lasts(conduit, who, now_ns))
		return;
	since_ns = now_ns - conduit->knock.looked_ns;
	conduit->knock.listened_ns += psi_least(since_ns, most_ns);
	conduit->knock.looked_ns = now_ns;
	if (conduit->knock.listened_ns >= listen_time_ns(conduit))
		path_is_dead(conduit);
}

void
pibv_knock_hello_came(struct psi_conduit *conduit, uint32_t process)
{
	if (conduit->knock.process == process)
		conduit->knock.heard_ns = 0;
}
