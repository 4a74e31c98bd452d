/* The operations by cells; pcoll_registry.c lists them. */
#ifndef PCOLL_CELLS_LIST_H
#define PCOLL_CELLS_LIST_H

#include "coll/cells.h"

extern const struct pcoll_cells_kind pcoll_cells_broadcast;
extern const struct pcoll_cells_kind pcoll_cells_exchange;
extern const struct pcoll_cells_kind pcoll_cells_exscan;
extern const struct pcoll_cells_kind pcoll_cells_gather;
extern const struct pcoll_cells_kind pcoll_cells_gather_all;
extern const struct pcoll_cells_kind pcoll_cells_permute;
extern const struct pcoll_cells_kind pcoll_cells_reduce_scatter;
extern const struct pcoll_cells_kind pcoll_cells_reduce_to_all;
extern const struct pcoll_cells_kind pcoll_cells_reduce_to_one;
extern const struct pcoll_cells_kind pcoll_cells_scan;
extern const struct pcoll_cells_kind pcoll_cells_scatter;

/* The kind of each operation; NULL if that never goes by cells. */
extern const struct pcoll_cells_kind *const pcoll_cells_kinds[PCOLL_OPERATIONS];

/* Of the reduction to all (algorithms/cells_reduce_split.c). */
unsigned pcoll_cells_reduce_split(const struct pcoll_call *call,
                                  struct pcoll_cells_part parts[PCOLL_CELLS_PARTS]);

/* Of both (algorithms/cells_reduce_groups.c). */
unsigned pcoll_cells_reduce_by_groups(const struct pcoll_call *call,
                                      struct pcoll_cells_part parts[PCOLL_CELLS_PARTS]);

#endif
