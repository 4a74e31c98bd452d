/*
 * How calls become operations by cells.  A plain call that finds nothing under way is carried out
 * at once, with a record on the stack.  The thread that advances a team's cells puts its other
 * calls behind the rest at once.  One that finds another thread at it puts its call into the inbox.
 */
#include "coll/cells_piece.h"
#include "coll/device.h"

#include <stdlib.h>

/* -- pieces and parts -------------------------------------------------------------------------- */

/* A message brings a long payload to its one reader sooner (docs/performance.md, Collectives); but
 * for an exchange of two, in which each reads all that the other has in a room. */
static bool
messages_are_sooner(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	return call->len_bytes > PSI_CELL_ROOM_BYTES &&
	       (kind->names_reader ||
	        (kind->src_blocks && kind->dst_blocks && call->tm->size > 2));
}

/* Blocks that lists describe have one phase (cells_blocks.c). */
static bool
call_fits_line(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	return call->len_bytes <= line_most(kind) &&
	       call->len_bytes * pieces_in_cell(call, kind) <= line_most(kind) &&
	       !pcoll_call_has_lists(call);
}

/* The length that all members agree on. */
static inline size_t
agreed_bytes(const struct pcoll_call *call)
{
	return PSI_UNLIKELY(pcoll_call_has_lists(call)) ? 0 : call->len_bytes;
}

/* Is it one phase, whose cells are lines for all, and no device's? */
static inline bool
call_is_plain(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	return call_fits_line(call, kind) && !(call->in_all | call->out_all) &&
	       !kind->names_reader && !call->attempt;
}

uint64_t
pcoll_cells_pieces(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	const size_t len_bytes = call->len_bytes;
	size_t most;

	if (call_fits_line(call, kind))
		return 1;
	/* A member that fills a room may end before others have mapped it. */
	if (!pboot_range_outlives_maker())
		return 0;
	if (pcoll_call_has_lists(call))
		return 1;
	most = piece_most(call, kind);
	if (!most || messages_are_sooner(call, kind))
		return 0;
	return (len_bytes + most - 1) / most;
}

unsigned
pcoll_cells_parts(const struct pcoll_cells *cells, const struct pcoll_call *call,
                  const struct pcoll_cells_kind *kind,
                  struct pcoll_cells_part parts[PCOLL_CELLS_PARTS])
{
	if (call->len_bytes >= CELLS_DIRECT_BYTES)
		return kind->split ? kind->split(call, parts) : 0;
	return cells && cells->groups.count > 1 && kind->by_groups ? kind->by_groups(call, parts)
	                                                           : 0;
}

/* -- operations -------------------------------------------------------------------------------- */

/* These operations, the oldest first, are under way from now on, behind the others.  By the thread
 * that advances. */
static void
ops_append(struct pcoll_cells *cells, struct cells_op *first, struct cells_op *last)
{
	if (cells->oldest)
		cells->newest->next = first;
	else
		cells->oldest = first;
	if (!cells->filling)
		cells->filling = first;
	cells->newest = last;
}

void
pcoll_cells_inbox_take(struct pcoll_cells *cells)
{
	struct cells_op *first, *last;

	if (!atomic_load_explicit(&cells->has_inbox, memory_order_relaxed))
		return;
	cells_lock(cells);
	first = cells->inbox;
	cells->inbox = NULL;
	cells->inbox_last = &cells->inbox;
	atomic_store_explicit(&cells->has_inbox, false, memory_order_relaxed);
	cells_unlock(cells);
	for (last = first; last->next; last = last->next)
		;
	ops_append(cells, first, last);
}

static struct pcoll_cells_role
role_of(const struct pcoll_cells *cells, const struct pcoll_call *call,
        const struct pcoll_cells_kind *kind)
{
	struct pcoll_cells_role role = cells->rank == call->root ? kind->root : kind->others;

	if (PSI_UNLIKELY(kind->leads_fill))
		role.fills = role.fills && pcoll_groups_leads(&cells->groups, cells->rank);
	return role;
}

