/* Cells in a row, cut among ranks; each rank also holds the cells before and after its own. */
#ifndef HALO_H
#define HALO_H

#include <stddef.h>

struct halo;

/* The ranks of the job, at the start; the program never sees GASNet. */
void halo_start(int *argc, char ***argv, int *rank_out, int *count_out);
void halo_end(int status);

/* cells[0] and cells[own_cells + 1] are the neighbours'. */
struct halo *halo_open(size_t own_cells);
double *halo_cells(struct halo *halo);
void halo_exchange(struct halo *halo);
void halo_close(struct halo *halo);

double halo_sum(double part);

#endif
