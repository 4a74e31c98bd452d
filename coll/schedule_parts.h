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

/* The length of a piece: all of the vector if the shape does not say. */
size_t pcoll_piece_bytes(const struct pcoll_shape *shape);

/* Adds what brings a vector from the tree's root, where it is in buffer `from', to all others' dst,
 * piece by piece. */
void pcoll_add_down(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                    const struct pcoll_kin *kin, enum pcoll_buffer from);
/* Adds a broadcast: the same from src, and the root's own copy. */
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

/* Adds what tells the root of a tree that all members have come to it, and then all that it has
 * (schedule_barrier.c). */
void pcoll_add_barrier_up(struct pcoll_schedule *schedule, const struct pcoll_kin *kin);
void pcoll_add_barrier_down(struct pcoll_schedule *schedule, const struct pcoll_kin *kin);

/* -- two levels (schedule_levels.c), of shapes with a layout ----------------------------------- */

/* The tree of pcoll_kin_knomial from shape's root over the neighbourhoods, and over the members of
 * each under the one that leads it, which is the root in its own.  `run' and `child_run' are not
 * set. */
void pcoll_kin_levels(const struct pcoll_shape *shape, struct pcoll_kin *kin_out);

/* The shape of a stage of this member's neighbourhood, in which rank 0 leads; and of one of those
 * that lead, whose operands are in dst. */
struct pcoll_shape pcoll_shape_near(const struct pcoll_shape *shape);
struct pcoll_shape pcoll_shape_far(const struct pcoll_shape *shape);
/* The members of this one's neighbourhood, and the one that leads it in a tree from shape's root,
 * which leads its own. */
const uint32_t *pcoll_near_ranks(const struct pcoll_shape *shape, uint32_t *count_out);
uint32_t pcoll_near_lead(const struct pcoll_shape *shape);
void pcoll_stage_near_begin(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);
void pcoll_stage_far_begin(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);
/* Within such a stage: a reduction to all of those that lead, by doubling or, if long, by
 * halving (algorithms/reduce_to_all_levels.c). */
void pcoll_add_reduce_far(struct pcoll_schedule *schedule, const struct pcoll_shape *far);

/*
 * Blocks of the members of a neighbourhood, one after the other, as a message has them: in the view
 * of all blocks where the ranks follow each other; else *packed*, in a view of all blocks in the
 * order of the layout, from where `unpack' and to where `pack' copies them.  `order' copies them
 * from block `at' of any view to that of all.
 */
struct pcoll_span pcoll_span_of_nbrhd(const struct pcoll_shape *shape, uint32_t nbrhd, uint32_t all,
                                      uint32_t packed);
/* The view for packed blocks; empty where all ranks follow each other, so that none are packed. */
uint32_t pcoll_add_packed(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);
void pcoll_add_pack(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                    uint32_t nbrhd, uint32_t all, uint32_t packed);
void pcoll_add_unpack(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                      uint32_t nbrhd, uint32_t all, uint32_t packed);
void pcoll_add_order(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                     uint32_t nbrhd, uint32_t all, uint32_t from, uint32_t at);

/* Adds what brings to each member the sum of the neighbourhoods before its own, which are runs of
 * ranks; `sum' is that of its own, on its last member.  False: there are none before. */
bool pcoll_shape_is_in_runs(const struct pcoll_shape *shape);
bool pcoll_add_before(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                      struct pcoll_span sum, struct pcoll_span *before_out);

/* -- blocks of members (schedule_blocks.c) ----------------------------------------------------- */

/* Where the run of child i begins in its parent's run, which it is behind. */
uint32_t pcoll_child_place(const struct pcoll_kin *kin, uint32_t i);

/*
 * A run of blocks on its way between the root, which has them in the order of ranks, and a child of
 * the root.  Where the run goes beyond the last rank, it is two messages.
 */
struct pcoll_root_subtree {
	struct pcoll_span head, tail;
};

enum { PCOLL_SUBTREE_TAGS = 2 };

/* The run of the child with that rank, in a view of all blocks; and in the child's own view, which
 * begins with its run. */
struct pcoll_root_subtree pcoll_subtree_of_members(uint32_t view, uint32_t rank, uint32_t run,
                                                   uint32_t size);
struct pcoll_root_subtree pcoll_subtree_of_own(uint32_t view, uint32_t rank, uint32_t run,
                                               uint32_t size);

/* `add' is pcoll_add_send or pcoll_add_receive.  Takes the tags schedule->tags and the next. */
void pcoll_add_root_subtree(struct pcoll_schedule *schedule,
                        void (*add)(struct pcoll_schedule *schedule, struct pcoll_index peer,
                                    struct pcoll_index tag, struct pcoll_span span,
                                    struct pcoll_span like),
                        uint32_t peer, struct pcoll_root_subtree run);

/* The view of blocks from which an exchange sends: src, or in place a copy of it. */
uint32_t pcoll_add_exchange_source(struct pcoll_schedule *schedule,
                                   const struct pcoll_shape *shape);

/* -- halving and doubling (schedule_fold.c) ---------------------------------------------------- */

/* Adds a round in which each member sends `from' to the one `away' ranks above it, and gets into
 * `to' that of the one `away' below it, where there are such members. */
void pcoll_add_shift(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                     uint32_t away, struct pcoll_span from, struct pcoll_span to);

/* Adds what makes `before' the sum of `sum' of all ranks below, by doubling; rank 0 gets none.
 * `sum' changes, and `come' is for what comes. */
void pcoll_add_sums_before(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                           struct pcoll_span sum, struct pcoll_span come,
                           struct pcoll_span before);

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

/* The first step: the upper of a pair gives its operand, of so many blocks, to the lower. */
void pcoll_add_pair(struct pcoll_schedule *schedule, struct pcoll_work *work,
                    const struct pcoll_fold *fold, uint32_t rank, uint32_t blocks);

/* The views for a reduction whose result all get. */
void pcoll_work_to_all(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                       uint32_t parts, struct pcoll_work *work_out);
/* The last step of it: the upper of a pair gets the result from the lower. */
void pcoll_add_result(struct pcoll_schedule *schedule, const struct pcoll_work *work,
                      const struct pcoll_fold *fold, uint32_t blocks);

/* When halving has come to distance `below', member `number' has parts [first, first + blocks). */
void pcoll_halving_find(const struct pcoll_fold *fold, uint32_t number, uint32_t below,
                        uint32_t *first_out, uint32_t *blocks_out);
/* Adds halving, of a member with a number, under fold->steps tags from schedule->tags on.  The
 * first distance is 1, so that operands come in the order of ranks. */
void pcoll_add_halving(struct pcoll_schedule *schedule, const struct pcoll_fold *fold,
                       uint32_t rank, struct pcoll_work *work);

#endif
