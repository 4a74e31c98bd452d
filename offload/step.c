/*
 * A device step: from the call to its end.  Steps of a team are numbered, and the device takes them
 * one by one.  The client's buffers are not given to the device: what it reads and writes is kept
 * here, until all have got it.
 */
#include "offload/offload.h"

#include "coll/coll.h"
#include "coll/layout.h"

#include "runtime/team/team.h"

#include "runtime/util/clock.h"

#include <stdlib.h>
#include <string.h>

/* -- who waits --------------------------------------------------------------------------------- */

enum pcoll_device_result
poff_step_wait(struct poff_team *team, struct pcoll_op *op)
{
	struct poff_waiting *waiting = team->spare;

	if (waiting)
		team->spare = waiting->next;
	else
		waiting = malloc(sizeof *waiting);
	if (!waiting)
		psi_fatal("no memory for offload");
	*waiting = (struct poff_waiting){ .next = team->waiting, .op = op };
	team->waiting = waiting;
	return PCOLL_DEVICE_AGAIN;
}

enum pcoll_device_result
poff_step_end(struct poff_team *team, enum poff_count what)
{
	team->step.go_on = NULL;
	poff_kept_of(team, team->turn)->by_software = what != POFF_COUNT_TAKEN;
	team->turn++;
	poff_count(team, what);
	if (what == POFF_COUNT_TAKEN)
		poff_tree_used(team);
	poff_team_stir(team);
	return what == POFF_COUNT_TAKEN && !team->verifies ? PCOLL_DEVICE_DONE
	                                                   : PCOLL_DEVICE_SOFTWARE;
}

/* -- what is kept ------------------------------------------------------------------------------ */

struct poff_kept *
poff_kept_of(struct poff_team *team, uint64_t number)
{
	return &team->kept[number % POFF_KEPT];
}

/* -- calls of the device ----------------------------------------------------------------------- */

static enum pcoll_device_result step_reduces(struct poff_team *team);
static enum pcoll_device_result step_multicasts(struct poff_team *team);
static enum pcoll_device_result step_multicasting(struct poff_team *team);
static enum pcoll_device_result step_awaits_parts(struct poff_team *team);

static size_t
piece_bytes(const struct poff_step *step)
{
	const size_t left = step->len_bytes - step->at;

	return left < step->piece_most ? left : step->piece_most;
}

/* False: it has to be tried again, or has failed, which is told. */
static bool
call_start(struct poff_team *team, uint32_t op, uint32_t root)
{
	struct poff_step *step = &team->step;
	unsigned char *bytes = poff_kept_of(team, team->turn)->bytes + step->at;
	const pst_off_call_t call = {
		.struct_bytes = sizeof call, .op = op, .root = root, .dt = step->dt,
		.rop = step->rop, .seq = team->provider_seq, .nbytes = piece_bytes(step),
		.src = bytes, .dst = bytes, .src_mem = team->mem, .dst_mem = team->mem,
	};
	int result;

	memcpy(step->guard, bytes + call.nbytes, sizeof step->guard);
	result = poff_call_start(team, &call, &step->req);
	if (result == PST_OFF_OK) {
		team->provider_seq++;
		step->started_ns = psi_now_ns();
		step->asked = false;
		step->told = 0;
		step->all_since_ns = 0;
		step->cancelled = false;
		return true;
	}
	step->req = NULL;
	if (result != PST_OFF_AGAIN)
		poff_team_alarm(team, "a call does not start");
	return false;
}

/* Of a multicast that may lose parts, the root has the rest. */
static bool
call_may_lack(const struct poff_team *team)
{
	const struct poff_step *step = &team->step;

	return team->agreed.caps & PST_OFF_UNRELIABLE && step->go_on == step_multicasting &&
	       step->root != team->channel.me;
}

