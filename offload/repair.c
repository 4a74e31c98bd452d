/*
 * When the device of a member has failed: all stop, compare how far they have come, and hand the
 * results that some have to those who lack them.  From there on software does all.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"
#include "runtime/team/team.h"

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

/* Of a result that this member is the first to have. */
static void
result_give(struct poff_team *team, const uint64_t *ended, uint64_t number)
{
	const struct poff_kept *kept = poff_kept_of(team, number);

	for (uint32_t to = 0; to < team->channel.members; to++)
		if (ended[to] <= number) {
			poff_send(&team->channel, to, POFF_RESULT, number, kept->bytes,
			          kept->len_bytes);
			team->count.given++;
		}
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
	team->go_on = NULL;
	poff_tree_leave(team);
	poff_team_stir(team);
}

/* The call under way is brought to its end, since the device may touch what is kept until then. */
static void
team_stops(struct poff_team *team)
{
	const pst_off_provider_t *calls = &team->device->provider->calls;
	pst_off_result_t result;

	if (team->step.req && calls->test(team->step.req, &result) == PST_OFF_AGAIN)
		return;
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
	team->why = why;
	team->count.failures++;
	if (psi_settings_warns())
		psi_log("offload: %s is not used any more by a team of %u: %s",
		        team->device->provider->name, team->channel.tm->size, why);
	poff_send_all(&team->channel, POFF_ALARM, 0, NULL, 0);
	if (team->step.req)
		team->device->provider->calls.cancel(team->step.req);
	team->go_on = team_stops;
}

enum pcoll_device_result
poff_step_failed(struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act)
{
	struct poff_message *result;

	if (team->go_on)
		return poff_step_wait(team, op);
	if (team->turn >= team->given_until)
		return poff_step_end(team, PCOLL_DEVICE_SOFTWARE);
	result = poff_take(&team->channel, POFF_RESULT, team->turn);
	if (!result)
		return poff_step_wait(team, op);
	if (act->len_bytes)
		memcpy(op->executor.buffer[act->to] + act->to_bytes, result->payload,
		       act->len_bytes);
	free(result);
	return poff_step_end(team, PCOLL_DEVICE_DONE);
}
