#include "tests/unit/schedule_check.h"

#include "coll/schedule_model.h"
#include "tests/unit/schedule_oracle.h"
#include "tests/unit/schedule_set.h"
#include "tests/unit/schedule_tags.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 3 };

struct cell {
	struct symbol symbol;
	uint32_t sent_in, received_in;  /* the last round in which it is; from 1 */
};

struct member {
	struct cell *cells;
	size_t at[BUFFERS], len[BUFFERS];       /* by enum pcoll_buffer */
	uint32_t round;
	uint64_t left;                          /* acts that touch src or dst */
	bool busy;                              /* one of them is under way */
	struct set entered, done;               /* members that are known to have done so */
	struct set heard_entered, heard_done;   /* the same, when the round is over */
};

struct note {
	struct set entered, done;
};

struct check {
	const struct pcoll_shape *shape;
	struct oracle *oracle;
	bool with_barriers;
	bool by_device;                         /* a device does the device steps */
	struct member *members;
	struct pcoll_schedule *schedules;
	struct note *notes;                     /* by stamp */
	uint32_t note_count, note_room;
	bool failed;
	char *text;
};

static void __attribute__((format(printf, 2, 3)))
check_fails(struct check *check, const char *format, ...)
{
	va_list args;

	if (check->failed)
		return;
	check->failed = true;
	va_start(args, format);
	vsnprintf(check->text, SCHEDULE_TEXT_BYTES, format, args);
	va_end(args);
}

/* -- acts -------------------------------------------------------------------------------------- */

/* NULL: the range is not in the buffer. */
static struct cell *
cells_find(struct check *check, uint32_t rank, enum pcoll_buffer buffer, size_t offset,
           const struct pcoll_act *act)
{
	const struct member *member = &check->members[rank];

	if (offset <= member->len[buffer] && act->len_bytes <= member->len[buffer] - offset)
		return member->cells + member->at[buffer] + offset;
	check_fails(check, "rank %u: bytes %zu to %zu of buffer %d, which has %zu", rank, offset,
	            offset + act->len_bytes, (int)buffer, member->len[buffer]);
	return NULL;
}

static bool
act_reads(const struct pcoll_act *act)
{
	return act->kind == PCOLL_STEP_SEND || act->kind == PCOLL_STEP_COPY ||
	       act->kind == PCOLL_STEP_COMBINE;
}

static bool
act_writes(const struct pcoll_act *act)
{
	return act->kind == PCOLL_STEP_RECEIVE || act->kind == PCOLL_STEP_COPY ||
	       act->kind == PCOLL_STEP_COMBINE;
}

/* Does it touch src or dst? */
static bool
act_touches(const struct pcoll_act *act)
{
	return (act->kind == PCOLL_STEP_DEVICE && act->does != PCOLL_DEVICE_DECLINES) ||
	       (act_reads(act) && act->from != PCOLL_TMP) ||
	       (act_writes(act) && act->to != PCOLL_TMP);
}

static void
act_note(struct check *check, uint32_t rank, const struct pcoll_act *act)
{
	struct member *member = &check->members[rank];

	if (!act_touches(act))
		return;
	if (act_writes(act) && act->to == PCOLL_SRC)
		check_fails(check, "rank %u: a step writes to src", rank);
	if (check->with_barriers && !set_is_full(&member->entered, check->shape->size))
		check_fails(check, "rank %u: memory is touched before all have entered", rank);
	member->left--;
	if (act->kind == PCOLL_STEP_SEND || act->kind == PCOLL_STEP_RECEIVE)
		member->busy = true;
}

/* The next act; of those that a device makes needless, none. */
static bool
act_next(const struct check *check, uint32_t rank, struct pcoll_cursor *cursor,
         struct pcoll_act *act_out)
{
	while (pcoll_cursor_next(&check->schedules[rank], cursor, act_out)) {
		if (check->by_device && act_out->kind == PCOLL_STEP_UNLESS)
			pcoll_cursor_leave_out(cursor, act_out);
		else if (check->by_device || act_out->kind != PCOLL_STEP_DEVICE)
			return true;
	}
	return false;
}

static void
member_may_be_done(struct member *member, uint32_t rank)
{
	if (!member->left && !member->busy)
		set_add(&member->done, rank);
}