/* Late is not failed: time counts from when all have begun the step. */
static void
call_watch(struct poff_team *team)
{
	struct poff_step *step = &team->step;
	const uint64_t now = psi_now_ns(), limit = team->agreed.timeout_ns;
	struct poff_message *message;

	if (call_may_lack(team)) {
		if (!step->cancelled && now - step->started_ns > limit)
			poff_call_cancel(team, step->req);
		step->cancelled = step->cancelled || now - step->started_ns > limit;
		if (now - step->started_ns >
		    limit + team->agreed.cancel_max_ns + POFF_CANCEL_SLACK_NS)
			poff_team_alarm(team, "a cancelled call does not end");
		return;
	}
	if (!step->asked && now - step->started_ns > limit) {
		step->asked = true;
		poff_send_all(&team->channel, POFF_ASK, team->turn, NULL, 0);
	}
	while ((message = poff_take(&team->channel, POFF_TELL, team->turn))) {
		step->told++;
		free(message);
	}
	if (step->asked && !step->all_since_ns && step->told == team->channel.members - 1)
		step->all_since_ns = now;
	if (step->all_since_ns && now - step->all_since_ns > limit)
		poff_team_alarm(team, "a call has not ended in time");
}

/* The device writes no further than the payload goes. */
static bool
call_has_kept_bounds(struct poff_team *team)
{
	const struct poff_step *step = &team->step;
	unsigned char *behind = poff_kept_of(team, team->turn)->bytes + step->at +
	                        piece_bytes(step);

	if (memcmp(behind, step->guard, sizeof step->guard) == 0)
		return true;
	poff_breach(team->device, "a call writes behind the end of its payload");
	poff_team_alarm(team, team->device->breach);
	return false;
}

/* Goes on when the root has sent the rest. */
static bool
call_lacks(struct poff_team *team, const pst_off_result_t *result)
{
	if (poff_missing_ask(team, piece_bytes(&team->step), result)) {
		team->step.go_on = step_awaits_parts;
		return false;
	}
	poff_breach(team->device, "a range that is missing is not in the payload");
	poff_team_alarm(team, team->device->breach);
	return false;
}

/* True: the call has ended well. */
static bool
call_test(struct poff_team *team)
{
	pst_off_result_t result = { 0 };
	const int ended = poff_call_test(team, team->step.req, &result);

	if (ended == PST_OFF_AGAIN) {
		call_watch(team);
		return false;
	}
	team->step.req = NULL;
	if (call_may_lack(team) && (ended == PST_OFF_MISSING ||
	                            (ended == PST_OFF_CANCELLED && team->step.cancelled)))
		return call_lacks(team, &result);
	if (ended != PST_OFF_OK)
		poff_team_alarm(team, result.why ? result.why : "a call has failed");
	return ended == PST_OFF_OK && call_has_kept_bounds(team);
}

/* -- states of a step -------------------------------------------------------------------------- */

static enum pcoll_device_result
step_finish(struct poff_team *team)
{
	struct poff_step *step = &team->step;

	if (step->to && team->verifies)
		poff_verify_keep(team, poff_kept_of(team, team->turn)->bytes, step->len_bytes);
	else if (step->to)
		memcpy(step->to, poff_kept_of(team, team->turn)->bytes, step->len_bytes);
	return poff_step_end(team, POFF_COUNT_TAKEN);
}

static enum pcoll_device_result
step_piece_ends(struct poff_team *team)
{
	struct poff_step *step = &team->step;

	step->at += piece_bytes(step);
	if (step->at >= step->len_bytes)
		return step_finish(team);
	step->go_on = step->two_way ? step_reduces : step_multicasts;
	return step->go_on(team);
}

static enum pcoll_device_result
step_multicasting(struct poff_team *team)
{
	return call_test(team) ? step_piece_ends(team) : PCOLL_DEVICE_AGAIN;
}

static enum pcoll_device_result
step_awaits_parts(struct poff_team *team)
{
	return poff_missing_take(team) ? step_piece_ends(team) : PCOLL_DEVICE_AGAIN;
}

