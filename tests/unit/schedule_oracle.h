/*
 * What members have before a collective, in symbols, and what they should have after it.
 *
 * A byte's symbol is a function x -> a x + b over 64-bit numbers, made of random numbers of the
 * member and the byte.  To combine two is to apply one behind the other, which is associative and
 * does not commute; where the order does not matter, a is 1.  Two results are the same if the same
 * operands were combined in the same order, but for one chance in 2^60 or so.
 */
#ifndef SCHEDULE_ORACLE_H
#define SCHEDULE_ORACLE_H

#include "coll/schedule.h"

struct symbol {
	uint64_t a, b;
};

static inline struct symbol
symbol_combine(struct symbol left, struct symbol right)
{
	return (struct symbol){ left.a * right.a, left.a * right.b + left.b };
}

static inline bool
symbol_is(struct symbol one, struct symbol other)
{
	return one.a == other.a && one.b == other.b;
}

/* One side of a member: its length, and the blocks for or from each member, where it has such. */
struct oracle_side {
	size_t len_bytes;
	size_t *bytes, *at;             /* NULL: one vector */
};

/* All members of a team. */
struct oracle;

/* uneven: blocks have different lengths, some of 0, and lie apart, as lists say. */
struct oracle *oracle_open(const struct pcoll_shape *shape, bool uneven);
void oracle_close(struct oracle *oracle);

/* The shape of one member. */
struct pcoll_shape oracle_shape(const struct oracle *oracle, uint32_t rank);
const struct oracle_side *oracle_src(const struct oracle *oracle, uint32_t rank);
const struct oracle_side *oracle_dst(const struct oracle *oracle, uint32_t rank);

/* Byte `at' of the member's operand. */
struct symbol oracle_operand(const struct oracle *oracle, uint32_t rank, size_t at);
/* What byte `number' of a member's memory is before it is written. */
struct symbol oracle_nothing(const struct oracle *oracle, uint32_t rank, size_t number);
/* Byte `at' of its result; false where dst is not to be written. */
bool oracle_result(const struct oracle *oracle, uint32_t rank, size_t at,
                   struct symbol *symbol_out);
/* Does the result overwrite the operand in place? */
bool oracle_overwrites(const struct oracle *oracle);

#endif
