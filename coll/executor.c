/*
 * The executor of schedules.  A payload goes in one of two ways, which both ends choose alike from
 * its length and the operation's number (message_is_eager): in a note, which is kept where its
 * receiver does not wait for it yet; or as data, for which the receiver asks.
 */
#include "coll/coll.h"
#include "coll/schedule_cache.h"

#include "runtime/process/process.h"
#include "runtime/team/team.h"

#include "runtime/util/copy.h"

#include <stdlib.h>
#include <string.h>

enum {
	TMP_ALIGN = 64, TMP_KEPT_BYTES = 256 << 10,
	/* A member keeps at most this much for one operation, but LEAST for each other member. */
	EAGER_TOTAL_BYTES = 128 << 10, EAGER_LEAST_BYTES = 64,
};

/* -- notes that have come ---------------------------------------------------------------------- */

/* NULL: it has not come. */
static struct pcoll_note *
note_take(struct pcoll_run *run, uint32_t from, uint32_t index)
{
	struct pcoll_note **at = &run->notes, *note;

	while ((note = *at) && (note->from != from || note->index != index))
		at = &note->next;
	if (note)
		*at = note->next;
	return note;
}

/* Members that agree about the call have schedules that fit each other, but for lists' lengths. */
static void __attribute__((noreturn, cold))
message_differs(const struct pcoll_op *op, uint32_t from, uint64_t sent_bytes, uint32_t to,
                uint64_t expected_bytes)
{
	psi_fatal("%s: call %u on its team, in which rank %u sends %llu bytes to rank %u, which "
	          "expects %llu; let the counts of both agree",
	          pcoll_call_name(op->call.what), op->number, from,
	          (unsigned long long)sent_bytes, to, (unsigned long long)expected_bytes);
}

/* -- states of a slot -------------------------------------------------------------------------- */

static bool
slot_sending_note(struct pcoll_op *op, struct pcoll_slot *slot)
{
	return pcoll_note_send(op, slot->peer, slot->tag, pcoll_names_word(op->run.names), 0,
	                       slot->out.addr, slot->out.len_bytes);
}

static bool
slot_awaiting_note(struct pcoll_op *op, struct pcoll_slot *slot)
{
	struct pcoll_note *note = note_take(&op->run, slot->peer, slot->tag);

	if (!note)
		return false;
	if (PSI_UNLIKELY(note->len_bytes != slot->in.len_bytes))
		message_differs(op, slot->peer, note->len_bytes, op->call.tm->rank,
		                slot->in.len_bytes);
	if (note->len_bytes)
		psi_copy(slot->in.addr, note->payload, note->len_bytes);
	op->run.names = pcoll_names_combine(op->run.names, pcoll_names_of(note->words[0]));
	pcoll_note_give_back(note);
	return true;
}

/* From any member. */
static bool
slot_meeting(struct pcoll_op *op, struct pcoll_slot *slot)
{
	struct pcoll_note **at = &op->run.notes, *note;

	while ((note = *at) && note->index != slot->tag)
		at = &note->next;
	if (!note)
		return false;
	*at = note->next;
	op->run.found = note->from;
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
	struct pcoll_note *note = note_take(&op->run, slot->peer, slot->tag | PCOLL_ASKS);

	if (!note)
		return false;
	if (PSI_UNLIKELY(note->words[1] != slot->out.len_bytes))
		message_differs(op, op->call.tm->rank, slot->out.len_bytes, slot->peer,
		                note->words[1]);
	slot->out.cookie = note->words[0];
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
	return got == slot->in.len_bytes;
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

/* The longest payload that goes in a note, but for what the conduit lets. */
static size_t
op_eager_bytes(const struct pcoll_op *op)
{
	const size_t share = EAGER_TOTAL_BYTES / op->call.tm->size;

	if (op->number % PCOLL_EAGER_PERIOD == PCOLL_EAGER_PERIOD - 1 ||
	    (psi.checks && op->call.what.api == PCOLL_PST_LISTS))
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
	const bool sends = act->kind == PCOLL_STEP_SEND || act->kind == PCOLL_STEP_NOTIFY;
	const bool eager = message_is_eager(op, act);
	unsigned char *const *buffer = op->run.buffer;

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
		slot->in.addr = buffer[act->to] + act->to_bytes;
		slot->in.len_bytes = act->len_bytes;
		atomic_store_explicit(&slot->in.got_bytes, 0, memory_order_relaxed);
	}
	return slot->state(op, slot);
}

