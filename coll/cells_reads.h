/*
 * Whose cells a member reads in a phase, and in which order.
 */
#ifndef PCOLL_CELLS_READS_H
#define PCOLL_CELLS_READS_H

#include "coll/cells_side.h"

struct reads {
	gex_Rank_t count;
	gex_Rank_t first, step;         /* ranks, by which each is ahead of the one before, all
	                                 * modulo the size of the team ... */
	const gex_Rank_t *last;         /* ... or not NULL: they are listed, this one first, and
	                                 * then those before it */
};

static inline struct reads
reads_down(gex_Rank_t first, gex_Rank_t count)
{
	return (struct reads){ .count = count, .first = first, .step = (gex_Rank_t)-1 };
}

/* The cells that a member reads for a call, which has that root. */
static inline struct reads
reads_of(const struct pcoll_cells *cells, gex_Rank_t root, enum pcoll_cells_reads reads)
{
	const struct pcoll_groups *groups = &cells->groups;
	const gex_Rank_t rank = cells->rank, size = cells->size;

	switch (reads) {
	case PCOLL_READS_ROOT:
		return (struct reads){ .count = 1, .first = root };
	case PCOLL_READS_OTHERS:
		return (struct reads){ .count = size - 1, .first = rank + 1, .step = 1 };
	case PCOLL_READS_ALL_DOWN:
		return reads_down(size - 1, size);
	case PCOLL_READS_DOWN_FROM_OWN:
		return reads_down(rank, rank + 1);
	case PCOLL_READS_DOWN_BELOW:
		return reads_down(rank - 1, rank);
	case PCOLL_READS_GROUP_DOWN:
		return reads_down(groups->first[groups->own + 1] - 1,
		                  pcoll_groups_leads(groups, rank) ? pcoll_groups_members(groups)
		                                                   : 0);
	case PCOLL_READS_LEADS_DOWN:
		return (struct reads){ .count = groups->count,
		                       .last = &groups->first[groups->count - 1] };
	default:
		return (struct reads){ .count = 0 };
	}
}

/* Whose cell is read after so many. */
static inline gex_Rank_t
reads_rank(const struct reads *reads, gex_Rank_t size, gex_Rank_t number)
{
	const gex_Rank_t rank = reads->first + number * reads->step;

	if (PSI_UNLIKELY(reads->last != NULL))
		return *(reads->last - number);
	return rank < size ? rank : rank - size;
}

#endif
