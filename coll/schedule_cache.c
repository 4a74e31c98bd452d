/* Making and keeping schedules.  They are made outside the lock: two threads that make the same one
 * for two calls both put it into the list. */
#include "coll/schedule_cache.h"
#include "coll/select.h"

#include "runtime/team/team.h"

#include <stdlib.h>

/* Roots in turn make a schedule each.  Those with lists are as long as the team is large. */
enum { SCHEDULES_KEPT = 64, WITH_LISTS_KEPT = 8 };

/* What a member may call before all meet, at least: so many calls of so many bytes.  Short calls
 * count as much less, but for large teams, where one may keep a note of each other member. */
enum { AHEAD_CALLS = 16, AHEAD_SHORT = 4, AHEAD_SHORT_SIZE = 64 };

static struct psi_spinlock lock;

/* -- layouts ----------------------------------------------------------------------------------- */

static uint32_t
member_nbrhd(const void *arg, uint32_t rank)
{
	const gex_TM_t tm = (gex_TM_t)(uintptr_t)arg;

	return psi_nbrhd_of(psi_team_location(tm, rank).gex_rank);
}

/* Two threads may make it for two calls; the second one's is freed. */
static struct pcoll_layout *
layout_make(gex_TM_t tm)
{
	struct pcoll_layout *layout = pcoll_layout_make(tm->size, psi.boot.size, member_nbrhd, tm);
	struct pcoll_layout *kept;

	if (!layout)
		psi_fatal("no memory for collectives of a team of %u", tm->size);
	psi_spinlock_lock(&lock);
	if (!tm->layout) {
		tm->layout = layout;
		layout = NULL;
	}
	kept = tm->layout;
	psi_spinlock_unlock(&lock);
	pcoll_layout_free(layout);
	return kept;
}

static const struct pcoll_layout *
layout_of(gex_TM_t tm)
{
	const struct pcoll_layout *layout;

	psi_spinlock_lock(&lock);
	layout = tm->layout;
	psi_spinlock_unlock(&lock);
	if (!layout)
		layout = layout_make(tm);
	return layout;
}

static void
shape_set_hosts(struct pcoll_shape *shape, gex_TM_t tm)
{
	const struct pcoll_layout *layout = psi.networked ? layout_of(tm) : NULL;

	shape->hosts = layout ? layout->nbrhds : 1;
	shape->mode = psi_transport_between(shape->hosts);
	shape->layout = layout && pcoll_layout_is_divided(layout) ? layout : NULL;
}

/* -- shapes ------------------------------------------------------------------------------------ */

/* Where this member's block is in a side that has blocks. */
static size_t
shape_own_offset(const struct pcoll_shape *shape, const struct pcoll_list *list)
{
	return list->at ? list->at[shape->rank] : shape->rank * shape->len_bytes;
}

/* The result is not used on members that have only one of the two buffers. */
static bool
call_is_in_place(const struct pcoll_call *call, const struct pcoll_shape *shape)
{
	const uintptr_t dst = (uintptr_t)call->dst, src = (uintptr_t)call->src;

	switch (shape->operation) {
	case PCOLL_SCATTER:
	case PCOLL_REDUCE_SCATTER: return dst == src + shape_own_offset(shape, &shape->src_list);
	case PCOLL_GATHER:
	case PCOLL_GATHER_ALL: return src == dst + shape_own_offset(shape, &shape->dst_list);
	default: return dst == src;
	}
}

/* An exchange with lists never is, nor is a member whose block is empty. */
static bool
call_with_lists_is_in_place(const struct pcoll_call *call, const struct pcoll_shape *shape)
{
	return shape->operation != PCOLL_EXCHANGE && call->len_bytes &&
	       call_is_in_place(call, shape);
}

struct pcoll_shape
pcoll_shape_of_call(const struct pcoll_call *call)
{
	struct pcoll_shape shape = {
		.operation = call->what.operation, .size = call->tm->size, .rank = call->tm->rank,
		.root = call->root, .target = call->target, .len_bytes = call->len_bytes,
		.listed = pcoll_call_has_lists(call), .ordered = call->reduction.ordered,
		.reproducible = call->reproducible && call->reduction.elem_bytes,
		.elem_bytes = call->reduction.elem_bytes ? call->reduction.elem_bytes : 1,
		.device_only = call->attempt != NULL,
	};

	shape.in_place = !shape.listed && call_is_in_place(call, &shape);
	return shape;
}

