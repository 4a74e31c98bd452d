/*
 * Reductions by cells: each member fills with a piece of its vector, and the root, or each member,
 * combines those of all.  They are combined from the highest rank down, so that the order is that
 * of the ranks and the bits are the same on all members.  The own operand is read from src, or from
 * the own cell where dst may have overwritten src.
 */
#include "coll/cells_list.h"

#define EACH { .fills = true, .reads = PCOLL_READS_ALL_DOWN }

const struct pcoll_cells_kind pcoll_cells_reduce_to_one = {
	.operation = PCOLL_REDUCE_TO_ONE, .combines = true,
	.root = EACH, .others = { .fills = true, .reads = PCOLL_READS_NONE },
	.by_groups = pcoll_cells_reduce_by_groups,
};

const struct pcoll_cells_kind pcoll_cells_reduce_to_all = {
	.operation = PCOLL_REDUCE_TO_ALL, .combines = true,
	.root = EACH, .others = EACH, .split = pcoll_cells_reduce_split,
	.by_groups = pcoll_cells_reduce_by_groups,
};