static void
on_local(void *arg, uint32_t rank, const struct pcoll_act *act)
{
	struct check *check = arg;
	const uint32_t round = check->members[rank].round;
	const size_t elem = check->shape->elem_bytes;
	struct cell *from = cells_find(check, rank, act->from, act->from_bytes, act);
	struct cell *to = cells_find(check, rank, act->to, act->to_bytes, act);

	if (!from || !to)
		return;
	if (act->kind == PCOLL_STEP_COMBINE &&
	    (act->len_bytes % elem || (act->from != PCOLL_TMP && act->from_bytes % elem) ||
	     (act->to != PCOLL_TMP && act->to_bytes % elem)))
		check_fails(check, "rank %u: an element is divided", rank);
	act_note(check, rank, act);
	for (size_t i = 0; i < act->len_bytes; i++) {
		if (from[i].received_in == round || to[i].received_in == round ||
		    to[i].sent_in == round)
			check_fails(check, "rank %u: a step touches what is being sent or received",
			            rank);
		to[i].symbol = act->kind == PCOLL_STEP_COPY
		                       ? from[i].symbol
		                       : symbol_combine(from[i].symbol, to[i].symbol);
	}
	member_may_be_done(&check->members[rank], rank);
}

static void
message_mark(struct check *check, uint32_t rank, const struct pcoll_act *act)
{
	const bool sends = act->kind == PCOLL_STEP_SEND;
	const uint32_t round = check->members[rank].round;
	struct cell *cell = cells_find(check, rank, sends ? act->from : act->to,
	                               sends ? act->from_bytes : act->to_bytes, act);

	act_note(check, rank, act);
	for (size_t i = 0; cell && i < act->len_bytes; i++) {
		if (cell[i].received_in == round || (!sends && cell[i].sent_in == round))
			check_fails(check, "rank %u: a message touches what another does", rank);
		*(sends ? &cell[i].sent_in : &cell[i].received_in) = round;
	}
}

/* The stamp is the number of a note, which the receiver reads. */
static uint64_t
on_begun(void *arg, uint32_t rank, const struct pcoll_act *act)
{
	struct check *check = arg;
	const struct member *member = &check->members[rank];

	if (act->kind == PCOLL_STEP_SEND || act->kind == PCOLL_STEP_RECEIVE)
		message_mark(check, rank, act);
	if (check->note_count == check->note_room) {
		check->note_room = check->note_room ? 2 * check->note_room : 1024;
		check->notes = realloc(check->notes, check->note_room * sizeof *check->notes);
		if (!check->notes)
			abort();
	}
	check->notes[check->note_count] = (struct note){ member->entered, member->done };
	return check->note_count++;
}

static void
on_met(void *arg, const struct pcoll_act *send, uint64_t send_stamp,
       const struct pcoll_act *receive, uint64_t receive_stamp)
{
	struct check *check = arg;
	struct member *to = &check->members[send->peer];
	const struct cell *source;
	struct cell *target;

	(void)receive_stamp;
	set_join(&to->heard_entered, &check->notes[send_stamp].entered);
	set_join(&to->heard_done, &check->notes[send_stamp].done);
	if (send->kind != PCOLL_STEP_SEND)
		return;
	source = cells_find(check, receive->peer, send->from, send->from_bytes, send);
	target = cells_find(check, send->peer, receive->to, receive->to_bytes, receive);
	for (size_t i = 0; source && target && i < send->len_bytes; i++)
		target[i].symbol = source[i].symbol;
}

static void
on_round(void *arg, uint32_t rank)
{
	struct check *check = arg;
	struct member *member = &check->members[rank];

	member->round++;
	member->busy = false;
	set_join(&member->entered, &member->heard_entered);
	set_join(&member->done, &member->heard_done);
	member_may_be_done(member, rank);
}

/* -- devices ----------------------------------------------------------------------------------- */

/* A side of a member's device step; one of the two may have a block of each member. */
static struct cell *
device_cells(struct check *check, uint32_t rank, struct pcoll_act act, bool is_from, uint32_t count)
{
	if (act.does == (is_from ? PCOLL_DEVICE_REDUCES_SCATTER : PCOLL_DEVICE_GATHERS_ALL))
		act.len_bytes *= count;
	return cells_find(check, rank, is_from ? act.from : act.to,
	                  is_from ? act.from_bytes : act.to_bytes, &act);
}

/* What member `to' gets for a byte of its result. */
static struct symbol
device_symbol(struct check *check, const uint32_t *ranks, const struct pcoll_act *acts,
              uint32_t count, uint32_t to, size_t byte)
{
	const size_t len_bytes = acts[0].len_bytes;
	struct symbol all = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		const struct cell *from = device_cells(check, ranks[i], acts[i], true, count);

		if (acts[i].does == PCOLL_DEVICE_REDUCES_SCATTER)
			from += to * len_bytes;
		if (acts[i].does == PCOLL_DEVICE_MULTICASTS && ranks[i] == acts[i].peer)
			return from[byte].symbol;
		if (acts[i].does == PCOLL_DEVICE_GATHERS_ALL && i == byte / len_bytes)
			return from[byte % len_bytes].symbol;
		if (acts[i].does != PCOLL_DEVICE_GATHERS_ALL)
			all = i ? symbol_combine(all, from[byte].symbol) : from[byte].symbol;
	}
	return all;
}

