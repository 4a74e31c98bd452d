/* The algorithms that are schedules, each in a file of its own. */
#ifndef PCOLL_SCHEDULE_LIST_H
#define PCOLL_SCHEDULE_LIST_H

#include "coll/schedule.h"

extern const struct pcoll_builder pcoll_build_barrier_dissemination;
extern const struct pcoll_builder pcoll_build_barrier_device;
extern const struct pcoll_builder pcoll_build_barrier_levels;
extern const struct pcoll_builder pcoll_build_broadcast_binary;
extern const struct pcoll_builder pcoll_build_broadcast_chain;
extern const struct pcoll_builder pcoll_build_broadcast_device;
extern const struct pcoll_builder pcoll_build_broadcast_flat;
extern const struct pcoll_builder pcoll_build_broadcast_knomial;
extern const struct pcoll_builder pcoll_build_broadcast_levels;
extern const struct pcoll_builder pcoll_build_broadcast_scatter;
extern const struct pcoll_builder pcoll_build_exchange_bruck;
extern const struct pcoll_builder pcoll_build_exchange_counterparts;
extern const struct pcoll_builder pcoll_build_exchange_flat;
extern const struct pcoll_builder pcoll_build_exchange_levels;
extern const struct pcoll_builder pcoll_build_exchange_pairwise;
extern const struct pcoll_builder pcoll_build_exscan_chain;
extern const struct pcoll_builder pcoll_build_exscan_doubling;
extern const struct pcoll_builder pcoll_build_exscan_levels;
extern const struct pcoll_builder pcoll_build_gather_all_bruck;
extern const struct pcoll_builder pcoll_build_gather_all_device;
extern const struct pcoll_builder pcoll_build_gather_all_flat;
extern const struct pcoll_builder pcoll_build_gather_all_levels;
extern const struct pcoll_builder pcoll_build_gather_all_ring;
extern const struct pcoll_builder pcoll_build_gather_flat;
extern const struct pcoll_builder pcoll_build_gather_knomial;
extern const struct pcoll_builder pcoll_build_gather_levels;
extern const struct pcoll_builder pcoll_build_permute_direct;
extern const struct pcoll_builder pcoll_build_reduce_binary;
extern const struct pcoll_builder pcoll_build_reduce_chain;
extern const struct pcoll_builder pcoll_build_reduce_halving;
extern const struct pcoll_builder pcoll_build_reduce_knomial;
extern const struct pcoll_builder pcoll_build_reduce_levels;
extern const struct pcoll_builder pcoll_build_reduce_scatter_device;
extern const struct pcoll_builder pcoll_build_reduce_scatter_flat;
extern const struct pcoll_builder pcoll_build_reduce_scatter_levels;
extern const struct pcoll_builder pcoll_build_reduce_scatter_ring;
extern const struct pcoll_builder pcoll_build_reduce_to_all_device;
extern const struct pcoll_builder pcoll_build_reduce_to_all_doubling;
extern const struct pcoll_builder pcoll_build_reduce_to_all_halving;
extern const struct pcoll_builder pcoll_build_reduce_to_all_levels;
extern const struct pcoll_builder pcoll_build_reduce_to_all_levels_tree;
extern const struct pcoll_builder pcoll_build_reduce_to_all_parts;
extern const struct pcoll_builder pcoll_build_reduce_to_all_tree;
extern const struct pcoll_builder pcoll_build_scan_chain;
extern const struct pcoll_builder pcoll_build_scan_doubling;
extern const struct pcoll_builder pcoll_build_scan_levels;
extern const struct pcoll_builder pcoll_build_scatter_flat;
extern const struct pcoll_builder pcoll_build_scatter_knomial;
extern const struct pcoll_builder pcoll_build_scatter_levels;

/* All of them, and NULL behind the last. */
extern const struct pcoll_builder *const pcoll_builders[];

/* NULL: the operation has no algorithm of that name. */
const struct pcoll_builder *pcoll_builder_find(enum pcoll_operation operation, const char *name);

#endif