bool
poff_step_has_sent(const struct poff_team *team, uint64_t number, size_t at)
{
	return number < team->turn ||
	       (number == team->turn && team->step.go_on == step_multicasting &&
	        at <= team->step.at) ||
	       (number == team->turn && at < team->step.at);
}

static enum pcoll_device_result
step_multicasts(struct poff_team *team)
{
	if (!call_start(team, PST_OFF_BCAST, team->step.root))
		return PCOLL_DEVICE_AGAIN;
	team->step.go_on = step_multicasting;
	return step_multicasting(team);
}

static enum pcoll_device_result
step_reducing(struct poff_team *team)
{
	if (!call_test(team))
		return PCOLL_DEVICE_AGAIN;
	team->step.go_on = step_multicasts;
	return step_multicasts(team);
}

static enum pcoll_device_result
step_reduces(struct poff_team *team)
{
	if (!call_start(team, PST_OFF_REDUCE, team->step.root))
		return PCOLL_DEVICE_AGAIN;
	team->step.go_on = step_reducing;
	return step_reducing(team);
}

/* -- whether the device takes it --------------------------------------------------------------- */

/* The size class of the step: the longest of its lengths. */
static size_t
class_bytes_of(const struct poff_step *step)
{
	size_t class_bytes = 8;

	while (class_bytes < step->len_bytes)
		class_bytes *= 2;
	return class_bytes;
}

static struct poff_shape *
shape_of(struct poff_team *team)
{
	const struct poff_step *step = &team->step;

	for (unsigned i = 0; i < team->shape_count; i++) {
		struct poff_shape *shape = &team->shapes[i];

		if (shape->op == step->op_bit && shape->dt == step->dt &&
		    shape->rop == step->rop && shape->class_bytes == class_bytes_of(step))
			return shape;
	}
	return NULL;
}

static enum pcoll_device_result
step_begins(struct poff_team *team)
{
	struct poff_step *step = &team->step;
	const struct poff_shape *shape = shape_of(team);

	if (step->is_long)
		return poff_step_end(team, POFF_COUNT_LENGTH);
	if (!shape)
		return poff_step_end(team, POFF_COUNT_SHAPES);
	if (shape->answer != POFF_TAKES)
		return poff_step_end(team, shape->answer == POFF_DEAR ? POFF_COUNT_COST
		                                                      : POFF_COUNT_QUERY);
	step->go_on = step->two_way ? step_reduces : step_multicasts;
	return step->go_on(team);
}

/* All have said whether their devices take the shape. */
static enum pcoll_device_result
step_asks(struct poff_team *team)
{
	struct poff_shape *shape = shape_of(team);

	if (!poff_gather_test(&team->gather))
		return PCOLL_DEVICE_AGAIN;
	shape->answer = POFF_TAKES;
	for (uint32_t i = 0; i < team->channel.members; i++)
		if (team->gathered[i] > shape->answer)
			shape->answer = (enum poff_answer)team->gathered[i];
	return step_begins(team);
}

/* All have come so far: none is more steps behind than it may be. */
static enum pcoll_device_result
step_meets(struct poff_team *team)
{
	if (!poff_gather_test(&team->gather))
		return PCOLL_DEVICE_AGAIN;
	team->ahead = 0;
	return step_begins(team);
}

static enum pcoll_device_result
shape_ask(struct poff_team *team)
{
	struct poff_step *step = &team->step;
	uint8_t answer;

	team->shapes[team->shape_count++] = (struct poff_shape){
		.op = step->op_bit, .dt = step->dt, .rop = step->rop,
		.class_bytes = class_bytes_of(step),
	};
	answer = (uint8_t)poff_device_answer(team, class_bytes_of(step));
	poff_gather_start(&team->gather, &answer, sizeof answer, team->gathered);
	team->ahead = 0;
	step->go_on = step_asks;
	return step_asks(team);
}

