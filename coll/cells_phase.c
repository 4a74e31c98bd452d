/*
 * Phases: which cell a member fills next, and which it reads.
 */
#include "coll/cells_piece.h"
#include "coll/cells_reads.h"
#include "coll/device.h"
#include "coll/differ.h"

#include <stdlib.h>

/* What has become of a device that was to do it; a call without one is as one that declined. */
static enum pcoll_attempt_end
attempt_end(const struct cells_op *op)
{
	if (PSI_LIKELY(!op->call->attempt))
		return PCOLL_ATTEMPT_DECLINED;
	return (enum pcoll_attempt_end)atomic_load_explicit(
		&op->call->attempt->end,
		memory_order_acquire); /* V10: acquire, from V9 in attempt_finish */
}

static struct pcoll_cells_role
phase_role(const struct cells_op *op, uint64_t phase)
{
	const struct pcoll_cells_role sync = { .fills = true, .reads = PCOLL_READS_OTHERS };

	if (attempt_end(op) == PCOLL_ATTEMPT_DONE)
		return (struct pcoll_cells_role){ .reads = PCOLL_READS_NONE };
	return phase_is_sync(op, phase) ? sync : op->role;
}

/* How many phases of the team a member has passed before it may fill: nothing may move before all
 * have called, the end be told before all has moved, or a result be sent before it is there. */
static uint64_t
phase_waits_for(const struct cells_op *op, uint64_t phase)
{
	if (op->call->out_all && phase == op->phases - 1)
		return op->first + phase;
	if (op->call->in_all && phase)
		return op->first + 1;
	return op->results & (PCOLL_CELLS_SENDS_RESULT | PCOLL_CELLS_SENDS_PARTIAL) ? op->first : 0;
}

/* -- filling ----------------------------------------------------------------------------------- */

/* A member is never further ahead of what another needs; a count that seems to be is one that was
 * read 2^31 phases ago, or more. */
static bool
taken_suffices(uint32_t taken, uint32_t needed)
{
	return taken - needed < 2 * PSI_CELLS;
}

static bool
member_taken(struct peer *peer, uint32_t needed)
{
	if (taken_suffices(peer->taken, needed))
		return true;
	peer->taken = atomic_load_explicit(
		&peer->cells->taken, memory_order_acquire); /* V4: acquire, from V3 in phase_pass */
	return taken_suffices(peer->taken, needed);
}

/* Have all members, itself included, read what its own cell held PSI_CELLS phases ago? */
static bool
cell_is_free(struct pcoll_cells *cells, uint64_t phase)
{
	const uint64_t needed = phase + 1 - PSI_CELLS;
	uint32_t least = UINT32_MAX / 2;

	if (phase - cells->taken >= PSI_CELLS)
		return false;
	if (phase < cells->room_until)
		return true;
	for (gex_Rank_t rank = 0; rank < cells->size; rank++) {
		struct peer *peer = &cells->peers[rank];

		if (rank == cells->rank)
			continue;
		if (!member_taken(peer, (uint32_t)needed))
			return false;
		if (peer->taken - (uint32_t)needed < least)
			least = peer->taken - (uint32_t)needed;
	}
	cells->room_until = phase + 1 + least;
	return true;
}

unsigned char *
pcoll_cells_room(struct pcoll_cells *cells, gex_Rank_t rank, uint64_t phase)
{
	struct peer *peer = &cells->peers[rank];

	if (!peer->room)
		peer->room = rank == cells->rank ? pcoll_cells_make_room(peer->cells, peer->place)
		                                 : pcoll_cells_map_room(peer->cells, peer->place);
	return peer->room + (size_t)(phase % PSI_CELLS) * PSI_CELL_ROOM_BYTES;
}

/* What its cells say of a call: the bytes of all of it, how it synchronises, what it is. */
enum {
	CALL_LEN_BITS = 62 - PCOLL_WHAT_BITS,
	CALL_IN_ALL_AT = CALL_LEN_BITS,
	CALL_OUT_ALL_AT,
	CALL_WHAT_AT
};

uint64_t
pcoll_cells_word(const struct pcoll_call *call, size_t call_bytes)
{
	return (uint64_t)pcoll_what_number(call->what) << CALL_WHAT_AT |
	       (uint64_t)call->out_all << CALL_OUT_ALL_AT |
	       (uint64_t)call->in_all << CALL_IN_ALL_AT | call_bytes;
}

