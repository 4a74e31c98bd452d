/*
 * Calls of the device that are under way on a tree.  They begin in the order of their numbers, and
 * end in any order; what is known of the oldest counts for all.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include "runtime/util/clock.h"

#include <string.h>

static struct poff_flight *
flight_at(struct poff_team *team, uint64_t seq)
{
	return &team->flights[seq % POFF_FLIGHTS];
}

/* A member that has begun reductions, and the multicasts behind them, is ahead by twice as many. */
uint32_t
poff_flights_most(const struct poff_team *team)
{
	uint32_t most = team->agreed.max_ahead / 2;

	if (most > team->agreed.max_inflight)
		most = team->agreed.max_inflight;
	if (most > POFF_FLIGHTS)
		most = POFF_FLIGHTS;
	return most ? most : 1;
}

/* -- beginning --------------------------------------------------------------------------------- */

/* Where a reduction has no result: the operand stays as it is, since the root may ask for it after
 * a failure.  Of a long one all confirm that they have done it, and nobody asks. */
static unsigned char *
flight_dst(struct poff_team *team, const struct poff_step *step, uint32_t op, size_t at)
{
	if (op == PST_OFF_REDUCE && !step->is_long &&
	    !poff_step_has_result(team, step->does, step->root))
		return team->operand + at;
	return step->bytes + step->blocks.result_at + step->blocks.got * at;
}

static pst_off_mem_t *
flight_mem(const struct poff_team *team, const struct poff_step *step)
{
	return step->is_long ? step->longer.mem : team->mem;
}

static void
flight_guard(struct poff_flight *flight)
{
	const struct poff_step *step = flight->step;

	flight->guarded = flight->at + flight->len_bytes == step->blocks.len_bytes;
	if (flight->guarded)
		memcpy(flight->guard, step->bytes + poff_blocks_all_bytes(&step->blocks),
		       sizeof flight->guard);
}

/* The device does not take the call yet.  It may wait for calls that are under way; where none is,
 * for so long as one may take. */
static void
start_waits(struct poff_team *team)
{
	const uint64_t now_ns = psi_now_ns();

	if (!team->start_again || team->flown != team->provider_seq)
		team->again_since_ns = now_ns;
	team->start_again = true;
	if (now_ns - team->again_since_ns > team->agreed.timeout_ns)
		poff_team_alarm(team, "a call is not taken in time");
}

/* Each call under way has a request of its own. */
static const char *
request_lacks(struct poff_team *team, const pst_off_req_t *req)
{
	if (!req)
		return "start says OK, and gives no request";
	for (uint64_t seq = team->flown; seq < team->provider_seq; seq++)
		if (flight_at(team, seq)->req == req)
			return "start gives a request that is under way";
	return NULL;
}

bool
poff_flight_start(struct poff_team *team, struct poff_step *step, uint32_t op, size_t at,
                  size_t len_bytes)
{
	struct poff_flight *flight = flight_at(team, team->provider_seq);
	const bool reduces = op != PST_OFF_BCAST && op != PST_OFF_GATHER_ALL;
	const pst_off_call_t call = {
		.struct_bytes = sizeof call, .op = op, .root = step->root,
		.dt = reduces ? step->dt : 0, .rop = reduces ? step->rop : 0,
		.seq = team->provider_seq, .nbytes = len_bytes,
		.src = step->bytes + step->blocks.given * at,
		.dst = flight_dst(team, step, op, at), .src_mem = flight_mem(team, step),
		.dst_mem = flight_mem(team, step),
	};
	const char *why = "a call does not start", *breach = NULL;
	int result;

	if (team->provider_seq - team->flown >= poff_flights_most(team))
		return false;
	*flight = (struct poff_flight){
		.step = step, .seq = team->provider_seq, .op = op, .root = step->root, .at = at,
		.len_bytes = len_bytes,
	};
	flight_guard(flight);
	result = poff_call_start(team, &call, &flight->req, &why);
	if (result == PST_OFF_AGAIN) {
		start_waits(team);
		return false;
	}
	team->start_again = false;
	if (result == PST_OFF_OK) {
		breach = request_lacks(team, flight->req);
		why = breach ? breach : why;
	}
	if (breach)
		poff_breach(team->device, breach);
	if (breach || result != PST_OFF_OK) {
		poff_team_alarm(team, why);
		return false;
	}
	team->provider_seq++;
	flight->started_ns = psi_now_ns();
	return true;
}

/* -- end --------------------------------------------------------------------------------------- */

