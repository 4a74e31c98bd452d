/*
 * What a phase asks of a member, for the files that carry it out: cells_fill.c and cells_read.c.
 */
#ifndef PCOLL_CELLS_PHASE_H
#define PCOLL_CELLS_PHASE_H

#include "coll/cells_piece.h"
#include "coll/device.h"

/* What has become of a device that was to do it; a call without one is as one that declined. */
static inline enum pcoll_attempt_end
attempt_end(const struct cells_op *op)
{
	if (PSI_LIKELY(!op->call->attempt))
		return PCOLL_ATTEMPT_DECLINED;
	return (enum pcoll_attempt_end)atomic_load_explicit(
		&op->call->attempt->end,
		memory_order_acquire); /* V10: acquire, from V9 in attempt_finish */
}

static inline struct pcoll_cells_role
phase_role(const struct cells_op *op, uint64_t phase)
{
	const struct pcoll_cells_role sync = { .fills = true, .reads = PCOLL_READS_OTHERS };

	if (attempt_end(op) == PCOLL_ATTEMPT_DONE)
		return (struct pcoll_cells_role){ .reads = PCOLL_READS_NONE };
	return phase_is_sync(op, phase) ? sync : op->role;
}

/* Does it carry the blocks of a call with lists? */
static inline bool
phase_has_lists(const struct cells_op *op, uint64_t phase)
{
	return pcoll_call_has_lists(op->call) && !phase_is_sync(op, phase);
}

/* A member is never further ahead of what another needs; a count that seems to be is one that was
 * read 2^31 phases ago, or more. */
static inline bool
taken_suffices(uint32_t taken, uint32_t needed)
{
	return taken - needed < 2 * PSI_CELLS;
}

static inline bool
member_taken(struct peer *peer, uint32_t needed)
{
	if (taken_suffices(peer->taken, needed))
		return true;
	peer->taken = atomic_load_explicit(
		&peer->cells->taken, memory_order_acquire); /* V4: acquire, from V3 in phase_pass */
	return taken_suffices(peer->taken, needed);
}

/* cells_fill.c.  The member's own block, which is still to be copied. */
void pcoll_cells_copy_own(const struct pcoll_cells *cells, struct cells_op *op);

static inline void
cells_copy_own(const struct pcoll_cells *cells, struct cells_op *op)
{
	if (op->owes_own)
		pcoll_cells_copy_own(cells, op);
}

/* cells_fill.c.  Fills the only phase of a plain operation.  False: it has to wait. */
bool pcoll_cells_plain_fill(struct pcoll_cells *cells, struct cells_op *op);

#endif
