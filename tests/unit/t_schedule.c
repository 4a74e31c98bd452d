/*
 * Each algorithm that is a schedule, carried out on symbols for many sizes, roots, lengths and
 * parameters; and schedules with a mistake, which the check must notice.
 *
 * Teams have up to 5 members at level quick and 64 at the others, and with SCHEDULE_LARGE, as
 * t_schedule_large is built, 65 to 300.  Above level quick the sizes are dealt out to as many
 * processes as there are CPUs.
 */
#include "coll/device.h"
#include "coll/schedule_list.h"
#include "coll/select.h"
#include "coll/tuning.h"

#include "tests/unit/main.h"
#include "tests/unit/schedule_check.h"
#include "tests/unit/schedule_place.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Up to SMALL members with all lengths; behind that, one length for each size. */
#ifdef SCHEDULE_LARGE
enum { SLOTS = 32, SMALLEST = 0, SMALL = 0, FIRST = 65, LAST = 300 };
#else
enum { SLOTS = 32, SMALLEST = 5, SMALL = 7, FIRST = SMALL + 1, LAST = 64 };
#endif

/* Each root is checked with every third way; with more than 128 members with one, and with one kind
 * of device. */
enum { WAYS_APART = 3, MANY = 128 };

/* This process has the sizes whose remainder is its share. */
static uint32_t share, shares = 1;

static bool
size_is_ours(uint32_t size)
{
	return size % shares == share;
}

static bool
level_is(const char *level)
{
	const char *now = getenv("CHECK_LEVEL");

	return now && strcmp(now, level) == 0;
}

/* -- algorithms -------------------------------------------------------------------------------- */

/* A set of these: dst is src; the order of ranks counts; a barrier comes before and behind; blocks
 * have lists; a device does its step. */
enum { IN_PLACE = 1, ORDERED = 2, BARRIERS = 4, UNEVEN = 8, DEVICE = 16, WAYS = 32 };

/* Does the algorithm take such calls? */
static bool
way_is_allowed(const struct pcoll_builder *builder, unsigned way)
{
	if (((way & UNEVEN) && !builder->serves_lists) || ((way & DEVICE) && !builder->has_device))
		return false;
	if ((way & ORDERED) && builder->reorders)
		return false;
	if ((way & IN_PLACE) && (builder->operation == PCOLL_PERMUTE ||
	                         (builder->operation == PCOLL_EXCHANGE && (way & UNEVEN))))
		return false;
	return true;
}

/* A device that does whatever it is asked to, for the algorithms that have one. */
static bool
device_serves(const struct pcoll_shape *shape)
{
	return (shape->operation != PCOLL_REDUCE_TO_ALL &&
	        shape->operation != PCOLL_REDUCE_SCATTER) || !shape->ordered;
}

static struct pcoll_device device = { .serves = device_serves };

/* The kinds of devices that an algorithm is checked with, and which it is now. */
enum { DEVICE_KINDS = 4 };
static unsigned device_kind, device_kinds;

static void
check_way(const struct pcoll_builder *builder, struct pcoll_shape shape, unsigned way)
{
	char why[SCHEDULE_TEXT_BYTES];
	enum schedule_way how = way & BARRIERS ? SCHEDULE_BARRIERS : SCHEDULE_PLAIN;

	if (!way_is_allowed(builder, way))
		return;
	if (way & DEVICE)
		how |= SCHEDULE_DEVICE;
	shape.in_place = way & IN_PLACE;
	shape.ordered = way & ORDERED;
	if (builder->serves && !builder->serves(&shape))
		return;
	if (!schedule_check(builder, &shape, way & UNEVEN, SLOTS, how, why))
		ck_abort_msg("%s, operation %d: size %u in %u, root %u, radix %u, pieces of %zu, "
		             "%zu bytes, elements of %zu%s%s%s%s%s: %s", builder->name,
		             (int)builder->operation, shape.size,
		             shape.layout ? shape.layout->nbrhds : 1, shape.root, shape.radix,
		             shape.piece_bytes, shape.len_bytes, shape.elem_bytes,
		             way & IN_PLACE ? ", in place" : "", way & ORDERED ? ", ordered" : "",
		             way & BARRIERS ? ", barriers" : "", way & UNEVEN ? ", uneven" : "",
		             way & DEVICE ? ", by a device" : "", why);
}

