#include "coll/introspect.h"
#include "coll/cells_list.h"
#include "coll/layout.h"
#include "coll/schedule_list.h"
#include "coll/schedule_price.h"
#include "coll/select.h"
#include "coll/tuning.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

/*
 * Far: over TCP between two ranks of one host, each with a CPU, as measured (docs/performance.md,
 * "By messages").  Near: through shared memory, assumed.
 */
static const struct pcoll_costs measured_costs = {
	.far = { .latency_ps = 9000000, .overhead_ps = 2500000, .gap_ps = 1000000,
	         .byte_ps = 1000 },
	.near = { .latency_ps = 300000, .overhead_ps = 100000, .gap_ps = 50000, .byte_ps = 100 },
	.copy_byte_ps = 100, .combine_byte_ps = 300, .eager_bytes = 4096,
};

/* A prediction carries out the schedules of all members. */
enum { MOST_RANKS = 256 };

struct telling {
	bool all;
	void (*tell)(const struct pcoll_fact *fact, void *arg);
	void *arg;
};

static void
fact_tell(const struct telling *telling, const struct pcoll_builder *builder,
          const struct pcoll_shape *shape, const char *rule)
{
	struct pcoll_fact fact = {
		.operation = pcoll_operation_word(shape->operation), .algorithm = builder->name,
		.summary = builder->summary, .bytes = shape->len_bytes,
		.radix = builder->has_radix ? shape->radix : 0,
		.piece_bytes = builder->has_pieces ? shape->piece_bytes : 0,
		.predicted_ns = UINT64_MAX, .rule = rule,
	};
	uint64_t price_ps = UINT64_MAX;

	if (shape->size <= MOST_RANKS)
		price_ps = pcoll_builder_price_ps(builder, shape, &measured_costs);
	if (price_ps != UINT64_MAX)
		fact.predicted_ns = price_ps / 1000;
	telling->tell(&fact, telling->arg);
}

static bool
parameters_are_same(const struct pcoll_builder *builder, const struct pcoll_shape *one,
                    const struct pcoll_shape *other)
{
	return (!builder->has_radix || one->radix == other->radix) &&
	       (!builder->has_pieces || one->piece_bytes == other->piece_bytes);
}

/* The algorithm with parameters that differ from those taken, `taken' of `taken_shape'.  taken
 * NULL: none is. */
static void
others_tell(const struct telling *telling, const struct pcoll_builder *builder,
            const struct pcoll_builder *taken, const struct pcoll_shape *taken_shape)
{
	static const size_t pieces[] = { 0, 16 << 10, 64 << 10 };
	struct pcoll_shape shape = *taken_shape;
	const uint32_t most_radix = builder->has_radix ? 4 : 2;
	const size_t count = builder->has_pieces ? sizeof pieces / sizeof pieces[0] : 1;

	for (shape.radix = 2; shape.radix <= most_radix; shape.radix *= 2)
		for (size_t i = 0; i < count && pieces[i] < shape.len_bytes + !i; i++) {
			shape.piece_bytes = pieces[i];
			if (builder != taken || !parameters_are_same(builder, &shape, taken_shape))
				fact_tell(telling, builder, &shape, "-");
		}
}

/* -- shared memory ----------------------------------------------------------------------------- */

/* A call of all members of one host, as one that runs makes it.  tm: of that size. */
static struct pcoll_call
near_call(const struct pcoll_shape *shape, gex_TM_t tm)
{
	const struct pcoll_cells_kind *kind = pcoll_cells_kinds[shape->operation];

	return (struct pcoll_call){
		.what.operation = shape->operation, .tm = tm, .len_bytes = shape->len_bytes,
		.reduction.elem_bytes = kind && kind->combines ? shape->elem_bytes : 0,
	};
}

/* Could the call go without messages?  With PST_CHECK only barriers do. */
static bool
shape_is_near(const struct pcoll_shape *shape)
{
	struct gex_TM_s tm = { .size = shape->size };
	const struct pcoll_call call = near_call(shape, &tm);
	const struct pcoll_cells_kind *kind = pcoll_cells_kinds[shape->operation];

	if (shape->hosts > 1 || shape->size == 1)
		return false;
	return shape->operation == PCOLL_BARRIER ||
	       (kind && !psi_rules_wanted() && pcoll_cells_pieces(&call, kind));
}

