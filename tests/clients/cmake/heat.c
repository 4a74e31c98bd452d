/* Warms one end of a rod, step by step, and compares with the same rod in one piece. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "halo.h"

enum { OWN_CELLS = 50, STEPS = 300 };

/* New values of cells 1 to `count'; the two beyond stay. */
static void
rod_step(double *cells, double *next, size_t count)
{
	size_t i;

	for (i = 1; i <= count; i++)
		next[i] = cells[i] + 0.25 * (cells[i - 1] - 2 * cells[i] + cells[i + 1]);
	memcpy(cells + 1, next + 1, count * sizeof(*cells));
}

/* The whole rod, by one rank: `whole' has count + 2 cells. */
static void
rod_alone(double *whole, size_t count)
{
	double *next = calloc(count + 2, sizeof(*next));
	int step;

	if (next == NULL)
		halo_end(2);
	memset(whole, 0, (count + 2) * sizeof(*whole));
	whole[0] = 100;
	for (step = 0; step < STEPS; step++)
		rod_step(whole, next, count);
	free(next);
}

static void
rod_together(struct halo *halo, int rank)
{
	double *cells = halo_cells(halo), next[OWN_CELLS + 2];
	int step;

	memset(cells, 0, (OWN_CELLS + 2) * sizeof(*cells));
	if (rank == 0)
		cells[0] = 100;
	for (step = 0; step < STEPS; step++) {
		halo_exchange(halo);
		rod_step(cells, next, OWN_CELLS);
	}
}

int
main(int argc, char **argv)
{
	double *whole, difference = 0;
	struct halo *halo;
	int rank, count, i;

	halo_start(&argc, &argv, &rank, &count);
	whole = calloc((size_t)count * OWN_CELLS + 2, sizeof(*whole));
	if (whole == NULL)
		halo_end(2);
	halo = halo_open(OWN_CELLS);
	rod_together(halo, rank);
	rod_alone(whole, (size_t)count * OWN_CELLS);
	for (i = 1; i <= OWN_CELLS; i++)
		difference += fabs(halo_cells(halo)[i] - whole[rank * OWN_CELLS + i]);
	difference = halo_sum(difference);
	if (rank == 0)
		printf("%s: %d\n", difference == 0 && whole[1] > 50 ? "done" : "differs", count);
	halo_close(halo);
	free(whole);
	halo_end(difference == 0 ? 0 : 1);
	return 0;
}
