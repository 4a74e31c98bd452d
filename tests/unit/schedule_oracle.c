#include "tests/unit/schedule_oracle.h"

#include <stdlib.h>

struct oracle {
	struct pcoll_shape shape;
	bool uneven;
	struct oracle_side *src, *dst;  /* by rank */
	struct symbol *sums;            /* of reductions: [rank of a scan][len_bytes] */
};

/* -- lengths ----------------------------------------------------------------------------------- */

/* The block that goes from one member to another. */
static size_t
block_bytes(const struct oracle *oracle, uint32_t from, uint32_t to)
{
	uint32_t key = to;

	if (!oracle->uneven)
		return oracle->shape.len_bytes;
	switch (oracle->shape.operation) {
	case PCOLL_GATHER:
	case PCOLL_GATHER_ALL: key = from; break;
	case PCOLL_EXCHANGE: key = 3 * from + to; break;
	default: break;
	}
	return (7 * key + 3) % 4 * oracle->shape.elem_bytes;
}

static bool
has_src_blocks(enum pcoll_operation operation, bool is_root)
{
	return operation == PCOLL_EXCHANGE || operation == PCOLL_REDUCE_SCATTER ||
	       (operation == PCOLL_SCATTER && is_root);
}

static bool
has_dst_blocks(enum pcoll_operation operation, bool is_root)
{
	return operation == PCOLL_EXCHANGE || operation == PCOLL_GATHER_ALL ||
	       (operation == PCOLL_GATHER && is_root);
}

static bool
has_src(enum pcoll_operation operation, bool is_root)
{
	return operation != PCOLL_BARRIER &&
	       (is_root || (operation != PCOLL_BROADCAST && operation != PCOLL_SCATTER));
}

static bool
has_dst(enum pcoll_operation operation, bool is_root)
{
	return operation != PCOLL_BARRIER &&
	       (is_root || (operation != PCOLL_REDUCE_TO_ONE && operation != PCOLL_GATHER));
}

/* Blocks one after the other; uneven ones with a gap before each, and those of src from the last
 * one down. */
static void
side_open(const struct oracle *oracle, uint32_t rank, bool is_src, struct oracle_side *side)
{
	const uint32_t size = oracle->shape.size;

	side->bytes = calloc(2 * (size_t)size, sizeof *side->bytes);
	if (!side->bytes)
		abort();
	side->at = side->bytes + size;
	for (uint32_t i = 0; i < size; i++) {
		const uint32_t other = oracle->uneven && is_src ? size - 1 - i : i;

		side->len_bytes += oracle->uneven ? oracle->shape.elem_bytes : 0;
		side->at[other] = side->len_bytes;
		side->bytes[other] = is_src ? block_bytes(oracle, rank, other)
		                            : block_bytes(oracle, other, rank);
		side->len_bytes += side->bytes[other];
	}
}

static void
member_open(struct oracle *oracle, uint32_t rank)
{
	const enum pcoll_operation operation = oracle->shape.operation;
	const uint32_t root = oracle->shape.root;
	const bool is_root = rank == root;

	if (has_src_blocks(operation, is_root))
		side_open(oracle, rank, true, &oracle->src[rank]);
	else if (has_src(operation, is_root))
		oracle->src[rank].len_bytes = block_bytes(oracle, rank, root);
	if (has_dst_blocks(operation, is_root))
		side_open(oracle, rank, false, &oracle->dst[rank]);
	else if (has_dst(operation, is_root))
		oracle->dst[rank].len_bytes = block_bytes(oracle, root, rank);
}

/* -- symbols ----------------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

static struct symbol
symbol_make(const struct oracle *oracle, uint32_t rank, size_t at, unsigned kind)
{
	const uint64_t seed = mix(((uint64_t)rank << 34) + ((uint64_t)at << 2) + kind + 1);

	return (struct symbol){ oracle->shape.ordered ? mix(seed) | 1 : 1,
		                mix(seed + 0x9e3779b9) };
}

struct symbol
oracle_operand(const struct oracle *oracle, uint32_t rank, size_t at)
{
	return symbol_make(oracle, rank, at, 0);
}

struct symbol
oracle_nothing(const struct oracle *oracle, uint32_t rank, size_t number)
{
	return symbol_make(oracle, rank, number, 2);
}

/* sums[rank] is the sum of the operands up to that rank. */
static void
sums_open(struct oracle *oracle)
{
	const size_t len_bytes = oracle->shape.len_bytes;

	oracle->sums = calloc(oracle->shape.size * len_bytes + 1, sizeof *oracle->sums);
	if (!oracle->sums)
		abort();
	for (uint32_t rank = 0; rank < oracle->shape.size; rank++)
		for (size_t at = 0; at < len_bytes; at++) {
			struct symbol *sum = &oracle->sums[rank * len_bytes + at];

			*sum = oracle_operand(oracle, rank, at);
			if (rank)
				*sum = symbol_combine(sum[-(ptrdiff_t)len_bytes], *sum);
		}
}

/* -- results ----------------------------------------------------------------------------------- */

/* Of a permutation: one of several, by the shape's root. */
static uint32_t
oracle_target(const struct pcoll_shape *shape, uint32_t rank)
{
	const uint32_t from = shape->root % 2 ? shape->size - 1 - rank : rank;

	return (from + shape->root) % shape->size;
}

