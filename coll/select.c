/*
 * The first rule that fits is taken: of the user's (tuning.h), then of this table.  Its numbers are
 * from two and four ranks over TCP on one host of two CPUs (docs/performance.md); for more ranks
 * they are guesses.
 */
#include "coll/select.h"
#include "coll/schedule_list.h"
#include "coll/tuning.h"

enum { PIECES_MOST = 1 << 20 };

static const struct default_rule {
	enum pcoll_operation operation;
	size_t most_bytes;              /* of the vector, or of one block */
	uint32_t most_size;             /* of the team */
	const char *algorithm;
	uint32_t radix;
	size_t piece_bytes;             /* 0: all is one piece */
} defaults[] = {
	{ PCOLL_BARRIER, SIZE_MAX, UINT32_MAX, "levels", 4, 0 },
	{ PCOLL_BARRIER, SIZE_MAX, UINT32_MAX, "dissemination", 2, 0 },
	{ PCOLL_BROADCAST, 16 << 10, UINT32_MAX, "levels", 4, 0 },
	{ PCOLL_BROADCAST, SIZE_MAX, UINT32_MAX, "levels", 2, 64 << 10 },
	{ PCOLL_BROADCAST, 16 << 10, UINT32_MAX, "knomial", 4, 0 },
	{ PCOLL_BROADCAST, SIZE_MAX, 2, "flat", 2, 0 },
	{ PCOLL_BROADCAST, 512 << 10, UINT32_MAX, "knomial", 2, 64 << 10 },
	{ PCOLL_BROADCAST, SIZE_MAX, UINT32_MAX, "scatter", 2, 0 },
	{ PCOLL_REDUCE_TO_ONE, 16 << 10, UINT32_MAX, "levels", 4, 0 },
	{ PCOLL_REDUCE_TO_ONE, SIZE_MAX, UINT32_MAX, "levels", 2, 64 << 10 },
	{ PCOLL_REDUCE_TO_ONE, 16 << 10, UINT32_MAX, "knomial", 4, 0 },
	{ PCOLL_REDUCE_TO_ONE, 1 << 20, UINT32_MAX, "knomial", 2, 64 << 10 },
	{ PCOLL_REDUCE_TO_ONE, SIZE_MAX, UINT32_MAX, "halving", 2, 0 },
	{ PCOLL_REDUCE_TO_ALL, 16 << 10, UINT32_MAX, "levels", 4, 0 },
	{ PCOLL_REDUCE_TO_ALL, SIZE_MAX, UINT32_MAX, "levels", 2, 64 << 10 },
	{ PCOLL_REDUCE_TO_ALL, 8 << 10, UINT32_MAX, "doubling", 2, 0 },
	{ PCOLL_REDUCE_TO_ALL, 256 << 10, UINT32_MAX, "tree", 2, 64 << 10 },
	{ PCOLL_REDUCE_TO_ALL, SIZE_MAX, UINT32_MAX, "halving", 2, 0 },
	{ PCOLL_SCATTER, SIZE_MAX, 8, "flat", 2, 0 },
	{ PCOLL_SCATTER, 4 << 10, UINT32_MAX, "knomial", 4, 0 },
	{ PCOLL_SCATTER, SIZE_MAX, UINT32_MAX, "flat", 2, 0 },
	{ PCOLL_GATHER, SIZE_MAX, 8, "flat", 2, 0 },
	{ PCOLL_GATHER, 4 << 10, UINT32_MAX, "knomial", 4, 0 },
	{ PCOLL_GATHER, SIZE_MAX, UINT32_MAX, "flat", 2, 0 },
	{ PCOLL_GATHER_ALL, SIZE_MAX, 4, "flat", 2, 0 },
	{ PCOLL_GATHER_ALL, 4 << 10, UINT32_MAX, "bruck", 2, 0 },
	{ PCOLL_GATHER_ALL, SIZE_MAX, UINT32_MAX, "ring", 2, 0 },
	{ PCOLL_EXCHANGE, SIZE_MAX, 8, "flat", 2, 0 },
	{ PCOLL_EXCHANGE, 256, UINT32_MAX, "bruck", 2, 0 },
	{ PCOLL_EXCHANGE, SIZE_MAX, UINT32_MAX, "flat", 2, 0 },
	{ PCOLL_PERMUTE, SIZE_MAX, UINT32_MAX, "direct", 2, 0 },
	{ PCOLL_REDUCE_SCATTER, 4 << 10, UINT32_MAX, "flat", 2, 0 },
	{ PCOLL_REDUCE_SCATTER, SIZE_MAX, UINT32_MAX, "ring", 2, 0 },
	{ PCOLL_REDUCE_SCATTER, SIZE_MAX, UINT32_MAX, "flat", 2, 0 },
	{ PCOLL_SCAN, 16 << 10, UINT32_MAX, "doubling", 2, 0 },
	{ PCOLL_SCAN, SIZE_MAX, UINT32_MAX, "chain", 2, 32 << 10 },
	{ PCOLL_EXSCAN, 16 << 10, UINT32_MAX, "doubling", 2, 0 },
	{ PCOLL_EXSCAN, SIZE_MAX, UINT32_MAX, "chain", 2, 32 << 10 },
};

