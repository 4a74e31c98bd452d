/*
 * A member's side of the collectives by cells, for the files that advance it: cells.c and what it
 * calls.
 */
#ifndef PCOLL_CELLS_SIDE_H
#define PCOLL_CELLS_SIDE_H

#include "coll/cells.h"
#include "coll/groups.h"

/* A cell's head is the phase, counted from 1, above whether the cell is direct and the lower bits
 * of how many phases its member has passed. */
enum {
	CELLS_HEAD_TAKEN_BITS = 23,
	CELLS_HEAD_TAKEN_MASK = (1 << CELLS_HEAD_TAKEN_BITS) - 1,
	CELLS_HEAD_DIRECT = 1 << CELLS_HEAD_TAKEN_BITS,
	CELLS_HEAD_PHASE_AT = CELLS_HEAD_TAKEN_BITS + 1,
	CELLS_AWAITED_RANK_MASK = (1 << CELLS_HEAD_PHASE_AT) - 1,
};

/* Blocks for which cells are direct: where they are read by loads, and where by the kernel
 * (docs/performance.md, Collectives). */
enum { CELLS_DIRECT_BYTES = 16 << 10, CELLS_DIRECT_KERNEL_BYTES = 64 << 10 };

struct cells_op {
	struct cells_op *next;          /* younger; or spare */
	const struct pcoll_call *call;  /* or a part of it */
	struct pcoll_call kept;         /* its copy; not used while `call' is the client's record */
	size_t call_bytes;              /* length of the whole call */
	const struct pcoll_cells_kind *kind;
	struct pcoll_cells_role role;   /* this member's, in phases that carry something */
	size_t piece_bytes;             /* the most that a phase carries of a block */
	size_t in_cell;                 /* blocks of which a cell has a piece */
	uint64_t first, phases;         /* of the team's */
	uint32_t number;                /* of the call on its team */
	gex_Rank_t reads;               /* cells of the phase that is read, known to be read */
	bool own_is_in_src;             /* src still holds the own operand when it is read */
	bool keeps_first;               /* of operands, the first is not copied */
	bool first_is_only;             /* in this phase one operand is read */
	const void *first_operand;      /* valid from the first read of a phase until the second */
	unsigned results;               /* PCOLL_CELLS_ bits */
	uint64_t word;                  /* what its cells say of the call */
	bool owes_own;                  /* its own block is still to be copied */
	bool is_direct;                 /* this member's cells are, once it has filled one */
	bool is_plain;                  /* one phase, whose cells are lines for all, and no
	                                 * device */
	bool has_remainder;             /* of a call with lists: some block that this member has or
	                                 * wants goes by messages ... */
	struct pcoll_op *remainder;     /* ... these; NULL: not started yet */
	uint64_t remainder_use;
	size_t *remainder_list;         /* [2 * size] at the root of a gather: bytes and offsets of
	                                 * such blocks; or NULL */
	struct pcoll_pace *pace;        /* NULL: its copies are not timed */
	bool is_one_way;                /* one of two gives, and the kernel may copy that; to who
	                                 * gives: src is not mapped either */
	bool offers, has_offered, front_is_read;        /* the reader of such a block, which both
	                                                 * may copy (cells_halves.c) */
	/* Where there is a pace: the time between this member's last operation with a pace and this
	 * one, and what the pieces that it has read so far took their owner and itself. */
	uint64_t gap_ticks, filled_ticks, read_ticks;
	bool by_loads;                  /* some were read by loads, which has no pace */
};

/* Times of the last payloads that went one way, in ticks for 64 KiB; 0: none. */
enum { PCOLL_RECENT = 4 };

struct pcoll_recent {
	uint64_t ticks[PCOLL_RECENT];
	unsigned added;
};

/* Of payloads between two powers of two bytes: how the reader compares the kernel's copies with
 * rooms, and how the owner follows its wish (cells_kernel.c). */
struct pcoll_pace {
	struct pcoll_recent kernel, halves, rooms;
	struct pcoll_recent *way, *last;        /* of the operation that is read, and of the one
	                                         * before; NULL: there was none */
	bool wants_alone;               /* the reader of a scatter: without the giver's help */
	uint64_t peers_gap_ticks;       /* as its owner tells, before the operation that is read */
	unsigned given, taken;          /* operations whose way this member has chosen, as the
	                                 * owner and as the reader */
};

/* Operations in which all give, gathers, and scatters have a set each. */
enum { PCOLL_PACES_ALL, PCOLL_PACES_GATHER, PCOLL_PACES_SCATTER, PCOLL_PACE_SETS };
enum { PCOLL_PACES = 8 };

/* What this member knows of another. */
struct peer {
	struct psi_cells *cells;
	unsigned char *room;            /* NULL: not mapped yet */
	uint32_t place;
	bool is_here;                   /* a member of this process */
	uint32_t taken;                 /* phases; the lower bits, at least */
	bool is_out_of_reach;           /* its direct cells are refused */
	uint64_t answered;              /* what it has refused: the last that was seen to */
};

