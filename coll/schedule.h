/*
 * Schedules: what one member of a team does in a collective, as data.
 *
 * A schedule is a list of *steps*.  A member sends a span of a buffer to another member, receives
 * one, copies, or combines two.  Sends and receives are only begun where they stand; a *round* ends
 * when all that was begun in it is done.  Copies and combinations are done at once, in their order.
 * A loop repeats its steps, and may have rounds in it; loops do not nest.  So most schedules are as
 * long as the logarithm of the team's size, however many messages they send; those that bring
 * together the blocks of two levels have some steps for each host, or member.
 *
 * A send meets the receive of the other member that has the same tag; two messages from one member
 * to another never have the same tag in one operation.  Nothing else orders messages.
 *
 * An algorithm is one function that builds the schedule of one member (coll/algorithms/).  The
 * executor carries it out (executor.h).  Tests carry out the schedules of all members and compare
 * the results (tests/unit/schedule_check.h).  schedule_price.h computes what a schedule costs.
 */
#ifndef PCOLL_SCHEDULE_H
#define PCOLL_SCHEDULE_H

#include "coll/layout.h"
#include "coll/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- what is asked for ------------------------------------------------------------------------- */

/* The lengths of members' blocks, and where they begin, by rank.  All NULL: blocks of one length,
 * one after the other. */
struct pcoll_list {
	const size_t *bytes, *at;
};

/* What a schedule is built for.  All but rank, target, in_place and lists is the same on all
 * members; with lists, so is not len_bytes. */
struct pcoll_shape {
	enum pcoll_operation operation;
	uint32_t size, rank;
	uint32_t root;                  /* where there is one */
	uint32_t target;                /* of a permutation */
	const struct pcoll_layout *layout;      /* NULL: all share memory */
	uint32_t hosts;                 /* neighbourhoods, as in layout.h */
	const char *mode;               /* "smp", or where there are several, what connects them */
	bool listed;                    /* members that have blocks have lists of them */
	struct pcoll_list src_list, dst_list;
	size_t len_bytes;               /* of the vector; where members have blocks, of this
	                                 * member's */
	size_t elem_bytes;              /* of its element, which is never divided */
	bool in_place;                  /* dst and src are the same; where one has blocks and the
	                                 * other is one, that is this member's block */
	bool ordered;                   /* operands are combined in the order of ranks */
	bool reproducible;              /* the client wants one grouping of them in all runs */
	bool device_only;               /* what the device declines is done elsewhere: by cells */
	uint32_t radix;                 /* of algorithms that have one; at least 2 */
	size_t piece_bytes;             /* of algorithms that work piece by piece; whole elements */
};

/* -- schedules --------------------------------------------------------------------------------- */

enum pcoll_buffer { PCOLL_SRC, PCOLL_DST, PCOLL_TMP };

/*
 * A buffer, from base_bytes on, divided into `count' blocks, in one of three ways:
 *     parts    all_bytes in whole elements, as equal as they can be, the longer ones first
 *     pieces   all_bytes in pieces of elem_bytes, the last one perhaps shorter
 *     listed   as the list says; spans have one block
 */
enum pcoll_division { PCOLL_PARTS, PCOLL_PIECES, PCOLL_LISTED };

struct pcoll_view {
	enum pcoll_buffer buffer;
	enum pcoll_division division;
	uint32_t count;
	size_t base_bytes, all_bytes, elem_bytes;
	struct pcoll_list list;
};

/* (at + i * step) mod `of' in iteration i of the loop; without modulo where `of' is 0. */
struct pcoll_index {
	uint32_t at;
	int32_t step;
	uint32_t of;
};

/* Some blocks of a view, one after the other. */
struct pcoll_span {
	uint32_t view;
	uint32_t blocks;                /* 0: no span */
	struct pcoll_index first;
};