static void
check_ways(const struct pcoll_builder *builder, struct pcoll_shape shape)
{
	for (unsigned way = 0; way < WAYS; way++)
		check_way(builder, shape, way);
}

/* Vectors of fewer elements than members, of more, and of a multiple, and pieces of 1 and more. */
static void
check_lengths(const struct pcoll_builder *builder, struct pcoll_shape shape)
{
	const uint32_t most_pieces = builder->has_pieces ? 4 : 1;

	for (size_t elems = 1; elems <= 23; elems += 11)
		for (shape.elem_bytes = 1; shape.elem_bytes <= 3; shape.elem_bytes += 2)
			for (uint32_t piece = 0; piece < most_pieces; piece++) {
				shape.len_bytes = elems * shape.elem_bytes;
				shape.piece_bytes = piece * 3 * shape.elem_bytes;
				check_ways(builder, shape);
			}
}

/* The root of a permutation chooses which it is. */
static bool
has_root(const struct pcoll_builder *builder)
{
	return pcoll_operation_has_root(builder->operation) ||
	       builder->operation == PCOLL_PERMUTE;
}

static bool
has_blocks(const struct pcoll_builder *builder)
{
	switch (builder->operation) {
	case PCOLL_SCATTER:
	case PCOLL_GATHER:
	case PCOLL_GATHER_ALL:
	case PCOLL_EXCHANGE:
	case PCOLL_REDUCE_SCATTER: return true;
	default: return false;
	}
}

static void
check_lengths_of_layouts(const struct pcoll_builder *builder, struct pcoll_shape shape)
{
	struct pcoll_layout *layout;

	if (!builder->has_levels)
		check_lengths(builder, shape);
	if (!builder->has_levels && !builder->has_device)
		return;
	for (unsigned kind = 0; kind < PLACEMENTS; kind++) {
		shape.layout = layout = layout_make(kind, shape.size);
		if (pcoll_builder_serves(builder, &shape))
			check_lengths(builder, shape);
		pcoll_layout_free(layout);
	}
}

static void
check_small(const struct pcoll_builder *builder, uint32_t most)
{
	struct pcoll_shape shape = { .operation = builder->operation };

	for (shape.size = 1; shape.size <= most; shape.size++) {
		if (!size_is_ours(shape.size))
			continue;
		for (shape.root = 0; shape.root < (has_root(builder) ? shape.size : 1);
		     shape.root++)
			for (shape.radix = 2; shape.radix <= (builder->has_radix ? 5 : 2);
			     shape.radix++)
				check_lengths_of_layouts(builder, shape);
	}
}

/* One vector, in a few pieces, with a radix that the size chooses.  Of the ways that the algorithm
 * takes, each one from the first on, so many apart. */
static void
check_one(const struct pcoll_builder *builder, uint32_t size, uint32_t root,
          unsigned placement, unsigned first_way, unsigned apart)
{
	struct pcoll_shape shape = {
		.operation = builder->operation, .size = size, .root = root, .radix = 2 + size % 4,
		.elem_bytes = 1, .len_bytes = has_blocks(builder) ? 1 + size % 3 : size + 3,
		.piece_bytes = size / 3 + 1,
	};
	struct pcoll_layout *layout = NULL;

	if (builder->has_levels || builder->has_device)
		shape.layout = layout = layout_make(placement, size);
	if (!pcoll_builder_serves(builder, &shape)) {
		pcoll_layout_free(layout);
		shape.layout = layout = layout_make(RUNS, size);
	}
	for (unsigned way = 0, nth = 0; way < WAYS; way++)
		if (way_is_allowed(builder, way) && nth++ % apart == first_way)
			check_way(builder, shape, way);
	pcoll_layout_free(layout);
}

static unsigned
ways_allowed(const struct pcoll_builder *builder)
{
	unsigned count = 0;

	for (unsigned way = 0; way < WAYS; way++)
		count += way_is_allowed(builder, way);
	return count;
}

/* Each root has some of the ways and one placement.  The roots behind it have the others. */
static void
check_roots(const struct pcoll_builder *builder, uint32_t size)
{
	const unsigned apart = size <= MANY ? WAYS_APART : ways_allowed(builder);
	unsigned turn = size;

	for (uint32_t root = 0; root < size; root++, turn++)
		check_one(builder, size, root, turn % PLACEMENTS, turn % apart, apart);
}