/* What pcoll_cells_carry_out needs.  call_bytes: of the whole call, of which this may be a part. */
static inline void
op_describe_plain(const struct pcoll_cells *cells, struct cells_op *op,
                  const struct pcoll_call *call, const struct pcoll_cells_kind *kind,
                  size_t call_bytes)
{
	op->call = call;
	op->call_bytes = call_bytes;
	op->kind = kind;
	op->role = role_of(cells, call, kind);
	op->number = call->tm->collectives;
	op->reads = 0;
	op->word = pcoll_cells_word(call, call_bytes);
	op->is_direct = false;
	op->is_one_way = op->offers = op->has_offered = false;
	op->owes_own = op->keeps_first = false;
	op->pace = NULL;
}

/* The client's record may be gone before the operation ends; values are always in a copy. */
static inline void
op_keep_call(struct cells_op *op, const struct pcoll_call *call)
{
	pcoll_call_copy(&op->kept, call);
	op->call = &op->kept;
}

static void
op_describe_call(const struct pcoll_cells *cells, struct cells_op *op,
                 const struct pcoll_call *call, const struct pcoll_cells_kind *kind,
                 size_t call_bytes)
{
	const bool in_line = call_fits_line(call, kind);

	op_describe_plain(cells, op, call, kind, call_bytes);
	op->keeps_first = !in_line && kind->combines;
	op_keep_call(op, call);
	op->next = NULL;
	op->piece_bytes = in_line ? call->len_bytes : piece_most(call, kind);
	op->in_cell = pieces_in_cell(call, kind);
	op->phases = (in_line ? 1 : pcoll_cells_pieces(call, kind)) + call->in_all + call->out_all;
	op->is_plain = call_is_plain(call, kind);
	op->has_remainder = false;
	op->remainder = NULL;
	op->remainder_list = NULL;
}

/* What other threads see of the operations; one more is started.  Returns its number, counted from
 * 1.  Under the lock. */
static uint64_t
op_count(struct pcoll_cells *cells, struct cells_op *op)
{
	const uint64_t number =
		atomic_load_explicit(&cells->started, memory_order_relaxed) + 1;

	op->first = cells->ahead;
	cells->ahead += op->phases;
	atomic_store_explicit(&cells->own->started, (uint32_t)cells->ahead,
	                      memory_order_relaxed);
	atomic_store_explicit(&cells->started, number, memory_order_relaxed);
	return number;
}

/* Does src hold the own operand until it is read?  Where two members combine in place, each element
 * is read before its result is written there; but a client's function takes its right operand in
 * dst, where the left one is then. */
static bool
own_stays_in_src(const struct pcoll_cells *cells, const struct cells_op *op)
{
	return src_stays(cells, op) || (cells->size == 2 && op->call->reduction.kernel &&
	                                src_block(op, cells->rank) == op->call->dst);
}

/* The record of a call of that length, or of a part of one.  Under the lock. */
static struct cells_op *
op_make(struct pcoll_cells *cells, const struct pcoll_call *call,
        const struct pcoll_cells_kind *kind, size_t call_bytes, unsigned results)
{
	struct cells_op *op = cells->spare;

	if (PSI_LIKELY(op != NULL))
		cells->spare = op->next;
	else
		op = malloc(sizeof *op);
	if (!op)
		psi_fatal("no memory for collectives in flight");
	psi_team_hold(call->tm);
	op_describe_call(cells, op, call, kind, call_bytes);
	op->results = results;
	if (PSI_UNLIKELY(results & PCOLL_CELLS_KEEPS_PARTIAL))
		op->kept.dst = cells->partial;
	if (PSI_UNLIKELY(results & PCOLL_CELLS_SENDS_PARTIAL))
		op->kept.src = cells->partial;
	op->own_is_in_src = op->keeps_first && own_stays_in_src(cells, op);
	return op;
}

/* Returns the operation's number.  has_turn: by the thread that advances, else it goes by the
 * inbox. */
