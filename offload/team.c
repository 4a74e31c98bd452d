/*
 * The teams that use a device, of members that lead, from the first device step on until all
 * members have ended: one that has may have what another still lacks, so it stays to answer.
 */
#include "offload/offload.h"

#include "coll/coll.h"
#include "coll/layout.h"

#include "runtime/process/process.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct poff_team *teams;

struct poff_team *
poff_team_find(uint64_t id)
{
	struct poff_team *team = teams;

	while (team && team->channel.team != id)
		team = team->next;
	return team;
}

/* -- beginning --------------------------------------------------------------------------------- */

static void
team_open(struct poff_team *team, gex_TM_t tm)
{
	const struct pcoll_layout *layout = tm->layout;

	for (uint32_t i = 0; i < layout->nbrhds; i++)
		team->places[i] = psi_target_of(tm, layout->leads[i], "offload").place;
	team->tm = tm;
	team->size = tm->size;
	team->device = poff_device_at(0);
	team->verifies = poff_verifies();
	team->channel = (struct poff_channel){
		.ep = tm->ep, .team = tm->id, .members = layout->nbrhds,
		.me = layout->nbrhd_of[tm->rank], .places = team->places,
	};
	team->gather = (struct poff_gather){ .channel = &team->channel, .kind = POFF_GATHER };
	team->oob = (struct poff_gather){ .channel = &team->channel, .kind = POFF_OOB };
	team->ends = (struct poff_gather){ .channel = &team->channel, .kind = POFF_ENDS };
	team->evict = (struct poff_gather){ .channel = &team->channel, .kind = POFF_EVICT };
	team->hold_from = team->active_from = team->broken = UINT64_MAX;
	team->until = team->rejoin_at = UINT64_MAX;
	team->slot = PSI_DEVICE_TREES;
	team->next = teams;
	teams = team;
	psi_progress_begins();  /* other members wait for answers */
	poff_channel_open(&team->channel);
	poff_join_start(team);
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
		team->places = calloc(members, sizeof *team->places);
		team->gathered = calloc(members, sizeof(struct poff_offer));
	}
	if (!team || !team->places || !team->gathered)
		psi_fatal("no memory for offload of a team of %u", tm->size);
	tm->offload = team;
	team_open(team, tm);
	return team;
}

uint64_t
poff_team_begun(const struct poff_team *team)
{
	return team->tm ? team->tm->device_steps : team->begun_at_end;
}

bool
poff_team_all_agree(const struct poff_team *team)
{
	return memchr(team->gathered, 0, team->channel.members) == NULL;
}

void
poff_team_give_up(struct poff_team *team, const char *why)
{
	team->why = why;
	team->go_on = NULL;
	team->hold_from = UINT64_MAX;
	poff_team_stir(team);
}

/* -- end --------------------------------------------------------------------------------------- */

static void
team_leaves(struct poff_team *team)
{
	if (poff_call_leave_test(team) == PST_OFF_AGAIN)
		return;
	team->tree = NULL;
	if (team->mem)
		team->device->provider->calls.mem_release(team->device->dev, team->mem);
	team->mem = NULL;
	team->go_on = team->then;
	team->then = NULL;
	poff_tree_given_back(team);
	poff_team_stir(team);
}

void
poff_tree_leave(struct poff_team *team)
{
	if (!team->tree || team->abandoned)
		return;
	poff_call_leave_start(team);
	team->go_on = team_leaves;
}

void
poff_team_close(gex_TM_t tm)
{
	struct poff_team *team = tm->offload;

	if (!team)
		return;
	team->begun_at_end = tm->device_steps;
	team->tm = NULL;
	team->closing = true;
	tm->offload = NULL;
	poff_send_all(&team->channel, POFF_BYE, 0, NULL, 0);
}

void
poff_teams_close(void)
{
	for (struct poff_team *team = teams; team; team = team->next)
		if (!team->closing)
			poff_team_close(team->tm);
}

/* Has it anything that another member may lack? */
static bool
team_is_needed(const struct poff_team *team)
{
	return !team->abandoned && (team->tree || team->joining ||
	                            (team->active_from != UINT64_MAX && !team->settled));
}

uint64_t
poff_teams_need_ns(void)
{
	uint64_t most_ns = 0;

	for (const struct poff_team *team = teams; team; team = team->next)
		if (team_is_needed(team) && team->agreed.timeout_ns >= most_ns)
			most_ns = team->agreed.timeout_ns + 1;
	return most_ns;
}

static void
team_free(struct poff_team *team)
{
	struct poff_team **at = &teams;

	while (*at != team)
		at = &(*at)->next;
	*at = team->next;
	psi_progress_ends();
	poff_stats_team(team);
	poff_channel_close(&team->channel);
	poff_team_stir(team);
	for (struct poff_waiting *next; team->spare; team->spare = next) {
		next = team->spare->next;
		free(team->spare);
	}
	poff_verify_drop(team);
	free(team->places);
	free(team->gathered);
	free(team);
}

/* All members have ended: nobody needs anything from here.  A join that is under way has to end
 * first, and what others wait for to leave. */
static void
team_end(struct poff_team *team)
{
	if (team->joining || team->channel.going || team->abandoned)
		return;
	if (!team->tree)
		team_free(team);
	else if (team->go_on != team_leaves)
		poff_tree_leave(team);
}

static void
byes_take(struct poff_team *team)
{
	struct poff_message *bye;

	while ((bye = poff_take_any(&team->channel, POFF_BYE))) {
		team->byes++;
		free(bye);
	}
}

/* -- progress ---------------------------------------------------------------------------------- */

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

/* Those that come while the team is being activated wait until it is, here too. */
static void
alarms_take(struct poff_team *team)
{
	struct poff_message *alarm;

	while (team->active_from != UINT64_MAX &&
	       (alarm = poff_take_any(&team->channel, POFF_ALARM))) {
		snprintf(team->alarm, sizeof team->alarm, "%.*s", (int)alarm->len_bytes,
		         (const char *)alarm->payload);
		poff_team_alarm(team, team->alarm);
		free(alarm);
	}
}

static void
team_progress(struct poff_team *team)
{
	poff_channel_push(&team->channel);
	alarms_take(team);
	if (team->device->banned && team->active_from != UINT64_MAX && !team->drained)
		poff_team_alarm(team, team->device->breach);
	asks_answer(team);
	poff_missing_answer(team);
	poff_eviction_look(team);
	if (team->go_on)
		team->go_on(team);
	if (team->step.go_on)
		pcoll_op_changed(team->step.op);
	else if (team->settled)
		poff_team_stir(team);
	byes_take(team);
	if (team->closing && team->byes == team->channel.members - 1)
		team_end(team);
}

void
poff_teams_stats(void)
{
	for (const struct poff_team *team = teams; team; team = team->next)
		poff_stats_team(team);
}

bool
poff_teams_are_gone(void)
{
	return !teams;
}

void
poff_teams_progress(void)
{
	for (struct poff_team *team = teams, *next; team; team = next) {
		next = team->next;
		team_progress(team);
	}
}