static void
cell_publish(struct pcoll_cells *cells, const struct cells_op *op, uint64_t phase)
{
	struct psi_cell_line *line = &cells->own->line[phase % PSI_CELLS];

	line->call = op->word;
	atomic_store_explicit(&line->head,
	                      (phase + 1) << CELLS_HEAD_PHASE_AT |
	                              (op->is_direct ? CELLS_HEAD_DIRECT : 0) |
	                              (cells->taken & CELLS_HEAD_TAKEN_MASK),
	                      memory_order_release); /* V1: release, to V2; V3: to V4, both in
	                                              * cell_head */
}

/* Into the line what fits there. */
static void
cell_fill(struct pcoll_cells *cells, const struct cells_op *op, struct cells_piece piece)
{
	const size_t bytes = piece.len_bytes * op->in_cell;
	struct psi_cells *own = cells->peers[cells->rank].cells;
	struct psi_cell_line *line = &own->line[cells->filled % PSI_CELLS];

	if (op->kind->names_reader)
		line->named.reader = op->call->target;
	if (op->is_direct)
		pcoll_cells_fill_direct(cells, op);
	else if (bytes <= line_most(op->kind))
		pieces_fill(cells, op, piece, line->bytes);
	else
		pieces_fill(cells, op, piece,
		            pcoll_cells_room(cells, cells->rank, cells->filled));
}

/* Copies the member's own block, if that is still to be done: whole, since a copy of many bytes is
 * faster than its pieces (runtime/util/copy.h). */
static void
own_copy(const struct pcoll_cells *cells, struct cells_op *op)
{
	const char *own;
	char *to;

	if (!op->owes_own)
		return;
	op->owes_own = false;
	if (PSI_UNLIKELY(pcoll_call_has_lists(op->call))) {
		pcoll_cells_block_copy_own(cells, op);
		return;
	}
	own = src_block(op, cells->rank);
	to = dst_block(op, cells->rank);
	if (own != to)
		psi_copy(to, own, op->call->len_bytes);
}

/* Does it carry the blocks of a call with lists? */
static bool
phase_has_lists(const struct cells_op *op, uint64_t phase)
{
	return pcoll_call_has_lists(op->call) && !phase_is_sync(op, phase);
}

/* Before the first piece. */
static void
op_begin(struct pcoll_cells *cells, struct cells_op *op, struct pcoll_cells_role role)
{
	op->owes_own = role.copies_own;
	op->is_direct = role.fills && cells_op_may_be_direct(op) &&
	                pcoll_cells_fills_direct(cells, op);
	cells->direct += op->is_direct;
}

/* False: it has to wait.  The own block is copied when no cell is free, or before the first phase
 * is read, when sleepers have been woken (cells_step). */
static bool
phase_fill(struct pcoll_cells *cells, struct cells_op *op)
{
	const uint64_t phase = cells->filled - op->first;
	const struct pcoll_cells_role role = phase_role(op, phase);
	const enum pcoll_attempt_end end = attempt_end(op);
	struct cells_piece piece;

	if (end == PCOLL_ATTEMPT_OPEN)
		return false;
	if (end == PCOLL_ATTEMPT_DONE)
		/* no further ahead of others than who fills */
		return cell_is_free(cells, cells->filled);
	if (cells->taken < phase_waits_for(op, phase))
		return false;
	if (role.fills && !cell_is_free(cells, cells->filled)) {
		own_copy(cells, op);
		return false;
	}
	if (phase == op->call->in_all)
		op_begin(cells, op, role);
	if (role.fills) {
		piece = phase_piece(op, phase);
		if (phase_has_lists(op, phase))
			pcoll_cells_blocks_fill(cells, op);
		else if (piece.len_bytes)
			cell_fill(cells, op, piece);
		cell_publish(cells, op, cells->filled);
	}
	return true;
}

