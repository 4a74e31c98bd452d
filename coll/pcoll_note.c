/*
 * Notes: messages by which members tell each other something about an operation.  One that comes
 * before its receiver has called waits in `early'.
 */
#include "coll/coll.h"
#include "coll/differ.h"
#include "coll/schedule_cache.h"

#include "runtime/util/copy.h"

#include "runtime/am/am.h"
#include "runtime/team/team.h"

#include <stdlib.h>

enum { NOTE_ARGS = 16, CLASSES = 3 };

/* Spare notes by the room that they have for a payload; and how many are made at a time. */
static const struct {
	size_t room_bytes;
	unsigned count;
} classes[CLASSES] = { { 0, 64 }, { 256, 32 }, { PCOLL_EAGER_BYTES, 8 } };

/* The caller holds the engine's lock. */
static struct pcoll_note *spare[CLASSES], *early;

static unsigned
class_of(size_t len_bytes)
{
	unsigned class = 0;

	while (classes[class].room_bytes < len_bytes)
		class++;
	return class;
}

static void
note_push(struct pcoll_note **list, struct pcoll_note *note)
{
	note->next = *list;
	*list = note;
}

static void
spare_grow(unsigned class)
{
	const size_t bytes = sizeof(struct pcoll_note) + classes[class].room_bytes;
	unsigned char *chunk = calloc(classes[class].count, bytes);

	if (!chunk)
		psi_fatal("no memory for notes of collectives");
	for (unsigned i = 0; i < classes[class].count; i++)
		note_push(&spare[class], (struct pcoll_note *)(void *)(chunk + i * bytes));
}

static struct pcoll_note *
note_take_spare(size_t len_bytes)
{
	const unsigned class = class_of(len_bytes);
	struct pcoll_note *note;

	pcoll_lock();
	if (!spare[class])
		spare_grow(class);
	note = spare[class];
	spare[class] = note->next;
	pcoll_unlock();
	return note;
}

void
pcoll_note_give_back(struct pcoll_note *note)
{
	pcoll_lock();
	note_push(&spare[class_of(note->len_bytes)], note);
	pcoll_unlock();
}

/* -- to their operations; the caller holds the lock -------------------------------------------- */

static struct pcoll_signature
note_signature(const struct pcoll_note *note)
{
	return (struct pcoll_signature){
		.rank = note->from, .what = pcoll_what_of(note->what),
		.root = note->root, .len_bytes = note->call_bytes, .form = note->form,
		.key = note->key,
	};
}

/* Of the offsets of its pointers in this member's segment. */
static uint32_t
offsets_key(const struct pcoll_call *call)
{
	const gex_Segment_t segment = call->tm->ep->segment;
	const uintptr_t base = segment ? (uintptr_t)segment->base : 0;
	const uint64_t src = (uintptr_t)call->src - base, dst = (uintptr_t)call->dst - base;

	return (uint32_t)((src * 31 + dst) * 0x9e3779b97f4a7c15u >> 32);
}

/* Values have no addresses. */
static bool
call_is_single(const struct pcoll_call *call)
{
	return call->flags & PST_SINGLE && !pcoll_call_has_scalar(call);
}

/* Addresses of no bytes may be any. */
static bool
call_tells_offsets(const struct pcoll_call *call)
{
	return call_is_single(call) && (call->len_bytes || pcoll_call_has_lists(call));
}

/* With checks: is it in place, in an operation where all members must be if one is?  The legacy
 * calls let each member choose.  Left out are exscan, whose rank 0 writes nothing, and calls with
 * lists: there a rank with an empty block may pass any address. */
static bool
call_tells_in_place(const struct pcoll_call *call)
{
	switch (call->what.operation) {
	case PCOLL_REDUCE_TO_ALL:
	case PCOLL_GATHER_ALL:
	case PCOLL_EXCHANGE:
	case PCOLL_REDUCE_SCATTER:
	case PCOLL_SCAN:
		return psi.checks && call->what.api != PCOLL_LEGACY && call->len_bytes &&
		       !pcoll_call_has_lists(call) && !pcoll_call_has_scalar(call) &&
		       pcoll_shape_of_call(call).in_place;
	default: return false;
	}
}

