/* What several algorithms add to their schedules. */
#ifndef PCOLL_SCHEDULE_PARTS_H
#define PCOLL_SCHEDULE_PARTS_H

#include "coll/schedule.h"

enum { PCOLL_RADIX_MOST = 16, PCOLL_CHILDREN = 128 };

/* The place of a rank in the order root, root + 1, ..., modulo the size; and which rank has a
 * place. */
static inline uint32_t
pcoll_place_of(uint32_t rank, uint32_t size, uint32_t root)
{
	return (uint32_t)(((uint64_t)rank + size - root) % size);
}

static inline uint32_t
pcoll_rank_at(uint64_t place, uint32_t size, uint32_t root)
{
	return (uint32_t)((place + root) % size);
}

/* -- trees (schedule_tree.c) ------------------------------------------------------------------- */

/*
 * A member of a tree over the members in the order root, root + 1, ..., modulo the size.  Its
 * subtree is a *run* of that order, which it begins; behind it come the runs of its children, in
 * their order.
 */
struct pcoll_kin {
	bool is_root;
	uint32_t parent;                /* these are ranks */
	uint32_t children;
	uint32_t child[PCOLL_CHILDREN];
	uint32_t run;                   /* lengths, in members */
	uint32_t child_run[PCOLL_CHILDREN];
};

/* radix is 2 to PCOLL_RADIX_MOST: the children of a member have runs of radix^i members, radix - 1
 * of each length. */
void pcoll_kin_knomial(uint32_t rank, uint32_t size, uint32_t root, uint32_t radix,
                       struct pcoll_kin *kin_out);
/* Two children, each with half of what is behind the member. */
void pcoll_kin_binary(uint32_t rank, uint32_t size, uint32_t root, struct pcoll_kin *kin_out);
void pcoll_kin_chain(uint32_t rank, uint32_t size, uint32_t root, struct pcoll_kin *kin_out);

/* Adds a broadcast down the tree of the shape's root, piece by piece. */
void pcoll_add_broadcast(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                         const struct pcoll_kin *kin);
/* The root of the tree by which a reduction goes: rank 0 where the order counts. */
static inline uint32_t
pcoll_reduce_top(const struct pcoll_shape *shape)
{
	return shape->ordered ? 0 : shape->root;
}

/* Adds a reduction up the tree of that root, piece by piece, in the order of the tree. */
void pcoll_add_reduce(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                      const struct pcoll_kin *kin);

/* -- halving and doubling (schedule_fold.c) ---------------------------------------------------- */

/*
 * The largest power of two that fits into the size, of members with *numbers*.  Where there are
 * more, the first `pairs' times two members form pairs; the upper of a pair has no number, and the
 * lower one works for both.  Numbers have the order of ranks.
 */
struct pcoll_fold {
	uint32_t power, pairs;
	uint32_t steps;                 /* power is 2^steps */
	bool has_number;
	uint32_t number;
	uint32_t twin;                  /* the other of the pair, a rank; or UINT32_MAX */
};

void pcoll_fold_find(uint32_t rank, uint32_t size, struct pcoll_fold *fold_out);
uint32_t pcoll_fold_rank(const struct pcoll_fold *fold, uint32_t number);

/* Views of the vector that a reduction works on, all divided alike. */
struct pcoll_work {
	uint32_t src, sum, tmp;
	bool in_src;                    /* sum has nothing yet: this member's operand is in src */
	bool ordered;
};

/*
 * Sends some blocks of this member's to a peer, receives others from it, and combines them with
 * its own in `sum', in the order of ranks if that is asked for.  Either may be none.
 */
void pcoll_add_trade(struct pcoll_schedule *schedule, struct pcoll_work *work, uint32_t rank,
                     uint32_t peer, uint32_t tag, uint32_t send_first, uint32_t send_blocks,
                     uint32_t keep_first, uint32_t keep_blocks);

/* The first step: the upper of a pair gives its operand to the lower, under schedule->tags. */
void pcoll_add_pair(struct pcoll_schedule *schedule, struct pcoll_work *work,
                    const struct pcoll_fold *fold, uint32_t rank);

#endif
