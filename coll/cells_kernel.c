/*
 * Direct cells that the kernel copies, between two members: whether that is quicker than a room
 * depends on the machine, and on where the payload is (docs/performance.md, Written and untouched).
 *
 * So both ways are timed, for lengths between two powers of two.  The owner of the payload takes
 * the way that the reader wants, and the other one for a few operations now and then.  The reader
 * times the kernel's copy, or its own copy out of the room; the owner tells how long it has filled
 * that.  Gaps are added: the time that each member spends between two such calls.  A member that
 * writes to lines which another CPU has read waits for them there.  The least of the last few times
 * counts, because a copy takes long when its thread loses its CPU.
 *
 * Where one gives and the other reads, both may copy (cells_halves.c).  In a scatter the reader
 * finds in the same way whether to offer that.
 */
#include "coll/cells_piece.h"

#include "runtime/segment/vm.h"

#include "gasnet_tools_time.h"

/* Trials are two in a row, of which the second counts: the first finds caches as the other way has
 * left them.  Some come soon, since rooms are slow until all of their pages have been touched.
 * Periods are odd, so that they do not go with those of the program. */
enum { TRIALS = 2, SOON_EACH = 17, SOON = 8 * SOON_EACH, LATER_EACH = 67 };

/* Where in a period the owner tries the other way, and where the reader does. */
enum { OWNERS_TRIAL = 4, READERS_TRIAL = 12 };

/* A change saves at least one part of so many, or noise would cause it. */
enum { GAIN_PART = 16 };

/* Gaps count for at most so many times the copies: longer ones are mostly computation. */
enum { MOST_GAPS = 16 };

/* The kernel copies no longer blocks that one gives. */
enum { ONE_WAY_MOST_BYTES = 256 << 10 };

/* -- before the first cell --------------------------------------------------------------------- */

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

static struct pcoll_pace *
pace_of(struct pcoll_cells *cells, const struct cells_op *op)
{
	size_t most = CELLS_DIRECT_KERNEL_BYTES;
	unsigned set = PCOLL_PACES_ALL, i = 0;

	if (op->is_one_way)
		set = op->kind->dst_blocks ? PCOLL_PACES_GATHER : PCOLL_PACES_SCATTER;
	for (; op->call->len_bytes > most && i < PCOLL_PACES - 1; i++)
		most *= 2;
	return &cells->paces[set * PCOLL_PACES + i];
}

static unsigned
period_of(unsigned count)
{
	return count < SOON ? SOON_EACH : LATER_EACH;
}

/* Does the operation with this number try the way that is not wanted? */
static bool
is_trial(unsigned count, unsigned first)
{
	const unsigned period = period_of(count);

	return (count + period - first) % period < TRIALS;
}

static uint32_t
pace_bit(const struct pcoll_cells *cells, const struct pcoll_pace *pace)
{
	return (uint32_t)1 << (pace - cells->paces);
}

static bool
wants_rooms(const struct psi_cells *member, uint32_t bit)
{
	return atomic_load_explicit(&member->rooms_wanted, memory_order_relaxed) & bit;
}

/* In a gather the reader copies its own block meanwhile, so it takes the help.  While rooms are
 * wanted, the kernel copies in the owner's trials alone, and offers are made in every second
 * period. */
static bool
reader_offers(const struct pcoll_cells *cells, const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;
	const unsigned count = pace->taken++;

	if (op->kind->dst_blocks)
		return true;
	if (wants_rooms(cells->own, pace_bit(cells, pace)))
		return count / period_of(count) % 2;
	return pace->wants_alone == is_trial(count, READERS_TRIAL);
}

void
pcoll_cells_pace_choose(struct pcoll_cells *cells, struct cells_op *op)
{
	op->is_one_way = is_one_way(cells, op) &&
	                 !(op->role.fills && pcoll_cells_src_is_mapped(cells, op));
	op->offers = false;
	op->pace = NULL;
	op->gap_ticks = 0;
	if (cells->size != 2 || op->call->len_bytes < CELLS_DIRECT_KERNEL_BYTES ||
	    !(op->kind->dst_blocks || op->is_one_way))
		return;
	op->pace = pace_of(cells, op);
	op->by_loads = false;
	op->filled_ticks = op->read_ticks = 0;
	if (cells->paced_end)
		op->gap_ticks = gasnett_ticks_now() - cells->paced_end;
	if (op->is_one_way && !op->role.fills)
		op->offers = reader_offers(cells, op);
}

