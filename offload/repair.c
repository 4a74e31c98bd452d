/*
 * When the device of a member has failed: all stop, compare how far they have come, and hand the
 * results that some have to those who lack them.  From there on software does all.
 *
 * A reduction whose result is for one member alone is over at others before it is there.  Where
 * that one lacks it, all give their operands again, which are kept like results, and it does the
 * reduction itself.  So does each that lacks its part of a sum, of which nobody else has a copy.
 */
#include "offload/offload.h"

#include "coll/coll.h"
#include "coll/combine.h"

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

static bool
has_ended(const struct poff_team *team, uint32_t member, uint64_t number)
{
	return team->numbers[member] > number;
}

static bool
reduces_to_root(enum pcoll_device_does does)
{
	return does == PCOLL_DEVICE_REDUCES || does == PCOLL_DEVICE_MEETS_UP;
}

/* Of a reduction that has not ended at its root, which needs the operands of all. */
static bool
operand_is_needed(const struct poff_team *team, enum pcoll_device_does does, uint32_t root,
                  uint64_t number)
{
	return reduces_to_root(does) && !has_ended(team, root, number);
}

/* Of a sum whose parts are for one member each, and have come to this member: the others' parts
 * have to be made anew, by those who lack them, from the operands of all. */
static void
parts_give(struct poff_team *team, const struct poff_kept *kept, uint64_t number, bool is_giver)
{
	unsigned char block[POFF_KEPT_BYTES];

	for (uint32_t to = 0; to < team->channel.members; to++) {
		if (has_ended(team, to, number))
			continue;
		poff_blocks_operand(&kept->blocks, kept->bytes, to, block);
		poff_send(&team->channel, to, POFF_OPERAND, number, block, kept->blocks.len_bytes);
		if (is_giver)
			poff_send(&team->channel, to, POFF_RESULT, number, NULL, 0);
	}
}

/* Of a step that has ended at this member, which may be the first of those.  A long one is at all
 * members, if it has ended at some. */
static void
result_give(struct poff_team *team, uint64_t number)
{
	const struct poff_kept *kept = poff_kept_of(team, number);
	const bool is_giver = giver_of(team, team->numbers, number) == team->channel.me;
	const bool needs_operand = !kept->by_software &&
	                           operand_is_needed(team, kept->does, kept->root, number);

	if (kept->is_long && !kept->by_software)
		return;
	if (kept->does == PCOLL_DEVICE_REDUCES_SCATTER && !kept->by_software) {
		parts_give(team, kept, number, is_giver);
		return;
	}
	if (needs_operand)
		poff_send(&team->channel, kept->root, POFF_OPERAND, number, kept->bytes,
		          kept->blocks.len_bytes);
	for (uint32_t to = 0; is_giver && to < team->channel.members; to++)
		if (!has_ended(team, to, number) && !(needs_operand && to == kept->root))
			poff_send(&team->channel, to,
			          kept->by_software ? POFF_SOFTWARE : POFF_RESULT, number,
			          kept->bytes + kept->blocks.result_at,
			          kept->by_software ? 0 : poff_blocks_got_bytes(&kept->blocks));
}