/* A member of another process, which may sleep. */
struct pcoll_sleeper {
	const uint32_t *word;           /* bit 0: it sleeps, or it is always woken */
	uint32_t place;
};

struct pcoll_cells {
	/* Constant for a team. */
	gex_TM_t tm;
	gex_Rank_t size, rank;
	struct peer *peers;             /* [size]; its own too */
	struct pcoll_sleeper *sleepers; /* [sleeper_count] */
	gex_Rank_t sleeper_count;
	struct psi_cells *own;          /* its own */
	bool all_here;                  /* members of this process */
	bool all_near;                  /* members that have mapped each other's segments */
	struct pcoll_groups groups;
	unsigned char *partial;         /* what its group has combined, if it leads one of
	                                 * several */
	/* The thread that advances it alone uses these. */
	uint64_t filled, taken;         /* phases: their cell is filled, if it is to be; passed */
	struct psi_distance distance;   /* of those who read its cells */
	uint64_t room_until;            /* phases whose cells are known to be free to be filled */
	uint32_t direct;                /* operations under way with direct cells of this member */
	bool is_refused;                /* its direct cells are, by some member */
	uint64_t missing;               /* the cell that was not there when it last read, as
	                                 * `awaited' */
	bool is_carried_out;            /* what was started last is, as far as can be, and others
	                                 * have not been told of it */
	bool has_refused;               /* ... in this step, and has not told of it */
	unsigned char *bounce;          /* for operands that the kernel reads; NULL: none yet */
	struct pcoll_pace paces[PCOLL_PACE_SETS * PCOLL_PACES];
	uint64_t paced_end;             /* ticks when the last operation with a pace ended; 0: none
	                                 * has */
	struct cells_op *oldest, *newest;       /* under way */
	struct cells_op *filling;       /* the oldest with cells to be filled; or NULL */
	/* Under the lock. */
	struct psi_spinlock lock;
	bool busy;                      /* a thread advances it */
	bool others_look;               /* ... and others want to, when it is done */
	struct cells_op *inbox, **inbox_last;   /* started, and not under way yet */
	struct cells_op *spare;
	uint64_t ahead;                 /* phases of the operations that have been started */
	/* Any thread reads these. */
	_Atomic bool has_inbox;
	_Atomic bool lags;              /* others may wait for what has not been done yet */
	_Atomic uint64_t started, finished;     /* operations */
	/* The one cell for which all operations wait: its phase, counted from 1, above the rank of
	 * its member; 0: they may wait for something else too. */
	_Atomic uint64_t awaited;
	/* Under the lock of the list. */
	bool is_behind;
	uint64_t walk;                  /* the last that has come by */
	struct pcoll_cells *next;       /* in it, or among the free ones */
};

/* A member's line of the phase that is read. */
static inline const struct psi_cell_line *
cells_line_read(const struct pcoll_cells *cells, gex_Rank_t from)
{
	return &cells->peers[from].cells->line[cells->taken % PSI_CELLS];
}

static inline void
cells_lock(struct pcoll_cells *cells)
{
	if (psi.threaded)
		psi_spinlock_lock(&cells->lock);
}

static inline void
cells_unlock(struct pcoll_cells *cells)
{
	if (psi.threaded)
		psi_spinlock_unlock(&cells->lock);
}

static inline uint64_t
pcoll_cells_finished(const struct pcoll_cells *cells)
{
	return atomic_load_explicit(&cells->finished,
	                            memory_order_acquire); /* V6: acquire, from V5 in
	                                                   * pcoll_cells_count_finished */
}

/* cells_start.c, by the thread that advances it but for a start without the turn.  The first takes
 * what others have started.  The second starts a call; returns the number of its operation, or of
 * the last of these, counted from 1. */
void pcoll_cells_inbox_take(struct pcoll_cells *cells);
uint64_t pcoll_cells_ops_start(struct pcoll_cells *cells, const struct pcoll_call *call,
                               const struct pcoll_cells_kind *kind, bool has_turn);

/* cells_read.c.  Carries out a plain operation that is the only one, as far as cells are there.
 * True: its phase is passed.  Else it is to be put behind `oldest'; *filled_out: its phase is
 * filled. */
bool pcoll_cells_carry_out(struct pcoll_cells *cells, struct cells_op *op, bool *filled_out);
/* One more is finished. */
void pcoll_cells_count_finished(struct pcoll_cells *cells);
/* The operation, which is in no list, has passed its phases. */
void pcoll_cells_op_end(struct pcoll_cells *cells, struct cells_op *op);
/* Operation, synchronisation and bytes of the whole call, which all members agree on. */
uint64_t pcoll_cells_word(const struct pcoll_call *call, size_t call_bytes);

/* cells_fill.c, cells_read.c: fill what may be filled, and read what is there.  True: something has
 * changed.  By the thread that advances it. */
