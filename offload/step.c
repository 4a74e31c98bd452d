/*
 * Device steps: from the call to its end.  Steps of a team are numbered.  They begin in that order,
 * each when the one before has begun all its calls of the device, so that all members begin these
 * in one order; and they end in that order.  In between, as many are under way as the device likes.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include "runtime/process/process.h"

#include <stdlib.h>

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

/* -- which have begun -------------------------------------------------------------------------- */

static struct poff_step *
step_at(struct poff_team *team, uint64_t number)
{
	return &team->steps[number % POFF_STEPS];
}

struct poff_step *
poff_step_find(struct poff_team *team, uint64_t number)
{
	struct poff_step *step = step_at(team, number);

	return step->go_on && step->number == number ? step : NULL;
}

struct poff_step *
poff_step_confirmed(struct poff_team *team, uint64_t number)
{
	struct poff_step *step = step_at(team, number);

	return step->confirming && step->number == number ? step : NULL;
}

uint64_t
poff_steps_begun(const struct poff_team *team)
{
	const struct poff_step *step = &team->steps[team->issue % POFF_STEPS];

	return team->issue + (step->go_on && step->number == team->issue);
}

/* One after the other, unless the device has several calls under way. */
static uint64_t
steps_most(const struct poff_team *team)
{
	return poff_flights_most(team) < POFF_STEPS ? poff_flights_most(team) : POFF_STEPS;
}

/* -- the end ----------------------------------------------------------------------------------- */

enum pcoll_device_result
poff_step_end(struct poff_team *team, enum poff_count what)
{
	struct poff_step *step = poff_step_find(team, team->turn);
	struct poff_step *next;

	if (step)
		step->go_on = NULL;
	poff_kept_of(team, team->turn)->by_software = what != POFF_COUNT_TAKEN;
	team->turn++;
	poff_count(team, what);
	if (what == POFF_COUNT_TAKEN)
		poff_tree_used(team);
	poff_team_stir(team);
	next = poff_step_find(team, team->turn);
	if (next)
		pcoll_op_changed(next->op);
	return what == POFF_COUNT_TAKEN && !team->verifies ? PCOLL_DEVICE_DONE
	                                                   : PCOLL_DEVICE_SOFTWARE;
}

/* The next step may begin. */
static void
step_has_begun_all(struct poff_team *team)
{
	team->issue++;
	poff_team_stir(team);
}

static enum pcoll_device_result
step_finish(struct poff_team *team, struct poff_step *step)
{
	if (poff_step_has_result(team, step->does, step->root)) {
		if (team->verifies)
			poff_verify_keep(team, step);
		poff_step_deliver(team, step->op, &step->op->executor.act,
		                  step->bytes + step->blocks.result_at);
	}
	return poff_step_end(team, POFF_COUNT_TAKEN);
}

/* A long one is not kept, so none ends before all have it. */
static enum pcoll_device_result
step_confirms(struct poff_team *team, struct poff_step *step)
{
	if (!poff_gather_test(&team->confirm))
		return PCOLL_DEVICE_AGAIN;
	return step_finish(team, step);
}

static enum pcoll_device_result
step_completes(struct poff_team *team, struct poff_step *step)
{
	const uint8_t done = 1;

	poff_flights_test(team, step);
	if (team->failed || step->ended < step->calls || !poff_missing_take(team, step) ||
	    step->number != team->turn)
		return PCOLL_DEVICE_AGAIN;
	if (!step->is_long)
		return step_finish(team, step);
	step->confirming = true;
	step->go_on = step_confirms;
	poff_gather_start(&team->confirm, &done, sizeof done, team->confirmed);
	return step_confirms(team, step);
}

/* -- the calls --------------------------------------------------------------------------------- */

/* One of the calls of a step. */
struct piece {
	uint32_t op, number;
	size_t at, len_bytes;
};

/* Reductions and multicasts of as many pieces as may be under way, by turns; or one call for each
 * piece. */
