/*
 * The executor of schedules.  A payload goes in one of two ways, which both ends choose alike from
 * its length and the operation's number (message_is_eager): in a note, which is kept where its
 * receiver does not wait for it yet; or as data, for which the receiver asks.
 */
#include "coll/coll.h"
#include "coll/combine.h"
#include "coll/device.h"
#include "coll/differ.h"
#include "coll/schedule_cache.h"

#include "runtime/process/process.h"
#include "runtime/team/team.h"

#include "runtime/util/copy.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Payloads that a member may keep for one operation; at least LEAST of each peer. */
	EAGER_TOTAL_BYTES = 128 << 10, EAGER_LEAST_BYTES = 64,
};

/* -- notes that have come ---------------------------------------------------------------------- */

/* NULL: it has not come. */
static struct pcoll_note *
note_take(struct pcoll_executor *executor, uint32_t from, uint32_t index)
{
	struct pcoll_note **at = &executor->notes, *note;

	while ((note = *at) && (note->from != from || note->index != index))
		at = &note->next;
	if (note)
		*at = note->next;
	return note;
}

/* With checks: another member than the one that was met has this one for its target.  It stays in
 * the call until all are done, so such a message finds it there. */
static void
executor_check_hellos(const struct pcoll_op *op)
{
	const struct pcoll_executor *executor = &op->executor;
	const struct pcoll_note *note = executor->notes;

	while (note && note->index + 1 != executor->cached->schedule.hello_tag)
		note = note->next;
	if (note && executor->found != PCOLL_FOUND)
		psi_fatal("%s: call %u on its team, to which rank %u and rank %u both pass target "
		          "%u; let each rank be the target of one",
		          pcoll_call_name(op->call.what), op->number,
		          executor->found < note->from ? executor->found : note->from,
		          executor->found < note->from ? note->from : executor->found,
		          op->call.tm->rank);
}

/* -- states of a slot -------------------------------------------------------------------------- */

static bool
slot_sending_note(struct pcoll_op *op, struct pcoll_slot *slot)
{
	return pcoll_note_send(op, slot->peer, slot->tag, pcoll_names_word(op->executor.names), 0,
	                       slot->out.addr, slot->out.len_bytes);
}

static bool
slot_awaiting_note(struct pcoll_op *op, struct pcoll_slot *slot)
{
	struct pcoll_note *note = note_take(&op->executor, slot->peer, slot->tag);

	if (!note)
		return false;
	if (PSI_UNLIKELY(note->len_bytes != slot->in.len_bytes))
		pcoll_lengths_differ(op->call.what, op->number, slot->peer, note->len_bytes,
		                     op->call.tm->rank, slot->in.len_bytes);
	if (note->len_bytes)
		psi_copy(slot->in.addr, note->payload, note->len_bytes);
	op->executor.names =
		pcoll_names_combine(op->executor.names, pcoll_names_of(note->words[0]));
	pcoll_note_give_back(note);
	return true;
}

/* From any member. */
static bool
slot_meeting(struct pcoll_op *op, struct pcoll_slot *slot)
{
	struct pcoll_note **at = &op->executor.notes, *note;

	while ((note = *at) && note->index != slot->tag)
		at = &note->next;
	if (!note)
		return false;
	*at = note->next;
	op->executor.found = note->from;
	pcoll_note_give_back(note);
	return true;
}

static bool
slot_sending(struct pcoll_op *op, struct pcoll_slot *slot)
{
	return pcoll_data_push(op, &slot->out, slot->peer);
}

static bool
slot_awaiting_request(struct pcoll_op *op, struct pcoll_slot *slot)
{
	struct pcoll_note *note = note_take(&op->executor, slot->peer, slot->tag | PCOLL_ASKS);

	if (!note)
		return false;
	if (PSI_UNLIKELY(note->words[1] != slot->out.len_bytes))
		pcoll_lengths_differ(op->call.what, op->number, op->call.tm->rank,
		                     slot->out.len_bytes, slot->peer, note->words[1]);
	pcoll_data_asked(&slot->out, note);
	pcoll_note_give_back(note);
	slot->state = slot_sending;
	return slot_sending(op, slot);
}

static bool
slot_receiving(struct pcoll_op *op, struct pcoll_slot *slot)
{
	const size_t got = atomic_load_explicit(
		&slot->in.got_bytes,
		memory_order_acquire); /* X2: acquire, from X1 in data_on_message */

	(void)op;
	if (got != slot->in.len_bytes)
		return false;
	pcoll_data_received(&slot->in);
	return true;
}

static bool
slot_requesting(struct pcoll_op *op, struct pcoll_slot *slot)
{
	if (!pcoll_data_ask(op, &slot->in, slot->peer, slot->tag))
		return false;
	slot->state = slot_receiving;
	return false;
}

