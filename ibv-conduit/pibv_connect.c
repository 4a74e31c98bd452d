/*
 * Connecting the job: the processes exchange the addresses for their datagrams, check that they
 * speak the same, and agree on the job's secret.  Connections follow on first use; where a setting
 * asks for it, all are made here.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/clock.h"

#include <sched.h>
#include <sys/random.h>

static struct pibv_port_card
port_card_of(const struct psi_conduit *conduit, unsigned rail)
{
	const struct pibv_rail *used = &conduit->rails[rail];

	return (struct pibv_port_card){
		.gid = used->gid.gid, .lid = used->port.lid, .mtu = pibv_mtu_of(conduit, rail),
		.link_layer = used->port.link_layer,
		.device_index = (uint8_t)used->device_index,
		.gid_kind = (uint8_t)pibv_gid_kind_of(&used->gid),
	};
}

/* On failure `wire' stays 0. */
static int
card_fill(struct psi_conduit *conduit)
{
	struct pibv_card *card = &conduit->card;

	if (getrandom(&card->secret, sizeof card->secret, 0) != sizeof card->secret) {
		conduit->services->log("ibv: no random number for the job's secret");
		return PSI_FAILED;
	}
	card->wire = PIBV_WIRE;
	card->medium_bytes = (uint32_t)conduit->medium_bytes;
	card->rails = conduit->rail_count;
	card->connect_all = conduit->connect_all;
	for (unsigned rail = 0; rail < conduit->rail_count; rail++)
		card->ports[rail] = port_card_of(conduit, rail);
	return PSI_OK;
}

static const char *
link_name(const struct pibv_card *card)
{
	return card->ports[0].link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
}

/* One line where addresses of a rail cannot reach each other. */
static bool
addresses_fit(const struct psi_conduit *conduit, uint32_t process)
{
	const struct pibv_card *mine = &conduit->card, *other = &conduit->cards[process];

	for (unsigned rail = 0; rail < mine->rails && rail < other->rails; rail++) {
		const uint8_t kind = mine->ports[rail].gid_kind;
		const uint8_t theirs = other->ports[rail].gid_kind;

		if (pibv_gid_kinds_meet(kind, theirs))
			continue;
		conduit->services->log("ibv: rank %u has an address (GID) of %s at port %u of %s, "
		                       "rank %u one of %s; give all such ports an IPv4 address, "
		                       "and unset PST_IBV_GID_INDEX or name entries of one kind "
		                       "with it", conduit->place, pibv_gid_kind_name(kind),
		                       conduit->rails[rail].port_number,
		                       pibv_device_of(conduit, rail)->name, process,
		                       pibv_gid_kind_name(theirs));
		return false;
	}
	return true;
}

/* One line about a process that does not fit this one; none about one that says why itself. */
static bool
card_fits(const struct psi_conduit *conduit, uint32_t process)
{
	const struct pibv_card *mine = &conduit->card, *other = &conduit->cards[process];
	const struct psi_services *services = conduit->services;

	if (!other->wire)
		return false;
	if (other->wire != mine->wire)
		services->log("ibv: ranks %u and %u have conduits of different kinds or releases "
		              "(%u, %u); set PST_CONDUIT the same, and install one release, on all "
		              "hosts", conduit->place, process,
		              mine->wire, other->wire);
	else if (other->medium_bytes != mine->medium_bytes)
		services->log("ibv: ranks %u and %u differ in PST_IBV_MAX_MEDIUM (%u, %u bytes); "
		              "set the same on all hosts", conduit->place, process,
		              mine->medium_bytes, other->medium_bytes);
	else if (other->ports[0].link_layer != mine->ports[0].link_layer)
		services->log("ibv: rank %u has %s, rank %u has %s; name ports of one kind in "
		              "GASNET_IBV_PORTS", conduit->place,
		              link_name(mine), process, link_name(other));
	else
		return addresses_fit(conduit, process);
	return false;
}

/* All processes make these connections at the same time, so one that does not answer for so long
 * cannot be reached. */
static const uint64_t answer_ns = 30000000000, step_most_ns = 100000000;

/* Is it time to give up?  Time in which this process did not run does not count. */
static bool
patience_ends(uint64_t *last_ns, uint64_t *waited_ns)
{
	const uint64_t now_ns = psi_now_ns(), step_ns = now_ns - *last_ns;

	*last_ns = now_ns;
	*waited_ns += step_ns < step_most_ns ? step_ns : step_most_ns;
	return *waited_ns >= answer_ns;
}

static void
silence_end(struct psi_conduit *conduit, uint32_t process)
{
	conduit->services->log("ibv: rank %u (%s) has not connected for 30 s "
	                       "(GASNET_CONNECT_STATIC): datagrams between port %u of %s "
	                       "and its port do not arrive, or it has failed; do a firewall, the "
	                       "partition and the address (GID) let them through?", process,
	                       conduit->services->host_name(process),
	                       conduit->rails[0].port_number, conduit->devices[0].name);
	pibv_lose(conduit);
}

/* Each side goes on until it is connected to all.  The last step of a hello goes by the connection,
 * so no peer needs this process any more when it returns. */
static int
connect_all(struct psi_conduit *conduit)
{
	uint64_t last_ns = psi_now_ns(), waited_ns = 0;
	uint32_t process = 0;

	psi_guard_lock(&conduit->guard);
	while (process < conduit->places && !conduit->lost) {
		const struct pibv_connection *connection =
			process == conduit->place ? NULL
			                          : pibv_connection_of(conduit, process);

		if (process == conduit->place ||
		    (connection && connection->state == PIBV_CONNECTED)) {
			process++;
			waited_ns = 0;
			continue;
		}
		if (psi_lost_peer_any(&conduit->lost_peer))
			break;
		if (patience_ends(&last_ns, &waited_ns))
			silence_end(conduit, process);
		pibv_progress_alone(conduit);
		psi_guard_unlock(&conduit->guard);
		sched_yield();
		psi_guard_lock(&conduit->guard);
	}
	if (!conduit->lost && psi_lost_peer_any(&conduit->lost_peer) &&
	    conduit->lost_peer.place < conduit->places)
		conduit->services->log("ibv: rank %u (%s) cannot be connected: %s",
		                       conduit->lost_peer.place,
		                       conduit->services->host_name(conduit->lost_peer.place),
		                       conduit->lost_peer.why);
	psi_guard_unlock(&conduit->guard);
	return conduit->lost || process < conduit->places ? PSI_FAILED : PSI_OK;
}

/* A process that has no card takes part in the exchange, since the others wait there.  One that
 * connects at the start needs answers of all, so where one is told to, all do. */
int
pibv_connect(struct psi_conduit *conduit)
{
	int result = card_fill(conduit);

	conduit->services->exchange(&conduit->card, sizeof conduit->card, conduit->cards);
	if (result != PSI_OK)
		return result;
	for (uint32_t process = 0; process < conduit->places; process++) {
		if (!card_fits(conduit, process))
			return PSI_FAILED;
		conduit->connect_all = conduit->connect_all || conduit->cards[process].connect_all;
	}
	conduit->tag = conduit->cards[0].secret;
	return conduit->connect_all ? connect_all(conduit) : PSI_OK;
}