enum pcoll_step_kind {
	PCOLL_STEP_SEND,                /* from */
	PCOLL_STEP_RECEIVE,             /* to */
	PCOLL_STEP_NOTIFY,              /* a message without bytes */
	PCOLL_STEP_AWAIT,               /* ... and its arrival */
	PCOLL_STEP_MEET,                /* the same, from any member, which is then PCOLL_FOUND */
	PCOLL_STEP_COPY,                /* to := from */
	PCOLL_STEP_COMBINE,             /* to := from op to */
	PCOLL_STEP_ROUND,               /* waits for all that was begun */
	PCOLL_STEP_LOOP,                /* the next `steps' steps, `count' times */
	PCOLL_STEP_DEVICE,              /* from, and to a result, by a device, if it can (device.h);
	                                 * peer is the root, or the one that leads there */
	PCOLL_STEP_UNLESS,              /* the next `steps' steps are left out if it has */
	PCOLL_STEP_COMPARE,             /* what a device gave, with `to', if it is asked to */
};

/* Whose steps these are: of those that lead hosts; of all members; of those of a host.  Phases of
 * the job's barriers are no calls of their team: each of their series has a line of its own
 * (executor.c), where LEADERS or ALL stands in the schedule. */
enum pcoll_device_line {
	PCOLL_LINE_LEADERS, PCOLL_LINE_ALL, PCOLL_LINE_HOST, PCOLL_LINE_PLAIN, PCOLL_LINE_NAMED,
	PCOLL_LINES
};

/* What a device does in a step: the result is at the root alone, or at all. */
enum pcoll_device_does {
	PCOLL_DEVICE_MEETS,             /* a barrier */
	PCOLL_DEVICE_MULTICASTS, PCOLL_DEVICE_REDUCES, PCOLL_DEVICE_REDUCES_TO_ALL,
	PCOLL_DEVICE_MEETS_UP, PCOLL_DEVICE_MEETS_DOWN, /* half a barrier: to the root; from it */
	/* One side has a block of each member, by their numbers, and the step is as long as one. */
	PCOLL_DEVICE_GATHERS_ALL, PCOLL_DEVICE_REDUCES_SCATTER,
	PCOLL_DEVICE_DECLINES           /* nothing: the hosts of the team are none for a device */
};

/* As a peer: the member that was met last, in a round before. */
#define PCOLL_FOUND UINT32_MAX

/* A step is as long as its shortest span; `like' serves for nothing else.  One of 0 bytes is left
 * out. */
struct pcoll_step {
	enum pcoll_step_kind kind;
	uint32_t count, steps;          /* of a loop */
	enum pcoll_device_line line;    /* of DEVICE and COMPARE */
	enum pcoll_device_does does;
	struct pcoll_index peer, tag;
	struct pcoll_span from, to, like;
};

enum { PCOLL_VIEWS = 12 };

/* All zero is an empty schedule. */
/* While one is built: for which members the steps are.  All zero: for those of the team. */
struct pcoll_group {
	const uint32_t *ranks;          /* peers are numbers of these */
	bool from_dst;                  /* src is dst */
	size_t dst_bytes;               /* where dst begins in that of the team */
};

struct pcoll_schedule {
	struct pcoll_step *step;
	uint32_t steps, room_steps;
	uint32_t loop;                  /* while one is built: its step, plus 1 */
	struct pcoll_group group;
	uint32_t views;
	struct pcoll_view view[PCOLL_VIEWS];
	size_t tmp_bytes;               /* of scratch memory */
	uint32_t tags;                  /* used so far: the next part of the schedule begins here */
	uint32_t unless;                /* while one is built: its step, plus 1 */
	uint32_t hello_tag;             /* of a message that a member gets once, plus 1; 0: none */
	bool lacks_memory;              /* steps are missing */
};

/* Gives back the room for further steps. */
void pcoll_schedule_trim(struct pcoll_schedule *schedule);
/* Frees its memory, and leaves it empty. */
void pcoll_schedule_close(struct pcoll_schedule *schedule);

