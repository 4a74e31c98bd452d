/*
 * A table of rules.  The first rule that the call satisfies is taken.  The numbers are for TCP,
 * where a message takes some microseconds on its way, and some more of each end's CPU.
 */
#include "coll/select.h"
#include "coll/schedule_list.h"

static const struct rule {
	enum pcoll_operation operation;
	size_t most_bytes;              /* of the vector, or of one block */
	uint32_t most_size;             /* of the team */
	const char *algorithm;
	uint32_t radix;
	size_t piece_bytes;             /* 0: all is one piece */
} rules[] = {
	{ PCOLL_BARRIER, SIZE_MAX, UINT32_MAX, "dissemination", 2, 0 },
	{ PCOLL_BROADCAST, 16 << 10, UINT32_MAX, "knomial", 4, 0 },
	{ PCOLL_BROADCAST, SIZE_MAX, 2, "flat", 2, 0 },
	{ PCOLL_BROADCAST, SIZE_MAX, 8, "chain", 2, 64 << 10 },
	{ PCOLL_BROADCAST, 512 << 10, UINT32_MAX, "binary", 2, 32 << 10 },
	{ PCOLL_BROADCAST, SIZE_MAX, UINT32_MAX, "scatter", 2, 0 },
	{ PCOLL_REDUCE_TO_ONE, 16 << 10, UINT32_MAX, "knomial", 4, 0 },
	{ PCOLL_REDUCE_TO_ONE, SIZE_MAX, 3, "knomial", 2, 64 << 10 },
	{ PCOLL_REDUCE_TO_ONE, SIZE_MAX, UINT32_MAX, "halving", 2, 0 },
	{ PCOLL_REDUCE_TO_ALL, 8 << 10, UINT32_MAX, "doubling", 2, 0 },
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

/* Whole elements, one at least. */
static size_t
piece_of_elements(size_t piece_bytes, size_t elem_bytes)
{
	return piece_bytes < elem_bytes ? elem_bytes : piece_bytes / elem_bytes * elem_bytes;
}

/* Lengths in lists differ between members, so they do not count. */
static bool
rule_fits(const struct rule *rule, const struct pcoll_shape *shape,
          const struct pcoll_builder *builder)
{
	return rule->operation == shape->operation && shape->size <= rule->most_size &&
	       (shape->listed || shape->len_bytes <= rule->most_bytes) &&
	       (!shape->listed || builder->serves_lists) &&
	       (!shape->ordered || !builder->reorders);
}

const struct pcoll_builder *
pcoll_select(struct pcoll_shape *shape)
{
	const struct pcoll_builder *builder = NULL;
	const struct rule *rule = rules;

	for (;; rule++) {
		builder = pcoll_builder_find(rule->operation, rule->algorithm);
		if (rule_fits(rule, shape, builder))
			break;
	}
	shape->radix = rule->radix;
	shape->piece_bytes =
		rule->piece_bytes ? piece_of_elements(rule->piece_bytes, shape->elem_bytes) : 0;
	return builder;
}