/* -- acts -------------------------------------------------------------------------------------- */

/* Longest payload that goes in a note.  The conduit's limit may be lower. */
static size_t
op_eager_bytes(const struct pcoll_op *op)
{
	const size_t share = EAGER_TOTAL_BYTES / op->call.tm->size;

	if (psi.checks && pcoll_call_has_lists(&op->call))
		return 0;       /* a request tells the receiver's length */
	if (share > PCOLL_EAGER_BYTES)
		return PCOLL_EAGER_BYTES;
	return share < EAGER_LEAST_BYTES ? EAGER_LEAST_BYTES : share;
}

static bool
message_is_eager(const struct pcoll_op *op, const struct pcoll_act *act)
{
	return act->len_bytes == 0 || (act->len_bytes <= op_eager_bytes(op) &&
	                               act->len_bytes <= pcoll_note_most_bytes(op, act->peer));
}

/* Returns true if it is done already. */
static bool
message_begin(struct pcoll_op *op, struct pcoll_slot *slot, const struct pcoll_act *act)
{
	const bool sends = pcoll_act_sends(act);
	const bool eager = message_is_eager(op, act);
	unsigned char *const *buffer = op->executor.buffer;

	slot->peer = act->peer;
	slot->tag = act->tag;
	if (act->kind == PCOLL_STEP_MEET) {
		slot->state = slot_meeting;
	} else if (sends) {
		slot->state = eager ? slot_sending_note : slot_awaiting_request;
		slot->out = (struct pcoll_out){ .addr = buffer[act->from] + act->from_bytes,
		                                .len_bytes = act->len_bytes };
	} else {
		slot->state = eager ? slot_awaiting_note : slot_requesting;
		slot->in.op = op;
		slot->in.named.registration = NULL;
		slot->in.addr = buffer[act->to] + act->to_bytes;
		slot->in.len_bytes = act->len_bytes;
		atomic_store_explicit(&slot->in.got_bytes, 0, memory_order_relaxed);
	}
	return slot->state(op, slot);
}

static void
act_do_local(struct pcoll_op *op, const struct pcoll_act *act)
{
	const unsigned char *from = op->executor.buffer[act->from] + act->from_bytes;
	unsigned char *to = op->executor.buffer[act->to] + act->to_bytes;

	if (act->kind == PCOLL_STEP_COMBINE)
		pcoll_combine(&op->call.reduction, from, to, to, act->len_bytes);
	else if (from != to)
		psi_copy(to, from, act->len_bytes);
}

/* Phases of a series of the job's barriers have a line of their own: they have no place among the
 * calls of their team.  Within a host their names go by notes. */
static enum pcoll_device_line
act_line(const struct pcoll_op *op)
{
	const enum pcoll_device_line line = op->executor.act.line;

	if (!op->call.phase || line == PCOLL_LINE_HOST)
		return line;
	return op->call.phase->series == PCOLL_SERIES ? PCOLL_LINE_PLAIN : PCOLL_LINE_NAMED;
}

/* False: it goes on at a later step. */
static bool
act_do_device(struct pcoll_op *op)
{
	struct pcoll_executor *executor = &op->executor;
	const enum pcoll_device_line line = act_line(op);
	enum pcoll_device_result result;

	if (op->call.phase && line == PCOLL_LINE_HOST) {
		executor->by_device = false;
		return true;
	}
	result = pcoll_device->step(op, line, executor->device_number[line], &executor->act);
	if (result == PCOLL_DEVICE_AGAIN)
		return false;
	executor->device_number[line]++;
	executor->by_device = result == PCOLL_DEVICE_DONE;
	return true;
}

static void
act_do_compare(struct pcoll_op *op)
{
	const enum pcoll_device_line line = act_line(op);

	if (!op->call.phase)
		pcoll_device->compare(op, line, op->executor.device_number[line] - 1,
		                      &op->executor.act);
}

/* All members begin the steps of their calls in the order of these. */
static void
device_steps_begin(struct pcoll_op *op)
{
	const struct pcoll_cached *cached = op->executor.cached;

	for (unsigned i = 0; i < PCOLL_LINES; i++) {
		enum pcoll_device_line line;

		op->executor.act.line = (enum pcoll_device_line)i;
		line = act_line(op);
		if (cached->device_steps[i] && !(op->call.phase && line == PCOLL_LINE_HOST))
			op->executor.device_number[line] = pcoll_device->begin(
				op->call.tm, line, cached->device_steps[i]);
	}
}

/* Begins the next act.  Returns false if all slots are in use, or at the end of a round while
 * messages are under way. */
