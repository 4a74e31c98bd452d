/*
 * When the device of a member has failed: all stop, compare how far they have come, and hand the
 * results that some have to those who lack them.  From there on software does all.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"
#include "runtime/team/team.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first member that has ended a step. */
static uint32_t
giver_of(const struct poff_team *team, const uint64_t *ended, uint64_t number)
{
	uint32_t member = 0;

	while (member < team->channel.members && ended[member] <= number)
		member++;
	return member;
}

/* Of a result that this member is the first to have; or of a step that it left to software. */
static void
result_give(struct poff_team *team, const uint64_t *ended, uint64_t number)
{
	const struct poff_kept *kept = poff_kept_of(team, number);

	for (uint32_t to = 0; to < team->channel.members; to++)
		if (ended[to] <= number)
			poff_send(&team->channel, to,
			          kept->by_software ? POFF_SOFTWARE : POFF_RESULT, number,
			          kept->bytes, kept->by_software ? 0 : kept->len_bytes);
}

/* All have told how many steps have ended at them. */
static void
team_compares_ends(struct poff_team *team)
{
	const uint64_t *ended = (const uint64_t *)(const void *)team->gathered;
	uint64_t least = UINT64_MAX, most = 0;

	if (!poff_gather_test(&team->ends))
		return;
	for (uint32_t i = 0; i < team->channel.members; i++) {
		least = ended[i] < least ? ended[i] : least;
		most = ended[i] > most ? ended[i] : most;
	}
	for (uint64_t number = least; number < most; number++)
		if (giver_of(team, ended, number) == team->channel.me)
			result_give(team, ended, number);
	team->given_until = most;
	team->settled = true;
	team->go_on = NULL;
	poff_tree_leave(team);
	poff_team_stir(team);
}

/* A cancelled call that does not end keeps its buffers, and the team its tree, for ever. */
static bool
request_is_abandoned(struct poff_team *team)
{
	if (psi_now_ns() - team->cancelled_ns < team->agreed.cancel_max_ns + POFF_CANCEL_SLACK_NS)
		return false;
	poff_breach(team->device, "a cancelled call does not end");
	team->abandoned = true;
	return true;
}

/* The call under way is brought to its end, since the device may touch what is kept until then. */
static void
team_stops(struct poff_team *team)
{
	pst_off_result_t result;

	if (team->step.req && poff_call_test(team, team->step.req, &result) == PST_OFF_AGAIN &&
	    !request_is_abandoned(team))
		return;
	team->broken = team->step.req ? team->turn : UINT64_MAX;
	if (team->step.go_on)
		(void)poff_step_wait(team, team->step.op);
	team->step.req = NULL;
	team->step.go_on = NULL;
	team->gather.under_way = false;
	team->go_on = team_compares_ends;
	poff_gather_start(&team->ends, &team->turn, sizeof team->turn, team->gathered);
}

void
poff_team_alarm(struct poff_team *team, const char *why)
{
	if (team->failed)
		return;
	team->failed = true;
	team->hold_from = team->until = UINT64_MAX;     /* an eviction is over with it */
	if (why != team->alarm)
		snprintf(team->alarm, sizeof team->alarm, "rank %u (%s): %s", psi.boot.rank,
		         psi.host, why);
	team->why = team->alarm;
	poff_count(team, POFF_COUNT_FAILURES);
	if (psi_settings_warns())
		psi_log("offload: %s is not used any more by a team of %u: %s",
		        team->device->provider->name, team->size, team->alarm);
	poff_send_all(&team->channel, POFF_ALARM, 0, team->alarm, strlen(team->alarm));
	if (team->step.req)
		poff_call_cancel(team, team->step.req);
	team->cancelled_ns = psi_now_ns();
	team->go_on = team_stops;
}

/* A step that has ended at another member; that one's word decides how. */
static enum pcoll_device_result
step_is_handed_over(struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act)
{
	struct poff_message *message = poff_take(&team->channel, POFF_SOFTWARE, team->turn);

	if (message) {
		free(message);
		return poff_step_end(team, POFF_COUNT_QUERY);
	}
	message = poff_take(&team->channel, POFF_RESULT, team->turn);
	if (!message)
		return poff_step_wait(team, op);
	if (act->len_bytes && !team->verifies)
		memcpy(op->executor.buffer[act->to] + act->to_bytes, message->payload,
		       act->len_bytes);
	poff_count_add(team, POFF_COUNT_REPAIRED_BYTES, message->len_bytes);
	free(message);
	return poff_step_end(team, POFF_COUNT_TAKEN);
}

enum pcoll_device_result
poff_step_failed(struct poff_team *team, struct pcoll_op *op, uint64_t number,
                 const struct pcoll_act *act)
{
	if (!team->settled)
		return poff_step_wait(team, op);
	if (number >= team->given_until) {
		poff_count(team, number == team->broken ? POFF_COUNT_RERUN : POFF_COUNT_FAILED);
		return PCOLL_DEVICE_SOFTWARE;
	}
	if (number != team->turn)
		return poff_step_wait(team, op);
	return step_is_handed_over(team, op, act);
}
