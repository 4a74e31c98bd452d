/* A member that may go on is in a queue.  Messages of which one end alone has begun are in a hash
 * table. */
#include "coll/schedule_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 12 };

/* One end of a message. */
struct end {
	struct end *next;
	uint32_t rank;                  /* whose end it is */
	struct pcoll_act act;
	uint64_t stamp;
};

struct member {
	struct pcoll_cursor cursor;
	struct pcoll_act act;           /* the one that is next, if has_act */
	bool has_act, in_round_end, ended, is_queued;
	bool in_device, by_device;      /* waits for it; it has done the step */
	uint32_t begun;                 /* and not done */
	uint32_t found;                 /* whom it has met */
};

struct model {
	const struct pcoll_schedule *schedules;
	uint32_t size, slots;
	const struct pcoll_model_events *events;
	struct member *members;
	uint32_t *queue, first, queued;
	struct end *buckets[BUCKETS], *spare;
	char *text;
};

static bool __attribute__((format(printf, 2, 3)))
model_fails(struct model *model, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(model->text, PCOLL_MODEL_TEXT_BYTES, format, args);
	va_end(args);
	return false;
}

static void
member_queue(struct model *model, uint32_t rank)
{
	if (model->members[rank].is_queued)
		return;
	model->members[rank].is_queued = true;
	model->queue[(model->first + model->queued++) % model->size] = rank;
}

/* -- messages ---------------------------------------------------------------------------------- */

static uint32_t
end_from(const struct end *end)
{
	return pcoll_act_sends(&end->act) ? end->rank : end->act.peer;
}

static uint32_t
end_to(const struct end *end)
{
	return pcoll_act_sends(&end->act) ? end->act.peer : end->rank;
}

/* Two ends of one message; the member that meets anybody does not say whom. */
static bool
ends_fit(const struct end *one, const struct end *other)
{
	const bool any = one->act.kind == PCOLL_STEP_MEET || other->act.kind == PCOLL_STEP_MEET;

	return end_to(one) == end_to(other) && one->act.tag == other->act.tag &&
	       (any || end_from(one) == end_from(other));
}

static struct end **
end_find(struct model *model, const struct end *like)
{
	const uint64_t key = ((uint64_t)end_to(like) << 32) ^ like->act.tag;
	struct end **at = &model->buckets[key * 0x9e3779b97f4a7c15u >> 52];

	while (*at && !ends_fit(*at, like))
		at = &(*at)->next;
	return at;
}

static bool
ends_meet(struct model *model, const struct end *one, const struct end *other)
{
	const struct end *send = pcoll_act_sends(&one->act) ? one : other;
	struct end met = send == one ? *other : *one;
	struct end *receive = &met;

	if (pcoll_act_sends(&receive->act) || !pcoll_act_sends(&send->act))
		return model_fails(model, "rank %u: two messages with rank %u have tag %u",
		                   one->rank, one->act.peer, one->act.tag);
	if ((send->act.kind == PCOLL_STEP_SEND) != (receive->act.kind == PCOLL_STEP_RECEIVE) ||
	    send->act.len_bytes != receive->act.len_bytes)
		return model_fails(model, "rank %u sends %zu bytes with tag %u, of which rank %u "
		                   "receives %zu", send->rank, send->act.len_bytes, send->act.tag,
		                   receive->rank, receive->act.len_bytes);
	if (receive->act.kind == PCOLL_STEP_MEET)
		model->members[receive->rank].found = receive->act.peer = send->rank;
	model->events->met(model->events->arg, &send->act, send->stamp, &receive->act,
	                   receive->stamp);
	model->members[send->rank].begun--;
	model->members[receive->rank].begun--;
	member_queue(model, send->rank);
	member_queue(model, receive->rank);
	return true;
}

static bool
message_begin(struct model *model, uint32_t rank, const struct pcoll_act *act)
{
	struct end end = { .rank = rank, .act = *act }, **at, *other;

	if (act->kind != PCOLL_STEP_MEET && (act->peer >= model->size || act->peer == rank))
		return model_fails(model, "rank %u: a message with rank %u", rank, act->peer);
	end.stamp = model->events->begun(model->events->arg, rank, act);
	model->members[rank].begun++;
	at = end_find(model, &end);
	other = *at;
	if (other) {
		*at = other->next;
		other->next = model->spare;
		model->spare = other;
		return ends_meet(model, &end, other);
	}
	*at = model->spare ? model->spare : malloc(sizeof **at);
	if (!*at)
		return model_fails(model, "no memory");
	if (model->spare)
		model->spare = model->spare->next;
	**at = end;
	(*at)->next = NULL;
	return true;
}

/* -- devices ----------------------------------------------------------------------------------- */

/* Members whose steps have these in common take them together. */
static bool
device_steps_meet(const struct pcoll_act *one, const struct pcoll_act *other)
{
	return one->line == other->line && one->does == other->does && one->peer == other->peer;
}

/* Has the schedule such a step?  The device steps of a schedule are no two alike. */
static bool
schedule_has_device_step(const struct pcoll_schedule *schedule, const struct pcoll_act *act)
{
	for (uint32_t i = 0; i < schedule->steps; i++) {
		const struct pcoll_step *step = &schedule->step[i];

		if (step->kind == PCOLL_STEP_DEVICE && step->line == act->line &&
		    step->does == act->does && step->peer.at == act->peer)
			return true;
	}
	return false;
}