/* A byte of all results; operands may be where they go. */
static void
device_do_byte(struct check *check, const uint32_t *ranks, const struct pcoll_act *acts,
               uint32_t count, size_t byte)
{
	struct symbol *result = calloc(count, sizeof *result);

	if (!result)
		abort();
	for (uint32_t i = 0; i < count; i++)
		result[i] = device_symbol(check, ranks, acts, count, i, byte);
	for (uint32_t i = 0; i < count; i++)
		if (acts[i].does != PCOLL_DEVICE_REDUCES || ranks[i] == acts[i].peer)
			device_cells(check, ranks[i], acts[i], false, count)[byte].symbol =
				result[i];
	free(result);
}

/* Members that have come together know what each of them did; on the way up the root alone does, on
 * the way down they know what it did. */
static void
device_join_sets(struct check *check, const uint32_t *ranks, const struct pcoll_act *acts,
                 uint32_t count)
{
	struct set entered = { { 0 } };

	for (uint32_t i = 0; i < count; i++)
		if (acts[i].does != PCOLL_DEVICE_MEETS_DOWN || ranks[i] == acts[i].peer)
			set_join(&entered, &check->members[ranks[i]].entered);
	for (uint32_t i = 0; i < count; i++)
		if (acts[i].does != PCOLL_DEVICE_MEETS_UP || ranks[i] == acts[i].peer)
			set_join(&check->members[ranks[i]].entered, &entered);
}

static void
on_device(void *arg, const uint32_t *ranks, const struct pcoll_act *acts, uint32_t count)
{
	struct check *check = arg;
	const size_t len_bytes = acts[0].len_bytes;
	size_t result_bytes = len_bytes;

	for (uint32_t i = 0; i < count; i++) {
		if (acts[i].len_bytes != len_bytes || acts[i].peer != acts[0].peer)
			check_fails(check, "rank %u: another device step than rank %u", ranks[i],
			            ranks[0]);
		act_note(check, ranks[i], &acts[i]);
		if (len_bytes && (!device_cells(check, ranks[i], acts[i], true, count) ||
		                  !device_cells(check, ranks[i], acts[i], false, count)))
			return;
	}
	if (check->shape->operation == PCOLL_BARRIER)
		device_join_sets(check, ranks, acts, count);
	if (acts[0].does == PCOLL_DEVICE_GATHERS_ALL)
		result_bytes *= count;
	for (size_t byte = 0; byte < result_bytes && !check->failed; byte++)
		device_do_byte(check, ranks, acts, count, byte);
	for (uint32_t i = 0; i < count; i++)
		member_may_be_done(&check->members[ranks[i]], ranks[i]);
}

static void
member_check_tags(struct check *check, uint32_t rank)
{
	uint32_t peer, tag;

	if (!schedule_tags_differ(&check->schedules[rank], &peer, &tag))
		check_fails(check, "rank %u: two messages to rank %u have tag %u", rank, peer, tag);
}

/* -- buffers and results ----------------------------------------------------------------------- */

/* Where the member's own part of a side is. */
static size_t
side_own(const struct oracle_side *side, uint32_t rank)
{
	return side->at ? side->at[rank] : 0;
}

/* In place, the shorter one is in the longer one, as this member's block. */
static void
member_place(struct check *check, uint32_t rank)
{
	const struct oracle_side *src = oracle_src(check->oracle, rank);
	const struct oracle_side *dst = oracle_dst(check->oracle, rank);
	struct member *member = &check->members[rank];

	member->len[PCOLL_SRC] = src->len_bytes;
	member->len[PCOLL_DST] = dst->len_bytes;
	member->len[PCOLL_TMP] = check->schedules[rank].tmp_bytes;
	if (!check->shape->in_place || !src->len_bytes || !dst->len_bytes)
		member->at[PCOLL_SRC] = dst->len_bytes;
	else if (!src->at)
		member->at[PCOLL_SRC] = side_own(dst, rank);
	else if (!dst->at)
		member->at[PCOLL_DST] = side_own(src, rank);
	member->at[PCOLL_TMP] = src->len_bytes + dst->len_bytes;
}

static void
member_open(struct check *check, uint32_t rank)
{
	struct member *member = &check->members[rank];
	struct pcoll_cursor cursor = { .next = 0 };
	struct pcoll_act act;
	size_t all;

	member_place(check, rank);
	all = member->at[PCOLL_TMP] + member->len[PCOLL_TMP];
	member->cells = calloc(all + 1, sizeof *member->cells);
	if (!member->cells)
		abort();
	for (size_t i = 0; i < all; i++)
		member->cells[i].symbol = oracle_nothing(check->oracle, rank, i);
	for (size_t i = 0; i < member->len[PCOLL_SRC]; i++)
		member->cells[member->at[PCOLL_SRC] + i].symbol =
			oracle_operand(check->oracle, rank, i);
	member->round = 1;
	set_add(&member->entered, rank);
	while (act_next(check, rank, &cursor, &act))
		if (act_touches(&act))
			member->left++;
	member_may_be_done(member, rank);
}