static struct piece
piece_of(const struct poff_team *team, const struct poff_step *step)
{
	const uint32_t window = poff_flights_most(team);
	const size_t most = step->blocks.piece_bytes;
	struct piece piece = { .op = step->op_bit, .number = step->begun };

	if (step->way == POFF_BY_ALLREDUCE)
		piece.op = PST_OFF_ALLREDUCE;
	if (step->way == POFF_COMPOSED) {
		const uint32_t first = step->begun / (2 * window) * window;
		const uint32_t left = step->pieces - first;
		const uint32_t count = left < window ? left : window;
		const uint32_t at = step->begun - 2 * first;

		piece.op = at < count ? PST_OFF_REDUCE : PST_OFF_BCAST;
		piece.number = first + at % count;
	}
	piece.at = piece.number * most;
	piece.len_bytes = step->blocks.len_bytes - piece.at;
	if (piece.len_bytes > most)
		piece.len_bytes = most;
	if (piece.op == PST_OFF_BARRIER)
		piece.len_bytes = 0;
	return piece;
}

/* A multicast of what is reduced before begins when that is here. */
static bool
piece_is_ready(const struct poff_team *team, const struct poff_step *step,
               const struct piece *piece)
{
	return step->way != POFF_COMPOSED || piece->op != PST_OFF_BCAST ||
	       step->reduced >> piece->number % poff_flights_most(team) & 1;
}

/* Of steps that bring all together, the last has to be over before calls that go one way count. */
static bool
others_sync(const struct poff_team *team, const struct poff_step *step)
{
	for (unsigned i = 0; i < POFF_STEPS; i++) {
		const struct poff_step *other = &team->steps[i];

		if (other != step && other->go_on && other->syncs && other->number < step->number &&
		    other->ended < other->calls)
			return true;
	}
	return false;
}

/* Others may have begun none of the calls that this member has begun since all were together. */
static bool
piece_may_be_ahead(const struct poff_team *team, const struct poff_step *step,
                   const struct piece *piece)
{
	const uint32_t least = piece->op == PST_OFF_BCAST ? 0 : 1;
	const uint32_t most = team->agreed.max_ahead > least ? team->agreed.max_ahead : least;

	return step->has_met || team->calls_ahead < most;
}

static void
piece_count(struct poff_team *team, struct poff_step *step, const struct piece *piece)
{
	step->begun++;
	step->has_met = false;
	team->calls_ahead = step->syncs ? 0 : team->calls_ahead + 1;
	if (piece->op == PST_OFF_BCAST) {
		step->reduced &= ~(UINT64_C(1) << piece->number % poff_flights_most(team));
		step->sent_bytes = piece->at + piece->len_bytes;
	}
}

static enum pcoll_device_result step_meets(struct poff_team *team, struct poff_step *step);

static enum pcoll_device_result
step_begins_calls(struct poff_team *team, struct poff_step *step)
{
	poff_flights_test(team, step);
	while (step->begun < step->calls && !team->failed) {
		const struct piece piece = piece_of(team, step);

		if (!piece_is_ready(team, step, &piece) ||
		    (!step->syncs && others_sync(team, step)))
			return PCOLL_DEVICE_AGAIN;
		if (!piece_may_be_ahead(team, step, &piece))
			return step_meets(team, step);
		if (!poff_flight_start(team, step, piece.op, piece.at, piece.len_bytes))
			return PCOLL_DEVICE_AGAIN;
		piece_count(team, step, &piece);
		poff_flights_test(team, step);
	}
	if (team->failed)
		return PCOLL_DEVICE_AGAIN;
	step->go_on = step_completes;
	step_has_begun_all(team);
	return step_completes(team, step);
}

/* -- whether the device takes it --------------------------------------------------------------- */

