/* The algorithms, each in a file of its own; pcoll_registry.c lists them. */
#ifndef PCOLL_ALGORITHMS_H
#define PCOLL_ALGORITHMS_H

#include "coll/cells.h"
#include "coll/parts.h"

extern const struct pcoll_algorithm pcoll_barrier_dissemination;
extern const struct pcoll_algorithm pcoll_broadcast_binomial;
extern const struct pcoll_algorithm pcoll_reduce_to_one_binomial;
extern const struct pcoll_algorithm pcoll_reduce_to_one_ordered;
extern const struct pcoll_algorithm pcoll_reduce_to_all_binomial;
extern const struct pcoll_algorithm pcoll_scatter_direct;
extern const struct pcoll_algorithm pcoll_gather_direct;
extern const struct pcoll_algorithm pcoll_gather_all_direct;
extern const struct pcoll_algorithm pcoll_exchange_direct;

extern const struct pcoll_cells_kind pcoll_cells_broadcast;
extern const struct pcoll_cells_kind pcoll_cells_exchange;
extern const struct pcoll_cells_kind pcoll_cells_gather;
extern const struct pcoll_cells_kind pcoll_cells_gather_all;
extern const struct pcoll_cells_kind pcoll_cells_reduce_to_all;
extern const struct pcoll_cells_kind pcoll_cells_reduce_to_one;
extern const struct pcoll_cells_kind pcoll_cells_scatter;

#endif
