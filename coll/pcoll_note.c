/*
 * Notes: Shorts by which members tell each other something about an operation.  One that comes
 * before its receiver has called waits in `early'.
 */
#include "coll/coll.h"

#include "runtime/am/am.h"
#include "runtime/team/team.h"

#include <stdlib.h>

enum { POOL_CHUNK = 64, NOTE_ARGS = 11 };

/* The caller holds the engine's lock. */
static struct pcoll_note *free_notes, *early;

static struct pcoll_note *
note_take_spare(void)
{
	struct pcoll_note *note = free_notes;

	if (!note) {
		struct pcoll_note *chunk = calloc(POOL_CHUNK, sizeof *chunk);

		if (!chunk)
			psi_fatal("no memory for notes of collectives");
		for (unsigned i = 0; i < POOL_CHUNK; i++) {
			chunk[i].next = note;
			note = &chunk[i];
		}
	}
	free_notes = note->next;
	return note;
}

static void
note_push(struct pcoll_note **list, struct pcoll_note *note)
{
	note->next = *list;
	*list = note;
}

/* The k-th call on a team is the same call everywhere. */
static void __attribute__((noreturn, cold))
note_differs(enum pcoll_operation own, const struct pcoll_note *note)
{
	psi_fatal("%s: call %u on its team, which is %s at its rank %u; let all members make the "
	          "same calls in the same order",
	          pcoll_operation_name(own), note->number,
	          pcoll_operation_name((enum pcoll_operation)note->operation), note->from);
}

static void
note_attach(struct pcoll_op *op, struct pcoll_note *note)
{
	if (PSI_UNLIKELY(note->operation != op->call.operation))
		note_differs(op->call.operation, note);
	note_push(&op->notes, note);
}

/* With checks: a note of a call that this member has completed already.  Barriers by flags alone
 * complete without notes, so the peer has made another call. */
static void
note_keep_early(struct pcoll_note *note, gex_Token_t token)
{
	if (PSI_UNLIKELY(psi.checks) && note->team < PCOLL_SERIES) {
		gex_TM_t tm = note->team ? psi_team_find(note->team, token->ep) : psi.tm;

		if (!tm)
			psi_team_is_gone(token->arrival->source);
		if (note->number < tm->collectives)
			note_differs(PCOLL_BARRIER, note);
	}
	note_push(&early, note);
}

void
pcoll_pass(gex_TM_t tm)
{
	if (PSI_LIKELY(!psi.checks)) {
		tm->collectives++;
		return;
	}
	pcoll_lock();
	for (const struct pcoll_note *note = early; note; note = note->next)
		if (note->number == tm->collectives && note->team == tm->id && note->to == tm->rank)
			note_differs(PCOLL_BARRIER, note);
	tm->collectives++;
	pcoll_unlock();
}

void
pcoll_notes_team_ends(gex_TM_t tm, const char *call)
{
	pcoll_lock();
	for (const struct pcoll_note *note = early; note; note = note->next)
		if (note->team == tm->id && note->to == tm->rank)
			psi_team_in_use(call);
	pcoll_unlock();
}

void
pcoll_notes_claim(struct pcoll_op *op)
{
	struct pcoll_note **at = &early, *note;

	while ((note = *at)) {
		if (note->number == op->number && note->team == op->team &&
		    note->to == op->call.tm->rank) {
			*at = note->next;
			note_attach(op, note);
		} else {
			at = &note->next;
		}
	}
}

/* Ends the note's life, or leaves the list as it is if there is none. */
static bool
note_take_at(struct pcoll_note **at, uint64_t words_out[2])
{
	struct pcoll_note *note = *at;

	if (!note)
		return false;
	*at = note->next;
	words_out[0] = note->words[0];
	words_out[1] = note->words[1];
	note_push(&free_notes, note);
	return true;
}

bool
pcoll_note_take(struct pcoll_op *op, gex_Rank_t from, uint32_t index, uint64_t words_out[2])
{
	struct pcoll_note **at = &op->notes;
	bool taken;

	pcoll_lock();
	while (*at && ((*at)->from != from || (*at)->index != index))
		at = &(*at)->next;
	taken = note_take_at(at, words_out);
	pcoll_unlock();
	return taken;
}

bool
pcoll_note_take_any(struct pcoll_op *op, uint32_t index, gex_Rank_t *from_out,
                    uint64_t words_out[2])
{
	struct pcoll_note **at = &op->notes;
	bool taken;

	pcoll_lock();
	while (*at && (*at)->index != index)
		at = &(*at)->next;
	if (*at)
		*from_out = (*at)->from;
	taken = note_take_at(at, words_out);
	pcoll_unlock();
	return taken;
}

/* -- on the wire: team and words in halves -------------------------------------------- */

#define HALVES(word) (gex_AM_Arg_t)(uint32_t)(word), (gex_AM_Arg_t)(uint32_t)((word) >> 32)

static uint64_t
notes_join(gex_AM_Arg_t low, gex_AM_Arg_t high)
{
	return (uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void
note_on_message(gex_Token_t token, gex_AM_Arg_t team_low, gex_AM_Arg_t team_high,
                gex_AM_Arg_t number, gex_AM_Arg_t operation, gex_AM_Arg_t from, gex_AM_Arg_t to,
                gex_AM_Arg_t index, gex_AM_Arg_t low0, gex_AM_Arg_t high0, gex_AM_Arg_t low1,
                gex_AM_Arg_t high1)
{
	struct pcoll_note *note;
	struct pcoll_op *op;

	psi_count_internal(token);
	pcoll_lock();
	note = note_take_spare();
	*note = (struct pcoll_note){
		.team = notes_join(team_low, team_high), .number = (uint32_t)number,
		.operation = (uint32_t)operation, .index = (uint32_t)index,
		.from = (gex_Rank_t)from, .to = (gex_Rank_t)to,
		.words = { notes_join(low0, high0), notes_join(low1, high1) },
	};
	op = pcoll_find(note->team, note->number, note->to);
	if (op) {
		note_attach(op, note);
		pcoll_op_changed(op);
	} else {
		note_keep_early(note, token);
	}
	pcoll_unlock();
}

bool
pcoll_send(struct pcoll_op *op, gex_Rank_t to, struct psi_am *am, const char *what)
{
	const struct psi_target target = psi_target_of(op->call.tm, to, what);

	am->peer = target.place;
	am->network = PSI_REQUESTS;
	if (psi_am_try_or_request(target.ep, am) == PSI_OK)
		return true;
	op->blocked = true;
	return false;
}

bool
pcoll_note_send(struct pcoll_op *op, gex_Rank_t to, uint32_t index, uint64_t word0, uint64_t word1)
{
	const gex_AM_Arg_t args[NOTE_ARGS] = {
		HALVES(op->team), (gex_AM_Arg_t)op->number, (gex_AM_Arg_t)op->call.operation,
		(gex_AM_Arg_t)op->call.tm->rank, (gex_AM_Arg_t)to, (gex_AM_Arg_t)index,
		HALVES(word0), HALVES(word1),
	};
	struct psi_am am = {
		.handler = PSI_HANDLER_COLL_NOTE, .category = PSI_SHORT, .nargs = NOTE_ARGS,
		.args = args,
	};

	return pcoll_send(op, to, &am, pcoll_operation_name(op->call.operation));
}

void
pcoll_notes_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_COLL_NOTE, (gex_AM_Fn_t)note_on_message);
}
