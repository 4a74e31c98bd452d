/*
 * A team's use of a device, of a member that leads: the leaders compare what their devices offer,
 * join a tree, and agree from which step on the device is used.  Each stage is a function.
 */
#include "offload/offload.h"

#include "coll/coll.h"
#include "coll/layout.h"

#include "runtime/process/process.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_AHEAD = 8 };

static struct poff_team *teams;

/* What leaders tell of themselves first. */
struct offer {
	uint8_t opens;
	pst_off_attr_t attr;
};

/* -- what all agree on ------------------------------------------------------------------------- */

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void
attributes_join(pst_off_attr_t *into, const pst_off_attr_t *other)
{
	into->ops &= other->ops;
	into->caps = (into->caps & other->caps & PST_OFF_ANY_ROOT) |
	             ((into->caps | other->caps) & ~(uint64_t)PST_OFF_ANY_ROOT);
	into->dtypes &= other->dtypes;
	into->rops &= other->rops;
	into->max_payload_bytes = least(into->max_payload_bytes, other->max_payload_bytes);
	into->align_bytes = (uint32_t)most(into->align_bytes, other->align_bytes);
	into->max_inflight = (uint32_t)least(into->max_inflight, other->max_inflight);
	into->max_ahead = (uint32_t)least(into->max_ahead, other->max_ahead);
	into->max_trees = (uint32_t)least(into->max_trees, other->max_trees);
	into->max_fanout = (uint32_t)least(into->max_fanout, other->max_fanout);
	into->max_members = (uint32_t)least(into->max_members, other->max_members);
	into->call_max_ns = most(into->call_max_ns, other->call_max_ns);
	into->cancel_max_ns = most(into->cancel_max_ns, other->cancel_max_ns);
	into->timeout_ns = most(into->timeout_ns, other->timeout_ns);
}

void
poff_team_give_up(struct poff_team *team, const char *why)
{
	team->why = why;
	team->go_on = NULL;
	team->hold_from = UINT64_MAX;
	poff_team_stir(team);
}

/* -- stages ------------------------------------------------------------------------------------ */

static int
oob_start(void *oob, const void *mine, size_t nbytes, void *all_out)
{
	struct poff_gather *gather = oob;

	if (gather->under_way)
		return PST_OFF_FAIL;
	poff_gather_start(gather, mine, nbytes, all_out);
	return PST_OFF_OK;
}

static int
oob_test(void *oob)
{
	return poff_gather_test(oob) ? PST_OFF_OK : PST_OFF_AGAIN;
}

static void
team_leaves(struct poff_team *team)
{
	if (team->device->provider->calls.leave_test(team->tree) == PST_OFF_AGAIN)
		return;
	team->tree = NULL;
	team->go_on = NULL;
}

void
poff_tree_leave(struct poff_team *team)
{
	if (!team->tree)
		return;
	team->device->provider->calls.leave_start(team->tree, false);
	team->go_on = team_leaves;
}

static void proposal_start(struct poff_team *team);