/* The size class of the step: the longest of its lengths. */
static size_t
class_bytes_of(const struct poff_step *step)
{
	size_t class_bytes = 8;

	while (class_bytes < step->blocks.len_bytes)
		class_bytes *= 2;
	return class_bytes;
}

static struct poff_shape *
shape_of(struct poff_team *team, const struct poff_step *step)
{
	for (unsigned i = 0; i < team->shape_count; i++) {
		struct poff_shape *shape = &team->shapes[i];

		if (shape->op == step->op_bit && shape->dt == step->dt &&
		    shape->rop == step->rop && shape->class_bytes == class_bytes_of(step))
			return shape;
	}
	return NULL;
}

/* In its turn. */
static enum pcoll_device_result
step_is_declined(struct poff_team *team, struct poff_step *step)
{
	if (step->number != team->turn)
		return PCOLL_DEVICE_AGAIN;
	return poff_step_end(team, step->what);
}

static enum pcoll_device_result
step_decline(struct poff_team *team, struct poff_step *step, enum poff_count what)
{
	step->what = what;
	step->go_on = step_is_declined;
	step_has_begun_all(team);
	return step_is_declined(team, step);
}

static enum pcoll_device_result
step_is_taken(struct poff_team *team, struct poff_step *step, uint8_t ways)
{
	const size_t piece = step->blocks.piece_bytes, len_bytes = step->blocks.len_bytes;

	step->way = ways & -ways;
	step->pieces = len_bytes ? (uint32_t)((len_bytes + piece - 1) / piece) : 1;
	step->calls = step->way == POFF_COMPOSED ? 2 * step->pieces : step->pieces;
	if (step->is_long && !poff_step_make_long(team, step)) {
		poff_team_alarm(team, "there is no memory for a long payload");
		return PCOLL_DEVICE_AGAIN;
	}
	step->go_on = step_begins_calls;
	return step_begins_calls(team, step);
}

static bool
blocks_have_many_pieces(const struct poff_blocks *blocks)
{
	return blocks->len_bytes && blocks->piece_bytes &&
	       (blocks->len_bytes - 1) / blocks->piece_bytes >= POFF_PIECES;
}

/* What it is declined for; TAKEN: it is not. */
static enum poff_count
decline_reason(struct poff_team *team, const struct poff_step *step)
{
	const struct poff_shape *shape = shape_of(team, step);
	const struct poff_blocks *blocks = &step->blocks;

	if (step->does == PCOLL_DEVICE_DECLINES) {
		team->query_why = team->line == PCOLL_LINE_HOST
		                          ? "an operation of several hosts"
		                          : "hosts without equally many ranks, or not in a row";
		return POFF_COUNT_QUERY;
	}
	if ((step->is_long && !blocks->piece_bytes) || blocks_have_many_pieces(blocks))
		return POFF_COUNT_LENGTH;
	if (!shape)
		return POFF_COUNT_SHAPES;
	if (!(shape->ways & POFF_WAYS))
		return POFF_COUNT_QUERY;
	if (step->root && !(team->agreed.caps & PST_OFF_ANY_ROOT)) {
		team->query_why = "another root than member 0";
		return POFF_COUNT_QUERY;
	}
	return shape->ways & POFF_DEAR ? POFF_COUNT_COST : POFF_COUNT_TAKEN;
}

static enum pcoll_device_result
step_begins(struct poff_team *team, struct poff_step *step)
{
	const enum poff_count reason = decline_reason(team, step);

	if (reason != POFF_COUNT_TAKEN)
		return step_decline(team, step, reason);
	team->keeps_results = true;
	return step_is_taken(team, step, shape_of(team, step)->ways);
}

/* All have come so far: none is further behind than it may be. */
static void
step_has_met(struct poff_team *team, struct poff_step *step)
{
	team->calls_ahead = team->steps_ahead = 0;
	team->keeps_results = false;
	step->has_met = true;
}