/* Whole elements, one at least, and no more than PIECES_MOST pieces. */
static size_t
piece_of_vector(size_t piece_bytes, const struct pcoll_shape *shape)
{
	const size_t least = shape->len_bytes / PIECES_MOST + shape->elem_bytes;

	if (piece_bytes < least)
		piece_bytes = least;
	return piece_bytes / shape->elem_bytes * shape->elem_bytes;
}

/* Lengths in lists differ between members, so they do not count. */
static bool
rule_fits(const struct pcoll_rule *rule, const struct pcoll_shape *shape)
{
	const bool bytes_fit = shape->len_bytes >= rule->least_bytes &&
	                       shape->len_bytes <= rule->most_bytes;

	return rule->operation == shape->operation && shape->size >= rule->least_size &&
	       shape->size <= rule->most_size && (shape->listed || bytes_fit) &&
	       (!shape->listed || rule->builder->serves_lists) &&
	       (!rule->builder->has_levels || shape->layout) &&
	       (!shape->ordered || !rule->builder->reorders);
}

static struct pcoll_rule
default_read(const struct default_rule *from)
{
	return (struct pcoll_rule){
		.operation = from->operation, .most_bytes = from->most_bytes,
		.most_size = from->most_size, .radix = from->radix,
		.piece_bytes = from->piece_bytes,
		.builder = pcoll_builder_find(from->operation, from->algorithm),
	};
}

/* NULL: no rule of the user's fits. */
static const struct pcoll_rule *
users_find(const struct pcoll_shape *shape)
{
	const struct pcoll_rule *rule;

	for (size_t i = 0; (rule = pcoll_tuning_rule(i)) != NULL; i++)
		if (rule_fits(rule, shape))
			return rule;
	return NULL;
}

bool
pcoll_select_is_users(const struct pcoll_shape *shape)
{
	return users_find(shape) != NULL;
}

static struct pcoll_rule
rule_find(const struct pcoll_shape *shape)
{
	const struct default_rule *next = defaults;
	const struct pcoll_rule *users = users_find(shape);
	struct pcoll_rule rule;

	if (users)
		return *users;
	do
		rule = default_read(next++);
	while (!rule_fits(&rule, shape));
	return rule;
}

const struct pcoll_builder *
pcoll_select(struct pcoll_shape *shape)
{
	const struct pcoll_rule rule = rule_find(shape);

	shape->radix = rule.radix;
	shape->piece_bytes = rule.piece_bytes ? piece_of_vector(rule.piece_bytes, shape) : 0;
	return rule.builder;
}
