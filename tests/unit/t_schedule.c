/*
 * Each algorithm that is a schedule, carried out on symbols for many sizes, roots, lengths and
 * parameters; schedules with a mistake, which the check must notice; and prices.
 *
 * Teams have up to 9 members at level quick, 64 at level full and 300 at level long.
 */
#include "coll/device.h"
#include "coll/schedule_list.h"
#include "coll/schedule_price.h"
#include "coll/select.h"
#include "coll/tuning.h"

#include "tests/unit/main.h"
#include "tests/unit/schedule_check.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 32, SMALLEST = 7, SMALL = 9, MIDDLE = 64, LARGE = 300, ROOTS_OF_LARGE = 5 };

static bool
level_is(const char *level)
{
	const char *now = getenv("CHECK_LEVEL");

	return now && strcmp(now, level) == 0;
}

/* -- algorithms -------------------------------------------------------------------------------- */

/* Ways of placing members in neighbourhoods: runs of three; in turns over three; all but the last
 * in one; by chance over four. */
enum { RUNS, TURNS, ALL_BUT_LAST, BY_CHANCE, PLACEMENTS };

struct placement {
	unsigned kind;
	uint32_t size;
};

static uint32_t
nbrhd_of(const void *arg, uint32_t rank)
{
	const struct placement *placement = arg;

	switch (placement->kind) {
	case RUNS: return rank / 3;
	case TURNS: return rank % 3 % placement->size;
	case ALL_BUT_LAST: return rank + 1 == placement->size;
	default: return (rank * 2654435761u >> 28) % 4 % placement->size;
	}
}

static struct pcoll_layout *
layout_make(unsigned kind, uint32_t size)
{
	const struct placement placement = { kind, size };
	struct pcoll_layout *layout = pcoll_layout_make(size, size + 1, nbrhd_of, &placement);

	ck_assert_ptr_nonnull(layout);
	return layout;
}

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
	return shape->operation != PCOLL_REDUCE_TO_ALL || !shape->ordered;
}

static const struct pcoll_device device = { .serves = device_serves };

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
	if (shape.layout && builder->serves && !builder->serves(&shape))
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

	if (!builder->has_levels) {
		check_lengths(builder, shape);
		return;
	}
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

	for (shape.size = 1; shape.size <= most; shape.size++)
		for (shape.root = 0; shape.root < (has_root(builder) ? shape.size : 1);
		     shape.root++)
			for (shape.radix = 2; shape.radix <= (builder->has_radix ? 5 : 2);
			     shape.radix++)
				check_lengths_of_layouts(builder, shape);
}

/* One vector, in a few pieces, with a radix that the size chooses. */
static void
check_one(const struct pcoll_builder *builder, uint32_t size, uint32_t root)
{
	struct pcoll_shape shape = {
		.operation = builder->operation, .size = size, .root = root, .radix = 2 + size % 4,
		.elem_bytes = 1, .len_bytes = has_blocks(builder) ? 1 + size % 3 : size + 3,
		.piece_bytes = size / 3 + 1,
	};
	struct pcoll_layout *layout = NULL;

	if (builder->has_levels)
		shape.layout = layout = layout_make(root % PLACEMENTS, size);
	if (!pcoll_builder_serves(builder, &shape)) {
		pcoll_layout_free(layout);
		shape.layout = layout = layout_make(RUNS, size);
	}
	for (unsigned way = 0; way < WAYS; way += 3)    /* each in three of six */
		check_way(builder, shape, way);
	pcoll_layout_free(layout);
}

static void
check_larger(const struct pcoll_builder *builder)
{
	const uint32_t most = level_is("long") ? LARGE : MIDDLE;

	for (uint32_t size = SMALL + 1; size <= most; size++) {
		const uint32_t step = size <= MIDDLE ? 1 : size / ROOTS_OF_LARGE;

		for (uint32_t root = 0; root < (has_root(builder) ? size : 1); root += step)
			check_one(builder, size, root);
	}
}

