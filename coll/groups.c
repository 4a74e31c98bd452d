#include "coll/groups.h"

#include "runtime/process/endpoint.h"
#include "runtime/segment/reach.h"
#include "runtime/util/topology.h"

#include <stdlib.h>

/* A phase costs about what it takes to read eight lines, so fewer members have one group. */
enum { LEAST_SIZE = 16, LEAST_MOST = 8 };

uint32_t
pcoll_groups_most(uint32_t size)
{
	uint32_t most = LEAST_MOST;

	while (most * most < size)
		most++;
	return most;
}

/* first[i] is the first rank of run number i.  Returns how many there are. */
static uint32_t
runs_find(uint32_t *first, uint32_t size, uint32_t most,
          bool (*begins)(const void *arg, uint32_t rank), const void *arg)
{
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < size; rank++)
		if (rank == 0 || rank - first[count - 1] == most ||
		    (begins && begins(arg, rank)))
			first[count++] = rank;
	first[count] = size;
	return count;
}

bool
pcoll_groups_divide(struct pcoll_groups *groups_out, uint32_t size, uint32_t most,
                    bool (*begins)(const void *arg, uint32_t rank), const void *arg)
{
	uint32_t *first = malloc((size + 1) * sizeof *first);

	*groups_out = (struct pcoll_groups){ .first = first };
	if (first)
		groups_out->count = runs_find(first, size, most, begins, arg);
	return first != NULL;
}

/* -- a team's ---------------------------------------------------------------------------------- */

static uint32_t
process_of(gex_TM_t tm, uint32_t rank)
{
	return psi_jobrank_of(tm && tm->places ? tm->places[rank] : rank);
}

static bool
rank_is_one_of_threads(gex_TM_t tm, uint32_t size, uint32_t rank)
{
	const uint32_t process = process_of(tm, rank);

	return (rank > 0 && process_of(tm, rank - 1) == process) ||
	       (rank + 1 < size && process_of(tm, rank + 1) == process);
}

/* arg is the team.  Is this rank far from the one before? */
static bool
rank_is_far(const void *arg, uint32_t rank)
{
	gex_TM_t tm = (gex_TM_t)(uintptr_t)arg;
	const uint32_t size = tm ? tm->size : psi.boot.size;
	const uint32_t process = process_of(tm, rank), before = process_of(tm, rank - 1);

	if (process == before || !psi.cache_of)
		return false;
	return psi.cache_of[psi.host_index[process]] != psi.cache_of[psi.host_index[before]] ||
	       rank_is_one_of_threads(tm, size, rank) ||
	       rank_is_one_of_threads(tm, size, rank - 1);
}

static uint32_t
group_most(uint32_t size)
{
	if (psi_group_members)
		return psi_group_members;
	if (size < LEAST_SIZE || !psi.cache_of || size > psi.host_cpus)
		return size;
	return pcoll_groups_most(size);
}

struct pcoll_groups
pcoll_groups_of(gex_TM_t tm)
{
	const uint32_t size = tm ? tm->size : psi.boot.size, rank = tm ? tm->rank : psi.boot.rank;
	const uint32_t most = group_most(size);
	struct pcoll_groups groups;

	if (!pcoll_groups_divide(&groups, size, most, most < size ? rank_is_far : NULL, tm))
		psi_fatal("no memory for the groups of a team of %u", size);
	while (groups.first[groups.own + 1] <= rank)
		groups.own++;
	return groups;
}
