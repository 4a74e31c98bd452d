/*
 * Members tell those above them in a tree of their neighbourhood; those that lead go by
 * dissemination; then members are told down the same trees.
 *
 * Cost: 2 log_k of a neighbourhood's members steps in memory, log_k of the neighbourhoods over the
 * network.
 * Wins: where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

const struct pcoll_builder pcoll_build_barrier_levels = {
	.operation = PCOLL_BARRIER, .name = "levels",
	.summary = "one rank of each host goes by dissemination for all of its host",
	.has_radix = true, .has_levels = true, .build = pcoll_add_barrier_levels,
};
