/*
 * Which cells a member reads, and what follows when it has read those of a phase.
 */
#include "coll/cells_phase.h"
#include "coll/cells_reads.h"
#include "coll/differ.h"

#include "gasnet_tools_time.h"

#include <stdlib.h>

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

static inline bool
head_is_of_phase(uint64_t head, uint64_t phase)
{
	const uint64_t of_phase = (phase + 1) << CELLS_HEAD_PHASE_AT;

	return head >> CELLS_HEAD_PHASE_AT == of_phase >> CELLS_HEAD_PHASE_AT;
}

/* How many phases the member that published this head had passed; no more than PSI_CELLS from its
 * reader's own, so that the lower bits tell. */
static inline uint32_t
head_taken(uint64_t head, uint64_t own)
{
	const uint32_t least = (uint32_t)own - PSI_CELLS;

	return least + (((uint32_t)head - least) & CELLS_HEAD_TAKEN_MASK);
}

/* The head of a member's cell of the phase that is read; 0: it is not filled yet. */
static inline uint64_t
cell_head(struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from)
{
	struct peer *peer = &cells->peers[from];
	const struct psi_cell_line *line = cells_line_read(cells, from);
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
cell_read(struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from,
          struct cells_piece piece)
{
	const size_t bytes = piece.len_bytes * op->in_cell;
	const unsigned char *cell;

	if (from == cells->rank && op->own_is_in_src) {
		piece_take(op, from, piece, src_block(op, from) + piece.at);
		return;
	}
	cell = bytes <= line_most(op->kind) ? line_contents(cells_line_read(cells, from), bytes)
	                                    : pcoll_cells_room(cells, from, cells->taken);
	piece_take(op, from, piece, piece_in_cell(cells, op, from, piece, cell));
}

/* Is the filled cell for this member? */
static bool
cell_is_for_own(const struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t from)
{
	return !op->kind->names_reader || cells_line_read(cells, from)->named.reader == cells->rank;
}

/* False: some cell is not filled yet, or what goes by messages is not over. */
static bool
blocks_read(struct pcoll_cells *cells, struct cells_op *op)
{
	const struct reads reads = reads_of(cells, op->call->root, op->role.reads);

	for (; op->reads < reads.count; op->reads++) {
		const gex_Rank_t from = reads_rank(&reads, cells->size, op->reads);

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
	const struct reads reads =
		reads_of(cells, op->call->root, phase_role(op, phase).reads);
	const struct cells_piece piece = phase_piece(op, phase);
	uint64_t start;

	op->first_is_only = reads.count == 1;
	for (; op->reads < reads.count; op->reads++) {
		const gex_Rank_t from = reads_rank(&reads, cells->size, op->reads);
		const uint64_t head = cell_head(cells, op, from);

		if (!head)
			return false;
		if (!piece.len_bytes || !cell_is_for_own(cells, op, from))
			continue;
		start = op->pace ? gasnett_ticks_now() : 0;
		if (!(head & CELLS_HEAD_DIRECT))
			cell_read(cells, op, from, piece);
		else if (!pcoll_cells_read_direct(cells, op, from))
			return false;
		if (PSI_UNLIKELY(op->pace != NULL))
			pcoll_cells_pace_read(cells, op, piece.len_bytes,
			                      head & CELLS_HEAD_DIRECT, start);
		if (op->kind->names_reader)
			break;
	}
	op->reads = 0;
	if (PSI_UNLIKELY(op->pace != NULL) && reads.count &&
	    piece.at + piece.len_bytes == op->call->len_bytes)
		pcoll_cells_pace_judge(cells, op);
	return true;
}

/* As piece_take, for all bytes of a call in lines, which never keeps its first operand. */
static inline void
plain_take(const struct cells_op *op, gex_Rank_t from, const void *bytes)
{
	const struct pcoll_call *call = op->call;

	if (piece_is_combined(op))
		pcoll_combine(&call->reduction, bytes, call->dst, call->dst, call->len_bytes);
	else
		piece_copy(dst_block(op, from), bytes, call->len_bytes);
}

/* False: some cell is not filled yet. */
static bool
plain_read(struct pcoll_cells *cells, struct cells_op *op)
{
	const struct cells_piece piece = { 0, op->call->len_bytes };
	const size_t bytes = piece.len_bytes * pieces_in_cell(op->call, op->kind);
	const struct reads reads = reads_of(cells, op->call->root, op->role.reads);

	for (; op->reads < reads.count; op->reads++) {
		const gex_Rank_t from = reads_rank(&reads, cells->size, op->reads);
		const unsigned char *cell = line_contents(cells_line_read(cells, from), bytes);

		if (!cell_head(cells, op, from))
			return false;
		plain_take(op, from, piece_in_cell(cells, op, from, piece, cell));
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
	if (PSI_UNLIKELY(op->pace != NULL))
		pcoll_cells_pace_end(cells);
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
		if (op->offers && !op->has_offered &&
		    !cells->peers[1 - cells->rank].is_out_of_reach &&
		    cells->taken == op->first + op->call->in_all)
			pcoll_cells_halves_offer(cells, op);
		cells_copy_own(cells, op);
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

bool
pcoll_cells_carry_out(struct pcoll_cells *cells, struct cells_op *op, bool *filled_out)
{
	unsigned looks = psi_is_crowded() ? 1 : LOOKS;

	*filled_out = pcoll_cells_plain_fill(cells, op);
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