static uint32_t
call_form(const struct pcoll_call *call)
{
	return ((uint32_t)call->reduction.elem_bytes & PCOLL_FORM_ELEM_BYTES) |
	       (call_tells_in_place(call) ? PCOLL_FORM_IN_PLACE : 0) |
	       (call_is_single(call) ? PCOLL_FORM_SINGLE : 0) |
	       (call->reproducible ? PCOLL_FORM_REPRODUCIBLE : 0) |
	       (call->in_all ? PCOLL_FORM_IN_ALL : 0) |
	       (call->out_all ? PCOLL_FORM_OUT_ALL : 0) |
	       (call->flags & PST_IN_NOSYNC ? PCOLL_FORM_IN_NONE : 0) |
	       (call->flags & PST_OUT_NOSYNC ? PCOLL_FORM_OUT_NONE : 0);
}

static struct pcoll_signature
call_signature(const struct pcoll_call *call)
{

	return (struct pcoll_signature){
		.rank = call->tm->rank, .what = call->what, .root = call->root,
		.len_bytes = pcoll_call_has_lists(call) ? 0 : call->len_bytes,
		.key = call->reduction.key ^ (call_tells_offsets(call) ? offsets_key(call) : 0),
		.form = call_form(call),
	};
}

static void __attribute__((noreturn, cold))
note_differs(const struct pcoll_signature *own, const struct pcoll_note *note)
{
	const struct pcoll_signature peers = note_signature(note);

	pcoll_signatures_differ(note->number, own, &peers);
}

enum { BARRIERS_KEPT = 64 };    /* the bits of tm->pst_barriers */

/* Notes the next call, a barrier by flags, which sends no notes. */
static void
barrier_keep(gex_TM_t tm, enum pcoll_api api)
{
	const uint64_t bit = (uint64_t)1 << tm->collectives % BARRIERS_KEPT;

	tm->pst_barriers = api == PCOLL_PST ? tm->pst_barriers | bit : tm->pst_barriers & ~bit;
}

/* The interface by which the barrier with that number was called; PCOLL_APIS: that is not kept any
 * more. */
static enum pcoll_api
barrier_api(gex_TM_t tm, uint32_t number)
{
	if (tm->collectives - number > BARRIERS_KEPT)
		return PCOLL_APIS;
	return tm->pst_barriers >> number % BARRIERS_KEPT & 1 ? PCOLL_PST : PCOLL_GEX;
}

static void __attribute__((noreturn, cold))
note_finds_barrier(gex_TM_t tm, const struct pcoll_note *note, enum pcoll_api api)
{
	const struct pcoll_signature peers = note_signature(note);
	const struct pcoll_signature own = { .rank = tm->rank, .what = { PCOLL_BARRIER, api } };

	if (api == PCOLL_APIS)          /* the peer's call has a name */
		pcoll_signatures_differ(note->number, &peers, &own);
	pcoll_signatures_differ(note->number, &own, &peers);
}

/* The k-th call on a team is the same call everywhere. */
static void
note_attach(struct pcoll_op *op, struct pcoll_note *note)
{
	const struct pcoll_signature own = call_signature(&op->call);

	if (PSI_UNLIKELY(note->what != pcoll_what_number(own.what) || note->root != own.root ||
	                 note->call_bytes != own.len_bytes || note->form != own.form ||
	                 note->key != own.key))
		note_differs(&own, note);
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
			note_finds_barrier(tm, note, barrier_api(tm, note->number));
	}
	note_push(&early, note);
}

