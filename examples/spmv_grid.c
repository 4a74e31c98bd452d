/*
 * Who has which part of the grid; the matrix; its product.
 *
 * A point's row of the matrix has nine entries: for itself and its eight
 * neighbours, of which those outside the grid are 0. Entries follow from the
 * place alone, so any rank can make any part.
 */
#include "spmv.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 9 };

/* The first of part i of so many. */
static uint32_t
part_first(uint32_t all, uint32_t parts, uint32_t i)
{
	return (uint32_t)((uint64_t)all * i / parts);
}

struct block
block_of(const struct grid *grid, gex_Rank_t rank)
{
	uint32_t i = rank / grid->across, j = rank % grid->across;
	struct block block = {
		.first_row = part_first(grid->rows, grid->down, i),
		.first_col = part_first(grid->cols, grid->across, j),
	};

	block.rows = part_first(grid->rows, grid->down, i + 1) - block.first_row;
	block.cols = part_first(grid->cols, grid->across, j + 1) - block.first_col;
	block.pitch = (size_t)block.cols + 2;
	return block;
}

size_t
block_doubles(const struct block *block)
{
	return ((size_t)block->rows + 2) * block->pitch;
}

size_t
block_index(const struct block *block, uint32_t row, uint32_t col)
{
	return row * block->pitch + col;
}

/* ---------------------------------------------------------------- matrix --- */

/* The nine weights of a point add up to 1, so nothing grows. */
static void
make_row(double *entry, const struct grid *grid, uint32_t row, uint32_t col)
{
	double sum = 0;
	unsigned k;

	for (k = 0; k < POINTS; k++) {
		entry[k] = 1.0 + (double)((row * 31u + col * 17u + k * 7u) % 11u) / 10.0;
		sum += entry[k];
	}
	for (k = 0; k < POINTS; k++) {
		uint32_t r = row + k / 3, c = col + k % 3; /* one more than the neighbour's */

		entry[k] /= sum;
		if (r < 1 || r > grid->rows || c < 1 || c > grid->cols)
			entry[k] = 0;
	}
}

double *
matrix_open(const struct grid *grid, const struct block *block)
{
	double *matrix = malloc((size_t)block->rows * block->cols * POINTS * sizeof *matrix);
	double *entry = matrix;
	uint32_t i, j;

	if (matrix == NULL)
		spmv_fail(1, "rank %u: no memory for the matrix", (unsigned)spmv_rank);
	for (i = 0; i < block->rows; i++)
		for (j = 0; j < block->cols; j++, entry += POINTS)
			make_row(entry, grid, block->first_row + i, block->first_col + j);
	return matrix;
}

void
vector_fill(const struct block *block, double *x)
{
	size_t all = block_doubles(block), at;
	uint32_t i, j;

	for (at = 0; at < all; at++)
		x[at] = 0;
	for (i = 0; i < block->rows; i++)
		for (j = 0; j < block->cols; j++)
			x[block_index(block, i + 1, j + 1)] =
				1.0 + (double)(((block->first_row + i) * 7u +
			                        (block->first_col + j) * 13u) % 101u) / 100.0;
}

static inline double
product_at(const double *a, const double *x, size_t pitch)
{
	const double *below = x + pitch, *above = x - pitch;

	return a[0] * above[-1] + a[1] * above[0] + a[2] * above[1] +
	       a[3] * x[-1] + a[4] * x[0] + a[5] * x[1] +
	       a[6] * below[-1] + a[7] * below[0] + a[8] * below[1];
}

void
product(const struct block *block, const double *matrix, const double *x, double *y)
{
	uint32_t i, j;

	for (i = 1; i <= block->rows; i++) {
		size_t at = block_index(block, i, 1);

		for (j = 0; j < block->cols; j++, at++, matrix += POINTS)
			y[at] = product_at(matrix, x + at, block->pitch);
	}
}

/* ---------------------------------------------------------------- serial --- */

static double *
serial_answer(const struct grid *grid, const struct block *whole, unsigned steps)
{
	double *matrix = matrix_open(grid, whole), *x[2];
	unsigned t;

	for (t = 0; t < 2; t++) {
		x[t] = malloc(block_doubles(whole) * sizeof *x[t]);
		if (x[t] == NULL)
			spmv_fail(1, "rank %u: no memory for the serial answer",
			          (unsigned)spmv_rank);
		vector_fill(whole, x[t]);
	}
	for (t = 0; t < steps; t++)
		product(whole, matrix, x[t % 2], x[(t + 1) % 2]);
	free(matrix);
	free(x[(steps + 1) % 2]);
	return x[steps % 2];
}

double
serial_difference(const struct grid *grid, const struct block *block, const double *x,
                  unsigned steps)
{
	const struct grid alone = { grid->rows, grid->cols, 1, 1 };
	const struct block whole = block_of(&alone, 0);
	double *answer = serial_answer(&alone, &whole, steps), most = 0;
	uint32_t i, j;

	for (i = 1; i <= block->rows; i++) {
		for (j = 1; j <= block->cols; j++) {
			double right = answer[block_index(&whole, block->first_row + i,
			                                  block->first_col + j)];

			most = fmax(most, fabs(x[block_index(block, i, j)] - right));
		}
	}
	free(answer);
	return most;
}