/* Where there is no root, all ways and placements. */
static void
check_placements(const struct pcoll_builder *builder, uint32_t size)
{
	const bool is_placed = builder->has_levels || builder->has_device;

	for (unsigned kind = 0; kind < (is_placed ? PLACEMENTS : 1); kind++)
		check_one(builder, size, 0, kind, 0, 1);
}

static void
check_larger(const struct pcoll_builder *builder)
{
	for (uint32_t size = FIRST; size <= LAST; size++) {
		if (!size_is_ours(size) || (size > MANY && size % device_kinds != device_kind))
			continue;
		if (has_root(builder))
			check_roots(builder, size);
		else
			check_placements(builder, size);
	}
}

static void
check_builder(const struct pcoll_builder *builder)
{
	const bool quick = !level_is("full") && !level_is("long");

	check_small(builder, quick ? SMALLEST : SMALL);
	if (!quick)
		check_larger(builder);
}

/* Those that have device steps, with each kind of these. */
static void
check_builders(void)
{
	static const unsigned scopes[DEVICE_KINDS] = {
		PCOLL_SCOPE_LEADERS, PCOLL_SCOPE_HOST, PCOLL_SCOPE_LEADERS | PCOLL_SCOPE_HOST,
		PCOLL_SCOPE_RANKS,
	};

	for (size_t i = 0; pcoll_builders[i]; i++) {
		device_kinds = pcoll_builders[i]->has_device ? DEVICE_KINDS : 1;
		for (device_kind = 0; device_kind < device_kinds; device_kind++) {
			device.scopes = scopes[device_kind];
			check_builder(pcoll_builders[i]);
		}
	}
}

/* How many CPUs this process may use. */
static uint32_t
cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

