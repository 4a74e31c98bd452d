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
poff_step_end(struct poff_team *team, enum pcoll_device_result result)
{
	team->step.go_on = NULL;
	team->turn++;
	if (result == PCOLL_DEVICE_DONE)
		team->count.taken++;
	else
		team->count.software++;
	poff_team_stir(team);
	return result;
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

static size_t
piece_bytes(const struct poff_step *step)
{
	const size_t left = step->len_bytes - step->at;

	return left < step->piece_bytes ? left : step->piece_bytes;
}

/* False: it has to be tried again, or has failed, which is told. */
static bool
call_start(struct poff_team *team, uint32_t op, uint32_t root)
{
	const pst_off_provider_t *calls = &team->device->provider->calls;
	struct poff_step *step = &team->step;
	unsigned char *bytes = poff_kept_of(team, team->turn)->bytes + step->at;
	const pst_off_call_t call = {
		.struct_bytes = sizeof call, .op = op, .root = root, .dt = step->dt,
		.rop = step->rop, .seq = team->provider_seq, .nbytes = piece_bytes(step),
		.src = bytes, .dst = bytes,
	};
	const int result = calls->start(team->tree, &call, &step->req);

	if (result == PST_OFF_OK) {
		team->provider_seq++;
		step->started_ns = psi_now_ns();
		step->asked = false;
		step->told = 0;
		step->all_since_ns = 0;
		return true;
	}
	step->req = NULL;
	if (result != PST_OFF_AGAIN)
		poff_team_alarm(team, "a call does not start");
	return false;
}

/* Late is not failed: time counts from when all have begun the step. */
static void
call_watch(struct poff_team *team)
{
	struct poff_step *step = &team->step;
	const uint64_t now = psi_now_ns(), limit = team->agreed.timeout_ns;
	struct poff_message *message;

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

/* True: the call has ended well. */
static bool
call_test(struct poff_team *team)
{
	const pst_off_provider_t *calls = &team->device->provider->calls;
	pst_off_result_t result = { 0 };
	int ended;

	ended = calls->test(team->step.req, &result);
	if (ended == PST_OFF_AGAIN) {
		call_watch(team);
		return false;
	}
	team->step.req = NULL;
	if (ended != PST_OFF_OK)
		poff_team_alarm(team, result.why ? result.why : "a call has failed");
	return ended == PST_OFF_OK;
}

/* -- states of a step -------------------------------------------------------------------------- */

static enum pcoll_device_result
step_finish(struct poff_team *team)
{
	struct poff_step *step = &team->step;

	if (step->len_bytes && step->to)
		memcpy(step->to, poff_kept_of(team, team->turn)->bytes, step->len_bytes);
	return poff_step_end(team, PCOLL_DEVICE_DONE);
}

static enum pcoll_device_result
step_multicasting(struct poff_team *team)
{
	struct poff_step *step = &team->step;

	if (!call_test(team))
		return PCOLL_DEVICE_AGAIN;
	step->at += piece_bytes(step);
	if (step->at >= step->len_bytes)
		return step_finish(team);
	step->go_on = step->two_way ? step_reduces : step_multicasts;
	return step->go_on(team);
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

static struct poff_shape *
shape_of(struct poff_team *team)
{
	const struct poff_step *step = &team->step;

	for (unsigned i = 0; i < team->shape_count; i++) {
		struct poff_shape *shape = &team->shapes[i];

		if (shape->op == step->op_bit && shape->dt == step->dt &&
		    shape->rop == step->rop && shape->nbytes == step->len_bytes)
			return shape;
	}
	return NULL;
}

static bool
device_takes(struct poff_team *team, uint32_t op)
{
	const struct poff_step *step = &team->step;
	const pst_off_op_t asked = {
		.struct_bytes = sizeof asked, .op = op, .members = team->channel.members,
		.root = step->root, .dt = op == PST_OFF_REDUCE ? step->dt : 0,
		.rop = op == PST_OFF_REDUCE ? step->rop : 0, .nbytes = step->piece_bytes,
	};
	uint64_t cost_ns;
	const char *why;

	return team->agreed.ops & op &&
	       team->device->provider->calls.query(team->device->dev, &team->agreed, &asked,
	                                           &cost_ns, &why) == PST_OFF_OK;
}

static enum pcoll_device_result
step_begins(struct poff_team *team)
{
	struct poff_step *step = &team->step;

	if (!shape_of(team)->taken)
		return poff_step_end(team, PCOLL_DEVICE_SOFTWARE);
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
	shape->taken = true;
	for (uint32_t i = 0; i < team->channel.members; i++)
		shape->taken = shape->taken && team->gathered[i];
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
step_open(struct poff_team *team)
{
	struct poff_step *step = &team->step;
	uint8_t takes = 1;

	if (!shape_of(team)) {
		if (team->shape_count == POFF_SHAPES)
			return poff_step_end(team, PCOLL_DEVICE_SOFTWARE);
		team->shapes[team->shape_count++] = (struct poff_shape){
			.op = step->op_bit, .dt = step->dt, .rop = step->rop,
			.nbytes = step->len_bytes };
		takes = device_takes(team, PST_OFF_BCAST) &&
		        (!step->two_way || device_takes(team, PST_OFF_REDUCE));
		poff_gather_start(&team->gather, &takes, sizeof takes, team->gathered);
		team->ahead = 0;
		step->go_on = step_asks;
		return step_asks(team);
	}
	team->ahead = step->two_way ? 0 : team->ahead + 1;
	if (team->ahead < team->agreed.max_ahead && team->ahead < POFF_KEPT / 2)
		return step_begins(team);
	poff_gather_start(&team->gather, &takes, sizeof takes, team->gathered);
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
	step->piece_bytes = is_barrier ? sizeof(uint32_t) : piece_most(team, op);
	if (step->piece_bytes > step->len_bytes)
		step->piece_bytes = step->len_bytes;
	kept->len_bytes = step->len_bytes;
	memset(kept->bytes, 0, is_barrier ? sizeof(uint32_t) : 0);
	if (is_barrier)
		return;
	step->to = op->executor.buffer[act->to] + act->to_bytes;
	memcpy(kept->bytes, op->executor.buffer[act->from] + act->from_bytes, step->len_bytes);
}

enum pcoll_device_result
poff_step(struct pcoll_op *op, uint64_t number, const struct pcoll_act *act)
{
	struct poff_team *team = poff_team_of(op->call.tm);

	if (number >= team->hold_from)
		return poff_step_wait(team, op);
	if (number < team->active_from)
		return PCOLL_DEVICE_SOFTWARE;
	if (number != team->turn)
		return poff_step_wait(team, op);
	if (team->failed)
		return poff_step_failed(team, op, act);
	if (!team->step.go_on) {
		if (act->len_bytes > POFF_KEPT_BYTES)
			return poff_step_end(team, PCOLL_DEVICE_SOFTWARE);
		step_read(team, op, act);
	}
	return team->step.go_on(team);
}
