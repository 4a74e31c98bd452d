/*
 * heat2d: what its parts share that does not communicate. The program of mpi/heat2d.c consists of
 * these parts, too.
 *
 *     heat2d.c          the sweeps, the test of convergence
 *     heat2d_halo.c     each rank gets the points around its block (heat2d_halo.h)
 *     heat2d_grid.c     which rank has which block of the grid; one sweep
 *     heat2d_answer.c   what rank 0 does with the answer: check, print, draw
 *     heat2d_options.c  the command line
 *     heat2d_png.c      the picture
 */
#ifndef HEAT2D_H
#define HEAT2D_H

#include <stddef.h>
#include <stdint.h>

/* -------------------------------------------------------- heat2d_grid.c --- */

/* A grid of points, shared out in blocks of about the same size: so many down, so many across. */
struct grid {
	uint32_t rows, cols;
	uint32_t down, across;
};

/*
 * One block. Its points lie by rows of `pitch' numbers, with a border of one point all round: of
 * points of the neighbours, or of the fixed temperature at the edge of the grid. Points are counted
 * from 0 with the border, so 1 is the first of the block.
 */
struct block {
	uint32_t first_row, first_col, rows, cols;
	size_t pitch;
};

struct block block_of(const struct grid *grid, uint32_t rank);
struct block block_of_all(const struct grid *grid); /* the grid as one block */
size_t block_points(const struct block *block);     /* with the border */
size_t block_index(const struct block *block, uint32_t row, uint32_t col);
/* The temperatures before the first sweep: 0, and at the edge of the grid those that stay. */
void block_fill(const struct grid *grid, const struct block *block, double *x);
/* The points of the block without its border, one row after the other. */
void block_pack(const struct block *block, const double *x, double *packed);

/*
 * A sweep makes every point of y the mean of the four around it in x; it returns the largest
 * change. The inside does not read the border, so it can be swept before the border is there.
 */
double sweep_inside(const struct block *block, const double *x, double *y);
double sweep_edges(const struct block *block, const double *x, double *y);

/* ----------------------------------------------------- heat2d_options.c --- */

struct job {
	struct grid grid;
	unsigned sweeps, every; /* sweeps at most; the change is tested after so many */
	double tolerance;       /* the answer is found when a sweep changes no point by more */
	const char *png;        /* the file for the picture, or NULL */
	int check;
	char refusal[256]; /* why this cannot be done, in one line; empty if it can */
};

/* Returns 1 if nothing but help is wanted. The same on all ranks, of which there are so many. */
int options_parse(struct job *job_out, int argc, char **argv, uint32_t ranks);
void options_help(void);
/* Whether the change is tested after that sweep, counted from 1. */
int sweep_is_tested(const struct job *job, unsigned sweep);

/* ------------------------------------------------------ heat2d_answer.c --- */

struct answer {
	unsigned sweeps, swept; /* the answer's; and how many were made to find it */
	double residual;        /* the largest change of the answer's last sweep */
	double seconds;         /* of all that were made */
};

/* Whether rank 0 needs the points of all. */
int answer_is_gathered(const struct job *job);
/*
 * By rank 0. `gathered' has the packed blocks of the ranks, one after the other. Prints the line of
 * the answer, and what is wrong with it. Returns the status of the job.
 */
int answer_finish(const struct job *job, const struct answer *answer, const double *gathered);

/* --------------------------------------------------------- heat2d_png.c --- */

/* Whether this build can draw. */
int picture_possible(void);
/* One pixel for each point of x, which is the whole grid. Returns 0, or -1 and has said why. */
int picture_write(const char *file, const struct block *all, const double *x);

/* The fixed temperatures: no point is ever outside of HEAT_LEAST to HEAT_MOST. */
#define HEAT_LEAST 0.0
#define HEAT_MOST  100.0

#endif
