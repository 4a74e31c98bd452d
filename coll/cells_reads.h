/*
 * Whose cells a member reads in a phase, and in which order.
 */
#ifndef PCOLL_CELLS_READS_H
#define PCOLL_CELLS_READS_H

#include "coll/cells_side.h"

/* So many cells. */
static inline gex_Rank_t
reads_count(const struct pcoll_cells *cells, enum pcoll_cells_reads reads)
{
	switch (reads) {
	case PCOLL_READS_ROOT:
		return 1;
	case PCOLL_READS_OTHERS:
		return cells->size - 1;
	case PCOLL_READS_ALL_DOWN:
		return cells->size;
	case PCOLL_READS_DOWN_FROM_OWN:
		return cells->rank + 1;
	case PCOLL_READS_DOWN_BELOW:
		return cells->rank;
	case PCOLL_READS_GROUP_DOWN:
		return pcoll_groups_leads(&cells->groups, cells->rank)
		               ? pcoll_groups_members(&cells->groups) : 0;
	case PCOLL_READS_LEADS_DOWN:
		return cells->groups.count;
	default:
		return 0;
	}
}

/* Whose cell is the next, after op->reads of them. */
static inline gex_Rank_t
reads_from(const struct pcoll_cells *cells, const struct cells_op *op, enum pcoll_cells_reads reads)
{
	gex_Rank_t rank;

	switch (reads) {
	case PCOLL_READS_ROOT:
		return op->call->root;
	case PCOLL_READS_ALL_DOWN:
		return cells->size - 1 - op->reads;
	case PCOLL_READS_DOWN_FROM_OWN:
		return cells->rank - op->reads;
	case PCOLL_READS_DOWN_BELOW:
		return cells->rank - 1 - op->reads;
	case PCOLL_READS_GROUP_DOWN:
		return cells->groups.first[cells->groups.own + 1] - 1 - op->reads;
	case PCOLL_READS_LEADS_DOWN:
		return cells->groups.first[cells->groups.count - 1 - op->reads];
	default:
		rank = cells->rank + 1 + op->reads;
		return rank < cells->size ? rank : rank - cells->size;
	}
}

#endif
