/*
 * Direct cells that the kernel copies, between two members: whether that is quicker than a room
 * depends on the machine, and on where the payload is (docs/performance.md, Written and untouched).
 *
 * So both ways are timed, for lengths between two powers of two.  The owner of the payload takes
 * the way that the reader wants, and the other one for a few operations now and then.  The reader
 * times the kernel's copy, or its own copy out of the room; the owner tells how long it has filled
 * that.  To this come the gaps, in which each member works between such calls: one who writes
 * anew what another CPU has read waits for its lines.  What took least of the last few counts,
 * since a copy is slow when a CPU was lost.
 *
 * Where one gives and the other reads, both may copy (cells_halves.c).  In a scatter the reader
 * finds in the same way whether to offer that.
 */
#include "coll/cells_piece.h"

#include "runtime/segment/vm.h"

#include "gasnet_tools_time.h"

/* Trials are two in a row, of which the second counts: the first finds caches as the other way has
 * left them.  Some come soon, since rooms are slow until all of their pages have been touched. */
enum { TRIALS = 2, SOON_EACH = 16, SOON_TURNS = 128, LATER_EACH = 64 };

/* The trials of the owner, and those of the reader, which come at other times. */
enum { FIRST_TRIALS_AT = 4, READERS_FIRST_AT = 12 };

/* The way that is not in use has to be quicker by one part of so many. */
enum { GAIN_PART = 16 };

/* Gaps count up to so many times the time of the copies: long ones differ by chance. */
enum { MOST_GAPS = 16 };

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

/* Does this turn try the way that is not wanted? */
static bool
next_is_trial(unsigned *turn, unsigned first)
{
	const unsigned each = *turn < SOON_TURNS ? SOON_EACH : LATER_EACH;
	const bool is_trial = (*turn - first) % each < TRIALS;

	if (++*turn == SOON_TURNS + LATER_EACH)
		*turn = SOON_TURNS;
	return is_trial;
}

/* In a gather the reader copies its own block meanwhile, so it takes the help. */
static bool
reader_offers(const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;

	return op->kind->dst_blocks ||
	       pace->wants_alone == next_is_trial(&pace->readers_turn, READERS_FIRST_AT);
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
	op->offers = false;
	op->pace = NULL;
	if (cells->size != 2 || op->call->len_bytes < most ||
	    !(op->kind->dst_blocks || op->is_one_way))
		return;
	op->by_loads = false;
	op->gap_ticks = cells->paced_end ? gasnett_ticks_now() - cells->paced_end : 0;
	op->filled_ticks = op->read_ticks = 0;
	op->pace = &cells->paces[!op->is_one_way ? 0 : op->kind->dst_blocks ? PCOLL_PACES
	                                                                     : 2 * PCOLL_PACES];
	last = op->pace + PCOLL_PACES - 1;
	for (; op->call->len_bytes > most && op->pace < last; op->pace++)
		most *= 2;
	if (op->is_one_way && !op->role.fills)
		op->offers = reader_offers(op);
}

void
pcoll_cells_pace_end(struct pcoll_cells *cells)
{
	cells->paced_end = gasnett_ticks_now();
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
	return !(wanted & pace_bit(cells, pace)) != next_is_trial(&pace->turn, FIRST_TRIALS_AT);
}

/* -- the reader -------------------------------------------------------------------------------- */

/* 0: nothing has been added yet. */
static uint64_t
recent_least(const struct pcoll_recent *recent)
{
	uint64_t least = recent->ticks[0];

	for (unsigned i = 1; i < PCOLL_RECENT; i++)
		if (recent->ticks[i] && recent->ticks[i] < least)
			least = recent->ticks[i];
	return least;
}

/* Is the other way quicker than the one in use, as far as both are known? */
static bool
is_quicker(const struct pcoll_recent *other, const struct pcoll_recent *used)
{
	const uint64_t used_ticks = recent_least(used), other_ticks = recent_least(other);

	return used_ticks && other_ticks && other_ticks < used_ticks - used_ticks / GAIN_PART;
}

/* The peer keeps the line while the wish stays as it is. */
static void
wishes_update(struct pcoll_cells *cells, const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;
	const bool halves = op->is_one_way && !pace->wants_alone;
	const struct pcoll_recent *kernel = halves ? &pace->halves : &pace->kernel;
	const struct pcoll_recent *other = halves ? &pace->kernel : &pace->halves;
	_Atomic uint32_t *wanted = &cells->own->rooms_wanted;
	const uint32_t before = atomic_load_explicit(wanted, memory_order_relaxed);
	const uint32_t bit = pace_bit(cells, pace);

	if (before & bit ? is_quicker(kernel, &pace->rooms) : is_quicker(&pace->rooms, kernel))
		atomic_store_explicit(wanted, before ^ bit, memory_order_relaxed);
	if (op->is_one_way && is_quicker(other, kernel))
		pace->wants_alone = !pace->wants_alone;
}

void
pcoll_cells_pace_read(struct pcoll_cells *cells, struct cells_op *op, gex_Rank_t from,
                      bool is_direct, uint64_t start)
{
	const struct psi_cell_line *line =
		&cells->peers[from].cells->line[cells->taken % PSI_CELLS];
	struct pcoll_pace *pace = op->pace;

	if (!is_direct || !op->has_offered)
		op->read_ticks += gasnett_ticks_now() - start;
	if (from == cells->rank)
		return;
	pace->way = !is_direct ? &pace->rooms : op->has_offered ? &pace->halves : &pace->kernel;
	pace->peers_gap_ticks = is_direct ? line->direct.gap_ticks : line->room.gap_ticks;
	if (!is_direct)
		op->filled_ticks += line->room.filled_ticks;
}

/* Where each gives, it fills before it reads.  Where one does, it fills the next room while the
 * other reads: of two rooms, one copy each goes on beside another. */
static uint64_t
ticks_of(const struct cells_op *op)
{
	const uint64_t filled = op->filled_ticks, read = op->read_ticks;

	if (!op->is_one_way || !filled)
		return filled + read;
	return (filled + read + (filled > read ? filled : read)) / 2;
}

void
pcoll_cells_pace_judge(struct pcoll_cells *cells, struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;
	const uint64_t ticks = ticks_of(op), most = MOST_GAPS * ticks;
	const uint64_t gaps = op->gap_ticks + pace->peers_gap_ticks;
	const uint64_t with_gaps = ticks + (gaps < most ? gaps : most);

	if (op->by_loads)
		return;
	if (pace->last == pace->way) {
		pace->way->ticks[pace->way->added++ % PCOLL_RECENT] =
			1 + (with_gaps << 16) / op->call->len_bytes;
		wishes_update(cells, op);
	}
	pace->last = pace->way;
}
