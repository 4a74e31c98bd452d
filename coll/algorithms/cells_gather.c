/* Gather by cells: each member fills with its block, and the root, or each member, reads all. */
#include "coll/cells_list.h"

const struct pcoll_cells_kind pcoll_cells_gather = {
	.operation = PCOLL_GATHER, .dst_blocks = true,
	.root = { .reads = PCOLL_READS_OTHERS, .copies_own = true },
	.others = { .fills = true, .reads = PCOLL_READS_NONE },
	.mapped_least_of_two = 64 << 10, .mapped_least = 512 << 10,
};

#define EACH { .fills = true, .reads = PCOLL_READS_OTHERS, .copies_own = true }

const struct pcoll_cells_kind pcoll_cells_gather_all = {
	.operation = PCOLL_GATHER_ALL, .dst_blocks = true, .root = EACH, .others = EACH,
};