void
pcoll_pass(gex_TM_t tm, enum pcoll_api api)
{
	if (PSI_LIKELY(!psi.checks)) {
		tm->collectives++;
		return;
	}
	pcoll_lock();
	for (const struct pcoll_note *note = early; note; note = note->next)
		if (note->number == tm->collectives && note->team == tm->id && note->to == tm->rank)
			note_finds_barrier(tm, note, api);
	barrier_keep(tm, api);
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

struct pcoll_note *
pcoll_notes_collect(struct pcoll_op *op, struct pcoll_note *list)
{
	struct pcoll_note *come, *last;

	pcoll_lock();
	come = op->notes;
	op->notes = NULL;
	pcoll_unlock();
	if (!come)
		return list;
	for (last = come; last->next; last = last->next)
		;
	last->next = list;
	return come;
}

/* -- on the wire: words of 64 bits in halves --------------------------------------------------- */

#define HALVES(word) (gex_AM_Arg_t)(uint32_t)(word), (gex_AM_Arg_t)(uint32_t)((word) >> 32)

static uint64_t
halves_join(gex_AM_Arg_t low, gex_AM_Arg_t high)
{
	return (uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void
payload_on_message(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t team_low,
                   gex_AM_Arg_t team_high, gex_AM_Arg_t number, gex_AM_Arg_t what,
                   gex_AM_Arg_t from, gex_AM_Arg_t to, gex_AM_Arg_t index, gex_AM_Arg_t low0,
                   gex_AM_Arg_t high0, gex_AM_Arg_t low1, gex_AM_Arg_t high1, gex_AM_Arg_t root,
                   gex_AM_Arg_t len_low, gex_AM_Arg_t len_high, gex_AM_Arg_t form,
                   gex_AM_Arg_t key)
{
	struct pcoll_note *note = note_take_spare(nbytes);
	struct pcoll_op *op;

	psi_count_internal(token);
	*note = (struct pcoll_note){
		.team = halves_join(team_low, team_high), .number = (uint32_t)number,
		.what = (uint32_t)what, .index = (uint32_t)index,
		.from = (gex_Rank_t)from, .to = (gex_Rank_t)to, .root = (gex_Rank_t)root,
		.call_bytes = halves_join(len_low, len_high), .form = (uint32_t)form,
		.key = (uint32_t)key,
		.words = { halves_join(low0, high0), halves_join(low1, high1) },
		.len_bytes = nbytes,
	};
	if (nbytes)
		psi_copy(note->payload, buf, nbytes);
	pcoll_lock();
	op = pcoll_find(note->team, note->number, note->to);
	if (op) {
		note_attach(op, note);
		pcoll_op_changed(op);
	} else {
		note_keep_early(note, token);
	}
	pcoll_unlock();
}

static void
note_on_message(gex_Token_t token, gex_AM_Arg_t team_low, gex_AM_Arg_t team_high,
                gex_AM_Arg_t number, gex_AM_Arg_t what, gex_AM_Arg_t from, gex_AM_Arg_t to,
                gex_AM_Arg_t index, gex_AM_Arg_t low0, gex_AM_Arg_t high0, gex_AM_Arg_t low1,
                gex_AM_Arg_t high1, gex_AM_Arg_t root, gex_AM_Arg_t len_low, gex_AM_Arg_t len_high,
                gex_AM_Arg_t form, gex_AM_Arg_t key)
{
	payload_on_message(token, NULL, 0, team_low, team_high, number, what, from, to, index,
	                   low0, high0, low1, high1, root, len_low, len_high, form, key);
}

bool
pcoll_send(struct pcoll_op *op, gex_Rank_t to, struct psi_am *am)
{
	const struct psi_target target =
		psi_target_of(op->call.tm, to, pcoll_call_name(op->call.what));

	am->peer = target.place;
	am->network = PSI_REQUESTS;
	if (psi_am_try_or_request(target.ep, am) == PSI_OK)
		return true;
	op->blocked = true;
	return false;
}

bool
pcoll_note_send(struct pcoll_op *op, gex_Rank_t to, uint32_t index, uint64_t word0, uint64_t word1,
                const void *payload, size_t len_bytes)
{
	const struct pcoll_signature own = call_signature(&op->call);
	const gex_AM_Arg_t args[NOTE_ARGS] = {
		HALVES(op->team), (gex_AM_Arg_t)op->number,
		(gex_AM_Arg_t)pcoll_what_number(own.what), (gex_AM_Arg_t)own.rank,
		(gex_AM_Arg_t)to, (gex_AM_Arg_t)index, HALVES(word0), HALVES(word1),
		(gex_AM_Arg_t)own.root, HALVES(own.len_bytes), (gex_AM_Arg_t)own.form,
		(gex_AM_Arg_t)own.key,
	};
	struct psi_am am = {
		.handler = len_bytes ? PSI_HANDLER_COLL_PAYLOAD : PSI_HANDLER_COLL_NOTE,
		.category = len_bytes ? PSI_MEDIUM : PSI_SHORT, .nargs = NOTE_ARGS, .args = args,
		.payload = payload, .len_bytes = len_bytes,
	};

	return pcoll_send(op, to, &am);
}

size_t
pcoll_note_most_bytes(const struct pcoll_op *op, gex_Rank_t peer)
{
	const struct psi_target target =
		psi_target_of(op->call.tm, peer, pcoll_call_name(op->call.what));

	return target.ep->ops->am_max_medium(target.ep->port, target.place, PSI_REQUESTS,
	                                     NOTE_ARGS);
}

void
pcoll_notes_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_COLL_NOTE, (gex_AM_Fn_t)note_on_message);
	psi_handler_set_internal(ep, PSI_HANDLER_COLL_PAYLOAD, (gex_AM_Fn_t)payload_on_message);
}
