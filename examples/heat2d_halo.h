/*
 * Each rank gets the points around its block: a row or a column from each of up to four neighbours,
 * by put with signal.
 */
#ifndef HEAT2D_HALO_H
#define HEAT2D_HALO_H

#include "heat2d.h"

#include <gasnetex.h>
#include <penstock.h>

enum { HALO_SIDES = 4 };

/* A neighbour, and what it needs of ours; in either vector, here and there. */
struct side {
	gex_Rank_t rank;
	double *from[2], *to[2];
	ptrdiff_t from_stride, to_stride;
	size_t count, bytes; /* pieces, and of each */
};

/*
 * Two vectors in the segment: sweep t, counted from 0, takes x[t % 2] to x[(t + 1) % 2].
 *
 * The border of x[t % 2] was last read in sweep t - 2. A neighbour fills it for sweep t after it
 * has had ours for sweep t - 1, which we send after sweep t - 2: nobody needs to be asked. So a
 * neighbour is ahead by one sweep at most, and a semaphore for each vector tells its arrivals from
 * those of the other sweep.
 */
struct halo {
	gex_TM_t tm;
	double *x[2];
	struct side side[HALO_SIDES];
	unsigned sides;
	pst_sem_set_t arrivals;
};

size_t halo_segment_bytes(const struct grid *grid); /* enough for every rank */
/* By all ranks together. Returns 0, or -1 if there are no semaphores. */
int halo_open(struct halo *halo_out, gex_TM_t tm, const struct grid *grid);
void halo_close(struct halo *halo);

/* Sends our edges of that vector. */
void halo_send(const struct halo *halo, unsigned which);
/* Waits until the border of that vector is there, and until our edges may be changed. */
void halo_wait(const struct halo *halo, unsigned which);

#endif