/* -- building ---------------------------------------------------------------------------------- */

/* These return the number of the view. */
uint32_t pcoll_view_parts(struct pcoll_schedule *schedule, enum pcoll_buffer buffer,
                          uint32_t count, size_t elem_bytes, size_t all_bytes);
uint32_t pcoll_view_pieces(struct pcoll_schedule *schedule, enum pcoll_buffer buffer,
                           size_t piece_bytes, size_t all_bytes);
/* Scratch memory for that many blocks of that length, in front of which no other view lies. */
uint32_t pcoll_view_tmp(struct pcoll_schedule *schedule, uint32_t count, size_t block_bytes);
/* ... and for a vector as long as the shape's, in as many parts. */
uint32_t pcoll_view_tmp_parts(struct pcoll_schedule *schedule, uint32_t count,
                              const struct pcoll_shape *shape);
/* The whole vector as one block. */
uint32_t pcoll_view_vector(struct pcoll_schedule *schedule, enum pcoll_buffer buffer,
                           const struct pcoll_shape *shape);
/* A block for each member, by rank; as the shape's list of src or dst says, if it has one. */
uint32_t pcoll_view_members(struct pcoll_schedule *schedule, enum pcoll_buffer buffer,
                            const struct pcoll_shape *shape);

/* Where a block begins in the view's buffer; or, with the number of blocks, where the last ends. */
size_t pcoll_view_offset(const struct pcoll_schedule *schedule, uint32_t view, uint32_t number);

static inline struct pcoll_index
pcoll_at(uint32_t at)
{
	return (struct pcoll_index){ .at = at };
}

/* at, at + step, ... */
static inline struct pcoll_index
pcoll_from(uint32_t at, int32_t step)
{
	return (struct pcoll_index){ .at = at, .step = step };
}

/* The same modulo `of'. */
static inline struct pcoll_index
pcoll_around(uint32_t at, int32_t step, uint32_t of)
{
	return (struct pcoll_index){ .at = at, .step = step, .of = of };
}

static inline struct pcoll_span
pcoll_span(uint32_t view, struct pcoll_index first, uint32_t blocks)
{
	return (struct pcoll_span){ .view = view, .blocks = blocks, .first = first };
}

static inline struct pcoll_span
pcoll_block(uint32_t view, struct pcoll_index which)
{
	return pcoll_span(view, which, 1);
}

/* The whole vector as a span. */
static inline struct pcoll_span
pcoll_vector(struct pcoll_schedule *schedule, enum pcoll_buffer buffer,
             const struct pcoll_shape *shape)
{
	return pcoll_block(pcoll_view_vector(schedule, buffer, shape), pcoll_at(0));
}

static inline struct pcoll_span
pcoll_no_span(void)
{
	return (struct pcoll_span){ .blocks = 0 };
}

void pcoll_add_send(struct pcoll_schedule *schedule, struct pcoll_index peer,
                    struct pcoll_index tag, struct pcoll_span from, struct pcoll_span like);
void pcoll_add_receive(struct pcoll_schedule *schedule, struct pcoll_index peer,
                       struct pcoll_index tag, struct pcoll_span to, struct pcoll_span like);
void pcoll_add_notify(struct pcoll_schedule *schedule, struct pcoll_index peer,
                      struct pcoll_index tag);
void pcoll_add_await(struct pcoll_schedule *schedule, struct pcoll_index peer,
                     struct pcoll_index tag);
void pcoll_add_meet(struct pcoll_schedule *schedule, struct pcoll_index tag);
void pcoll_add_copy(struct pcoll_schedule *schedule, struct pcoll_span to,
                    struct pcoll_span from);
/* The whole vector from src to dst. */
void pcoll_add_own_copy(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);
/* to := left op to. */
void pcoll_add_combine(struct pcoll_schedule *schedule, struct pcoll_span left,
                       struct pcoll_span to, struct pcoll_span like);
