/*
 * Direct cells that the kernel reads, between two members: whether that is quicker than a room
 * depends on where the payload is.  The kernel's copy of what the owner has just written takes
 * longer than a room; its copy of what the reader still has in its cache takes half as long
 * (docs/performance.md, Written and untouched).
 *
 * So the reader compares it with the copy of its own block, and tells the owner, for lengths
 * between two powers of two, when it wants rooms.  The owner lets the kernel try again now and
 * then.  A reader that copies no own block, since its call is in place, has nothing to compare
 * with, and wants no rooms.
 *
 * In gather and scatter the root alone copies an own block, so it judges: in a scatter by what it
 * has written to its reader (cells_halves.c).  Without an own copy it wants rooms, which hold up
 * nobody.
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
	/* How many times as long as the copy of the own block a slow one takes. */
	SLOW_TIMES = 5,
	/* The least time of so many copies counts, until as many more have been timed. */
	OWN_COPIES = 16,
};

static bool
giver_judges(const struct cells_op *op)
{
	return op->is_halved && op->kind->src_blocks;
}

void
pcoll_cells_pace_choose(struct pcoll_cells *cells, struct cells_op *op)
{
	const unsigned set = giver_judges(op) ? 2 : op->is_halved ? 1 : 0;
	struct pcoll_pace *last = &cells->paces[set * PCOLL_PACES + PCOLL_PACES - 1];
	size_t most = CELLS_DIRECT_KERNEL_BYTES;

	op->pace = NULL;
	if (cells->size != 2 || !(op->kind->dst_blocks || op->is_halved) ||
	    op->call->len_bytes < most)
		return;
	for (op->pace = &cells->paces[set * PCOLL_PACES];
	     op->call->len_bytes > most && op->pace < last; op->pace++)
		most *= 2;
}

static uint32_t
pace_bit(const struct pcoll_cells *cells, const struct pcoll_pace *pace)
{
	return (uint32_t)1 << (pace - cells->paces);
}

bool
pcoll_cells_kernel_choose(struct pcoll_cells *cells, const struct cells_op *op)
{
	const gex_Rank_t judge = giver_judges(op) ? cells->rank : 1 - cells->rank;
	struct pcoll_pace *pace = op->pace;
	uint32_t wanted;

	if (!pace)
		return false;
	wanted = atomic_load_explicit(&cells->peers[judge].cells->rooms_wanted,
	                              memory_order_relaxed);
	if (!(wanted & pace_bit(cells, pace))) {
		pace->wanted = 0;
		return true;
	}
	if (pace->wanted == ROOMS_BETWEEN_TRIALS + TRIALS)
		pace->wanted = 0;
	return pace->wanted++ >= ROOMS_BETWEEN_TRIALS;
}

/* Ticks for 64 KiB. */
static uint64_t
ticks_of_unit(uint64_t ticks, size_t len_bytes)
{
	return (ticks << 16) / len_bytes;
}

void
pcoll_cells_copy_timed(const struct cells_op *op, void *to, const void *own)
{
	struct pcoll_pace *pace = op->pace;
	const uint64_t start = gasnett_ticks_now();
	uint64_t ticks;

	psi_copy(to, own, op->call->len_bytes);
	ticks = ticks_of_unit(gasnett_ticks_now() - start, op->call->len_bytes);
	if (pace->own_copies == 0 || ticks < pace->own_least)
		pace->own_least = ticks;
	if (++pace->own_copies == OWN_COPIES) {
		pace->own_ticks = pace->own_least;
		pace->own_copies = 0;
	}
}

/* The wish of who judges, after a copy of so many ticks. */
static bool
pace_wants_rooms(struct pcoll_pace *pace, uint64_t ticks)
{
	if (ticks <= SLOW_TIMES * pace->own_ticks)
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
                         size_t len_bytes)
{
	struct pcoll_pace *pace = op->pace;

	if (pace->own_ticks || op->is_halved)
		rooms_want(cells, pace_bit(cells, pace),
		           pace_wants_rooms(pace, ticks_of_unit(ticks, len_bytes)));
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
	pcoll_cells_kernel_judge(cells, op, gasnett_ticks_now() - start, len_bytes);
	return true;
}