static bool
act_begin(struct pcoll_op *op)
{
	struct pcoll_executor *executor = &op->executor;
	unsigned number;

	switch (executor->act.kind) {
	case PCOLL_STEP_ROUND:
		return executor->used == 0;
	case PCOLL_STEP_COPY:
	case PCOLL_STEP_COMBINE:
		act_do_local(op, &executor->act);
		return true;
	case PCOLL_STEP_DEVICE:
		return act_do_device(op);
	case PCOLL_STEP_UNLESS:
		if (executor->by_device)
			pcoll_cursor_leave_out(&executor->cursor, &executor->act);
		return true;
	case PCOLL_STEP_COMPARE:
		act_do_compare(op);
		return true;
	default:
		if (executor->used == UINT32_MAX)
			return false;
		if (executor->act.peer == PCOLL_FOUND)
			executor->act.peer = executor->found;
		number = (unsigned)__builtin_ctz(~executor->used);
		if (!message_begin(op, &executor->slot[number], &executor->act))
			executor->used |= (uint32_t)1 << number;
		return true;
	}
}

/* -- steps ------------------------------------------------------------------------------------- */

static void
slots_advance(struct pcoll_op *op)
{
	for (uint32_t left = op->executor.used; left; left &= left - 1) {
		struct pcoll_slot *slot = &op->executor.slot[__builtin_ctz(left)];

		if (slot->state(op, slot))
			op->executor.used &= ~(left & -left);
	}
}

/* Begins what may begin, and tries it once; the end of the schedule is the end of a round. */
static void
acts_begin(struct pcoll_op *op)
{
	struct pcoll_executor *executor = &op->executor;

	for (;;) {
		if (!executor->has_act)
			executor->has_act = pcoll_cursor_next(&executor->cached->schedule,
			                                      &executor->cursor, &executor->act);
		if (!executor->has_act) {
			executor->ended = executor->used == 0;
			return;
		}
		if (!act_begin(op))
			return;
		executor->has_act = false;
	}
}

const struct pcoll_device *pcoll_device;

bool
pcoll_executor_step(struct pcoll_op *op)
{
	struct pcoll_executor *executor = &op->executor;

	executor->notes = pcoll_notes_collect(op, executor->notes);
	slots_advance(op);
	acts_begin(op);
	if (PSI_UNLIKELY(psi.checks) && op->call.what.operation == PCOLL_PERMUTE)
		executor_check_hellos(op);
	return executor->ended;
}

/* -- beginning and end ------------------------------------------------------------------------- */

void
pcoll_executor_open(struct pcoll_op *op)
{
	const struct pcoll_call *call = &op->call;
	struct pcoll_executor *executor = &op->executor;

	executor->cached = pcoll_schedule_hold(call);
	executor->cursor = (struct pcoll_cursor){ .next = 0 };
	executor->has_act = executor->ended = executor->by_device = false;
	executor->found = call->target == call->tm->rank ? call->target : PCOLL_FOUND;
	executor->notes = NULL;
	if (PSI_UNLIKELY(executor->cached->has_device))
		device_steps_begin(op);
	executor->names = call->phase ? call->phase->names : pcoll_names_of(0);
	executor->buffer[PCOLL_SRC] = (unsigned char *)(uintptr_t)call->src;
	executor->buffer[PCOLL_DST] = call->dst;
	pcoll_scratch_make(&executor->scratch, executor->cached->schedule.tmp_bytes,
	                   call->tm->layout && pcoll_layout_is_divided(call->tm->layout));
	executor->buffer[PCOLL_TMP] = executor->scratch.base;
}

/* Notes that nobody awaited: counts in lists that do not agree, or a target named twice.  The next
 * operation of this record must not find them. */
static void
executor_drop_notes(struct pcoll_op *op)
{
	struct pcoll_note *note = pcoll_notes_collect(op, op->executor.notes);

	for (struct pcoll_note *next; note; note = next) {
		next = note->next;
		pcoll_note_give_back(note);
	}
	op->executor.notes = NULL;
}

static void
attempt_finish(struct pcoll_op *op)
{
	const bool done = op->executor.by_device;

	if (done)
		pcoll_call_finish(&op->call);
	atomic_store_explicit(&op->call.attempt->end,
	                      done ? PCOLL_ATTEMPT_DONE : PCOLL_ATTEMPT_DECLINED,
	                      memory_order_release); /* V9: release, to V10 in attempt_end */
}

void
pcoll_executor_close(struct pcoll_op *op)
{
	struct pcoll_executor *executor = &op->executor;

	if (op->call.phase)
		op->call.phase->names = executor->names;
	if (PSI_UNLIKELY(op->call.attempt != NULL))
		attempt_finish(op);
	else
		pcoll_call_finish(&op->call);
	executor_drop_notes(op);
	pcoll_schedule_release(executor->cached);
	pcoll_scratch_done(&executor->scratch);
}
