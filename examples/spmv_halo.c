/*
 * Each rank gets the points around its part: two rows, two columns, which lie
 * in pieces of one number, and four corners.
 *
 * By signal: each of the eight is one operation that puts the numbers and then
 * posts to a semaphore of the receiver, which waits for as many posts as it has
 * neighbours. By flag: all are put, the sender waits until they are there, and
 * then puts a word to each neighbour, which waits until the word is its step's.
 */
#include "spmv.h"

#include <gasnet_tools.h>
#include <gasnet_vis.h>
#include <stdlib.h>

enum { FLAG_BYTES = 64, FLAGS_BYTES = HALO_SIDES * FLAG_BYTES, FLAG_WORDS = 8 };

size_t
halo_segment_bytes(const struct grid *grid)
{
	size_t rows = (grid->rows + grid->down - 1) / grid->down;
	size_t cols = (grid->cols + grid->across - 1) / grid->across;
	size_t bytes = FLAGS_BYTES + 2 * (rows + 2) * (cols + 2) * sizeof(double);

	return (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
}

static char *
segment_of(gex_Rank_t rank)
{
	void *base = NULL;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(spmv_tm, rank, &base, NULL, NULL, 0));
	return base;
}

static double *
vector_in(char *segment, const struct block *block, unsigned which)
{
	return (double *)(void *)(segment + FLAGS_BYTES) + which * block_doubles(block);
}

/* Where the edge begins that faces direction d, of so many points: 1 the first of ours. */
static uint32_t
edge(int d, uint32_t points)
{
	return d > 0 ? points : 1;
}

/* Where the border begins that lies towards direction d. */
static uint32_t
border(int d, uint32_t points)
{
	return d > 0 ? points + 1 : d < 0 ? 0 : 1;
}

static void
side_open(struct halo *halo, const struct grid *grid, int down, int right)
{
	const gex_Rank_t rank = (gex_Rank_t)((int)spmv_rank + down * (int)grid->across + right);
	const struct block here = block_of(grid, spmv_rank), there = block_of(grid, rank);
	const unsigned k = (unsigned)(3 * (down + 1) + right + 1);
	struct side *side = &halo->side[k];
	char *segment = segment_of(rank);
	unsigned which;

	side->rank = rank;
	for (which = 0; which < 2; which++) {
		side->from[which] = halo->x[which] + block_index(&here, edge(down, here.rows),
		                                                 edge(right, here.cols));
		side->to[which] = vector_in(segment, &there, which) +
		                  block_index(&there, border(-down, there.rows),
		                              border(-right, there.cols));
	}
	side->from_stride = (ptrdiff_t)(here.pitch * sizeof(double));
	side->to_stride = (ptrdiff_t)(there.pitch * sizeof(double));
	side->count = down == 0 ? here.rows : 1;
	side->bytes = right == 0 ? here.cols * sizeof(double) : sizeof(double);
	side->flag = (uint64_t *)(void *)(segment + (HALO_SIDES - 1 - k) * FLAG_BYTES);
	halo->neighbours++;
}

void
halo_open(struct halo *halo_out, const struct grid *grid)
{
	const struct block block = block_of(grid, spmv_rank);
	const int i = (int)(spmv_rank / grid->across), j = (int)(spmv_rank % grid->across);
	char *segment = segment_of(spmv_rank);
	struct halo halo = { .flags = (uint64_t *)(void *)segment };
	int down, right;

	halo.x[0] = vector_in(segment, &block, 0);
	halo.x[1] = vector_in(segment, &block, 1);
	for (down = -1; down <= 1; down++)
		for (right = -1; right <= 1; right++)
			if ((down != 0 || right != 0) && i + down >= 0 && j + right >= 0 &&
			    i + down < (int)grid->down && j + right < (int)grid->across)
				side_open(&halo, grid, down, right);
	if (pst_sem_set_create(spmv_tm, 2, PST_SEM_INTEGER | PST_SEM_SCONSUMER, &halo.arrivals,
	                       0) != GASNET_OK)
		spmv_end(1, "no semaphores");
	*halo_out = halo;
}

void
halo_close(struct halo *halo)
{
	pst_sem_set_destroy(halo->arrivals, 0);
}

/* ------------------------------------------------------------- by signal --- */

static void
put_with_signal(const struct halo *halo, const struct side *side, unsigned which)
{
	const pst_sem_ref_t ref = pst_sem_set_ref(halo->arrivals, side->rank, which);
	const pst_signal_t sig = pst_signal_sem(ref, 1);

	if (side->count == 1)
		pst_memput_signal_nbi(spmv_tm, side->rank, side->to[which], side->from[which],
		                      side->bytes, ref, 1, 0);
	else
		pst_puts_signal_nbi(spmv_tm, side->rank, side->to[which], &side->to_stride,
		                    side->from[which], &side->from_stride, side->bytes,
		                    &side->count, 1, &sig, PST_FLAG_LOCAL_ONLY);
}

static void
exchange_by_signal(struct halo *halo, unsigned which)
{
	unsigned k;

	for (k = 0; k < HALO_SIDES; k++)
		if (halo->side[k].count > 0)
			put_with_signal(halo, &halo->side[k], which);
	if (halo->neighbours > 0)
		pst_sem_wait(pst_sem_set_mine(halo->arrivals, which), halo->neighbours);
	gex_NBI_Wait(GEX_EC_PUT, 0); /* the edges may be changed */
}

/* --------------------------------------------------------------- by flag --- */

static void
put_alone(const struct side *side, unsigned which)
{
	if (side->count == 1)
		gex_RMA_PutNBI(spmv_tm, side->rank, side->to[which], side->from[which],
		               side->bytes, GEX_EVENT_DEFER, 0);
	else
		gex_VIS_StridedPutNBI(spmv_tm, side->rank, side->to[which], &side->to_stride,
		                      side->from[which], &side->from_stride, side->bytes,
		                      &side->count, 1, 0);
}

/* Steps are counted from 1 in flags, which begin as 0. */
static void
exchange_by_flag(struct halo *halo, unsigned which)
{
	const uint64_t step = halo->turn + 1;
	unsigned k;

	for (k = 0; k < HALO_SIDES; k++)
		if (halo->side[k].count > 0)
			put_alone(&halo->side[k], which);
	gex_NBI_Wait(GEX_EC_PUT, 0); /* now they are there */
	gasnett_local_wmb();
	for (k = 0; k < HALO_SIDES; k++)
		if (halo->side[k].count > 0)
			gex_RMA_PutNBIVal(spmv_tm, halo->side[k].rank, halo->side[k].flag, step,
			                  sizeof step, 0);
	for (k = 0; k < HALO_SIDES; k++)
		if (halo->side[k].count > 0)
			pst_signal_wait(spmv_ep, halo->flags + k * FLAG_WORDS, PST_CMP_GE, step);
	gex_NBI_Wait(GEX_EC_PUT, 0);
}

void
halo_exchange(struct halo *halo, enum halo_way way)
{
	const unsigned which = (unsigned)(halo->turn % 2);

	if (way == HALO_SIGNAL)
		exchange_by_signal(halo, which);
	else
		exchange_by_flag(halo, which);
}