bool pcoll_cells_fill(struct pcoll_cells *cells);
bool pcoll_cells_read(struct pcoll_cells *cells);
/* Divides a call; returns how many parts it has, 0 for none.  cells may be NULL before the first
 * call. */
unsigned pcoll_cells_parts(const struct pcoll_cells *cells, const struct pcoll_call *call,
                           const struct pcoll_cells_kind *kind,
                           struct pcoll_cells_part parts[PCOLL_CELLS_PARTS]);
/* The room for a phase of a member: one's own, or one that is filled. */
unsigned char *pcoll_cells_room(struct pcoll_cells *cells, gex_Rank_t rank, uint64_t phase);

/* -- direct cells (cells_direct.c); by the same thread ----------------------------------------- */

/* Do the others read its src by loads: is it in a segment, or are all in this process? */
bool pcoll_cells_src_is_mapped(const struct pcoll_cells *cells, const struct cells_op *op);
/* Will this member's cells of the operation be direct? */
bool pcoll_cells_fills_direct(struct pcoll_cells *cells, const struct cells_op *op);
/* Fills the cell that is next. */
void pcoll_cells_fill_direct(struct pcoll_cells *cells, const struct cells_op *op);
/* Reads the filled cell of `from' in the phase that is read.  False: it has to wait. */
bool pcoll_cells_read_direct(struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from);
/* Fills rooms of phases that others have refused, and copies what a reader has offered.  True:
 * something has changed. */
bool pcoll_cells_answer(struct pcoll_cells *cells);

/* -- blocks that both copy (cells_halves.c); by the same thread -------------------------------- */

enum pcoll_halves { PCOLL_HALVES_READ, PCOLL_HALVES_WAIT, PCOLL_HALVES_REFUSED };

/* The reader's: offers a part, once; reads the block at `src' of the giver, but for what that
 * copies, and sets read_ticks to what the longer part took; and takes its offer back.  False: the
 * giver is copying. */
void pcoll_cells_halves_offer(struct pcoll_cells *cells, struct cells_op *op);
enum pcoll_halves pcoll_cells_halves_read(struct pcoll_cells *cells, struct cells_op *op,
                                          uintptr_t src);
bool pcoll_cells_halves_withdraw(struct pcoll_cells *cells);
/* The giver's: the phase that the other member's offer is of; copies what is offered.  False: it
 * is not any more. */
uint64_t pcoll_cells_halves_phase(const struct pcoll_cells *cells);
bool pcoll_cells_halves_help(struct pcoll_cells *cells, const struct cells_op *op);

/* -- the kernel's copies (cells_kernel.c); by the same thread ---------------------------------- */

/* Lets the others reach this process's memory by the kernel, before they are told where. */
void pcoll_cells_card_show(struct pcoll_cells *cells);
/* Sets `is_one_way', `offers' and `pace', before an operation's first cell. */
void pcoll_cells_pace_choose(struct pcoll_cells *cells, struct cells_op *op);
/* An operation that has a pace has ended. */
void pcoll_cells_pace_end(struct pcoll_cells *cells);
/* Is the kernel to read this member's src?  Asked once for each operation, and counted. */
bool pcoll_cells_kernel_choose(struct pcoll_cells *cells, const struct cells_op *op);
/* The reader's, of an operation that has a pace.  Adds the time of a piece in the other member's
 * cell, which it began to read at `start'.  That of a block which both copy is there already. */
void pcoll_cells_pace_read(struct pcoll_cells *cells, struct cells_op *op, size_t len_bytes,
                           bool is_direct, uint64_t start);
/* Files the time of an operation whose last piece has been read, and tells the owner if this member
 * wants the other way from now on. */
void pcoll_cells_pace_judge(struct pcoll_cells *cells, const struct cells_op *op);

/* -- blocks of any lengths (cells_blocks.c); by the same thread -------------------------------- */

/* Fills the cell that is next with the blocks of this member. */
void pcoll_cells_blocks_fill(struct pcoll_cells *cells, struct cells_op *op);
/* Reads the filled cell of `from' in the phase that is read. */
void pcoll_cells_block_read(struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from);
/* Copies this member's own block. */
void pcoll_cells_block_copy_own(const struct pcoll_cells *cells, const struct cells_op *op);
/* All cells have been read.  True: nothing goes by messages any more. */
bool pcoll_cells_remainder_is_over(struct pcoll_cells *cells, struct cells_op *op);

static inline bool
cells_op_may_be_direct(const struct cells_op *op)
{
	return op->call->len_bytes >= CELLS_DIRECT_BYTES && !pcoll_call_has_lists(op->call);
}

/* May others wait for this member to read, or for its messages? */
static inline bool
cells_op_is_awaited(const struct cells_op *op)
{
	return cells_op_may_be_direct(op) || pcoll_call_has_lists(op->call);
}

#endif
