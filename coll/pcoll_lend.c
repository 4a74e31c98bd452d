/*
 * Memory that members lend to the collectives of their teams, where all members share memory.  A
 * process has PSI_TEAM_BARRIERS numbers.  A member of a new team takes one, tells it with its
 * offer, and has it back when all members have left the team.  A number stands for a barrier area,
 * of which that of the team's first member is used, and for cells, of which each member uses its
 * own.  Where a member has none left, the team goes without; where a process has several members,
 * without cells.
 *
 * Pairs:  G6 (pcoll_barrier_area_leave, pcoll_cells_leave) -> G7 (number_is_free)
 *         a member's last look, before the memory is lent again
 */
#include "coll/pcoll_lend.h"

#include "runtime/segment/reach.h"

#include <stdlib.h>

enum { FREE = 0, TAKEN = INT32_MAX };

static struct psi_spinlock lock;

/* By number: how many members the team has that uses it, or FREE.  `barrier' is TAKEN while a team
 * is being made. */
static struct {
	uint32_t barrier, cells;
} users[PSI_TEAM_BARRIERS + 1];

static struct psi_barrier_area *
area_of_lender(gex_Rank_t owner, uint32_t number)
{
	return &psi_shared_of(owner)->team_barriers[number - 1];
}

static struct psi_cells *
cells_of_lender(gex_Rank_t owner, uint32_t number)
{
	return &psi_shared_of(owner)->cells[number];
}

static bool
number_is_free(uint32_t number)
{
	const gex_Rank_t own = psi.boot.rank;

	return users[number].barrier != TAKEN &&
	       atomic_load_explicit(&area_of_lender(own, number)->left,
	                            memory_order_acquire) /* G7: acquire, from G6 below */ ==
	               users[number].barrier &&
	       atomic_load_explicit(&cells_of_lender(own, number)->left,
	                            memory_order_acquire) /* G7: acquire, from G6 below */ ==
	               users[number].cells;
}

static void
barrier_area_clear(struct psi_barrier_area *area)
{
	atomic_store_explicit(&area->arrived, 0, memory_order_relaxed);
	atomic_store_explicit(&area->complete, 0, memory_order_relaxed);
	for (unsigned i = 0; i < PSI_BARRIER_FLAGS; i++)
		for (unsigned parity = 0; parity < 2; parity++)
			atomic_store_explicit(&area->flags[i].entered[parity], 0,
			                      memory_order_relaxed);
	atomic_store_explicit(&area->left, 0, memory_order_relaxed);
}

/* The rooms stay, and members that have mapped them keep them so. */
static void
cells_clear(struct psi_cells *cells)
{
	for (unsigned i = 0; i < PSI_CELLS; i++)
		atomic_store_explicit(&cells->line[i].head, 0, memory_order_relaxed);
	atomic_store_explicit(&cells->taken, 0, memory_order_relaxed);
	atomic_store_explicit(&cells->started, 0, memory_order_relaxed);
	atomic_store_explicit(&cells->left, 0, memory_order_relaxed);
}

static void
number_set_users(uint32_t number, uint32_t barrier, uint32_t cells)
{
	psi_spinlock_lock(&lock);
	users[number].barrier = barrier;
	users[number].cells = cells;
	psi_spinlock_unlock(&lock);
}

static uint32_t
number_take(void)
{
	uint32_t number = 1;

	if (psi_way_is_masked(PSI_WAY_BARRIER))
		return 0;
	psi_spinlock_lock(&lock);
	while (number <= PSI_TEAM_BARRIERS && !number_is_free(number))
		number++;
	if (number <= PSI_TEAM_BARRIERS)
		users[number].barrier = TAKEN;
	psi_spinlock_unlock(&lock);
	if (number > PSI_TEAM_BARRIERS)
		return 0;
	barrier_area_clear(area_of_lender(psi.boot.rank, number));
	cells_clear(cells_of_lender(psi.boot.rank, number));
	return number;
}

static bool
members_share_memory(const struct psi_group *group)
{
	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		if (!psi_shares_memory(group->locations[rank].gex_rank))
			return false;
	return true;
}

/* One member of each process, and all lend. */
static bool
members_have_cells(const struct psi_group *group, const uint32_t *lent)
{
	for (gex_Rank_t i = 0; i < group->size; i++)
		if (!lent[i] || (i && group->locations[group->by_process[i]].gex_rank ==
		                              group->locations[group->by_process[i - 1]].gex_rank))
			return false;
	return true;
}

static struct psi_cells **
cells_of_members(const struct psi_group *group, const uint32_t *lent)
{
	struct psi_cells **cells = calloc(group->size, sizeof *cells);

	if (!cells)
		psi_fatal("no memory for a team of %u", group->size);
	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		cells[rank] = cells_of_lender(group->locations[rank].gex_rank, lent[rank]);
	return cells;
}

static void
lent_settle(struct psi_group *group, const uint32_t *lent, uint32_t own)
{
	const gex_Rank_t first = group->locations[0].gex_rank;
	const bool share = group->size > 1 && members_share_memory(group);
	const bool is_ours = first == psi.boot.rank && lent[0] == own;

	if (share && lent[0])
		group->barrier_area = area_of_lender(first, lent[0]);
	if (share && members_have_cells(group, lent))
		group->cells = cells_of_members(group, lent);
	if (own)
		number_set_users(own, group->barrier_area && is_ours ? group->size : FREE,
		                 group->cells ? group->size : FREE);
}

const struct psi_team_lender pcoll_lender = { .take = number_take, .settle = lent_settle };

void
pcoll_barrier_area_leave(struct psi_barrier_area *area)
{
	atomic_fetch_add_explicit(&area->left, 1,
	                          memory_order_release); /* G6: release, to G7 in number_is_free */
}

void
pcoll_cells_leave(struct psi_cells *const *cells, uint32_t size)
{
	for (uint32_t rank = 0; rank < size; rank++)
		atomic_fetch_add_explicit(
			&cells[rank]->left, 1,
			memory_order_release); /* G6: release, to G7 in number_is_free */
}
