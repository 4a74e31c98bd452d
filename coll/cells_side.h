/*
 * A member's side of the collectives by cells, for the two files that advance it: cells.c and
 * cells_phase.c.
 */
#ifndef PCOLL_CELLS_SIDE_H
#define PCOLL_CELLS_SIDE_H

#include "coll/cells.h"

/* A cell's head is the phase, counted from 1, above the lower bits of how many phases its member
 * has passed. */
enum {
	CELLS_HEAD_TAKEN_BITS = 24,
	CELLS_HEAD_TAKEN_MASK = (1 << CELLS_HEAD_TAKEN_BITS) - 1,
};

struct cells_op {
	struct cells_op *next;          /* younger; or spare */
	struct pcoll_call call;         /* or a part of it */
	size_t call_bytes;              /* length of the whole call */
	const struct pcoll_cells_kind *kind;
	uint64_t first, phases;         /* of the team's */
	uint32_t number;                /* of the call on its team */
	gex_Rank_t reads;               /* cells of the phase that is read, known to be read */
	bool sends_result;              /* of the operation before */
};

/* What this member knows of another. */
struct peer {
	struct psi_cells *cells;
	unsigned char *room;            /* NULL: not mapped yet */
	const uint32_t *sleep_word;     /* NULL: there is none */
	uint32_t place;
	bool is_here;                   /* a member of this process */
	uint32_t taken;                 /* phases; the lower bits, at least */
};

struct pcoll_cells {
	/* Constant for a team. */
	gex_TM_t tm;
	gex_Rank_t size, rank;
	struct peer *peers;             /* [size]; its own too */
	/* The thread that advances it alone uses these. */
	uint64_t filled, taken;         /* phases: their cell is filled, if it is to be; passed */
	struct psi_distance distance;   /* of those who read its cells */
	uint64_t room_until;            /* phases whose cells are known to be free to be filled */
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
	/* Under the lock of the list. */
	bool is_behind;
	uint64_t walk;                  /* the last that has come by */
	struct pcoll_cells *next;       /* in it, or among the free ones */
};

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

/* cells_phase.c: fill what may be filled, and read what is there.  True: something has changed.  By
 * the thread that advances it. */
bool pcoll_cells_fill(struct pcoll_cells *cells);
bool pcoll_cells_read(struct pcoll_cells *cells);

#endif