/* Size, rank and hosts are not compared: all schedules of a team have the same.  Where there are
 * lists, lists_are_of compares these and in_place. */
static bool
shapes_are_alike(const struct pcoll_shape *one, const struct pcoll_shape *other)
{
	return one->operation == other->operation && one->len_bytes == other->len_bytes &&
	       one->root == other->root && one->target == other->target &&
	       one->elem_bytes == other->elem_bytes && one->listed == other->listed &&
	       (one->listed || one->in_place == other->in_place) &&
	       one->ordered == other->ordered && one->reproducible == other->reproducible &&
	       one->device_only == other->device_only;
}

/* Was the list made of these counts?  Where nothing is, the offset means nothing. */
static bool
list_is_of(const struct pcoll_list *list, const struct pcoll_counts *counts, uint32_t size)
{
	size_t end = 0;

	if (!list->bytes || !counts->counts)
		return !list->bytes && !counts->counts;
	for (uint32_t rank = 0; rank < size; rank++) {
		const size_t at = pcoll_counts_at(counts, rank, &end);
		const size_t bytes = pcoll_counts_bytes(counts, rank);

		if (list->bytes[rank] != bytes || (bytes && list->at[rank] != at))
			return false;
	}
	return true;
}

/* shape: a schedule's, of a call with lists. */
static bool
lists_are_of(const struct pcoll_shape *shape, const struct pcoll_call *call)
{
	return list_is_of(&shape->src_list, &call->src_counts, shape->size) &&
	       list_is_of(&shape->dst_list, &call->dst_counts, shape->size) &&
	       call_with_lists_is_in_place(call, shape) == shape->in_place;
}

static uint64_t
list_key(const struct pcoll_counts *counts, uint32_t size, uint64_t key)
{
	size_t end = 0;

	for (uint32_t rank = 0; counts->counts && rank < size; rank++) {
		const size_t at = pcoll_counts_at(counts, rank, &end);
		const size_t bytes = pcoll_counts_bytes(counts, rank);

		key = (key ^ bytes) * 0x9e3779b97f4a7c15u;
		key = (key ^ key >> 32 ^ (bytes ? at : 0)) * 0x9e3779b97f4a7c15u;
	}
	return key;
}

/* Calls with the same lists have the same key; few others have. */
static uint64_t
lists_key(const struct pcoll_call *call)
{
	const uint32_t size = call->tm->size;

	if (!pcoll_call_has_lists(call))
		return 0;
	return list_key(&call->dst_counts, size, list_key(&call->src_counts, size, 1));
}

/* -- making one -------------------------------------------------------------------------------- */

/* What the call adds to what others may have to keep that are behind, as a part of what is allowed
 * in all. */
static uint32_t
call_weight(const struct pcoll_call *call)
{
	const bool is_short = !pcoll_call_has_lists(call) && call->tm->size <= AHEAD_SHORT_SIZE;

	if (!is_short || call->len_bytes >= PCOLL_EAGER_BYTES)
		return PCOLL_EAGER_BYTES;
	return call->len_bytes < PCOLL_EAGER_BYTES / AHEAD_SHORT ? PCOLL_EAGER_BYTES / AHEAD_SHORT
	                                                         : (uint32_t)call->len_bytes;
}

/* A barrier comes first if the client asks for it, before calls since all met last become too many,
 * and with checks, where its notes tell neighbours of calls that differ.  Not all members may take
 * part in the remainder of a call, and cells bound how many of these there are. */
static bool
call_needs_all_in(const struct pcoll_call *call)
{
	if (call->what.operation == PCOLL_BARRIER)
		return false;
	if (call->attempt)
		return call->in_all;    /* its schedule sends no payload */
	if (call->is_remainder)
		return false;
	return call->in_all || psi.checks ||
	       call->tm->ahead_bytes + call_weight(call) >= AHEAD_CALLS * PCOLL_EAGER_BYTES;
}

