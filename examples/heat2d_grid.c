/*
 * Which rank has which block of the grid, and one sweep over a block. Each new temperature depends
 * on four old ones alone and is computed in one way, so the bits of the answer do not depend on how
 * the grid is shared out.
 */
#include "heat2d.h"

#include <math.h>
#include <string.h>

/* Points from these rows and columns up to, and without, those. */
struct part {
	uint32_t top, bottom, left, right;
};

/* The first of part i of so many. */
static uint32_t
part_first(uint32_t all, uint32_t parts, uint32_t i)
{
	return (uint32_t)((uint64_t)all * i / parts);
}

struct block
block_of(const struct grid *grid, uint32_t rank)
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

struct block
block_of_all(const struct grid *grid)
{
	const struct grid alone = { grid->rows, grid->cols, 1, 1 };

	return block_of(&alone, 0);
}

size_t
block_points(const struct block *block)
{
	return ((size_t)block->rows + 2) * block->pitch;
}

size_t
block_index(const struct block *block, uint32_t row, uint32_t col)
{
	return row * block->pitch + col;
}

/* Four different temperatures, so that blocks that change places give another answer. */
static double
start_heat(const struct grid *grid, uint32_t row, uint32_t col)
{
	if (row == 0)
		return HEAT_MOST;
	if (row == grid->rows + 1)
		return HEAT_LEAST;
	if (col == 0)
		return 70;
	return col == grid->cols + 1 ? 30 : HEAT_LEAST;
}

void
block_fill(const struct grid *grid, const struct block *block, double *x)
{
	uint32_t i, j;

	for (i = 0; i < block->rows + 2; i++)
		for (j = 0; j < block->cols + 2; j++)
			x[block_index(block, i, j)] =
				start_heat(grid, block->first_row + i, block->first_col + j);
}

void
block_pack(const struct block *block, const double *x, double *packed)
{
	uint32_t i;

	for (i = 1; i <= block->rows; i++, packed += block->cols)
		memcpy(packed, x + block_index(block, i, 1), block->cols * sizeof *packed);
}

/* ----------------------------------------------------------------- sweep --- */

static double
sweep_part(const struct block *block, struct part part, const double *restrict x,
           double *restrict y)
{
	const size_t pitch = block->pitch;
	double most = 0;
	uint32_t i, j;

	for (i = part.top; i < part.bottom; i++) {
		const double *here = x + i * pitch, *above = here - pitch, *below = here + pitch;
		double *to = y + i * pitch;

		for (j = part.left; j < part.right; j++) {
			double heat = 0.25 * ((above[j] + below[j]) + (here[j - 1] + here[j + 1]));
			double change = fabs(heat - here[j]);

			to[j] = heat;
			most = change > most ? change : most;
		}
	}
	return most;
}

double
sweep_inside(const struct block *block, const double *x, double *y)
{
	return sweep_part(block, (struct part){ 2, block->rows, 2, block->cols }, x, y);
}

/* A block of one row or column has that as both of its edges. */
double
sweep_edges(const struct block *block, const double *x, double *y)
{
	const uint32_t rows = block->rows, cols = block->cols;
	const struct part part[4] = {
		{ 1, 2, 1, cols + 1 },
		{ rows, rows + 1, 1, rows > 1 ? cols + 1 : 1 },
		{ 2, rows, 1, 2 },
		{ 2, rows, cols, cols > 1 ? cols + 1 : cols },
	};
	double most = 0;
	unsigned k;

	for (k = 0; k < 4; k++)
		most = fmax(most, sweep_part(block, part[k], x, y));
	return most;
}