static uint64_t
op_start(struct pcoll_cells *cells, const struct pcoll_call *call,
         const struct pcoll_cells_kind *kind, size_t call_bytes, unsigned results, bool has_turn)
{
	struct cells_op *op;
	uint64_t number;

	cells_lock(cells);
	op = op_make(cells, call, kind, call_bytes, results);
	number = op_count(cells, op);
	if (PSI_UNLIKELY(!has_turn)) {
		*cells->inbox_last = op;
		cells->inbox_last = &op->next;
		atomic_store_explicit(&cells->has_inbox, true, memory_order_relaxed);
	}
	cells_unlock(cells);
	if (PSI_LIKELY(has_turn))
		ops_append(cells, op, op);
	return number;
}

/* -- the only operation ------------------------------------------------------------------------ */

/* Appends a call that could not be carried out.  It gets a record that lasts. */
static void __attribute__((noinline))
plain_keep(struct pcoll_cells *cells, const struct cells_op *tried, bool is_filled)
{
	struct cells_op *op;

	cells_lock(cells);
	op = op_make(cells, tried->call, tried->kind, tried->call_bytes, 0);
	cells_unlock(cells);
	op->first = tried->first;
	op->reads = tried->reads;
	ops_append(cells, op, op);
	if (is_filled)
		cells->filling = NULL;
}

/* Carries out a plain call while no other is under way, as far as cells are there.  Most are over
 * then, and never have a record that lasts.  Returns the operation's number. */
static uint64_t
plain_start(struct pcoll_cells *cells, const struct pcoll_call *call,
            const struct pcoll_cells_kind *kind)
{
	struct cells_op tried;
	uint64_t number;
	bool is_filled;

	op_describe_plain(cells, &tried, call, kind, call->len_bytes);
	if (pcoll_call_has_scalar(call))
		op_keep_call(&tried, call);
	tried.phases = 1;
	cells_lock(cells);
	number = op_count(cells, &tried);
	cells_unlock(cells);
	if (PSI_LIKELY(pcoll_cells_carry_out(cells, &tried, &is_filled))) {
		pcoll_call_finish(tried.call);
		pcoll_cells_count_finished(cells);
	} else {
		plain_keep(cells, &tried, is_filled);
	}
	cells->is_carried_out = is_filled;
	return number;
}

/* -- calls ------------------------------------------------------------------------------------- */

/* May pcoll_cells_parts divide the call? */
static inline bool
call_has_parts(const struct pcoll_cells *cells, const struct pcoll_call *call,
               const struct pcoll_cells_kind *kind)
{
	return (call->len_bytes > PSI_CELL_ROOM_BYTES ||
	        (cells->groups.count > 1 && kind->by_groups)) &&
	       !pcoll_call_has_lists(call);
}

/* Starts an operation for each part of a call.  Returns the number of the last. */
static uint64_t
parts_start(struct pcoll_cells *cells, const struct pcoll_call *call,
            struct pcoll_cells_part *parts, unsigned count, bool has_turn)
{
	uint64_t number = 0;

	if (PSI_UNLIKELY(call->attempt != NULL))
		call->attempt->parts = count;
	for (unsigned i = 0; i < count; i++)
		number = op_start(cells, &parts[i].call, parts[i].kind, call->len_bytes,
		                  parts[i].results, has_turn);
	return number;
}

static uint64_t
long_start(struct pcoll_cells *cells, const struct pcoll_call *call,
           const struct pcoll_cells_kind *kind, bool has_turn)
{
	struct pcoll_cells_part parts[PCOLL_CELLS_PARTS];
	const unsigned count = pcoll_cells_parts(cells, call, kind, parts);

	return count ? parts_start(cells, call, parts, count, has_turn)
	             : op_start(cells, call, kind, call->len_bytes, 0, has_turn);
}

uint64_t
pcoll_cells_ops_start(struct pcoll_cells *cells, const struct pcoll_call *call,
                      const struct pcoll_cells_kind *kind, bool has_turn)
{
	if (PSI_UNLIKELY(call_has_parts(cells, call, kind)))
		return long_start(cells, call, kind, has_turn);
	if (PSI_LIKELY(has_turn && !cells->oldest && call_is_plain(call, kind)))
		return plain_start(cells, call, kind);
	return op_start(cells, call, kind, agreed_bytes(call), 0, has_turn);
}