/* Nobody ends the call before all have begun it. */
static bool
call_meets(const struct pcoll_call *call)
{
	switch (call->what.operation) {
	case PCOLL_BARRIER: return true;
	case PCOLL_REDUCE_TO_ALL:
	case PCOLL_GATHER_ALL:
	case PCOLL_EXCHANGE:
	case PCOLL_REDUCE_SCATTER: return call->len_bytes && !pcoll_call_has_lists(call);
	default: return call->out_all;
	}
}

/* Behind the above.  Phases of the job's barriers and remainders are not among the calls of their
 * team, and attempts of devices leave nothing to keep. */
static void
call_count_ahead(const struct pcoll_call *call, bool in_all)
{
	gex_TM_t tm = call->tm;

	if (call->phase || call->attempt || call->is_remainder)
		return;
	tm->ahead_bytes = call_meets(call) ? 0 : (in_all ? 0 : tm->ahead_bytes) + call_weight(call);
}

/* A barrier comes last if the client asks for it, and with checks behind a permutation, whose
 * members find there that two have one target. */
static bool
call_needs_all_out(const struct pcoll_call *call)
{
	return call->out_all || (psi.checks && call->what.operation == PCOLL_PERMUTE);
}

static void
device_steps_count(struct pcoll_cached *cached)
{
	const struct pcoll_schedule *schedule = &cached->schedule;

	for (uint32_t i = 0; i < schedule->steps; i++)
		if (schedule->step[i].kind == PCOLL_STEP_DEVICE)
			cached->device_steps[schedule->step[i].line]++;
}

/* Is there more to do than to meet?  In calls of no bytes, which come here with PST_CHECK alone,
 * there is not, but for a permutation, where targets that are the same are found. */
static bool
shape_moves(const struct pcoll_shape *shape)
{
	return shape->len_bytes || shape->listed || shape->operation == PCOLL_BARRIER ||
	       shape->operation == PCOLL_PERMUTE;
}

static void
cached_build(struct pcoll_cached *cached)
{
	struct pcoll_schedule *schedule = &cached->schedule;
	struct pcoll_shape *shape = &cached->shape;
	const struct pcoll_builder *builder = pcoll_select(shape);
	const bool moves = shape_moves(shape);

	if (cached->in_all)
		pcoll_add_meeting(schedule, shape);
	if (moves && (builder->has_device || !shape->device_only))
		builder->build(schedule, shape);
	cached->has_device = moves && builder->has_device;
	if (cached->has_device && !schedule->lacks_memory)
		device_steps_count(cached);
	if (cached->out_all) {
		pcoll_add_round(schedule);
		pcoll_add_meeting(schedule, shape);
	}
	pcoll_schedule_trim(schedule);
}

/* Fills a list in `memory', and returns the memory behind it. */
static size_t *
list_fill(const struct pcoll_counts *counts, uint32_t size, size_t *memory,
          struct pcoll_list *list_out)
{
	size_t *bytes = memory, *at = memory + size, end = 0;

	if (!counts->counts)
		return memory;
	for (uint32_t rank = 0; rank < size; rank++) {
		bytes[rank] = pcoll_counts_bytes(counts, rank);
		at[rank] = pcoll_counts_at(counts, rank, &end);
	}
	*list_out = (struct pcoll_list){ bytes, at };
	return at + size;
}

/* Converts the client's counts to bytes, and sets in_place. */
static bool
cached_make_lists(struct pcoll_cached *cached, const struct pcoll_call *call)
{
	struct pcoll_shape *shape = &cached->shape;
	size_t *rest;

	cached->lists = calloc((size_t)4 * shape->size, sizeof *cached->lists);
	if (!cached->lists)
		return false;
	rest = list_fill(&call->src_counts, shape->size, cached->lists, &shape->src_list);
	list_fill(&call->dst_counts, shape->size, rest, &shape->dst_list);
	shape->in_place = call_with_lists_is_in_place(call, shape);
	return true;
}

/* What a call needs a schedule for. */
struct wanted {
	struct pcoll_shape shape;
	bool in_all;
	uint64_t lists_key;
};