/* The last of those that take it has come. */
static bool
device_do(struct model *model, const struct pcoll_act *act)
{
	uint32_t *ranks = calloc(model->size, sizeof *ranks), count = 0;
	struct pcoll_act *acts = calloc(model->size, sizeof *acts);
	const bool good = ranks && acts;

	for (uint32_t rank = 0; good && rank < model->size; rank++) {
		struct member *member = &model->members[rank];

		if (!member->in_device || !device_steps_meet(&member->act, act))
			continue;
		ranks[count] = rank;
		acts[count++] = member->act;
		member->in_device = false;
		member->by_device = true;
		member_queue(model, rank);
	}
	if (good)
		model->events->device(model->events->arg, ranks, acts, count);
	free(ranks);
	free(acts);
	return good || model_fails(model, "no memory");
}

static bool
device_await(struct model *model, uint32_t rank)
{
	struct member *member = &model->members[rank];
	const struct pcoll_act act = member->act;
	bool all_wait = true;

	if (!model->events->device || act.does == PCOLL_DEVICE_DECLINES)
		return true;
	if (member->begun)
		return model_fails(model, "rank %u: a device step before the end of a round", rank);
	member->in_device = true;
	for (uint32_t other = 0; all_wait && other < model->size; other++)
		all_wait = !schedule_has_device_step(&model->schedules[other], &act) ||
		           (model->members[other].in_device &&
		            device_steps_meet(&model->members[other].act, &act));
	return !all_wait || device_do(model, &act);
}

/* -- members ----------------------------------------------------------------------------------- */

static bool
act_do(struct model *model, uint32_t rank)
{
	struct member *member = &model->members[rank];

	member->has_act = false;
	switch (member->act.kind) {
	case PCOLL_STEP_COPY:
	case PCOLL_STEP_COMBINE:
		model->events->local(model->events->arg, rank, &member->act);
		return true;
	case PCOLL_STEP_ROUND:
		member->in_round_end = true;
		return true;
	case PCOLL_STEP_DEVICE:
		return device_await(model, rank);
	case PCOLL_STEP_UNLESS:
		if (member->by_device)
			pcoll_cursor_leave_out(&member->cursor, &member->act);
		return true;
	case PCOLL_STEP_COMPARE:
		return true;
	default:
		return message_begin(model, rank, &member->act);
	}
}

/* Goes on until the member has to wait, or is at its end. */
static bool
member_advance(struct model *model, uint32_t rank)
{
	struct member *member = &model->members[rank];

	while (!member->ended) {
		if (member->in_device)
			return true;
		if (member->in_round_end) {
			if (member->begun)
				return true;
			model->events->round(model->events->arg, rank);
			member->in_round_end = false;
			member->ended = member->cursor.next == UINT32_MAX;
			continue;
		}
		if (!member->has_act)
			member->has_act = pcoll_cursor_next(&model->schedules[rank],
			                                    &member->cursor, &member->act);
		if (member->act.peer == PCOLL_FOUND && member->act.kind != PCOLL_STEP_MEET)
			member->act.peer = member->found;
		if (!member->has_act) {         /* the end is the end of a round */
			member->cursor.next = UINT32_MAX;
			member->in_round_end = true;
			continue;
		}
		if (member->begun >= model->slots && member->act.kind != PCOLL_STEP_ROUND)
			return true;
		if (!act_do(model, rank))
			return false;
	}
	return true;
}

static bool
model_run(struct model *model)
{
	for (uint32_t rank = 0; rank < model->size; rank++)
		member_queue(model, rank);
	while (model->queued) {
		const uint32_t rank = model->queue[model->first];

		model->first = (model->first + 1) % model->size;
		model->queued--;
		model->members[rank].is_queued = false;
		if (!member_advance(model, rank))
			return false;
	}
	for (uint32_t rank = 0; rank < model->size; rank++)
		if (!model->members[rank].ended)
			return model_fails(model, "rank %u waits for ever, at step %u, with %u "
			                   "messages under way", rank,
			                   model->members[rank].cursor.next,
			                   model->members[rank].begun);
	return true;
}

static void
ends_free(struct end *list)
{
	for (struct end *next; list; list = next) {
		next = list->next;
		free(list);
	}
}

bool
pcoll_model_run(const struct pcoll_schedule *schedules, uint32_t size, uint32_t slots,
                const struct pcoll_model_events *events, char text_out[PCOLL_MODEL_TEXT_BYTES])
{
	struct model *model = calloc(1, sizeof *model);
	bool good;

	if (!model) {
		snprintf(text_out, PCOLL_MODEL_TEXT_BYTES, "no memory");
		return false;
	}
	*model = (struct model){
		.schedules = schedules, .size = size, .slots = slots, .events = events,
		.members = calloc(size, sizeof *model->members),
		.queue = calloc(size, sizeof *model->queue), .text = text_out,
	};
	good = model->members && model->queue ? model_run(model) : model_fails(model, "no memory");
	for (unsigned i = 0; i < BUCKETS; i++)
		ends_free(model->buckets[i]);
	ends_free(model->spare);
	free(model->members);
	free(model->queue);
	free(model);
	return good;
}
