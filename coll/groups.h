/*
 * Groups: members of a team that share memory, divided by how near they are to each other.  In a
 * reduction or a barrier of many members each group combines first, and its lowest rank, which
 * *leads*, speaks for it.  So a member reads what the others of its group and the other groups
 * brought, not what each member did.
 *
 * A group is a run of ranks whose CPUs share a cache, or that are threads of one process, and has
 * no more members than there are groups, or 8.  There is one group where members share CPUs, since
 * what one combines for others costs them a turn of the CPU, and where they are few.
 */
#ifndef PCOLL_GROUPS_H
#define PCOLL_GROUPS_H

#include "runtime/team/team.h"

#include <stdbool.h>
#include <stdint.h>

struct pcoll_groups {
	uint32_t count;
	uint32_t own;                   /* this member's */
	uint32_t *first;                /* [count + 1]: the ranks that lead, then the size of the
	                                 * team */
};

/* Divides ranks below size into runs of at most `most'; begins(arg, rank) says that a run
 * begins with that rank, which is not 0; NULL: none does.  False: no memory. */
bool pcoll_groups_divide(struct pcoll_groups *groups_out, uint32_t size, uint32_t most,
                         bool (*begins)(const void *arg, uint32_t rank), const void *arg);

/* The groups of a team whose members share memory; tm NULL: of the job.  The job ends if there is
 * no memory. */
struct pcoll_groups pcoll_groups_of(gex_TM_t tm);

/* The most members of a group of such a team. */
uint32_t pcoll_groups_most(uint32_t size);

static inline bool
pcoll_groups_leads(const struct pcoll_groups *groups, uint32_t rank)
{
	return groups->first[groups->own] == rank;
}

/* The members of its own group. */
static inline uint32_t
pcoll_groups_members(const struct pcoll_groups *groups)
{
	return groups->first[groups->own + 1] - groups->first[groups->own];
}

#endif
