/* Schedules: adding steps and reading them. */
#include "coll/schedule.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_ROOM = 64, TMP_ALIGN = 64,
	STAGE_TAGS = 1 << 24,           /* more than an algorithm uses */
};

/* -- the whole --------------------------------------------------------------------------------- */

void
pcoll_schedule_close(struct pcoll_schedule *schedule)
{
	free(schedule->step);
	*schedule = (struct pcoll_schedule){ .steps = 0 };
}

void
pcoll_schedule_trim(struct pcoll_schedule *schedule)
{
	struct pcoll_step *step = NULL;

	if (schedule->steps)
		step = realloc(schedule->step, schedule->steps * sizeof *step);
	if (!step)
		return;
	schedule->step = step;
	schedule->room_steps = schedule->steps;
}

/* The rank of a member of the group. */
static struct pcoll_index
group_peer(const struct pcoll_schedule *schedule, struct pcoll_index number)
{
	if (!schedule->group.ranks || number.at == PCOLL_FOUND)
		return number;
	if (number.step)
		abort();
	return pcoll_at(schedule->group.ranks[number.at]);
}

static enum pcoll_buffer
group_buffer(const struct pcoll_schedule *schedule, enum pcoll_buffer buffer)
{
	return buffer == PCOLL_SRC && schedule->group.from_dst ? PCOLL_DST : buffer;
}

static void
step_add(struct pcoll_schedule *schedule, const struct pcoll_step *step)
{
	if (schedule->steps == schedule->room_steps) {
		const uint32_t room = schedule->room_steps ? 2 * schedule->room_steps : FIRST_ROOM;
		struct pcoll_step *steps = realloc(schedule->step, room * sizeof *steps);

		if (!steps) {
			schedule->lacks_memory = true;
			return;
		}
		schedule->step = steps;
		schedule->room_steps = room;
	}
	schedule->step[schedule->steps] = *step;
	schedule->step[schedule->steps++].peer = group_peer(schedule, step->peer);
}

/* -- views ------------------------------------------------------------------------------------- */

static uint32_t
view_add(struct pcoll_schedule *schedule, const struct pcoll_view *view)
{
	if (schedule->views == PCOLL_VIEWS)
		abort();
	schedule->view[schedule->views] = *view;
	schedule->view[schedule->views].buffer = group_buffer(schedule, view->buffer);
	if (schedule->view[schedule->views].buffer == PCOLL_DST)
		schedule->view[schedule->views].base_bytes += schedule->group.dst_bytes;
	return schedule->views++;
}

uint32_t
pcoll_view_parts(struct pcoll_schedule *schedule, enum pcoll_buffer buffer, uint32_t count,
                 size_t elem_bytes, size_t all_bytes)
{
	const struct pcoll_view view = {
		.buffer = buffer, .division = PCOLL_PARTS, .count = count,
		.elem_bytes = elem_bytes, .all_bytes = all_bytes,
	};

	return view_add(schedule, &view);
}

uint32_t
pcoll_view_pieces(struct pcoll_schedule *schedule, enum pcoll_buffer buffer, size_t piece_bytes,
                  size_t all_bytes)
{
	const struct pcoll_view view = {
		.buffer = buffer, .division = PCOLL_PIECES,
		.count = (uint32_t)((all_bytes + piece_bytes - 1) / piece_bytes),
		.elem_bytes = piece_bytes, .all_bytes = all_bytes,
	};

	return view_add(schedule, &view);
}

uint32_t
pcoll_view_tmp(struct pcoll_schedule *schedule, uint32_t count, size_t block_bytes)
{
	const size_t all_bytes = count * block_bytes;
	const struct pcoll_view view = {
		.buffer = PCOLL_TMP, .division = PCOLL_PARTS, .count = count,
		.base_bytes = schedule->tmp_bytes, .elem_bytes = block_bytes,
		.all_bytes = all_bytes,
	};

	schedule->tmp_bytes += (all_bytes + TMP_ALIGN - 1) / TMP_ALIGN * TMP_ALIGN;
	return view_add(schedule, &view);
}

uint32_t
pcoll_view_tmp_parts(struct pcoll_schedule *schedule, uint32_t count,
                     const struct pcoll_shape *shape)
{
	const uint32_t whole = pcoll_view_tmp(schedule, 1, shape->len_bytes);

	schedule->view[whole].count = count;
	schedule->view[whole].elem_bytes = shape->elem_bytes;
	return whole;
}

uint32_t
pcoll_view_vector(struct pcoll_schedule *schedule, enum pcoll_buffer buffer,
                  const struct pcoll_shape *shape)
{
	return pcoll_view_parts(schedule, buffer, 1, shape->len_bytes, shape->len_bytes);
}