/* A multicast may lose parts.  Its root alone is sure to have them all. */
static bool
flight_may_lack(const struct poff_team *team, const struct poff_flight *flight)
{
	return team->agreed.caps & PST_OFF_UNRELIABLE && flight->op == PST_OFF_BCAST &&
	       flight->root != team->channel.me;
}

/* The device writes no further than the payload goes. */
static bool
flight_has_kept_bounds(struct poff_team *team, const struct poff_flight *flight)
{
	const struct poff_step *step = flight->step;
	const unsigned char *behind = step->bytes + poff_blocks_all_bytes(&step->blocks);

	if (!flight->guarded || memcmp(behind, flight->guard, sizeof flight->guard) == 0)
		return true;
	poff_breach(team->device, "a call writes behind the end of its payload");
	poff_team_alarm(team, team->device->breach);
	return false;
}

static void
flight_ends(struct poff_team *team, struct poff_flight *flight)
{
	struct poff_step *step = flight->step;

	step->ended++;
	if (flight->op == PST_OFF_REDUCE && step->blocks.piece_bytes)
		step->reduced |= UINT64_C(1)
		                 << flight->at / step->blocks.piece_bytes % poff_flights_most(team);
}

/* The step goes on when the root has sent the rest. */
static void
flight_lacks(struct poff_team *team, struct poff_flight *flight, const pst_off_result_t *result)
{
	if (poff_missing_ask(team, flight, result)) {
		flight_ends(team, flight);
		return;
	}
	poff_breach(team->device, "a range that is missing is not in the payload");
	poff_team_alarm(team, team->device->breach);
}

static void
flight_test(struct poff_team *team, struct poff_flight *flight)
{
	pst_off_result_t result = { 0 };
	const int ended = poff_call_test(team, flight->req, &result);

	if (ended == PST_OFF_AGAIN)
		return;
	flight->req = NULL;
	if (flight_may_lack(team, flight) &&
	    (ended == PST_OFF_MISSING || (ended == PST_OFF_CANCELLED && flight->cancelled)))
		flight_lacks(team, flight, &result);
	else if (ended != PST_OFF_OK)
		poff_team_alarm(team, result.why ? result.why : "a call has failed");
	else if (flight_has_kept_bounds(team, flight))
		flight_ends(team, flight);
}

/* Cancels what may lack parts in time. */
static void
flight_watch_lossy(struct poff_team *team, struct poff_flight *flight)
{
	const uint64_t age_ns = psi_now_ns() - flight->started_ns;
	const uint64_t limit_ns = team->agreed.timeout_ns;

	if (!flight->cancelled && age_ns > limit_ns) {
		flight->cancelled = true;
		poff_call_cancel(team, flight->req);
	}
	if (age_ns > limit_ns + team->agreed.cancel_max_ns + POFF_CANCEL_SLACK_NS)
		poff_team_alarm(team, "a cancelled call does not end");
}

static void
oldest_watch(struct poff_team *team)
{
	struct poff_flight *oldest = flight_at(team, team->flown);

	if (flight_may_lack(team, oldest))
		flight_watch_lossy(team, oldest);
	else if (poff_is_late(team, poff_late_call(team, oldest->seq), oldest->started_ns,
	                      team->agreed.timeout_ns))
		poff_team_alarm(team, "a call has not ended in time");
}

void
poff_flights_test(struct poff_team *team, const struct poff_step *now)
{
	for (uint64_t seq = team->flown; seq < team->provider_seq && !team->failed; seq++) {
		struct poff_flight *flight = flight_at(team, seq);

		if (!flight->req)
			continue;
		flight_test(team, flight);
		if (!flight->req && flight->step != now)
			pcoll_op_changed(flight->step->op);
	}
	while (team->flown < team->provider_seq && !flight_at(team, team->flown)->req)
		team->flown++;
	if (team->flown < team->provider_seq && !team->failed)
		oldest_watch(team);
}

/* -- after a failure --------------------------------------------------------------------------- */

void
poff_flights_cancel(struct poff_team *team)
{
	for (uint64_t seq = team->flown; seq < team->provider_seq; seq++)
		if (flight_at(team, seq)->req)
			poff_call_cancel(team, flight_at(team, seq)->req);
}

bool
poff_flights_have_ended(struct poff_team *team)
{
	bool all_have = true;

	for (uint64_t seq = team->flown; seq < team->provider_seq; seq++) {
		struct poff_flight *flight = flight_at(team, seq);
		pst_off_result_t result;

		if (!flight->req)
			continue;
		if (poff_call_test(team, flight->req, &result) == PST_OFF_AGAIN)
			all_have = false;
		else
			flight->req = NULL;
	}
	return all_have;
}