bool
pcoll_cells_fill(struct pcoll_cells *cells)
{
	const uint64_t before = cells->filled;

	while (cells->filling && phase_fill(cells, cells->filling)) {
		cells->filled++;
		if (cells->filled == cells->filling->first + cells->filling->phases)
			cells->filling = cells->filling->next;
	}
	return cells->filled != before;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* A member of the call with this word. */
static struct pcoll_signature
signature_of(uint64_t word, gex_Rank_t rank)
{
	return (struct pcoll_signature){
		.rank = rank, .what = pcoll_what_of((uint32_t)(word >> CALL_WHAT_AT)),
		.len_bytes = word & (((uint64_t)1 << CALL_LEN_BITS) - 1),
		.form = (word >> CALL_IN_ALL_AT & 1 ? PCOLL_FORM_IN_ALL : 0) |
		        (word >> CALL_OUT_ALL_AT & 1 ? PCOLL_FORM_OUT_ALL : 0),
	};
}

/* The k-th call on a team is the same call everywhere.  Cells do not tell the root. */
static void __attribute__((noreturn, cold))
call_differs(const struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from,
             uint64_t other)
{
	const struct pcoll_signature own = signature_of(op->word, cells->rank);
	const struct pcoll_signature peers = signature_of(other, from);

	pcoll_signatures_differ(op->number, &own, &peers);
}

static bool
head_is_of_phase(uint64_t head, uint64_t phase)
{
	const uint64_t of_phase = (phase + 1) << CELLS_HEAD_PHASE_AT;

	return head >> CELLS_HEAD_PHASE_AT == of_phase >> CELLS_HEAD_PHASE_AT;
}

/* How many phases the member that published this head had passed; no more than PSI_CELLS from its
 * reader's own, so that the lower bits tell. */
static uint32_t
head_taken(uint64_t head, uint64_t own)
{
	const uint32_t above = 32 - CELLS_HEAD_TAKEN_BITS;
	const int32_t apart = (int32_t)((uint32_t)(head - own) << above);

	return (uint32_t)own + (uint32_t)(apart / (1 << above));
}

static const struct psi_cell_line *
line_of(const struct pcoll_cells *cells, gex_Rank_t rank, uint64_t phase)
{
	return &cells->peers[rank].cells->line[phase % PSI_CELLS];
}

/* The head of a member's cell of the phase that is read; 0: it is not filled yet. */
static uint64_t
cell_head(struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from)
{
	struct peer *peer = &cells->peers[from];
	const struct psi_cell_line *line = line_of(cells, from, cells->taken);
	const uint64_t head = atomic_load_explicit(&line->head,
	                                           memory_order_acquire); /* V2: acquire, from V1;
	                                           * V4: from V3, in cell_publish */

	if (!head_is_of_phase(head, cells->taken)) {
		cells->missing = (cells->taken + 1) << CELLS_HEAD_PHASE_AT | from;
		return 0;
	}
	if (PSI_UNLIKELY(line->call != op->word))
		call_differs(cells, op, from, line->call);
	peer->taken = head_taken(head, cells->taken);
	return head;
}

static void
cell_read(struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from,
          struct cells_piece piece)
{
	const size_t bytes = piece.len_bytes * op->in_cell;
	const struct psi_cells *theirs = cells->peers[from].cells;
	const unsigned char *cell = bytes <= line_most(op->kind)
	                                    ? theirs->line[cells->taken % PSI_CELLS].bytes
	                                    : pcoll_cells_room(cells, from, cells->taken);

	piece_take(op, from, piece, piece_in_cell(cells, op, from, piece, cell));
}

/* Is the filled cell for this member? */
static bool
cell_is_for_own(const struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from)
{
	const struct psi_cell_line *line =
		&cells->peers[from].cells->line[cells->taken % PSI_CELLS];

	return !op->kind->names_reader || line->named.reader == cells->rank;
}

/* False: some cell is not filled yet, or what goes by messages is not over. */
static bool
blocks_read(struct pcoll_cells *cells, struct cells_op *op)
{
	const gex_Rank_t count = reads_count(cells, op->role.reads);

	for (; op->reads < count; op->reads++) {
		const gex_Rank_t from = reads_from(cells, op, op->role.reads);

		if (!cell_head(cells, op, from))
			return false;
		pcoll_cells_block_read(cells, op, from);
	}
	if (!pcoll_cells_remainder_is_over(cells, op))
		return false;
	op->reads = 0;
	return true;
}

/* False: some cell is not filled yet. */
static bool
any_read(struct pcoll_cells *cells, struct cells_op *op)
{
	const uint64_t phase = cells->taken - op->first;
	const enum pcoll_cells_reads reads = phase_role(op, phase).reads;
	const gex_Rank_t count = reads_count(cells, reads);
	const struct cells_piece piece = phase_piece(op, phase);

	for (; op->reads < count; op->reads++) {
		const gex_Rank_t from = reads_from(cells, op, reads);
		const uint64_t head = cell_head(cells, op, from);

		if (!head)
			return false;
		if (!piece.len_bytes || !cell_is_for_own(cells, op, from))
			continue;
		if (!(head & CELLS_HEAD_DIRECT))
			cell_read(cells, op, from, piece);
		else if (!pcoll_cells_read_direct(cells, op, from))
			return false;
		if (op->kind->names_reader)
			break;
	}
	op->reads = 0;
	return true;
}

/* False: some cell is not filled yet. */
static bool
plain_read(struct pcoll_cells *cells, struct cells_op *op)
{
	const struct cells_piece piece = { 0, op->call->len_bytes };
	const gex_Rank_t count = reads_count(cells, op->role.reads);

	for (; op->reads < count; op->reads++) {
		const gex_Rank_t from = reads_from(cells, op, op->role.reads);

		if (!cell_head(cells, op, from))
			return false;
		piece_take(op, from, piece,
		           piece_in_cell(cells, op, from, piece,
		                         line_of(cells, from, cells->taken)->bytes));
	}
	op->reads = 0;
	return true;
}

static bool
phase_read(struct pcoll_cells *cells, struct cells_op *op)
{
	if (PSI_LIKELY(op->is_plain))
		return plain_read(cells, op);
	if (phase_has_lists(op, cells->taken - op->first))
		return blocks_read(cells, op);
	return any_read(cells, op);
}

static void
phase_pass(struct pcoll_cells *cells)
{
	cells->taken++;
	atomic_store_explicit(&cells->own->taken, (uint32_t)cells->taken,
	                      memory_order_release); /* V3: release, to V4 in member_taken */
}

/* Have all others read what this member's cells said? */
static bool
op_is_read(struct pcoll_cells *cells, const struct cells_op *op)
{
	const uint32_t needed = (uint32_t)(op->first + op->phases);

	for (gex_Rank_t rank = 0; op->is_direct && rank < cells->size; rank++)
		if (rank != cells->rank && !member_taken(&cells->peers[rank], needed))
			return false;
	return true;
}

void
pcoll_cells_count_finished(struct pcoll_cells *cells)
{
	atomic_store_explicit(&cells->finished,
	                      atomic_load_explicit(&cells->finished, memory_order_relaxed) + 1,
	                      memory_order_release); /* V5: release, to V6 in
	                                              * pcoll_cells_finished */
}

void
pcoll_cells_op_end(struct pcoll_cells *cells, struct cells_op *op)
{
	if (attempt_end(op) == PCOLL_ATTEMPT_DECLINED && !(op->results & PCOLL_CELLS_KEEPS_PARTIAL))
		pcoll_call_finish(op->call);
	if (PSI_UNLIKELY(op->call->attempt != NULL) && --op->call->attempt->parts == 0)
		free(op->call->attempt);
	cells->direct -= op->is_direct;
	cells_lock(cells);
	op->next = cells->spare;
	cells->spare = op;
	cells_unlock(cells);
	psi_team_release(cells->tm);
	pcoll_cells_count_finished(cells);
}

/* False: it has to wait. */
static bool
phase_go_on(struct pcoll_cells *cells, struct cells_op *op)
{
	const uint64_t end = op->first + op->phases;

	if (cells->taken < end) {
		if (cells->taken == cells->filled)
			return false;
		own_copy(cells, op);
		if (!phase_read(cells, op))
			return false;
		phase_pass(cells);
	}
	if (cells->taken == end) {
		if (!op_is_read(cells, op))
			return false;
		cells->oldest = op->next;
		pcoll_cells_op_end(cells, op);
	}
	return true;
}

bool
pcoll_cells_read(struct pcoll_cells *cells)
{
	const uint64_t before = cells->taken;
	bool has_refused;

	cells->missing = 0;
	while (cells->oldest && phase_go_on(cells, cells->oldest))
		;
	has_refused = cells->has_refused;
	cells->has_refused = false;
	return cells->taken != before || has_refused;
}

/* -- the only operation ------------------------------------------------------------------------ */

/* A member that has a CPU of its own looks so often for missing cells, 0.4 us, before it makes an
 * event of the call.  Looks without a pause between them take the line from its owner while that
 * fills it (docs/performance.md, Collectives). */
enum { LOOKS = 16 };

/* False: it has to wait. */
static bool
plain_fill(struct pcoll_cells *cells, struct cells_op *op)
{
	const struct cells_piece piece = { 0, op->call->len_bytes };
	unsigned char *line = cells->own->line[cells->filled % PSI_CELLS].bytes;

	if (op->role.fills && !cell_is_free(cells, cells->filled))
		return false;
	if (op->role.fills) {
		if (op->kind->src_blocks)
			pieces_fill(cells, op, piece, line);
		else
			piece_copy(line, op->call->src, piece.len_bytes);
		cell_publish(cells, op, cells->filled);
	}
	op->owes_own = op->role.copies_own;
	own_copy(cells, op);
	cells->filled++;
	return true;
}

bool
pcoll_cells_carry_out(struct pcoll_cells *cells, struct cells_op *op, bool *filled_out)
{
	unsigned looks = psi_is_crowded() ? 1 : LOOKS;

	*filled_out = plain_fill(cells, op);
	cells->missing = 0;
	if (!*filled_out)
		return false;
	while (!plain_read(cells, op)) {
		if (--looks == 0)
			return false;
		psi_pause();
	}
	phase_pass(cells);
	return true;
}