bool
pcoll_cells_kernel_choose(struct pcoll_cells *cells, const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;

	if (!pace)
		return false;
	return wants_rooms(cells->peers[1 - cells->rank].cells, pace_bit(cells, pace)) ==
	       is_trial(pace->given++, OWNERS_TRIAL);
}

void
pcoll_cells_card_show(struct pcoll_cells *cells)
{
	if (!cells->own->card.pid)
		cells->own->card = psi_vm_card_make();
}

void
pcoll_cells_pace_end(struct pcoll_cells *cells)
{
	cells->paced_end = gasnett_ticks_now();
}

/* -- times of the reader ----------------------------------------------------------------------- */

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

/* Stores only a change, so that the line stays in the peer's cache. */
static void
rooms_wish_update(struct pcoll_cells *cells, const struct pcoll_pace *pace,
                  const struct pcoll_recent *direct)
{
	_Atomic uint32_t *wanted = &cells->own->rooms_wanted;
	const uint32_t bit = pace_bit(cells, pace);

	if (wants_rooms(cells->own, bit) ? is_quicker(direct, &pace->rooms)
	                                 : is_quicker(&pace->rooms, direct))
		atomic_store_explicit(wanted,
		                      atomic_load_explicit(wanted, memory_order_relaxed) ^ bit,
		                      memory_order_relaxed);
}

static void
wishes_update(struct pcoll_cells *cells, const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;
	const bool by_halves = op->is_one_way && !pace->wants_alone;

	rooms_wish_update(cells, pace, by_halves ? &pace->halves : &pace->kernel);
	if (op->is_one_way && (by_halves ? is_quicker(&pace->kernel, &pace->halves)
	                                 : is_quicker(&pace->halves, &pace->kernel)))
		pace->wants_alone = by_halves;
}

void
pcoll_cells_pace_read(struct pcoll_cells *cells, struct cells_op *op, size_t len_bytes,
                      bool is_direct, uint64_t start)
{
	const struct psi_cell_line *line = cells_line_read(cells, 1 - cells->rank);
	const uint64_t now = gasnett_ticks_now();
	struct pcoll_pace *pace = op->pace;

	if (is_direct) {
		pace->way = op->has_offered ? &pace->halves : &pace->kernel;
		pace->peers_gap_ticks = line->direct.gap_ticks;
		op->read_ticks += op->has_offered ? 0 : now - start;
	} else if (len_bytes > line_most(op->kind)) {
		pace->way = &pace->rooms;
		pace->peers_gap_ticks = line->room.gap_ticks;
		op->filled_ticks += line->room.filled_ticks;
		op->read_ticks += now - start;
	}
}

/* In an exchange each member fills, then reads, so the times add up.  In a gather or a scatter both
 * are at work at once: the longer time counts, and half of the shorter one for the ends of the
 * pipeline. */
static uint64_t
ticks_of(const struct cells_op *op)
{
	const uint64_t filled = op->filled_ticks, read = op->read_ticks;

	if (!op->is_one_way)
		return filled + read;
	return filled > read ? filled + read / 2 : read + filled / 2;
}

void
pcoll_cells_pace_judge(struct pcoll_cells *cells, const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;
	const uint64_t ticks = ticks_of(op), most = MOST_GAPS * ticks;
	const uint64_t gaps = op->gap_ticks + pace->peers_gap_ticks;
	const uint64_t with_gaps = ticks + (gaps < most ? gaps : most);

	if (op->by_loads && op->is_one_way)
		pace->taken--;          /* as if it had not been: trials are for the others */
	if (op->by_loads || cells->peers[1 - cells->rank].is_out_of_reach)
		return;
	if (pace->last == pace->way) {
		pace->way->ticks[pace->way->added++ % PCOLL_RECENT] =
			1 + (with_gaps << 16) / op->call->len_bytes;
		wishes_update(cells, op);
	}
	pace->last = pace->way;
}
