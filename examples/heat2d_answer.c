/*
 * What rank 0 does with the answer: it compares with the one that it finds alone, prints a line,
 * and has the picture drawn.
 */
#include "heat2d.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
answer_is_gathered(const struct job *job)
{
	return job->check || job->png != NULL;
}

static double *
points_make(const struct grid *grid, const struct block *all)
{
	double *made = malloc(block_points(all) * sizeof *made);

	if (made == NULL)
		fprintf(stderr, "heat2d: rank 0: no memory for a grid of %ux%u\n",
		        (unsigned)grid->rows, (unsigned)grid->cols);
	else
		block_fill(grid, all, made);
	return made;
}

/* The whole grid, from the blocks; to be freed. */
static double *
blocks_join(const struct grid *grid, const struct block *all, const double *gathered)
{
	double *x = points_make(grid, all);
	uint32_t rank, i;

	if (x == NULL)
		return NULL;
	for (rank = 0; rank < grid->down * grid->across; rank++) {
		const struct block block = block_of(grid, rank);

		for (i = 1; i <= block.rows; i++, gathered += block.cols)
			memcpy(x + block_index(all, block.first_row + i, block.first_col + 1),
			       gathered, block.cols * sizeof *x);
	}
	return x;
}

/* ---------------------------------------------------------------- check --- */

/* What one rank finds alone, by the same rule for the end; to be freed. */
static double *
serial_solve(const struct job *job, const struct block *all, struct answer *serial_out)
{
	double *x[2] = { points_make(&job->grid, all), points_make(&job->grid, all) };
	struct answer serial = { 0 };
	int found = 0;

	while (x[0] != NULL && x[1] != NULL && !found && serial.sweeps < job->sweeps) {
		const double *from = x[serial.sweeps % 2];
		double *to = x[(serial.sweeps + 1) % 2];

		serial.residual = fmax(sweep_inside(all, from, to), sweep_edges(all, from, to));
		serial.sweeps++;
		found = sweep_is_tested(job, serial.sweeps) && serial.residual <= job->tolerance;
	}
	free(x[(serial.sweeps + 1) % 2]);
	*serial_out = serial;
	if (serial.sweeps > 0)
		return x[serial.sweeps % 2];
	free(x[0]);
	return NULL;
}

static size_t
count_different(const double *a, const double *b, size_t count)
{
	size_t different = 0, i;

	for (i = 0; i < count; i++)
		different += memcmp(&a[i], &b[i], sizeof a[i]) != 0;
	return different;
}

/* Returns 0 if the answer is the serial one, to the last bit; else it says what differs. */
static int
answer_check(const struct job *job, const struct answer *answer, const struct block *all,
             const double *x)
{
	struct answer serial;
	double *right = serial_solve(job, all, &serial);
	size_t different;

	if (right == NULL)
		return 1;
	different = count_different(x, right, block_points(all));
	free(right);
	if (different == 0 && answer->sweeps == serial.sweeps &&
	    count_different(&answer->residual, &serial.residual, 1) == 0)
		return 0;
	fprintf(stderr,
	        "heat2d: not the serial answer: %zu points differ; alone it takes %u sweeps, "
	        "residual %.17g, and here %u and %.17g\n",
	        different, serial.sweeps, serial.residual, answer->sweeps, answer->residual);
	return 1;
}

/* --------------------------------------------------------------- report --- */

static void
answer_print(const struct job *job, const struct answer *answer, const char *more)
{
	const struct grid *grid = &job->grid;

	printf("heat2d: %u ranks (%ux%u), grid %ux%u, %u sweeps, residual %.9g, "
	       "%.3f us per sweep%s\n",
	       (unsigned)(grid->down * grid->across), (unsigned)grid->down, (unsigned)grid->across,
	       (unsigned)grid->rows, (unsigned)grid->cols, answer->sweeps, answer->residual,
	       answer->seconds * 1e6 / answer->swept, more);
	fflush(stdout);
}

int
answer_finish(const struct job *job, const struct answer *answer, const double *gathered)
{
	const struct block all = block_of_all(&job->grid);
	double *x;
	int status = 0;

	if (!answer_is_gathered(job)) {
		answer_print(job, answer, "");
		return 0;
	}
	x = blocks_join(&job->grid, &all, gathered);
	if (x == NULL)
		return 1;
	if (job->check)
		status = answer_check(job, answer, &all, x);
	answer_print(job, answer, job->check && status == 0 ? ", the serial answer" : "");
	if (job->png != NULL && picture_write(job->png, &all, x) != 0)
		status = 1;
	free(x);
	return status;
}
