/*
 * spmv: what its parts share.
 *
 *     spmv.c          the steps, the report
 *     spmv_grid.c     who has which part of the grid; the matrix; its product
 *     spmv_halo.c     each rank gets the points around its part
 *     spmv_options.c  the command line
 */
#ifndef SPMV_H
#define SPMV_H

#include <gasnetex.h>
#include <penstock.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define SPMV_PRINTF __attribute__((format(printf, 2, 3)))
#else
#define SPMV_PRINTF
#endif

extern gex_TM_t spmv_tm;
extern gex_EP_t spmv_ep;
extern gex_Rank_t spmv_rank;

void spmv_barrier(void);
/* All ranks together: rank 0 prints the reason, if there is one, and the job ends. */
_Noreturn void spmv_end(int status, const char *format, ...) SPMV_PRINTF;
/* One rank alone. */
_Noreturn void spmv_fail(int status, const char *format, ...) SPMV_PRINTF;

/* ---------------------------------------------------------- spmv_grid.c --- */

/* A grid of points, in parts of about the same size: so many down, so many across. */
struct grid {
	uint32_t rows, cols;
	uint32_t down, across;
};

/*
 * One part. A vector over it has a border of one point all round, for the
 * neighbours' points, and lies by rows of `pitch' numbers.
 */
struct block {
	uint32_t first_row, first_col, rows, cols;
	size_t pitch;
};

struct block block_of(const struct grid *grid, gex_Rank_t rank);
size_t block_doubles(const struct block *block); /* of a vector, with the border */
size_t block_index(const struct block *block, uint32_t row, uint32_t col); /* with border: from 0 */

/* Nine numbers for each point of the block; to be freed. */
double *matrix_open(const struct grid *grid, const struct block *block);
/* What the iteration starts with; the border is 0. */
void vector_fill(const struct block *block, double *x);
/* y = A x, all but the border. */
void product(const struct block *block, const double *matrix, const double *x, double *y);
/* The largest difference of x, after these steps, to the answer of one rank alone. */
double serial_difference(const struct grid *grid, const struct block *block, const double *x,
                         unsigned steps);

/* ---------------------------------------------------------- spmv_halo.c --- */

enum halo_way { HALO_SIGNAL, HALO_FLAG, HALO_WAYS };
extern const char *const way_names[HALO_WAYS];
enum { HALO_SIDES = 9 }; /* 3 * (row + 1) + column + 1, rows and columns -1 to 1; 4 is nobody */

/* What a neighbour needs of ours: a row, a column or a corner. */
struct side {
	gex_Rank_t rank;
	double *from[2], *to[2]; /* here and there, in either vector */
	ptrdiff_t from_stride, to_stride;
	size_t count, bytes; /* pieces, and of each */
	uint64_t *flag;      /* there; ours for what comes from there is halo->flags */
};

/*
 * Two vectors in the segment: step t takes x[t % 2] to x[(t + 1) % 2].
 *
 * The border of x[t % 2] was last read in step t - 2. A neighbour fills it for
 * step t after it has had ours for step t - 1, which we send after step t - 2:
 * nobody needs to be asked. So a neighbour is ahead by one step at most, and
 * arrivals for t are told from those for t + 1 by a semaphore for each vector.
 */
struct halo {
	double *x[2];
	uint64_t turn; /* steps so far */
	struct side side[HALO_SIDES];
	unsigned neighbours;
	uint64_t *flags; /* by side, a cache line each; in the segment */
	pst_sem_set_t arrivals;
};

size_t halo_segment_bytes(const struct grid *grid); /* enough for every rank */
void halo_open(struct halo *halo_out, const struct grid *grid);
void halo_close(struct halo *halo);

/* Sends the edges of the present vector, and gets its border. */
void halo_exchange(struct halo *halo, enum halo_way way);

/* ------------------------------------------------------- spmv_options.c --- */

struct job {
	struct grid grid;
	unsigned steps, rounds;
	enum halo_way first, last; /* to exchange the halo, in turns */
	int check;
};

void options_parse(struct job *job_out, int argc, char **argv);

#endif
