/*
 * Direct cells that the kernel copies, between two members: whether that is quicker than a room
 * depends on where the payload is.  The kernel's copy of what the owner has just written takes
 * longer than a room; its copy of what the reader still has in its cache takes half as long
 * (docs/performance.md, Written and untouched).
 *
 * So the reader compares it with the copy of its own block, and tells the owner, for lengths
 * between two powers of two, when it wants rooms.  The owner lets the kernel try again now and
 * then.  A reader that copies no own block, since its call is in place, has nothing to compare
 * with, and wants no rooms.
 *
 * In a gather or a scatter the root alone copies an own block, and in a scatter the others read, so
 * it tells how long that takes.  Without an own copy its reader wants rooms, which hold up nobody.
 */
#include "coll/cells_piece.h"

#include "runtime/segment/vm.h"

#include "gasnet_tools_time.h"

enum {
	ROOMS_BETWEEN_TRIALS = 62,
	/* The first one behind rooms finds caches as these have left them. */
	TRIALS = 2,
	/* So many slow copies in a row tell: some are slow since a CPU was lost. */
	SLOW_COPIES = 4,
	/* A slow copy takes more than so many halves of the time of the own block's: of a whole
	 * block, and of a part, which is mostly system call.  Where nobody has written, three to
	 * five are usual, and five to seven. */
	SLOW_HALVES = 7,
	SLOW_HALVES_OF_PART = 10,
	/* The least time of so many copies counts, until as many more have been timed. */
	OWN_COPIES = 16,
	/* One of so many is timed, once it is known. */
	OWN_COPIES_EACH = 8,
};

/* Longer blocks that one gives go by rooms. */
enum { ONE_WAY_MOST_BYTES = 256 << 10 };

/* A gather or a scatter of two, in which one waits and the other gives. */
static bool
is_one_way(const struct pcoll_cells *cells, const struct cells_op *op)
{
	const struct pcoll_cells_kind *kind = op->kind;
	const size_t len_bytes = op->call->len_bytes;

	return cells->size == 2 && len_bytes >= CELLS_DIRECT_KERNEL_BYTES &&
	       len_bytes <= ONE_WAY_MOST_BYTES && !pcoll_call_has_lists(op->call) &&
	       kind->root.fills != kind->others.fills && kind->src_blocks != kind->dst_blocks &&
	       !cells->peers[1 - cells->rank].is_here;
}

void
pcoll_cells_card_show(struct pcoll_cells *cells)
{
	if (!cells->own->card.pid)
		cells->own->card = psi_vm_card_make();
}

void
pcoll_cells_pace_choose(struct pcoll_cells *cells, struct cells_op *op)
{
	size_t most = CELLS_DIRECT_KERNEL_BYTES;
	struct pcoll_pace *last;

	op->is_one_way = is_one_way(cells, op);
	op->pace = NULL;
	if (cells->size != 2 || !(op->kind->dst_blocks || op->is_one_way) ||
	    op->call->len_bytes < most)
		return;
	op->pace = &cells->paces[!op->is_one_way ? 0 : op->kind->dst_blocks ? PCOLL_PACES
	                                                                     : 2 * PCOLL_PACES];
	last = op->pace + PCOLL_PACES - 1;
	for (; op->call->len_bytes > most && op->pace < last; op->pace++)
		most *= 2;
}

/* What a copy of the own block takes; 0: none has been timed yet. */
static uint64_t
own_ticks_of(const struct pcoll_pace *pace)
{
	return pace->own_ticks ? pace->own_ticks : pace->own_least;
}

void
pcoll_cells_pace_tell(const struct cells_op *op, struct psi_cell_line *line)
{
	if (op->is_one_way)
		line->direct.own_ticks = own_ticks_of(op->pace);
}

void
pcoll_cells_pace_hear(const struct cells_op *op, const struct psi_cell_line *line)
{
	if (op->is_one_way)
		op->pace->heard_ticks = line->direct.own_ticks;
}

