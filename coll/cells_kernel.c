/*
 * Direct cells that the kernel reads, between two members: whether that is quicker than a room
 * depends on where the payload is.  The kernel's copy of what the owner has just written takes
 * three times as long as of what the reader still has in its cache, and longer than a room
 * (docs/performance.md, Read where it is).
 *
 * So the reader compares it with the copy of its own block, and tells the owner, for lengths
 * between two powers of two, when it wants rooms.  The kernel is tried again now and then.
 */
#include "coll/cells_piece.h"

#include "gasnet_tools_time.h"

enum {
	ROOMS_BETWEEN_TRIALS = 62,
	/* So many slow reads in a row tell; one may be a rank that lost its CPU. */
	SLOW_READS = 2,
	/* How many times as long as the copy of its own block a slow read takes. */
	SLOW_TIMES = 5,
	OWN_COPIES = 16,                /* that are timed */
};

void
pcoll_cells_pace_choose(struct pcoll_cells *cells, struct cells_op *op)
{
	size_t most = CELLS_DIRECT_KERNEL_BYTES;

	op->pace = NULL;
	if (cells->size != 2 || !op->kind->dst_blocks || op->call->len_bytes < most)
		return;
	for (op->pace = cells->paces;
	     op->call->len_bytes > most && op->pace < &cells->paces[PCOLL_PACES - 1]; op->pace++)
		most *= 2;
}

bool
pcoll_cells_kernel_pays(struct pcoll_cells *cells, const struct cells_op *op)
{
	struct pcoll_pace *pace = op->pace;
	uint32_t wanted;

	if (!pace)
		return false;
	wanted = atomic_load_explicit(&cells->peers[1 - cells->rank].cells->rooms_wanted,
	                              memory_order_relaxed);
	if (!(wanted >> (pace - cells->paces) & 1)) {
		pace->rooms = 0;
		return true;
	}
	if (pace->rooms == ROOMS_BETWEEN_TRIALS + SLOW_READS)
		pace->rooms = 0;
	return pace->rooms++ >= ROOMS_BETWEEN_TRIALS;
}

uint64_t
pcoll_cells_pace_start(const struct cells_op *op)
{
	return PSI_UNLIKELY(op->pace != NULL) ? gasnett_ticks_now() : 0;
}

/* Ticks for 64 KiB. */
static uint64_t
ticks_since(uint64_t start, size_t len_bytes)
{
	return ((gasnett_ticks_now() - start) << 16) / len_bytes;
}

void
pcoll_cells_pace_own(const struct cells_op *op, uint64_t start, size_t len_bytes)
{
	struct pcoll_pace *pace = op->pace;
	uint64_t ticks;

	if (PSI_LIKELY(!pace) || pace->own_copies == OWN_COPIES)
		return;
	pace->own_copies++;
	ticks = ticks_since(start, len_bytes);
	if (!pace->own_ticks || ticks < pace->own_ticks)
		pace->own_ticks = ticks;
}

void
pcoll_cells_pace_kernel(struct pcoll_cells *cells, const struct cells_op *op, uint64_t start,
                        size_t len_bytes)
{
	_Atomic uint32_t *wanted = &cells->own->rooms_wanted;
	struct pcoll_pace *pace = op->pace;
	uint32_t before, after, bit;

	if (!pace || !pace->own_ticks)
		return;
	if (ticks_since(start, len_bytes) <= SLOW_TIMES * pace->own_ticks)
		pace->slow_reads = 0;
	else if (pace->slow_reads < SLOW_READS)
		pace->slow_reads++;
	before = atomic_load_explicit(wanted, memory_order_relaxed);
	bit = (uint32_t)1 << (pace - cells->paces);
	after = pace->slow_reads == SLOW_READS ? before | bit : before & ~bit;
	if (after != before)    /* else the peer keeps the line */
		atomic_store_explicit(wanted, after, memory_order_relaxed);
}
