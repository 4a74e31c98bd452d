/*
 * Scatter and exchange by cells: the root, or each member, fills with a piece of the block of each
 * other member, which reads it.
 */
#include "coll/cells_list.h"

const struct pcoll_cells_kind pcoll_cells_scatter = {
	.operation = PCOLL_SCATTER, .src_blocks = true,
	.root = { .fills = true, .reads = PCOLL_READS_NONE, .copies_own = true },
	.others = { .reads = PCOLL_READS_ROOT },
	.mapped_least_of_two = 64 << 10, .mapped_least = 128 << 10,
};

#define EACH { .fills = true, .reads = PCOLL_READS_OTHERS, .copies_own = true }

const struct pcoll_cells_kind pcoll_cells_exchange = {
	.operation = PCOLL_EXCHANGE, .src_blocks = true, .dst_blocks = true,
	.root = EACH, .others = EACH,
};