/* The operand, but for what the result overwrites. */
static void
member_compare_src(struct check *check, uint32_t rank)
{
	const struct member *member = &check->members[rank];

	if (oracle_overwrites(check->oracle))
		return;
	for (size_t i = 0; i < member->len[PCOLL_SRC]; i++)
		if (!symbol_is(member->cells[member->at[PCOLL_SRC] + i].symbol,
		               oracle_operand(check->oracle, rank, i)))
			check_fails(check, "rank %u: byte %zu of src has changed", rank, i);
}

/* The result, and what lies between its blocks. */
static void
member_compare_dst(struct check *check, uint32_t rank)
{
	const struct member *member = &check->members[rank];

	for (size_t i = 0; i < member->len[PCOLL_DST]; i++) {
		const size_t at = member->at[PCOLL_DST] + i;
		const bool in_src = at - member->at[PCOLL_SRC] < member->len[PCOLL_SRC];
		struct symbol expected;

		if (!oracle_result(check->oracle, rank, i, &expected))
			expected = in_src ? oracle_operand(check->oracle, rank,
			                                   at - member->at[PCOLL_SRC])
			                  : oracle_nothing(check->oracle, rank, at);
		if (!symbol_is(member->cells[at].symbol, expected))
			check_fails(check, "rank %u: byte %zu of the result is wrong", rank, i);
	}
}

static void
member_compare(struct check *check, uint32_t rank)
{
	const struct pcoll_shape *shape = check->shape;
	const struct member *member = &check->members[rank];

	member_compare_dst(check, rank);
	member_compare_src(check, rank);
	if (check->with_barriers && !set_is_full(&member->done, shape->size))
		check_fails(check, "rank %u: it leaves before all is done", rank);
	if (shape->operation == PCOLL_BARRIER && !set_is_full(&member->entered, shape->size))
		check_fails(check, "rank %u: it leaves before all have entered", rank);
}

/* -- the whole --------------------------------------------------------------------------------- */

static void
schedules_build(struct check *check, const struct pcoll_builder *builder)
{
	for (uint32_t rank = 0; rank < check->shape->size; rank++) {
		struct pcoll_schedule *schedule = &check->schedules[rank];
		const struct pcoll_shape own = oracle_shape(check->oracle, rank);

		if (check->with_barriers)
			pcoll_add_meeting(schedule, &own);
		builder->build(schedule, &own);
		if (check->with_barriers) {
			pcoll_add_round(schedule);
			pcoll_add_meeting(schedule, &own);
		}
		if (schedule->tags != check->schedules[0].tags)
			check_fails(check, "rank %u: %u tags, and rank 0 has %u", rank,
			            schedule->tags, check->schedules[0].tags);
	}
}

bool
schedule_check(const struct pcoll_builder *builder, const struct pcoll_shape *shape, bool uneven,
               uint32_t slots, enum schedule_way way, char text_out[SCHEDULE_TEXT_BYTES])
{
	struct check check = {
		.shape = shape, .with_barriers = way & SCHEDULE_BARRIERS,
		.by_device = way & SCHEDULE_DEVICE, .text = text_out,
		.members = calloc(shape->size, sizeof *check.members),
		.schedules = calloc(shape->size, sizeof *check.schedules),
		.oracle = oracle_open(shape, uneven),
	};
	const struct pcoll_model_events events = { &check, on_local, on_begun, on_met, on_round,
		                                     check.by_device ? on_device : NULL };
	char why[PCOLL_MODEL_TEXT_BYTES];

	if (!check.members || !check.schedules || shape->size > MOST_MEMBERS)
		abort();
	schedules_build(&check, builder);
	for (uint32_t rank = 0; rank < shape->size; rank++) {
		member_open(&check, rank);
		member_check_tags(&check, rank);
	}
	if (!pcoll_model_run(check.schedules, shape->size, slots, &events, why))
		check_fails(&check, "%s", why);
	for (uint32_t rank = 0; rank < shape->size && !check.failed; rank++)
		member_compare(&check, rank);
	for (uint32_t rank = 0; rank < shape->size; rank++) {
		free(check.members[rank].cells);
		pcoll_schedule_close(&check.schedules[rank]);
	}
	oracle_close(check.oracle);
	free(check.members);
	free(check.schedules);
	free(check.notes);
	return !check.failed;
}
