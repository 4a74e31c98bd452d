/*
 * Scans by cells: each member fills with a piece of its vector, and combines its own and those of
 * the lower ranks, from its own rank down; of an exclusive scan those of the lower ranks alone.
 */
#include "coll/cells_list.h"

#define EACH(which) { .fills = true, .reads = which }

const struct pcoll_cells_kind pcoll_cells_scan = {
	.operation = PCOLL_SCAN, .combines = true,
	.root = EACH(PCOLL_READS_DOWN_FROM_OWN), .others = EACH(PCOLL_READS_DOWN_FROM_OWN),
};

const struct pcoll_cells_kind pcoll_cells_exscan = {
	.operation = PCOLL_EXSCAN, .combines = true,
	.root = EACH(PCOLL_READS_DOWN_BELOW), .others = EACH(PCOLL_READS_DOWN_BELOW),
};