static struct pcoll_cached *
cached_make(const struct pcoll_call *call, const struct wanted *wanted)
{
	const struct pcoll_shape *shape = &wanted->shape;
	struct pcoll_cached *cached = calloc(1, sizeof *cached);

	if (cached) {
		cached->shape = *shape;
		shape_set_hosts(&cached->shape, call->tm);
	}
	if (cached && (!shape->listed || cached_make_lists(cached, call))) {
		cached->in_all = wanted->in_all;
		cached->out_all = call_needs_all_out(call);
		cached->lists_key = wanted->lists_key;
		cached->users = 1;
		cached_build(cached);
	}
	if (!cached || (shape->listed && !cached->lists) || cached->schedule.lacks_memory)
		psi_fatal("no memory for collectives of a team of %u", shape->size);
	return cached;
}

static void
cached_free(struct pcoll_cached *cached)
{
	pcoll_schedule_close(&cached->schedule);
	free(cached->lists);
	free(cached);
}

/* -- a team's, the one used last first; the caller holds the lock ------------------------------ */

static void
cache_push(gex_TM_t tm, struct pcoll_cached *cached)
{
	cached->next = tm->schedules;
	tm->schedules = cached;
}

static bool
cached_serves(const struct pcoll_cached *cached, const struct pcoll_call *call,
              const struct wanted *wanted)
{
	return cached->in_all == wanted->in_all && cached->out_all == call_needs_all_out(call) &&
	       cached->lists_key == wanted->lists_key &&
	       shapes_are_alike(&cached->shape, &wanted->shape) &&
	       (!wanted->shape.listed || lists_are_of(&cached->shape, call));
}

/* NULL: none serves. */
static struct pcoll_cached *
cache_find(const struct pcoll_call *call, const struct wanted *wanted)
{
	gex_TM_t tm = call->tm;
	struct pcoll_cached **at = &tm->schedules, *cached;

	while ((cached = *at) && !cached_serves(cached, call, wanted))
		at = &cached->next;
	if (!cached)
		return NULL;
	*at = cached->next;
	cache_push(tm, cached);
	cached->users++;
	return cached;
}

/* Removes the least recently used schedule without users if there are too many, in all or with
 * lists; else returns NULL. */
static struct pcoll_cached *
cache_cut(gex_TM_t tm)
{
	struct pcoll_cached **at = &tm->schedules, **last_unused = NULL, *cut;
	unsigned count = 0, with_lists = 0;

	for (; *at; at = &(*at)->next) {
		const bool is_listed = (*at)->shape.listed;
		const bool is_late = ++count > SCHEDULES_KEPT ||
		                     (is_listed && ++with_lists > WITH_LISTS_KEPT);

		if (is_late && !(*at)->users)
			last_unused = at;
	}
	if (!last_unused)
		return NULL;
	cut = *last_unused;
	*last_unused = cut->next;
	return cut;
}

/* Puts it into the list of the team's, and frees those that are too many. */
static void
cache_add(gex_TM_t tm, struct pcoll_cached *cached)
{
	struct pcoll_cached *cut;

	psi_spinlock_lock(&lock);
	cache_push(tm, cached);
	while ((cut = cache_cut(tm)) != NULL) {
		psi_spinlock_unlock(&lock);
		cached_free(cut);
		psi_spinlock_lock(&lock);
	}
	psi_spinlock_unlock(&lock);
}

struct pcoll_cached *
pcoll_schedule_hold(const struct pcoll_call *call)
{
	const struct wanted wanted = {
		.shape = pcoll_shape_of_call(call), .in_all = call_needs_all_in(call),
		.lists_key = lists_key(call),
	};
	struct pcoll_cached *cached;

	call_count_ahead(call, wanted.in_all);
	psi_spinlock_lock(&lock);
	cached = cache_find(call, &wanted);
	psi_spinlock_unlock(&lock);
	if (!cached) {
		cached = cached_make(call, &wanted);
		cache_add(call->tm, cached);
	}
	return cached;
}

void
pcoll_schedule_release(struct pcoll_cached *cached)
{
	psi_spinlock_lock(&lock);
	cached->users--;
	psi_spinlock_unlock(&lock);
}

void
pcoll_schedules_free(gex_TM_t tm)
{
	for (struct pcoll_cached *next, *cached = tm->schedules; cached; cached = next) {
		next = cached->next;
		cached_free(cached);
	}
	tm->schedules = NULL;
	pcoll_layout_free(tm->layout);
	tm->layout = NULL;
}
