/* Which algorithm is chosen for a call, and what the model says that algorithms cost. */
#include "coll/cells_list.h"
#include "coll/introspect.h"
#include "coll/schedule_list.h"
#include "coll/schedule_price.h"
#include "coll/select.h"
#include "coll/tuning.h"

#include "runtime/team/team.h"

#include "tests/unit/main.h"
#include "tests/unit/schedule_place.h"

#include <stdlib.h>

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

/* Rules of the user's take calls that they fit from shared memory; the first one that fits does. */
START_TEST(users_rules_come_before_cells)
{
	struct pcoll_shape shape = { .operation = PCOLL_BROADCAST, .size = 4, .hosts = 1,
		                     .mode = "smp", .len_bytes = 8, .elem_bytes = 1 };

	pcoll_tuning_open();
	ck_assert(!pcoll_tuning_has_users(PCOLL_BROADCAST));
	ck_assert(!pcoll_select_is_for_messages(&shape));
	setenv("PST_COLL_BROADCAST", "chain", 1);
	pcoll_tuning_open();
	ck_assert(pcoll_tuning_has_users(PCOLL_BROADCAST));
	ck_assert(!pcoll_tuning_has_users(PCOLL_EXCHANGE));
	ck_assert(pcoll_select_is_for_messages(&shape));
	setenv("PST_COLL_BROADCAST", "levels", 1);
	pcoll_tuning_open();
	ck_assert(!pcoll_select_is_for_messages(&shape));
	setenv("PST_COLL_BROADCAST", "cells", 1);
	pcoll_tuning_open();
	ck_assert(pcoll_select_users(&shape)->by_cells);
	ck_assert(!pcoll_select_is_for_messages(&shape));
	ck_assert(!pcoll_select_is_users(&shape));
	ck_assert_ptr_nonnull(pcoll_select(&shape));
	unsetenv("PST_COLL_BROADCAST");
	pcoll_tuning_open();
}
END_TEST

/* What is combined with what depends on the number of ranks and the length alone. */
START_TEST(reproducible_reductions_go_as_on_one_host)
{
	static const enum pcoll_operation reductions[] = {
		PCOLL_REDUCE_TO_ONE, PCOLL_REDUCE_TO_ALL, PCOLL_REDUCE_SCATTER, PCOLL_SCAN,
		PCOLL_EXSCAN,
	};
	struct pcoll_shape near = { .hosts = 1, .mode = "smp", .elem_bytes = 8,
		                    .reproducible = true };

	pcoll_tuning_open();
	for (near.size = 2; near.size < 100; near.size += 1 + near.size / 3) {
		struct pcoll_layout *layout = layout_make(RUNS, near.size);

		for (unsigned i = 0; i < sizeof reductions / sizeof reductions[0]; i++)
			for (near.len_bytes = 8; near.len_bytes < (size_t)1 << 30;
			     near.len_bytes *= 4) {
				struct pcoll_shape far;

				near.operation = reductions[i];
				far = near;
				far.mode = "tcp";
				far.hosts = layout->nbrhds;
				far.layout = pcoll_layout_is_divided(layout) ? layout : NULL;
				ck_assert_ptr_eq(pcoll_select(&near), pcoll_select(&far));
				ck_assert_uint_eq(near.radix, far.radix);
				ck_assert_uint_eq(near.piece_bytes, far.piece_bytes);
			}
		pcoll_layout_free(layout);
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

static uint64_t
cells_price_of(enum pcoll_operation operation, uint32_t size, size_t len_bytes)
{
	struct gex_TM_s tm = { .size = size };
	const struct pcoll_call call = {
		.what.operation = operation, .tm = &tm, .len_bytes = len_bytes,
		.reduction.elem_bytes = 8,
	};

	return pcoll_cells_price_ns(&call, operation == PCOLL_BROADCAST
	                                           ? &pcoll_cells_broadcast
	                                           : operation == PCOLL_GATHER_ALL
	                                           ? &pcoll_cells_gather_all
	                                           : &pcoll_cells_reduce_to_all);
}

/* As software is predicted to go where all share memory: a device that is slower is not taken. */
START_TEST(cells_cost_less_than_messages)
{
	const enum pcoll_operation all[] = { PCOLL_BROADCAST, PCOLL_GATHER_ALL,
		                             PCOLL_REDUCE_TO_ALL };

	for (unsigned i = 0; i < 3; i++)
		for (uint32_t size = 2; size <= 4; size++)
			ck_assert_uint_lt(cells_price_of(all[i], size, 8),
			                  pcoll_predict_ns(all[i], size, true, 8));
	ck_assert_uint_lt(cells_price_of(PCOLL_GATHER_ALL, 2, 8),
	                  cells_price_of(PCOLL_GATHER_ALL, 4, 8));
}
END_TEST

/* A long reduction to all is divided, so that it costs less than what each reads of all. */
START_TEST(cells_divide_long_reductions)
{
	ck_assert_uint_lt(cells_price_of(PCOLL_REDUCE_TO_ALL, 8, 1 << 20),
	                  20 * cells_price_of(PCOLL_REDUCE_TO_ALL, 8, 32 << 10));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("choice and prices");

	tcase_add_test(tests, every_call_has_an_algorithm);
	tcase_add_test(tests, users_rules_come_before_cells);
	tcase_add_test(tests, reproducible_reductions_go_as_on_one_host);
	tcase_add_test(tests, a_barrier_costs_its_rounds);
	tcase_add_test(tests, near_messages_cost_less);
	tcase_add_test(tests, prices_tell_small_from_large);
	tcase_add_test(tests, cells_cost_less_than_messages);
	tcase_add_test(tests, cells_divide_long_reductions);
	return unit_run("choice and prices", tests);
}