static uint32_t
pace_bit(const struct pcoll_cells *cells, const struct pcoll_pace *pace)
{
	return (uint32_t)1 << (pace - cells->paces);
}

bool
pcoll_cells_kernel_choose(struct pcoll_cells *cells, const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;
	uint32_t wanted;

	if (!pace)
		return false;
	wanted = atomic_load_explicit(&cells->peers[1 - cells->rank].cells->rooms_wanted,
	                              memory_order_relaxed);
	if (!(wanted & pace_bit(cells, pace))) {
		pace->wanted = 0;
		return true;
	}
	if (pace->wanted == ROOMS_BETWEEN_TRIALS + TRIALS)
		pace->wanted = 0;
	return pace->wanted++ >= ROOMS_BETWEEN_TRIALS;
}

uint64_t
pcoll_cells_ticks_since(uint64_t start, size_t len_bytes)
{
	return ((gasnett_ticks_now() - start) << 16) / len_bytes;
}

void
pcoll_cells_copy_timed(const struct cells_op *op, void *to, const void *own)
{
	struct pcoll_pace *pace = op->pace;
	uint64_t start, ticks;

	if (pace->own_ticks && ++pace->own_untimed % OWN_COPIES_EACH) {
		psi_copy(to, own, op->call->len_bytes);
		return;
	}
	start = gasnett_ticks_now();
	psi_copy(to, own, op->call->len_bytes);
	ticks = pcoll_cells_ticks_since(start, op->call->len_bytes);
	if (pace->own_copies == 0 || ticks < pace->own_least)
		pace->own_least = ticks;
	if (++pace->own_copies == OWN_COPIES) {
		pace->own_ticks = pace->own_least;
		pace->own_copies = 0;
	}
}

/* The reader's wish, after a copy that was slow, or not. */
static bool
pace_wants_rooms(struct pcoll_pace *pace, bool slow)
{
	if (!slow)
		pace->slow_copies = 0;
	else if (pace->slow_copies < SLOW_COPIES)
		pace->slow_copies++;
	return pace->slow_copies == SLOW_COPIES;
}

/* The peer keeps the line while the wish stays as it is. */
static void
rooms_want(struct pcoll_cells *cells, uint32_t bit, bool want)
{
	_Atomic uint32_t *wanted = &cells->own->rooms_wanted;
	const uint32_t before = atomic_load_explicit(wanted, memory_order_relaxed);
	const uint32_t after = want ? before | bit : before & ~bit;

	if (after != before)
		atomic_store_explicit(wanted, after, memory_order_relaxed);
}

void
pcoll_cells_kernel_judge(struct pcoll_cells *cells, const struct cells_op *op, uint64_t ticks,
                         bool part)
{
	struct pcoll_pace *pace = op->pace;
	const uint64_t own = op->kind->dst_blocks ? own_ticks_of(pace) : pace->heard_ticks;

	if (own || op->is_one_way)
		rooms_want(cells, pace_bit(cells, pace),
		           pace_wants_rooms(pace, 2 * ticks > (part ? SLOW_HALVES_OF_PART
		                                                    : SLOW_HALVES) * own));
}

bool
pcoll_cells_kernel_read(struct pcoll_cells *cells, const struct cells_op *op, gex_Rank_t rank,
                        void *to, const void *from, size_t len_bytes)
{
	struct pcoll_pace *pace = op->pace;
	uint64_t start;

	/* A short rest of a long payload is mostly the system call. */
	if (!pace || len_bytes < CELLS_DIRECT_KERNEL_BYTES)
		return psi_vm_read(rank, to, from, len_bytes);
	start = gasnett_ticks_now();
	if (!psi_vm_read(rank, to, from, len_bytes))
		return false;
	pcoll_cells_kernel_judge(cells, op, pcoll_cells_ticks_since(start, len_bytes), false);
	return true;
}