START_TEST(algorithms_do_what_their_task_is)
{
	shares = level_is("full") || level_is("long") ? cpus() : 1;
	for (share = 0; share < shares; share++) {
		const pid_t child = check_fork();

		ck_assert_int_ge(child, 0);
		if (!child) {
			check_builders();
			exit(EXIT_SUCCESS);
		}
	}
	for (uint32_t i = 0; i < shares; i++) {
		int status;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

/* -- mistakes ---------------------------------------------------------------------------------- */

enum {
	NEVER_SENT, ANOTHER_LENGTH, ONE_TAG_TWICE, BOTH_WAIT, BEYOND, TOUCHED, TOO_EARLY,
	WRONG_ORDER, WRITES_SRC, WRONG_BYTES, MISTAKES
};

static const char *const noticed[MISTAKES] = {
	[NEVER_SENT] = "waits for ever", [ANOTHER_LENGTH] = "of which rank",
	[ONE_TAG_TWICE] = "two messages", [BOTH_WAIT] = "waits for ever", [BEYOND] = "of buffer",
	[TOUCHED] = "being sent or received", [TOO_EARLY] = "before all",
	[WRONG_ORDER] = "is wrong",
	[WRITES_SRC] = "writes to src", [WRONG_BYTES] = "is wrong",
};

static unsigned mistake;

static struct pcoll_span
whole(struct pcoll_schedule *schedule, enum pcoll_buffer buffer, size_t len_bytes)
{
	return pcoll_block(pcoll_view_parts(schedule, buffer, 1, 1, len_bytes), pcoll_at(0));
}

/* Rank 1's part of a broadcast of rank 0 to two. */
static void
wrong_receive(struct pcoll_schedule *schedule, size_t len_bytes)
{
	const struct pcoll_span dst = whole(schedule, PCOLL_DST,
	                                    len_bytes - (mistake == ANOTHER_LENGTH));

	if (mistake == BOTH_WAIT) {
		pcoll_add_await(schedule, pcoll_at(0), pcoll_at(7));
		pcoll_add_round(schedule);
		pcoll_add_notify(schedule, pcoll_at(0), pcoll_at(8));
	}
	pcoll_add_receive(schedule, pcoll_at(0), pcoll_at(mistake == ONE_TAG_TWICE ? 1 : 0),
	                  dst, pcoll_no_span());
	if (mistake == TOUCHED)
		pcoll_add_copy(schedule, pcoll_block(pcoll_view_tmp(schedule, 1, 1), pcoll_at(0)),
		               dst);
}

static void
wrong_send(struct pcoll_schedule *schedule, size_t len_bytes)
{
	const struct pcoll_span src = whole(schedule, PCOLL_SRC, len_bytes + (mistake == BEYOND));

	if (mistake == BOTH_WAIT) {
		pcoll_add_await(schedule, pcoll_at(1), pcoll_at(8));
		pcoll_add_round(schedule);
		pcoll_add_notify(schedule, pcoll_at(1), pcoll_at(7));
	}
	if (mistake != NEVER_SENT)
		pcoll_add_send(schedule, pcoll_at(1), pcoll_at(0), src, pcoll_no_span());
	if (mistake == ONE_TAG_TWICE)
		pcoll_add_send(schedule, pcoll_at(1), pcoll_at(0), src, pcoll_no_span());
	if (mistake == WRITES_SRC)
		pcoll_add_copy(schedule, src, whole(schedule, PCOLL_DST, len_bytes));
	if (mistake != WRONG_BYTES)
		pcoll_add_copy(schedule, whole(schedule, PCOLL_DST, len_bytes), src);
}

static void
wrong_broadcast_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	if (shape->rank == 0)
		wrong_send(schedule, shape->len_bytes);
	else
		wrong_receive(schedule, shape->len_bytes);
}

/* Rank 1's operand is put before rank 0's. */
static void
wrong_reduce_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_span src = whole(schedule, PCOLL_SRC, shape->len_bytes);

	if (shape->rank == 1) {
		pcoll_add_send(schedule, pcoll_at(0), pcoll_at(0), src, pcoll_no_span());
	} else {
		const uint32_t tmp = pcoll_view_tmp(schedule, 1, shape->len_bytes);
		const struct pcoll_span dst = whole(schedule, PCOLL_DST, shape->len_bytes);

		pcoll_add_copy(schedule, dst, src);
		pcoll_add_receive(schedule, pcoll_at(1), pcoll_at(0),
		                  pcoll_block(tmp, pcoll_at(0)), pcoll_no_span());
		pcoll_add_round(schedule);
		pcoll_add_combine(schedule, pcoll_block(tmp, pcoll_at(0)), dst, pcoll_no_span());
	}
}

/* A member leaves a barrier that it has not heard of all in. */
static void
wrong_barrier_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	if (shape->rank == 0)
		pcoll_add_notify(schedule, pcoll_at(1), pcoll_at(0));
	else
		pcoll_add_await(schedule, pcoll_at(0), pcoll_at(0));
}

static struct pcoll_builder
wrong_builder(void)
{
	switch (mistake) {
	case WRONG_ORDER:
		return (struct pcoll_builder){ .operation = PCOLL_REDUCE_TO_ONE,
		                               .build = wrong_reduce_build };
	case TOO_EARLY:
		return (struct pcoll_builder){ .operation = PCOLL_BARRIER,
		                               .build = wrong_barrier_build };
	default:
		return (struct pcoll_builder){ .operation = PCOLL_BROADCAST,
		                               .build = wrong_broadcast_build };
	}
}

START_TEST(mistakes_are_noticed)
{
	for (mistake = 0; mistake < MISTAKES; mistake++) {
		const struct pcoll_builder builder = wrong_builder();
		const struct pcoll_shape shape = {
			.operation = builder.operation, .size = 2, .ordered = true, .elem_bytes = 1,
			.len_bytes = mistake == TOO_EARLY ? 0 : 5,
		};
		char why[SCHEDULE_TEXT_BYTES] = "";

		ck_assert_msg(!schedule_check(&builder, &shape, false, SLOTS, SCHEDULE_PLAIN, why),
		              "mistake %u", mistake);
		ck_assert_msg(strstr(why, noticed[mistake]) != NULL, "mistake %u: %s", mistake,
		              why);
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("schedules");

	pcoll_device = &device;
	pcoll_tuning_open();
	tcase_add_test(tests, mistakes_are_noticed);
	tcase_add_test(tests, algorithms_do_what_their_task_is);
	return unit_run("schedules", tests);
}
