/* Block-cyclic arrays of penstock_upc_coll.h, and reductions along their elements. */
#ifndef PCOLL_UPC_H
#define PCOLL_UPC_H

#include "coll/checks.h"

#include "penstock_upc_coll.h"

/*
 * The blocks of one rank.  All blocks of an array are sorted into *rows*: a row has at most one
 * block of each rank, and the order of elements is that of rows, in a row that of ranks.  So a
 * rank below the array's first has its block i in row i + 1, others theirs in row i.
 */
struct pcoll_upc_part {
	size_t blocks, first_row;
	size_t rows;                    /* of the whole array */
	size_t blk_elems;
	size_t last_elems;              /* of the rank's last block */
};

/* Where array->elems is 0 there are no rows. */
struct pcoll_upc_part pcoll_upc_part_of(const pst_upc_array_t *array, gex_Rank_t size,
                                        gex_Rank_t rank);
/* Elements of the rank's block i. */
size_t pcoll_upc_block_elems(const struct pcoll_upc_part *part, size_t i);

#endif