/* All have said whether they are still below the number from which on steps are held. */
static void
team_commits(struct poff_team *team)
{
	bool all_below = true;

	if (!poff_gather_test(&team->gather))
		return;
	for (uint32_t i = 0; i < team->channel.members; i++)
		all_below = all_below && team->gathered[i];
	if (all_below) {
		team->active_from = team->turn = team->hold_from;
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
		from = most(from, begun[i]);
	team->hold_from = from + STEPS_AHEAD;
	is_below = team->channel.tm->device_steps <= team->hold_from;
	team->go_on = team_commits;
	poff_gather_start(&team->gather, &is_below, sizeof is_below, team->gathered);
}

static void
proposal_start(struct poff_team *team)
{
	team->go_on = team_proposes;
	poff_gather_start(&team->gather, &team->channel.tm->device_steps, sizeof(uint64_t),
	                  team->gathered);
}

/* All have said whether they have a tree. */
static void
team_has_joined(struct poff_team *team)
{
	bool all_have = true;

	if (!poff_gather_test(&team->gather))
		return;
	for (uint32_t i = 0; i < team->channel.members; i++)
		all_have = all_have && team->gathered[i] == PST_OFF_OK;
	if (all_have) {
		proposal_start(team);
		return;
	}
	poff_team_give_up(team, team->why ? team->why : "a member could not join the tree");
	poff_tree_leave(team);
}

static void
team_joins(struct poff_team *team)
{
	const pst_off_provider_t *calls = &team->device->provider->calls;
	const int result = calls->join_test(team->tree, &team->why);
	uint8_t told = (uint8_t)result;

	if (result == PST_OFF_AGAIN)
		return;
	if (result != PST_OFF_OK)
		team->tree = NULL;
	if (result == PST_OFF_FULL)
		team->why = "no tree is free";
	team->go_on = team_has_joined;
	poff_gather_start(&team->gather, &told, sizeof told, team->gathered);
}

static void
join_start(struct poff_team *team)
{
	const pst_off_provider_t *calls = &team->device->provider->calls;
	const pst_off_group_t group = {
		.struct_bytes = sizeof group, .members = team->channel.members,
		.me = team->channel.me, .key = team->channel.team, .agreed = &team->agreed,
		.oob = &team->oob, .oob_start = oob_start, .oob_test = oob_test,
	};
	const int result = calls->join_start(team->device->dev, &group, &team->tree, &team->why);
	uint8_t told = (uint8_t)result;

	if (result == PST_OFF_OK) {
		team->go_on = team_joins;
		return;
	}
	team->tree = NULL;
	team->go_on = team_has_joined;
	poff_gather_start(&team->gather, &told, sizeof told, team->gathered);
}

/* All have said what their devices offer. */
static void
team_compares(struct poff_team *team)
{
	const struct offer *offers = (const struct offer *)(const void *)team->gathered;
	bool all_open = true;

	if (!poff_gather_test(&team->gather))
		return;
	team->agreed = offers[0].attr;
	for (uint32_t i = 0; i < team->channel.members; i++) {
		all_open = all_open && offers[i].opens;
		attributes_join(&team->agreed, &offers[i].attr);
	}
	if (!all_open)
		poff_team_give_up(team, team->device->dev ? "a member's device does not open"
		                                          : team->device->why);
	else if (team->channel.members > team->agreed.max_members)
		poff_team_give_up(team, "more members than a tree may have");
	else
		join_start(team);
}

static void
offer_start(struct poff_team *team)
{
	struct offer offer = { .opens = poff_device_open(team->device) };

	if (offer.opens)
		offer.attr = team->device->attr;
	team->go_on = team_compares;
	poff_gather_start(&team->gather, &offer, sizeof offer, team->gathered);
}

/* -- teams ------------------------------------------------------------------------------------- */

struct poff_team *
poff_team_find(uint64_t id)
{
	struct poff_team *team = teams;

	while (team && team->channel.team != id)
		team = team->next;
	return team;
}

static void
team_open(struct poff_team *team, gex_TM_t tm)
{
	const struct pcoll_layout *layout = tm->layout;

	memcpy(team->ranks, layout->leads, layout->nbrhds * sizeof *team->ranks);
	team->device = poff_device_of_job();
	team->channel = (struct poff_channel){
		.tm = tm, .team = tm->id, .members = layout->nbrhds,
		.me = layout->nbrhd_of[tm->rank], .ranks = team->ranks,
	};
	team->gather = (struct poff_gather){ .channel = &team->channel, .kind = POFF_GATHER };
	team->oob = (struct poff_gather){ .channel = &team->channel, .kind = POFF_OOB };
	team->ends = (struct poff_gather){ .channel = &team->channel, .kind = POFF_ENDS };
	team->hold_from = team->active_from = UINT64_MAX;
	team->next = teams;
	teams = team;
	psi_progress_begins();  /* other members wait for answers */
	poff_channel_open(&team->channel);
	offer_start(team);
}

struct poff_team *
poff_team_of(gex_TM_t tm)
{
	const uint32_t members = tm->layout->nbrhds;
	struct poff_team *team = tm->offload;

	if (team)
		return team;
	team = calloc(1, sizeof *team);
	if (team) {
		team->ranks = calloc(members, sizeof *team->ranks);
		team->gathered = calloc(members, sizeof(struct offer));
	}
	if (!team || !team->ranks || !team->gathered)
		psi_fatal("no memory for offload of a team of %u", tm->size);
	tm->offload = team;
	team_open(team, tm);
	return team;
}

void
poff_team_close(gex_TM_t tm)
{
	struct poff_team *team = tm->offload, **at = &teams;

	if (!team)
		return;
	poff_tree_leave(team);
	while (team->tree)
		team_leaves(team);
	while (*at != team)
		at = &(*at)->next;
	*at = team->next;
	psi_progress_ends();
	poff_channel_close(&team->channel);
	poff_team_stir(team);
	for (struct poff_waiting *next; team->spare; team->spare = next) {
		next = team->spare->next;
		free(team->spare);
	}
	free(team->ranks);
	free(team->gathered);
	free(team);
	tm->offload = NULL;
}

void
poff_team_stir(struct poff_team *team)
{
	for (struct poff_waiting *waiting = team->waiting, *next; waiting; waiting = next) {
		next = waiting->next;
		pcoll_op_changed(waiting->op);
		waiting->next = team->spare;
		team->spare = waiting;
	}
	team->waiting = NULL;
}

/* Another member asks whether this one has begun a step. */
static void
asks_answer(struct poff_team *team)
{
	struct poff_message *kept = NULL, *message;

	while ((message = poff_take_any(&team->channel, POFF_ASK))) {
		const bool begun = message->number < team->turn ||
		                   (message->number == team->turn && team->step.go_on);

		if (!begun) {
			message->next = kept;
			kept = message;
			continue;
		}
		poff_send(&team->channel, message->from, POFF_TELL, message->number, NULL, 0);
		free(message);
	}
	for (struct poff_message *next; kept; kept = next) {
		next = kept->next;
		poff_put_back(&team->channel, kept);
	}
}

static void
team_progress(struct poff_team *team)
{
	struct poff_message *alarm;

	poff_channel_push(&team->channel);
	while ((alarm = poff_take_any(&team->channel, POFF_ALARM))) {
		poff_team_alarm(team, "the device of another member has failed");
		free(alarm);
	}
	asks_answer(team);
	if (team->go_on)
		team->go_on(team);
	if (team->step.go_on)
		pcoll_op_changed(team->step.op);
	else if (team->failed && !team->go_on)
		poff_team_stir(team);
}

void
poff_teams_progress(void)
{
	for (struct poff_team *team = teams; team; team = team->next)
		team_progress(team);
}