uint32_t
pcoll_view_members(struct pcoll_schedule *schedule, enum pcoll_buffer buffer,
                   const struct pcoll_shape *shape)
{
	const struct pcoll_list *list = buffer == PCOLL_SRC ? &shape->src_list : &shape->dst_list;
	const struct pcoll_view view = {
		.buffer = buffer, .division = PCOLL_LISTED, .count = shape->size, .list = *list,
	};

	if (list->bytes)
		return view_add(schedule, &view);
	return pcoll_view_parts(schedule, buffer, shape->size, shape->len_bytes,
	                        shape->size * shape->len_bytes);
}

/* Where block `number' begins, or, with the number of blocks, where the last one ends. */
static size_t
view_begin(const struct pcoll_view *view, uint32_t number)
{
	const size_t elem = view->elem_bytes;
	const size_t elems = elem ? view->all_bytes / elem : 0;
	const size_t longer = elems % view->count;

	if (view->division == PCOLL_LISTED)
		return view->list.at[number];
	if (view->division == PCOLL_PIECES)
		return number == view->count ? view->all_bytes : number * elem;
	return elem * (elems / view->count * number + (number < longer ? number : longer));
}

size_t
pcoll_view_offset(const struct pcoll_schedule *schedule, uint32_t view, uint32_t number)
{
	return schedule->view[view].base_bytes + view_begin(&schedule->view[view], number);
}

static size_t
view_bytes(const struct pcoll_view *view, uint32_t number, uint32_t blocks)
{
	const bool listed = view->division == PCOLL_LISTED;

	if (number >= view->count || blocks > view->count - number || (listed && blocks > 1))
		abort();
	if (listed)
		return view->list.bytes[number];
	return view_begin(view, number + blocks) - view_begin(view, number);
}

/* -- steps ------------------------------------------------------------------------------------- */

void
pcoll_add_send(struct pcoll_schedule *schedule, struct pcoll_index peer, struct pcoll_index tag,
               struct pcoll_span from, struct pcoll_span like)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_SEND, .peer = peer, .tag = tag, .from = from, .like = like });
}

void
pcoll_add_receive(struct pcoll_schedule *schedule, struct pcoll_index peer, struct pcoll_index tag,
                  struct pcoll_span to, struct pcoll_span like)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_RECEIVE, .peer = peer, .tag = tag, .to = to, .like = like });
}

void
pcoll_add_notify(struct pcoll_schedule *schedule, struct pcoll_index peer, struct pcoll_index tag)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_NOTIFY, .peer = peer, .tag = tag });
}

void
pcoll_add_await(struct pcoll_schedule *schedule, struct pcoll_index peer, struct pcoll_index tag)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_AWAIT, .peer = peer, .tag = tag });
}

void
pcoll_add_meet(struct pcoll_schedule *schedule, struct pcoll_index tag)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_MEET, .peer = pcoll_at(PCOLL_FOUND), .tag = tag });
}

void
pcoll_add_copy(struct pcoll_schedule *schedule, struct pcoll_span to, struct pcoll_span from)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_COPY, .from = from, .to = to });
}

void
pcoll_add_own_copy(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t dst = pcoll_view_vector(schedule, PCOLL_DST, shape);
	const uint32_t src = pcoll_view_vector(schedule, PCOLL_SRC, shape);

	pcoll_add_copy(schedule, pcoll_block(dst, pcoll_at(0)), pcoll_block(src, pcoll_at(0)));
}

void
pcoll_add_combine(struct pcoll_schedule *schedule, struct pcoll_span left, struct pcoll_span to,
                  struct pcoll_span like)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_COMBINE, .from = left, .to = to, .like = like });
}

void
pcoll_add_round(struct pcoll_schedule *schedule)
{
	step_add(schedule, &(struct pcoll_step){ .kind = PCOLL_STEP_ROUND });
}

void
pcoll_loop_begin(struct pcoll_schedule *schedule, uint32_t count)
{
	if (schedule->loop)
		abort();
	schedule->loop = schedule->steps + 1;
	step_add(schedule, &(struct pcoll_step){ .kind = PCOLL_STEP_LOOP, .count = count });
}

void
pcoll_loop_end(struct pcoll_schedule *schedule)
{
	struct pcoll_step *loop;

	if (!schedule->lacks_memory) {
		loop = &schedule->step[schedule->loop - 1];
		loop->steps = schedule->steps - schedule->loop;
	}
	schedule->loop = 0;
}

void
pcoll_add_device(struct pcoll_schedule *schedule, const struct pcoll_device_step *device)
{
	step_add(schedule, &(struct pcoll_step){
		.kind = PCOLL_STEP_DEVICE, .peer = pcoll_at(device->root), .line = device->line,
		.does = device->does, .from = device->from, .to = device->to });
}

