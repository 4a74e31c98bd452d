/* Broadcast by cells: the root fills, all others read. */
#include "coll/cells_list.h"

const struct pcoll_cells_kind pcoll_cells_broadcast = {
	.operation = PCOLL_BROADCAST,
	.root = { .fills = true, .reads = PCOLL_READS_NONE, .copies_own = true },
	.others = { .reads = PCOLL_READS_ROOT },
	.mapped_least_of_two = 1 << 20,         /* a room overlaps its two copies */
};