START_TEST(algorithms_do_what_their_task_is)
{
	const bool quick = !level_is("full") && !level_is("long");

	for (size_t i = 0; pcoll_builders[i]; i++) {
		check_small(pcoll_builders[i], quick ? SMALLEST : SMALL);
		if (!quick)
			check_larger(pcoll_builders[i]);
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

/* -- the choice -------------------------------------------------------------------------------- */

static bool
operation_has_lists(enum pcoll_operation operation)
{
	for (size_t i = 0; pcoll_builders[i]; i++)
		if (pcoll_builders[i]->operation == operation && pcoll_builders[i]->serves_lists)
			return true;
	return false;
}

/* Of all lengths, with lists or without, in order or not. */
static void
choose_for_lengths(struct pcoll_shape shape)
{
	for (size_t len_bytes = 12; len_bytes < (size_t)1 << 40; len_bytes *= 3) {
		const struct pcoll_builder *builder;

		shape.len_bytes = len_bytes;
		shape.elem_bytes = len_bytes % 5 + 1;
		shape.ordered = !shape.ordered;
		builder = pcoll_select(&shape);
		ck_assert_ptr_nonnull(builder);
		ck_assert_uint_eq(builder->operation, shape.operation);
		ck_assert(pcoll_builder_serves(builder, &shape));
		ck_assert_uint_ge(shape.radix, 2);
		ck_assert_uint_eq(shape.piece_bytes % shape.elem_bytes, 0);
	}
}

static void
choose_for_operations(struct pcoll_shape shape)
{
	for (unsigned operation = 0; operation < PCOLL_OPERATIONS; operation++) {
		shape.operation = (enum pcoll_operation)operation;
		shape.listed = false;
		choose_for_lengths(shape);
		shape.listed = operation_has_lists(shape.operation);
		choose_for_lengths(shape);
	}
}

/* Each call has an algorithm, of its own operation, whose pieces are whole elements. */
START_TEST(every_call_has_an_algorithm)
{
	struct pcoll_shape shape = { .size = 1 };

	pcoll_tuning_open();
	for (shape.size = 1; shape.size < 600; shape.size += 1 + shape.size / 3) {
		shape.hosts = 1;
		shape.mode = "smp";
		choose_for_operations(shape);
		shape.mode = "tcp";
		shape.hosts = shape.size;
		choose_for_operations(shape);
		for (unsigned kind = 0; kind < PLACEMENTS; kind++) {
			struct pcoll_layout *layout = layout_make(kind, shape.size);

			shape.hosts = layout->nbrhds;
			shape.layout = pcoll_layout_is_divided(layout) ? layout : NULL;
			choose_for_operations(shape);
			shape.layout = NULL;
			pcoll_layout_free(layout);
		}
	}
}
END_TEST

/* -- prices ------------------------------------------------------------------------------------ */

static const struct pcoll_costs costs = {
	.far = { .latency_ps = 1000000, .overhead_ps = 200000, .gap_ps = 100000,
	         .byte_ps = 100 },
	.near = { .latency_ps = 10000, .overhead_ps = 2000, .gap_ps = 1000, .byte_ps = 1 },
	.copy_byte_ps = 50, .combine_byte_ps = 100, .eager_bytes = 4096,
};

static uint64_t
price_of(const char *name, size_t len_bytes, size_t piece_bytes, uint32_t size)
{
	const struct pcoll_shape shape = {
		.operation = PCOLL_BROADCAST, .size = size, .radix = 2, .elem_bytes = 1,
		.hosts = size, .len_bytes = len_bytes, .piece_bytes = piece_bytes, .in_place = true,
	};

	return pcoll_builder_price_ps(pcoll_builder_find(PCOLL_BROADCAST, name), &shape, &costs);
}

/* A round of a barrier of two or more: both begin two messages, of which one arrives. */
START_TEST(a_barrier_costs_its_rounds)
{
	const struct pcoll_link far = costs.far;
	const uint64_t round_ps = 3 * far.overhead_ps + far.latency_ps + far.gap_ps;

	for (uint32_t rounds = 0; rounds < 8; rounds++) {
		const struct pcoll_shape shape = {
			.operation = PCOLL_BARRIER, .size = (uint32_t)1 << rounds, .radix = 2,
			.hosts = (uint32_t)1 << rounds,
		};
		const uint64_t price = pcoll_builder_price_ps(
			pcoll_builder_find(PCOLL_BARRIER, "dissemination"), &shape, &costs);

		ck_assert_uint_ge(price, rounds * (round_ps - far.overhead_ps));
		ck_assert_uint_le(price, rounds * (round_ps + far.overhead_ps));
	}
}
END_TEST

/* Eight hosts of three ranks: a tree over hosts crosses them twice, one over ranks more often. */
START_TEST(near_messages_cost_less)
{
	struct pcoll_layout *layout = layout_make(RUNS, 24);
	struct pcoll_shape shape = {
		.operation = PCOLL_REDUCE_TO_ALL, .size = 24, .radix = 4, .elem_bytes = 8,
		.len_bytes = 8, .hosts = layout->nbrhds, .layout = layout, .in_place = true,
	};
	const struct pcoll_builder *levels = pcoll_builder_find(PCOLL_REDUCE_TO_ALL, "levels");
	const struct pcoll_builder *doubling = pcoll_builder_find(PCOLL_REDUCE_TO_ALL, "doubling");
	const uint64_t mixed = pcoll_builder_price_ps(doubling, &shape, &costs);

	ck_assert_uint_lt(pcoll_builder_price_ps(levels, &shape, &costs), mixed);
	shape.layout = NULL;
	ck_assert_uint_lt(mixed, pcoll_builder_price_ps(doubling, &shape, &costs));
	shape.hosts = 1;
	ck_assert_uint_lt(50 * pcoll_builder_price_ps(doubling, &shape, &costs), mixed);
	pcoll_layout_free(layout);
}
END_TEST

/* The order of winners that the literature has. */
START_TEST(prices_tell_small_from_large)
{
	const size_t large = 16 << 20, piece = 64 << 10;

	ck_assert_uint_lt(price_of("knomial", 8, 0, 64), price_of("flat", 8, 0, 64));
	ck_assert_uint_lt(price_of("knomial", 8, 0, 64), price_of("chain", 8, 0, 64));
	ck_assert_uint_lt(price_of("chain", large, piece, 64), price_of("knomial", large, 0, 64));
	ck_assert_uint_lt(price_of("scatter", large, 0, 64), price_of("knomial", large, 0, 64));
	ck_assert_uint_lt(price_of("chain", large, piece, 8), price_of("binary", large, piece, 8));
	ck_assert_uint_lt(price_of("binary", large, piece, 300), price_of("flat", large, 0, 300));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("schedules");

	pcoll_device = &device;

	tcase_add_test(tests, mistakes_are_noticed);
	tcase_add_test(tests, every_call_has_an_algorithm);
	tcase_add_test(tests, a_barrier_costs_its_rounds);
	tcase_add_test(tests, near_messages_cost_less);
	tcase_add_test(tests, prices_tell_small_from_large);
	tcase_add_test(tests, algorithms_do_what_their_task_is);
	return unit_run("schedules", tests);
}
