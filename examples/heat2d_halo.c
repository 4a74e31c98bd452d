/*
 * The halo by put with signal. An edge is one operation: it puts the points, those of a column with
 * a stride of one row, and then posts to a semaphore of the receiver, which waits for as many posts
 * as it has neighbours.
 */
#include "heat2d_halo.h"

size_t
halo_segment_bytes(const struct grid *grid)
{
	size_t rows = (grid->rows + grid->down - 1) / grid->down;
	size_t cols = (grid->cols + grid->across - 1) / grid->across;
	size_t bytes = 2 * (rows + 2) * (cols + 2) * sizeof(double);

	return (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
}

static double *
vector_of(gex_TM_t tm, gex_Rank_t rank, const struct block *block, unsigned which)
{
	void *base = NULL;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &base, NULL, NULL, 0));
	return (double *)base + which * block_points(block);
}

/* Where our edge begins that faces direction d, of so many points. */
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
	const gex_Rank_t mine = gex_TM_QueryRank(halo->tm);
	const gex_Rank_t rank = (gex_Rank_t)((int)mine + down * (int)grid->across + right);
	const struct block here = block_of(grid, mine), there = block_of(grid, rank);
	struct side *side = &halo->side[halo->sides++];
	unsigned which;

	side->rank = rank;
	for (which = 0; which < 2; which++) {
		side->from[which] = halo->x[which] + block_index(&here, edge(down, here.rows),
		                                                 edge(right, here.cols));
		side->to[which] =
			vector_of(halo->tm, rank, &there, which) +
			block_index(&there, border(-down, there.rows), border(-right, there.cols));
	}
	side->from_stride = (ptrdiff_t)(here.pitch * sizeof(double));
	side->to_stride = (ptrdiff_t)(there.pitch * sizeof(double));
	side->count = down == 0 ? here.rows : 1;
	side->bytes = right == 0 ? here.cols * sizeof(double) : sizeof(double);
}

int
halo_open(struct halo *halo_out, gex_TM_t tm, const struct grid *grid)
{
	static const int down[HALO_SIDES] = { -1, 0, 0, 1 }, right[HALO_SIDES] = { 0, -1, 1, 0 };
	const gex_Rank_t mine = gex_TM_QueryRank(tm);
	const struct block block = block_of(grid, mine);
	const int i = (int)(mine / grid->across), j = (int)(mine % grid->across);
	struct halo halo = { .tm = tm };
	unsigned k;

	for (k = 0; k < 2; k++) {
		halo.x[k] = vector_of(tm, mine, &block, k);
		block_fill(grid, &block, halo.x[k]);
	}
	for (k = 0; k < HALO_SIDES; k++)
		if (i + down[k] >= 0 && i + down[k] < (int)grid->down && j + right[k] >= 0 &&
		    j + right[k] < (int)grid->across)
			side_open(&halo, grid, down[k], right[k]);
	if (pst_sem_set_create(tm, 2, PST_SEM_INTEGER | PST_SEM_SCONSUMER, &halo.arrivals, 0) !=
	    GASNET_OK)
		return -1;
	*halo_out = halo;
	return 0;
}

void
halo_close(struct halo *halo)
{
	pst_sem_set_destroy(halo->arrivals, 0);
}

void
halo_send(const struct halo *halo, unsigned which)
{
	const struct side *side;

	for (side = halo->side; side < halo->side + halo->sides; side++) {
		const pst_sem_ref_t ref = pst_sem_set_ref(halo->arrivals, side->rank, which);
		const pst_signal_t sig = pst_signal_sem(ref, 1);

		if (side->count == 1)
			pst_memput_signal_nbi(halo->tm, side->rank, side->to[which],
			                      side->from[which], side->bytes, ref, 1, 0);
		else
			pst_puts_signal_nbi(halo->tm, side->rank, side->to[which], &side->to_stride,
			                    side->from[which], &side->from_stride, side->bytes,
			                    &side->count, 1, &sig, PST_FLAG_LOCAL_ONLY);
	}
}

void
halo_wait(const struct halo *halo, unsigned which)
{
	if (halo->sides > 0)
		pst_sem_wait(pst_sem_set_mine(halo->arrivals, which), halo->sides);
	gex_NBI_Wait(GEX_EC_PUT, 0);
}
