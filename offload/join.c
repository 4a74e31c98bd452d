/*
 * How a team comes to a device: the leaders compare what their devices offer, join a tree, and
 * agree from which step on the device is used.  Each stage is a function.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"

#include "runtime/util/bounds.h"
#include "runtime/util/clock.h"

#include <stddef.h>
#include <string.h>

enum { STEPS_AHEAD = 8 };

/* -- what all agree on ------------------------------------------------------------------------- */

static void
attributes_join(pst_off_attr_t *into, const pst_off_attr_t *other)
{
	into->ops &= other->ops;
	into->caps = (into->caps & other->caps & PST_OFF_ANY_ROOT) |
	             ((into->caps | other->caps) & ~(uint64_t)PST_OFF_ANY_ROOT);
	into->dtypes &= other->dtypes;
	into->rops &= other->rops;
	into->max_payload_bytes = psi_least(into->max_payload_bytes, other->max_payload_bytes);
	into->align_bytes = (uint32_t)psi_most(into->align_bytes, other->align_bytes);
	into->max_inflight = (uint32_t)psi_least(into->max_inflight, other->max_inflight);
	into->max_ahead = (uint32_t)psi_least(into->max_ahead, other->max_ahead);
	into->max_trees = (uint32_t)psi_least(into->max_trees, other->max_trees);
	into->max_fanout = (uint32_t)psi_least(into->max_fanout, other->max_fanout);
	into->max_members = (uint32_t)psi_least(into->max_members, other->max_members);
	into->call_max_ns = psi_most(into->call_max_ns, other->call_max_ns);
	into->cancel_max_ns = psi_most(into->cancel_max_ns, other->cancel_max_ns);
	into->timeout_ns = psi_most(into->timeout_ns, other->timeout_ns);
}

/* -- stages ------------------------------------------------------------------------------------ */

static int
oob_start(void *oob, const void *mine, size_t nbytes, void *all_out)
{
	struct poff_team *team = oob;

	if (team->oob.under_way)
		return PST_OFF_FAIL;
	poff_gather_start(&team->oob, mine, nbytes, all_out);
	return PST_OFF_OK;
}

/* A member that could not begin to join takes no part in it, and has said so already. */
static int
oob_test(void *oob)
{
	struct poff_team *team = oob;

	if (poff_gather_test(&team->oob))
		return PST_OFF_OK;
	return poff_any_nonzero(&team->channel, POFF_GATHER, team->gather.number)
	               ? PST_OFF_FAIL : PST_OFF_AGAIN;
}

static void proposal_start(struct poff_team *team);

/* All have said whether they are still below the number from which on steps are held. */
static void
team_commits(struct poff_team *team)
{
	if (!poff_gather_test(&team->gather))
		return;
	if (poff_team_all_agree(team)) {
		team->active_from = team->turn = team->issue = team->hold_from;
		team->calls_ahead = team->steps_ahead = 0;
		team->keeps_results = false;
		team->go_on = NULL;
		team->hold_from = UINT64_MAX;
		poff_team_stir(team);
		return;
	}
	team->hold_from = UINT64_MAX;
	poff_team_stir(team);
	proposal_start(team);
}

/* All have said how many steps they have begun. */
static void
team_proposes(struct poff_team *team)
{
	const uint64_t *begun = (const uint64_t *)(const void *)team->gathered;
	uint64_t from = 0;
	uint8_t is_below;

	if (!poff_gather_test(&team->gather))
		return;
	for (uint32_t i = 0; i < team->channel.members; i++)
		from = psi_most(from, begun[i]);
	team->hold_from = from + STEPS_AHEAD;
	is_below = poff_team_begun(team) <= team->hold_from;
	team->go_on = team_commits;
	poff_gather_start(&team->gather, &is_below, sizeof is_below, team->gathered);
}

static void
proposal_start(struct poff_team *team)
{
	const uint64_t begun = poff_team_begun(team);

	team->go_on = team_proposes;
	poff_gather_start(&team->gather, &begun, sizeof begun, team->gathered);
}

static void
team_makes_room(struct poff_team *team)
{
	team->then = NULL;
	poff_room_make(team, team->was_full);
}

/* The next device of the list, if the one before cannot serve the team. */
static void
team_takes_next(struct poff_team *team)
{
	struct poff_device *next = poff_device_at(team->scope, team->device_at + 1);

	team->then = NULL;
	if (!next) {
		poff_team_give_up(team, team->why);
		return;
	}
	poff_stats_team(team);
	memset(team->count, 0, sizeof team->count);
	team->device = next;
	team->device_at++;
	team->shape_count = 0;
	poff_join_start(team);
}

/* The first of those whose joins were cancelled says so for all. */
static void
late_join_tell(const struct poff_team *team)
{
	const uint8_t *first =
		memchr(team->gathered, PST_OFF_CANCELLED, team->channel.members);

	if (first == team->gathered + team->channel.me &&
	    !psi_setting_bool(psi_setting_named("GASNET_QUIET")))
		psi_log("offload: %s: a join by a team of %u has not ended in "
		        "PST_OFFLOAD_JOIN_TIMEOUT, and is cancelled",
		        team->device->provider->name, team->size);
}