/* All have told how many steps have ended at them. */
static void
team_compares_ends(struct poff_team *team)
{
	uint64_t least = UINT64_MAX, most = 0;

	if (!poff_gather_test(&team->ends))
		return;
	for (uint32_t i = 0; i < team->channel.members; i++) {
		least = team->numbers[i] < least ? team->numbers[i] : least;
		most = team->numbers[i] > most ? team->numbers[i] : most;
	}
	for (uint64_t number = least; number < most; number++)
		if (has_ended(team, team->channel.me, number))
			result_give(team, number);
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

/* Steps under way wait for what is agreed on. */
static void
steps_stop(struct poff_team *team)
{
	team->broken_until = team->turn;
	for (unsigned i = 0; i < POFF_STEPS; i++) {
		struct poff_step *step = &team->steps[i];

		if (!step->go_on)
			continue;
		if (step->begun && step->number >= team->broken_until)
			team->broken_until = step->number + 1;
		(void)poff_step_wait(team, step->op);
		step->go_on = NULL;
	}
}

/* The calls under way are brought to their ends, since the device may touch what is kept until
 * then. */
static void
team_stops(struct poff_team *team)
{
	if (!poff_flights_have_ended(team) && !request_is_abandoned(team))
		return;
	steps_stop(team);
	team->gather.under_way = team->confirm.under_way = false;
	team->go_on = team_compares_ends;
	poff_gather_start(&team->ends, &team->turn, sizeof team->turn, team->numbers);
}

void
poff_team_alarm(struct poff_team *team, const char *why)
{
	if (team->failed)
		return;
	team->failed = true;
	poff_teams_changed();
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
	poff_flights_cancel(team);
	team->cancelled_ns = psi_now_ns();
	team->go_on = team_stops;
}

/* -- steps that have ended at another member, whose word decides how --------------------------- */

/* Where this member's operand for a member's result is: a block of it, or all. */
static const unsigned char *
operand_for(const struct pcoll_op *op, const struct pcoll_act *act, uint32_t member)
{
	const size_t at = act->does == PCOLL_DEVICE_REDUCES_SCATTER ? member * act->len_bytes : 0;

	return op->executor.buffer[act->from] + act->from_bytes + at;
}

/* Who has the operands of all for its result does the reduction. */
static enum pcoll_device_result
step_by_operands(struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act)
{
	const struct pcoll_reduction *reduction = &op->call.reduction;
	unsigned char *to = op->executor.buffer[act->to] + act->to_bytes;
	const unsigned char *from = operand_for(op, act, team->channel.me);
	struct poff_message *message;

	if (poff_come_count(&team->channel, POFF_OPERAND, team->turn) < team->channel.members - 1)
		return poff_step_wait(team, op);
	if (team->verifies || !act->len_bytes) {
		(void)poff_drop(&team->channel, POFF_OPERAND, team->turn);
		return poff_step_end(team, POFF_COUNT_TAKEN);
	}
	if (to != from)
		memcpy(to, from, act->len_bytes);
	while ((message = poff_take(&team->channel, POFF_OPERAND, team->turn))) {
		pcoll_combine(reduction, message->payload, to, to, act->len_bytes);
		poff_count_add(team, POFF_COUNT_REPAIRED_BYTES, message->len_bytes);
		free(message);
	}
	return poff_step_end(team, POFF_COUNT_TAKEN);
}

static void
operand_give(struct poff_team *team, const struct pcoll_op *op, const struct pcoll_act *act,
             uint32_t to)
{
	poff_send(&team->channel, to, POFF_OPERAND, team->turn, operand_for(op, act, to),
	          act->len_bytes);
}

/* Members that lack their parts of a sum, when they have heard that a device has done it. */
static enum pcoll_device_result
step_by_parts(struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act)
{
	if (poff_drop(&team->channel, POFF_RESULT, team->turn)) {
		team->given_operands_of = team->turn + 1;
		for (uint32_t to = 0; to < team->channel.members; to++)
			if (to != team->channel.me && !has_ended(team, to, team->turn))
				operand_give(team, op, act, to);
	}
	if (team->given_operands_of != team->turn + 1)
		return poff_step_wait(team, op);
	return step_by_operands(team, op, act);
}

static enum pcoll_device_result
step_is_handed_over(struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act)
{
	const struct poff_step *confirmed = poff_step_confirmed(team, team->turn);
	const uint32_t root = team->member_of ? team->member_of[act->peer] : act->peer;
	const bool needs_operand = operand_is_needed(team, act->does, root, team->turn);
	struct poff_message *message;

	if (poff_drop(&team->channel, POFF_SOFTWARE, team->turn))
		return poff_step_end(team, POFF_COUNT_QUERY);
	if (confirmed) {
		if (poff_step_has_result(team, act->does, root))
			poff_step_deliver(team, op, act,
			                  confirmed->bytes + confirmed->blocks.result_at);
		return poff_step_end(team, POFF_COUNT_TAKEN);
	}
	if (act->does == PCOLL_DEVICE_REDUCES_SCATTER)
		return step_by_parts(team, op, act);
	if (needs_operand && root == team->channel.me)
		return step_by_operands(team, op, act);
	message = poff_take(&team->channel, POFF_RESULT, team->turn);
	if (!message)
		return poff_step_wait(team, op);
	if (needs_operand)
		operand_give(team, op, act, root);
	if (poff_step_has_result(team, act->does, root)) {
		poff_step_deliver(team, op, act, message->payload);
		poff_count_add(team, POFF_COUNT_REPAIRED_BYTES, message->len_bytes);
	}
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
		poff_count(team, number < team->broken_until ? POFF_COUNT_RERUN
		                                             : POFF_COUNT_FAILED);
		return PCOLL_DEVICE_SOFTWARE;
	}
	if (number != team->turn)
		return poff_step_wait(team, op);
	return step_is_handed_over(team, op, act);
}
