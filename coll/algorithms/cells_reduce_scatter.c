/*
 * A reduction whose blocks are scattered, by cells: each member fills with a piece of its operands
 * of each block, its own included, and combines those of its block from the highest rank down.
 */
#include "coll/cells_list.h"

#define EACH { .fills = true, .reads = PCOLL_READS_ALL_DOWN }

const struct pcoll_cells_kind pcoll_cells_reduce_scatter = {
	.operation = PCOLL_REDUCE_SCATTER, .src_blocks = true, .own_piece = true, .combines = true,
	.root = EACH, .others = EACH,
};