static void
act_locally(struct pcoll_op *op, const struct pcoll_act *act)
{
	const struct pcoll_reduction *reduction = &op->call.reduction;
	const unsigned char *from = op->run.buffer[act->from] + act->from_bytes;
	unsigned char *to = op->run.buffer[act->to] + act->to_bytes;

	if (act->kind == PCOLL_STEP_COMBINE)
		reduction->combine(from, to, act->len_bytes / reduction->elem_bytes,
		                   reduction->cdata);
	else if (from != to)
		psi_copy(to, from, act->len_bytes);
}

/* False: it must wait until a slot is free, or all that was begun is done. */
static bool
act_begin(struct pcoll_op *op)
{
	struct pcoll_run *run = &op->run;
	unsigned number;

	switch (run->act.kind) {
	case PCOLL_STEP_ROUND:
		return run->used == 0;
	case PCOLL_STEP_COPY:
	case PCOLL_STEP_COMBINE:
		act_locally(op, &run->act);
		return true;
	default:
		if (run->used == UINT32_MAX)
			return false;
		if (run->act.peer == PCOLL_FOUND)
			run->act.peer = run->found;
		number = (unsigned)__builtin_ctz(~run->used);
		if (!message_begin(op, &run->slot[number], &run->act))
			run->used |= (uint32_t)1 << number;
		return true;
	}
}

/* -- steps ------------------------------------------------------------------------------------- */

/* Have some messages come to their end? */
static bool
slots_advance(struct pcoll_op *op)
{
	const uint32_t before = op->run.used;

	for (uint32_t left = before; left; left &= left - 1) {
		struct pcoll_slot *slot = &op->run.slot[__builtin_ctz(left)];

		if (slot->state(op, slot))
			op->run.used &= ~(left & -left);
	}
	return op->run.used != before;
}

/* Begins what may begin; the end of the schedule is the end of a round. */
static void
acts_begin(struct pcoll_op *op)
{
	struct pcoll_run *run = &op->run;

	for (;;) {
		if (!run->has_act)
			run->has_act = pcoll_cursor_next(&run->cached->schedule, &run->cursor,
			                                 &run->act);
		if (!run->has_act) {
			run->ended = run->used == 0;
			return;
		}
		if (!act_begin(op))
			return;
		run->has_act = false;
	}
}

bool
pcoll_run_step(struct pcoll_op *op)
{
	struct pcoll_run *run = &op->run;

	run->notes = pcoll_notes_collect(op, run->notes);
	do
		acts_begin(op);
	while (slots_advance(op) && !run->ended);
	return run->ended;
}

/* -- beginning and end ------------------------------------------------------------------------- */

static void
run_make_tmp(struct pcoll_run *run, size_t len_bytes)
{
	const size_t rounded = (len_bytes + TMP_ALIGN - 1) / TMP_ALIGN * TMP_ALIGN;

	if (len_bytes <= run->tmp_room_bytes)
		return;
	free(run->buffer[PCOLL_TMP]);
	run->buffer[PCOLL_TMP] = aligned_alloc(TMP_ALIGN, rounded);
	if (!run->buffer[PCOLL_TMP])
		psi_fatal("no memory for a collective, which takes %zu bytes", len_bytes);
	run->tmp_room_bytes = rounded;
}

void
pcoll_run_open(struct pcoll_op *op)
{
	const struct pcoll_call *call = &op->call;
	struct pcoll_run *run = &op->run;

	run->cached = pcoll_schedule_hold(call);
	run->cursor = (struct pcoll_cursor){ .next = 0 };
	run->has_act = run->ended = false;
	run->names = call->phase ? call->phase->names : pcoll_names_of(0);
	run->buffer[PCOLL_SRC] = (unsigned char *)(uintptr_t)call->src;
	run->buffer[PCOLL_DST] = call->dst;
	run_make_tmp(run, run->cached->schedule.tmp_bytes);
}

void
pcoll_run_close(struct pcoll_op *op)
{
	struct pcoll_run *run = &op->run;

	if (op->call.phase)
		op->call.phase->names = run->names;
	pcoll_call_finish(&op->call);
	pcoll_schedule_release(run->cached);
	if (run->tmp_room_bytes > TMP_KEPT_BYTES) {
		free(run->buffer[PCOLL_TMP]);
		run->buffer[PCOLL_TMP] = NULL;
		run->tmp_room_bytes = 0;
	}
}