static uint32_t
oracle_source(const struct pcoll_shape *shape, uint32_t rank)
{
	uint32_t source = 0;

	while (oracle_target(shape, source) != rank)
		source++;
	return source;
}

static struct symbol
sum_of_block(const struct oracle *oracle, uint32_t rank, size_t at)
{
	struct symbol sum = oracle_operand(oracle, 0, oracle->src[0].at[rank] + at);

	for (uint32_t from = 1; from < oracle->shape.size; from++)
		sum = symbol_combine(
			sum, oracle_operand(oracle, from, oracle->src[from].at[rank] + at));
	return sum;
}

/* Of whom the byte is, and where in its block; false: of nobody. */
static bool
block_find(const struct oracle *oracle, uint32_t rank, size_t *at, uint32_t *from_out)
{
	const struct oracle_side *dst = &oracle->dst[rank];

	for (uint32_t from = 0; from < oracle->shape.size; from++)
		if (*at >= dst->at[from] && *at - dst->at[from] < dst->bytes[from]) {
			*at -= dst->at[from];
			*from_out = from;
			return true;
		}
	return false;
}

bool
oracle_result(const struct oracle *oracle, uint32_t rank, size_t at, struct symbol *symbol_out)
{
	const struct pcoll_shape *shape = &oracle->shape;
	uint32_t from = shape->root;

	switch (shape->operation) {
	case PCOLL_BROADCAST:
		break;
	case PCOLL_SCATTER:
		at += oracle->src[from].at[rank];
		break;
	case PCOLL_GATHER:
	case PCOLL_GATHER_ALL:
		if (!block_find(oracle, rank, &at, &from))
			return false;
		break;
	case PCOLL_EXCHANGE:
		if (!block_find(oracle, rank, &at, &from))
			return false;
		at += oracle->src[from].at[rank];
		break;
	case PCOLL_PERMUTE:
		from = oracle_source(shape, rank);
		break;
	case PCOLL_REDUCE_SCATTER:
		*symbol_out = sum_of_block(oracle, rank, at);
		return true;
	case PCOLL_EXSCAN:
		if (!rank)
			return false;
		*symbol_out = oracle->sums[(rank - 1) * shape->len_bytes + at];
		return true;
	case PCOLL_SCAN:
		*symbol_out = oracle->sums[rank * shape->len_bytes + at];
		return true;
	default:
		*symbol_out = oracle->sums[(shape->size - 1) * shape->len_bytes + at];
		return true;
	}
	*symbol_out = oracle_operand(oracle, from, at);
	return true;
}

bool
oracle_overwrites(const struct oracle *oracle)
{
	switch (oracle->shape.operation) {
	case PCOLL_BROADCAST:
	case PCOLL_SCATTER:
	case PCOLL_GATHER:
	case PCOLL_GATHER_ALL: return false;
	default: return oracle->shape.in_place;
	}
}

/* -- the whole --------------------------------------------------------------------------------- */

struct oracle *
oracle_open(const struct pcoll_shape *shape, bool uneven)
{
	struct oracle *oracle = calloc(1, sizeof *oracle);

	if (!oracle)
		abort();
	oracle->shape = *shape;
	oracle->uneven = uneven;
	oracle->src = calloc(shape->size, sizeof *oracle->src);
	oracle->dst = calloc(shape->size, sizeof *oracle->dst);
	if (!oracle->src || !oracle->dst)
		abort();
	for (uint32_t rank = 0; rank < shape->size; rank++)
		member_open(oracle, rank);
	switch (shape->operation) {
	case PCOLL_REDUCE_TO_ONE:
	case PCOLL_REDUCE_TO_ALL:
	case PCOLL_SCAN:
	case PCOLL_EXSCAN: sums_open(oracle); break;
	default: break;
	}
	return oracle;
}

void
oracle_close(struct oracle *oracle)
{
	for (uint32_t rank = 0; rank < oracle->shape.size; rank++) {
		free(oracle->src[rank].bytes);
		free(oracle->dst[rank].bytes);
	}
	free(oracle->src);
	free(oracle->dst);
	free(oracle->sums);
	free(oracle);
}

struct pcoll_shape
oracle_shape(const struct oracle *oracle, uint32_t rank)
{
	const struct oracle_side *src = &oracle->src[rank], *dst = &oracle->dst[rank];
	struct pcoll_shape shape = oracle->shape;

	shape.rank = rank;
	shape.target = oracle_target(&shape, rank);
	if (!oracle->uneven)
		return shape;
	shape.src_list = (struct pcoll_list){ src->bytes, src->at };
	shape.dst_list = (struct pcoll_list){ dst->bytes, dst->at };
	if (src->bytes && dst->bytes)
		shape.len_bytes = 0;
	else if (src->bytes)
		shape.len_bytes = shape.operation == PCOLL_SCATTER ? src->bytes[rank]
		                                                   : dst->len_bytes;
	else if (dst->bytes)
		shape.len_bytes = dst->bytes[rank];
	else
		shape.len_bytes = shape.operation == PCOLL_SCATTER ? dst->len_bytes
		                                                   : src->len_bytes;
	return shape;
}

const struct oracle_side *
oracle_src(const struct oracle *oracle, uint32_t rank)
{
	return &oracle->src[rank];
}

const struct oracle_side *
oracle_dst(const struct oracle *oracle, uint32_t rank)
{
	return &oracle->dst[rank];
}