static enum pcoll_device_result
step_is_meeting(struct poff_team *team, struct poff_step *step)
{
	if (!poff_gather_test(&team->gather))
		return PCOLL_DEVICE_AGAIN;
	step_has_met(team, step);
	if (!step->calls)
		return step_begins(team, step);
	team->keeps_results = true;
	step->go_on = step_begins_calls;
	return step_begins_calls(team, step);
}

/* In its turn, so that who has met has ended all before. */
static enum pcoll_device_result
step_meets(struct poff_team *team, struct poff_step *step)
{
	const uint8_t here = 1;

	step->go_on = step_meets;
	if (step->number != team->turn) {
		poff_flights_test(team, step);
		return PCOLL_DEVICE_AGAIN;
	}
	poff_gather_start(&team->gather, &here, sizeof here, team->gathered);
	step->go_on = step_is_meeting;
	return step_is_meeting(team, step);
}

/* All have said how their devices would do the shape. */
static enum pcoll_device_result
step_asks(struct poff_team *team, struct poff_step *step)
{
	struct poff_shape *shape = shape_of(team, step);
	uint8_t ways = POFF_WAYS, dear = 0;

	if (!poff_gather_test(&team->gather))
		return PCOLL_DEVICE_AGAIN;
	for (uint32_t i = 0; i < team->channel.members; i++) {
		ways &= team->gathered[i];
		dear |= team->gathered[i] & POFF_DEAR;
	}
	shape->ways = ways | dear;
	step_has_met(team, step);
	return step_begins(team, step);
}

static enum pcoll_device_result
shape_ask(struct poff_team *team, struct poff_step *step)
{
	uint8_t answer;

	step->go_on = shape_ask;
	if (step->number != team->turn) {
		poff_flights_test(team, step);
		return PCOLL_DEVICE_AGAIN;
	}
	team->shapes[team->shape_count++] = (struct poff_shape){
		.op = step->op_bit, .dt = step->dt, .rop = step->rop,
		.class_bytes = class_bytes_of(step),
	};
	answer = poff_device_answer(team, step, class_bytes_of(step));
	poff_gather_start(&team->gather, &answer, sizeof answer, team->gathered);
	step->go_on = step_asks;
	return step_asks(team, step);
}

/* Members that do not wait for each other meet now and then, since results are kept for so long
 * only.  Steps of software leave none, but their numbers count. */
static bool
step_needs_meeting(struct poff_team *team, const struct poff_step *step)
{
	const bool is_taken = decline_reason(team, step) == POFF_COUNT_TAKEN;
	const bool kept = team->keeps_results;

	team->keeps_results = kept || is_taken;
	if (is_taken && step->syncs) {
		team->steps_ahead = 0;
		return false;
	}
	team->steps_ahead++;
	return team->steps_ahead >= POFF_AHEAD && (kept || is_taken);
}

static enum pcoll_device_result
step_open(struct poff_team *team, struct poff_step *step)
{
	if (step->does != PCOLL_DEVICE_DECLINES && !shape_of(team, step) &&
	    team->shape_count < POFF_SHAPES)
		return shape_ask(team, step);
	return step_needs_meeting(team, step) ? step_meets(team, step) : step_begins(team, step);
}

/* -- from the call ----------------------------------------------------------------------------- */

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
poff_step(struct poff_team *team, struct pcoll_op *op, uint64_t number,
          const struct pcoll_act *act)
{
	struct poff_step *step;

	if (number >= team->hold_from)
		return poff_step_wait(team, op);
	if (number < team->active_from || number >= team->until)
		return step_without_tree(team, number);
	if (team->failed)
		return poff_step_failed(team, op, number, act);
	step = poff_step_find(team, number);
	if (step)
		return step->go_on(team, step);
	if (number != team->issue || number - team->turn >= steps_most(team))
		return poff_step_wait(team, op);
	step = step_at(team, number);
	poff_step_read(team, step, op, number, act);
	step->go_on = step_open;
	return step_open(team, step);
}