static void
near_tell(const struct telling *telling, const struct pcoll_shape *shape, const char *rule)
{
	struct gex_TM_s tm = { .size = shape->size };
	const struct pcoll_call call = near_call(shape, &tm);
	const struct pcoll_cells_kind *kind = pcoll_cells_kinds[shape->operation];
	const struct pcoll_fact fact = {
		.operation = pcoll_operation_word(shape->operation), .bytes = shape->len_bytes,
		.algorithm = kind ? "cells" : "flags",
		.summary = kind ? "shared memory: each member reads what the others have filled"
		                : "shared memory: each member sets a flag that the others read",
		.predicted_ns = kind ? pcoll_cells_price_ns(&call, kind) : UINT64_MAX,
		.rule = rule,
	};

	telling->tell(&fact, telling->arg);
}

/* -- what is taken ----------------------------------------------------------------------------- */

static void
length_tell(const struct telling *telling, struct pcoll_shape shape)
{
	const struct pcoll_builder *taken = pcoll_select(&shape);
	const struct pcoll_rule *users = pcoll_select_users(&shape);
	const bool is_near = shape_is_near(&shape);

	if (is_near && !pcoll_select_is_for_messages(&shape)) {
		near_tell(telling, &shape, users && users->by_cells ? "user" : "library");
		taken = NULL;
	} else {
		fact_tell(telling, taken, &shape,
		          pcoll_select_is_users(&shape) ? "user" : "library");
		if (telling->all && is_near)
			near_tell(telling, &shape, "-");
	}
	for (size_t i = 0; telling->all && pcoll_builders[i]; i++)
		if (pcoll_builders[i]->operation == shape.operation &&
		    pcoll_builder_serves(pcoll_builders[i], &shape))
			others_tell(telling, pcoll_builders[i], taken, &shape);
}

/* arg: the team. */
static uint32_t
host_of(const void *arg, uint32_t rank)
{
	const struct pcoll_team *team = arg;

	return (uint32_t)((uint64_t)rank * team->hosts / team->ranks);
}

static void
operation_tell(const struct telling *telling, struct pcoll_shape shape)
{
	static const size_t lengths[] = { 8, 1 << 10, 16 << 10, 64 << 10, 1 << 20 };
	const bool is_barrier = shape.operation == PCOLL_BARRIER;
	const size_t count = is_barrier ? 1 : sizeof lengths / sizeof lengths[0];

	for (size_t i = 0; i < count; i++) {
		shape.len_bytes = is_barrier ? 0 : lengths[i];
		length_tell(telling, shape);
	}
}

bool
pcoll_introspect(const struct pcoll_team *team, bool all,
                 void (*tell)(const struct pcoll_fact *fact, void *arg), void *arg)
{
	const struct telling telling = { all, tell, arg };
	struct pcoll_layout *layout = pcoll_layout_make(team->ranks, team->hosts, host_of, team);
	struct pcoll_shape shape = {
		.size = team->ranks, .hosts = team->hosts, .mode = team->mode, .elem_bytes = 8,
	};

	if (!layout)
		return false;
	pcoll_tuning_open();
	shape.layout = pcoll_layout_is_divided(layout) ? layout : NULL;
	for (unsigned operation = 0; operation < PCOLL_OPERATIONS; operation++) {
		shape.operation = (enum pcoll_operation)operation;
		operation_tell(&telling, shape);
	}
	pcoll_layout_free(layout);
	return true;
}

uint64_t
pcoll_predict_ns(enum pcoll_operation operation, uint32_t members, bool are_near, size_t len_bytes)
{
	static const char *const algorithms[PCOLL_OPERATIONS] = {
		[PCOLL_BARRIER] = "dissemination", [PCOLL_BROADCAST] = "knomial",
		[PCOLL_REDUCE_TO_ALL] = "doubling", [PCOLL_REDUCE_TO_ONE] = "knomial",
		[PCOLL_GATHER_ALL] = "bruck", [PCOLL_REDUCE_SCATTER] = "flat",
	};
	const uint32_t size = members < MOST_RANKS ? members : MOST_RANKS;
	const struct pcoll_shape shape = {
		.operation = operation, .size = size, .hosts = are_near ? 1 : size, .radix = 2,
		.elem_bytes = 1,
		.len_bytes = len_bytes, .in_place = true,
	};
	const struct pcoll_builder *builder = pcoll_builder_find(operation, algorithms[operation]);
	const uint64_t price_ps = pcoll_builder_price_ps(builder, &shape, &measured_costs);

	return price_ps == UINT64_MAX ? UINT64_MAX : price_ps / 1000;
}
