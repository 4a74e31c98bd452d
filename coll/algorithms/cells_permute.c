/*
 * Permutation by cells: a member does not know which member sends to it.  So each fills a cell that
 * names its target, and looks at all until it finds the one that names itself.
 */
#include "coll/cells_list.h"

#define EACH { .fills = true, .reads = PCOLL_READS_ALL_DOWN }

const struct pcoll_cells_kind pcoll_cells_permute = {
	.operation = PCOLL_PERMUTE, .names_reader = true, .root = EACH, .others = EACH,
};