void pcoll_add_round(struct pcoll_schedule *schedule);
/* The steps between the two are repeated; none with count 0. */
void pcoll_loop_begin(struct pcoll_schedule *schedule, uint32_t count);
void pcoll_loop_end(struct pcoll_schedule *schedule);

/* A device step, from and to blocks of one length or none; behind it, the steps between the other
 * two are left out where the device has done it.  No loops lie around them.  One that DECLINES
 * stands alone. */
struct pcoll_device_step {
	enum pcoll_device_line line;
	enum pcoll_device_does does;
	uint32_t root;
	struct pcoll_span from, to;
};

void pcoll_add_device(struct pcoll_schedule *schedule, const struct pcoll_device_step *device);
void pcoll_unless_begin(struct pcoll_schedule *schedule);
void pcoll_unless_end(struct pcoll_schedule *schedule);
/* Behind these: the device compares what it gave with what is there now, of all rounds before. */
void pcoll_add_compare(struct pcoll_schedule *schedule, const struct pcoll_device_step *device);

/*
 * A *stage* is a part of a schedule with tags of its own, and may be of some members alone: an
 * algorithm for a smaller team builds it with their numbers for ranks.  In it, peers do not depend
 * on the iteration.  All members begin the same stages, also those that have nothing to do in one.
 * The end of a stage is the end of a round.
 */
void pcoll_stage_begin(struct pcoll_schedule *schedule, struct pcoll_group group);
void pcoll_stage_end(struct pcoll_schedule *schedule);

/* -- reading ----------------------------------------------------------------------------------- */

/* A step of one iteration. */
struct pcoll_act {
	enum pcoll_step_kind kind;      /* never a loop */
	uint32_t peer, tag;             /* peer may be PCOLL_FOUND */
	enum pcoll_buffer from, to;     /* those that the kind has */
	size_t from_bytes, to_bytes;    /* offsets */
	size_t len_bytes;
	uint32_t steps;                 /* of UNLESS */
	enum pcoll_device_line line;    /* of DEVICE and COMPARE */
	enum pcoll_device_does does;
};

static inline bool
pcoll_act_sends(const struct pcoll_act *act)
{
	return act->kind == PCOLL_STEP_SEND || act->kind == PCOLL_STEP_NOTIFY;
}

/* Where a reader is; all zero is the beginning. */
struct pcoll_cursor {
	uint32_t next;
	uint32_t loop_first, loop_end;  /* loop_end is 0 outside of loops */
	uint32_t iteration, iterations;
};

/* False at the end. */
bool pcoll_cursor_next(const struct pcoll_schedule *schedule, struct pcoll_cursor *cursor,
                       struct pcoll_act *act_out);
/* Behind the act UNLESS: leaves its steps out. */
void pcoll_cursor_leave_out(struct pcoll_cursor *cursor, const struct pcoll_act *act);

/* -- algorithms -------------------------------------------------------------------------------- */

/* One algorithm.  `build' adds the steps of one member. */
struct pcoll_builder {
	enum pcoll_operation operation;
	const char *name, *summary;
	bool has_radix, has_pieces;     /* it reads shape's radix, or piece_bytes */
	bool serves_lists;
	bool reorders;                  /* operands are combined in another order than the ranks' */
	bool has_levels;                /* it reads shape's layout, and serves shapes with one that
	                                 * has levels */
	bool has_device;                /* members take device steps; it reads a layout where there
	                                 * is one, with levels or without */
	/* Does it serve such a shape?  All members answer alike.  NULL: it does. */
	bool (*serves)(const struct pcoll_shape *shape);
	void (*build)(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);
};

/* Adds a barrier, by dissemination; by two levels, of a shape with a layout; by these if it has
 * one. */
void pcoll_add_barrier(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);
void pcoll_add_barrier_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);
void pcoll_add_meeting(struct pcoll_schedule *schedule, const struct pcoll_shape *shape);

#endif