void
pcoll_unless_begin(struct pcoll_schedule *schedule)
{
	schedule->unless = schedule->steps + 1;
	step_add(schedule, &(struct pcoll_step){ .kind = PCOLL_STEP_UNLESS });
}

void
pcoll_unless_end(struct pcoll_schedule *schedule)
{
	if (!schedule->lacks_memory)
		schedule->step[schedule->unless - 1].steps = schedule->steps - schedule->unless;
	schedule->unless = 0;
}

void
pcoll_add_compare(struct pcoll_schedule *schedule, const struct pcoll_device_step *device)
{
	pcoll_add_round(schedule);
	step_add(schedule, &(struct pcoll_step){ .kind = PCOLL_STEP_COMPARE, .line = device->line,
	                                         .does = device->does, .to = device->to });
}

void
pcoll_stage_begin(struct pcoll_schedule *schedule, struct pcoll_group group)
{
	schedule->group = group;
}

void
pcoll_stage_end(struct pcoll_schedule *schedule)
{
	schedule->group = (struct pcoll_group){ .ranks = NULL };
	schedule->tags = (schedule->tags / STAGE_TAGS + 1) * STAGE_TAGS;
	pcoll_add_round(schedule);
}

/* -- reading ----------------------------------------------------------------------------------- */

static uint32_t
index_value(struct pcoll_index index, uint32_t iteration)
{
	const int64_t value = index.at + (int64_t)iteration * index.step;
	const int64_t of = index.of;

	if (!of)
		return (uint32_t)value;
	return (uint32_t)((value % of + of) % of);
}

/* The length of the span, and where it is. */
static size_t
span_find(const struct pcoll_schedule *schedule, struct pcoll_span span, uint32_t iteration,
          enum pcoll_buffer *buffer_out, size_t *offset_out)
{
	const struct pcoll_view *view = &schedule->view[span.view];
	const uint32_t first = index_value(span.first, iteration);

	if (!span.blocks)
		return SIZE_MAX;
	*buffer_out = view->buffer;
	*offset_out = view->base_bytes + view_begin(view, first);
	return view_bytes(view, first, span.blocks);
}

static size_t
shorter(size_t one, size_t other)
{
	return one < other ? one : other;
}

static void
act_find(const struct pcoll_schedule *schedule, const struct pcoll_step *step, uint32_t iteration,
         struct pcoll_act *act_out)
{
	enum pcoll_buffer buffer;
	size_t len_bytes, offset;

	*act_out = (struct pcoll_act){
		.kind = step->kind, .peer = index_value(step->peer, iteration),
		.tag = index_value(step->tag, iteration), .steps = step->steps,
		.line = step->line, .does = step->does,
	};
	len_bytes = span_find(schedule, step->from, iteration, &act_out->from,
	                      &act_out->from_bytes);
	len_bytes = shorter(len_bytes, span_find(schedule, step->to, iteration, &act_out->to,
	                                         &act_out->to_bytes));
	len_bytes = shorter(len_bytes, span_find(schedule, step->like, iteration, &buffer,
	                                         &offset));
	act_out->len_bytes = len_bytes == SIZE_MAX ? 0 : len_bytes;
}

/* Is it left out? */
static bool
act_is_empty(const struct pcoll_act *act)
{
	switch (act->kind) {
	case PCOLL_STEP_SEND:
	case PCOLL_STEP_RECEIVE:
	case PCOLL_STEP_COPY:
	case PCOLL_STEP_COMBINE:
		return act->len_bytes == 0;
	default:
		return false;
	}
}

/* Goes back to the loop's beginning at the end of an iteration, and leaves it after the last. */
static void
cursor_turn(struct pcoll_cursor *cursor)
{
	while (cursor->loop_end && cursor->next == cursor->loop_end) {
		if (++cursor->iteration < cursor->iterations) {
			cursor->next = cursor->loop_first;
			return;
		}
		cursor->loop_end = cursor->iteration = 0;
	}
}

bool
pcoll_cursor_next(const struct pcoll_schedule *schedule, struct pcoll_cursor *cursor,
                  struct pcoll_act *act_out)
{
	for (;;) {
		const struct pcoll_step *step;

		cursor_turn(cursor);
		if (cursor->next == schedule->steps)
			return false;
		step = &schedule->step[cursor->next++];
		if (step->kind != PCOLL_STEP_LOOP) {
			act_find(schedule, step, cursor->iteration, act_out);
			if (!act_is_empty(act_out))
				return true;
		} else if (!step->count) {
			cursor->next += step->steps;
		} else {
			cursor->loop_first = cursor->next;
			cursor->loop_end = cursor->next + step->steps;
			cursor->iterations = step->count;
		}
	}
}

void
pcoll_cursor_leave_out(struct pcoll_cursor *cursor, const struct pcoll_act *act)
{
	cursor->next += act->steps;
}