/* A member is no more steps ahead than others keep results for.  One that a device does in both
 * directions brings all together. */
static enum pcoll_device_result
step_open(struct poff_team *team)
{
	struct poff_step *step = &team->step;
	const struct poff_shape *shape = shape_of(team);
	const uint8_t here = 1;

	if (!shape && !step->is_long && team->shape_count < POFF_SHAPES)
		return shape_ask(team);
	if (step->two_way && !step->is_long && shape && shape->answer == POFF_TAKES)
		team->ahead = 0;
	else
		team->ahead++;
	if (team->ahead < team->agreed.max_ahead && team->ahead < POFF_KEPT / 2)
		return step_begins(team);
	poff_gather_start(&team->gather, &here, sizeof here, team->gathered);
	step->go_on = step_meets;
	return step_meets(team);
}

/* -- from the call ----------------------------------------------------------------------------- */

/* The bytes that one call of the device takes, of whole elements. */
static size_t
piece_most(const struct poff_team *team, const struct pcoll_op *op)
{
	const size_t elem = op->call.reduction.elem_bytes ? op->call.reduction.elem_bytes : 1;

	return team->agreed.max_payload_bytes / elem * elem;
}

static void
step_read(struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act)
{
	const struct pcoll_call *call = &op->call;
	struct poff_step *step = &team->step;
	struct poff_kept *kept = poff_kept_of(team, team->turn);
	const bool is_barrier = call->what.operation == PCOLL_BARRIER;

	*step = (struct poff_step){
		.go_on = step_open, .op = op, .root = call->tm->layout->nbrhd_of[act->peer],
		.two_way = call->what.operation != PCOLL_BROADCAST,
		.op_bit = call->what.operation == PCOLL_BROADCAST ? PST_OFF_BCAST
		          : is_barrier ? PST_OFF_BARRIER : PST_OFF_ALLREDUCE,
		.dt = is_barrier ? GEX_DT_U32 : call->reduction.key >> 14,
		.rop = is_barrier ? GEX_OP_ADD : call->reduction.key & 0x3fff,
		.len_bytes = is_barrier ? sizeof(uint32_t) : act->len_bytes,
	};
	if (!step->two_way)
		step->dt = step->rop = 0;
	step->piece_most = piece_most(team, op);
	step->is_long = step->len_bytes > POFF_KEPT_BYTES;
	if (step->is_long)
		return;
	kept->len_bytes = step->len_bytes;
	memset(kept->bytes, 0, is_barrier ? sizeof(uint32_t) : 0);
	if (is_barrier)
		return;
	step->to = op->executor.buffer[act->to] + act->to_bytes;
	memcpy(kept->bytes, op->executor.buffer[act->from] + act->from_bytes, step->len_bytes);
}

/* In the order of their numbers, all members alike. */
static enum pcoll_device_result
step_in_turn(struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act)
{
	if (!team->step.go_on)
		step_read(team, op, act);
	return team->step.go_on(team);
}

/* A step that no tree is for; perhaps one is to be had by now. */
static enum pcoll_device_result
step_without_tree(struct poff_team *team, uint64_t number)
{
	if (number >= team->rejoin_at && !team->go_on)
		poff_join_start(team);
	poff_count(team, POFF_COUNT_NO_TREE);
	return PCOLL_DEVICE_SOFTWARE;
}

enum pcoll_device_result
poff_step(struct pcoll_op *op, uint64_t number, const struct pcoll_act *act)
{
	struct poff_team *team = poff_team_of(op->call.tm);

	if (number >= team->hold_from)
		return poff_step_wait(team, op);
	if (number < team->active_from || number >= team->until)
		return step_without_tree(team, number);
	if (team->failed)
		return poff_step_failed(team, op, number, act);
	if (number != team->turn)
		return poff_step_wait(team, op);
	return step_in_turn(team, op, act);
}
