/*
 * Which members of a team are in one neighbourhood (runtime/process/queries.c): a host, or a part
 * of one where GASNET_SUPERNODE_MAXSIZE divides it.  Its members share memory; others are reached
 * by the network.
 */
#ifndef PCOLL_LAYOUT_H
#define PCOLL_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Neighbourhoods have the order of their lowest ranks; the lowest rank *leads*. */
struct pcoll_layout {
	uint32_t nbrhds, size;
	uint32_t least, most;           /* members of a neighbourhood */
	bool in_runs;                   /* the ranks of each neighbourhood follow each other */
	uint32_t *nbrhd_of;             /* [size]: of each rank */
	uint32_t *place;                /* [size]: of each rank among those of its neighbourhood */
	uint32_t *start;                /* [nbrhds + 1]: where its members begin in `ranks' */
	uint32_t *ranks;                /* [size]: by neighbourhood, then by rank */
	uint32_t *leads, *lasts;        /* [nbrhds]: the lowest and highest ranks */
};

/* nbrhd_of_rank(arg, rank) names neighbourhoods by any numbers below `most'.  Returns NULL if
 * memory is missing. */
struct pcoll_layout *pcoll_layout_make(uint32_t size, uint32_t most,
                                       uint32_t (*nbrhd_of_rank)(const void *arg, uint32_t rank),
                                       const void *arg);
void pcoll_layout_free(struct pcoll_layout *layout);

/* There are several neighbourhoods. */
static inline bool
pcoll_layout_is_divided(const struct pcoll_layout *layout)
{
	return layout->nbrhds > 1;
}

/* ..., one of which has several members. */
static inline bool
pcoll_layout_has_levels(const struct pcoll_layout *layout)
{
	return pcoll_layout_is_divided(layout) && layout->nbrhds < layout->size;
}

/* The members of that neighbourhood, and how many they are. */
static inline const uint32_t *
pcoll_layout_members(const struct pcoll_layout *layout, uint32_t nbrhd, uint32_t *count_out)
{
	*count_out = layout->start[nbrhd + 1] - layout->start[nbrhd];
	return layout->ranks + layout->start[nbrhd];
}

/* How many ranks follow each other from the one at `at' of the list on, which ends at `end'. */
static inline uint32_t
pcoll_layout_run(const uint32_t *ranks, uint32_t at, uint32_t end)
{
	uint32_t run = 1;

	while (at + run < end && ranks[at + run] == ranks[at] + run)
		run++;
	return run;
}

/* The ranks of the neighbourhood follow each other. */
static inline bool
pcoll_nbrhd_is_run(const struct pcoll_layout *layout, uint32_t nbrhd)
{
	const uint32_t first = layout->start[nbrhd], last = layout->start[nbrhd + 1] - 1;

	return layout->ranks[last] - layout->ranks[first] == last - first;
}

#endif