/* All have said whether they have a tree; those that have one leave it if another has not. */
static void
team_has_joined(struct poff_team *team)
{
	const uint8_t mine = team->gathered[team->channel.me];
	bool all_have = true, any_full = false;

	if (!poff_gather_test(&team->gather))
		return;
	for (uint32_t i = 0; i < team->channel.members; i++) {
		all_have = all_have && team->gathered[i] == PST_OFF_OK;
		any_full = any_full || team->gathered[i] == PST_OFF_FULL;
	}
	poff_count(team, all_have ? POFF_COUNT_JOINS : POFF_COUNT_JOINS_REFUSED);
	late_join_tell(team);
	if (all_have) {
		poff_tree_taken(team);
		proposal_start(team);
	} else if (any_full && !team->tries_again) {
		team->was_full = mine == PST_OFF_FULL;
		team->go_on = team->then = team_makes_room;
		poff_tree_leave(team);
	} else if (any_full) {
		poff_team_give_up(team, "no tree is free");
		poff_rejoin_later(team);
		poff_tree_leave(team);
	} else {
		team->why = team->why ? team->why : "a member could not join the tree";
		team->go_on = team->then = team_takes_next;
		poff_tree_leave(team);
	}
}

static bool
join_is_late(struct poff_team *team)
{
	const uint64_t limit_ns = psi_setting_ns(psi_setting_named("PST_OFFLOAD_JOIN_TIMEOUT"));

	return limit_ns &&
	       poff_is_late(team, poff_late_join(team), team->joining_since_ns, limit_ns);
}

/* What the device reads and writes is in one piece, but for long payloads, so one registration
 * serves all other calls. */
static bool
memory_is_ready(struct poff_team *team)
{
	const pst_off_provider_t *calls = &team->device->provider->calls;
	const size_t len_bytes = offsetof(struct poff_team, operand) + sizeof team->operand -
	                         offsetof(struct poff_team, kept);

	if (!(team->agreed.caps & PST_OFF_NEEDS_MEM) ||
	    (calls->mem_register && calls->mem_release &&
	     calls->mem_register(team->device->dev, team->kept, len_bytes, &team->mem) ==
	             PST_OFF_OK))
		return true;
	team->mem = NULL;
	team->why = "memory cannot be registered";
	return false;
}

static void
team_tells_that_it_was_late(struct poff_team *team)
{
	const uint8_t told = PST_OFF_CANCELLED;

	team->go_on = team_has_joined;
	poff_gather_start(&team->gather, &told, sizeof told, team->gathered);
}

/* It takes too long, although all members have begun it. */
static void
join_give_up(struct poff_team *team)
{
	team->why = "the join has not ended in PST_OFFLOAD_JOIN_TIMEOUT";
	poff_join_cancel(team, team_tells_that_it_was_late);
}

static void
team_joins(struct poff_team *team)
{
	const int result = poff_call_join_test(team);
	uint8_t told = (uint8_t)result;

	if (result == PST_OFF_AGAIN) {
		if (join_is_late(team))
			join_give_up(team);
		return;
	}
	team->joining = false;
	if (result != PST_OFF_OK)
		team->tree = NULL;
	else if (!memory_is_ready(team))
		told = PST_OFF_NO;
	if (result == PST_OFF_FULL)
		team->why = "no tree is free";
	team->go_on = team_has_joined;
	poff_gather_start(&team->gather, &told, sizeof told, team->gathered);
}

static void
join_start(struct poff_team *team)
{
	int result;
	uint8_t told;

	team->group = (pst_off_group_t){
		.struct_bytes = sizeof team->group, .members = team->channel.members,
		.me = team->channel.me, .key = team->group.key, .agreed = &team->agreed,
		.oob = team, .oob_start = oob_start, .oob_test = oob_test,
	};
	team->oob.under_way = false;
	team->oob.number = ++team->joins << 32;
	team->provider_seq = team->flown = 0;
	team->why = NULL;
	team->tree = NULL;
	result = poff_call_join_start(team, &team->group);
	if (result == PST_OFF_OK && !team->tree) {
		team->why = "join_start says OK, and gives no tree";
		poff_breach(team->device, team->why);
		result = PST_OFF_NO;
	}
	told = (uint8_t)result;

	if (result == PST_OFF_OK) {
		team->joining = true;
		team->joining_since_ns = psi_now_ns();
		team->go_on = team_joins;
		return;
	}
	team->tree = NULL;
	team->go_on = team_has_joined;
	poff_gather_start(&team->gather, &told, sizeof told, team->gathered);
}

void
poff_join_again(struct poff_team *team)
{
	team->tries_again = true;
	join_start(team);
}

/* All have said what their devices offer. */
static void
team_compares(struct poff_team *team)
{
	const struct poff_offer *offers = (const struct poff_offer *)(const void *)team->gathered;
	bool all_open = true;

	if (!poff_gather_test(&team->gather))
		return;
	team->agreed = offers[0].attr;
	team->group.key = offers[0].key;
	for (uint32_t i = 0; i < team->channel.members; i++) {
		all_open = all_open && offers[i].opens;
		attributes_join(&team->agreed, &offers[i].attr);
	}
	if (!all_open)
		team->why = team->device->dev ? "a member's device does not open"
		                              : team->device->why;
	else if (team->channel.members > team->agreed.max_members)
		team->why = "more members than a tree may have";
	if (all_open && team->channel.members <= team->agreed.max_members)
		join_start(team);
	else
		team_takes_next(team);
}

/* No other tree of the job has it or had it. */
static uint64_t
key_make(void)
{
	static uint32_t made;   /* under the lock */

	return (uint64_t)psi.boot.rank << 32 | ++made;
}

void
poff_join_start(struct poff_team *team)
{
	struct poff_offer offer = { .opens = poff_device_open(team->device) &&
	                                     !team->device->banned,
		                    .key = key_make() };

	if (offer.opens)
		offer.attr = team->device->attr;
	team->tries_again = false;
	team->rejoin_at = UINT64_MAX;
	team->go_on = team_compares;
	poff_gather_start(&team->gather, &offer, sizeof offer, team->gathered);
}
