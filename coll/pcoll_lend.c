/*
 * Memory that members lend to the collectives of their teams, where all members share memory.  A
 * member is an endpoint, so members that are threads of one process lend each for itself.  An
 * endpoint has PSI_LENT numbers.  A member of a new team takes one, tells it with its offer, and
 * has it back when all members have left the team.  A number stands for a barrier area, of which
 * that of the team's first member is used, and for cells, of which each member uses its own.  Where
 * a member has none left, the team goes without.
 *
 * A process that makes several members of a team by one call has one offer for them.  They take a
 * number that is free at all of their endpoints.
 *
 * Pairs:  G6 (pcoll_barrier_area_leave, pcoll_cells_leave) -> G7 (number_is_free)
 *         a member's last look, before the memory is lent again
 */
#include "coll/pcoll_lend.h"

#include "runtime/process/endpoint.h"
#include "runtime/segment/reach.h"

#include <stdlib.h>

enum { FREE = 0, TAKEN = INT32_MAX };

static struct psi_spinlock lock;

/* Of this process's endpoints, by index and number: how many members the team has that uses it, or
 * FREE.  `barrier' is TAKEN while a team is being made. */
static struct {
	struct psi_lent *lent;          /* NULL: nothing yet */
	struct {
		uint32_t barrier, cells;
	} users[PSI_LENT + 1];
} own[GASNET_MAXEPS];

static struct psi_barrier_area *
area_of_lender(struct psi_lent *lent, uint32_t number)
{
	return &lent->barriers[number - 1];
}

/* The caller of this and of the next two functions holds the lock. */
static bool
lender_opens(gex_EP_Index_t index)
{
	if (!own[index].lent)
		own[index].lent = pcoll_lent_at(index * psi.boot.size + psi.boot.rank);
	return own[index].lent != NULL;
}

static bool
number_is_free(gex_EP_Index_t index, uint32_t number)
{
	struct psi_lent *lent = own[index].lent;

	return own[index].users[number].barrier != TAKEN &&
	       atomic_load_explicit(&area_of_lender(lent, number)->left,
	                            memory_order_acquire) /* G7: acquire, from G6 below */ ==
	               own[index].users[number].barrier &&
	       atomic_load_explicit(&lent->cells[number].left,
	                            memory_order_acquire) /* G7: acquire, from G6 below */ ==
	               own[index].users[number].cells;
}

static bool
number_is_free_at_all(const gex_EP_Index_t *indices, uint32_t count, uint32_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (!number_is_free(indices[i], number))
			return false;
	return true;
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
	atomic_store_explicit(&cells->refused, 0, memory_order_relaxed);
	atomic_store_explicit(&cells->rooms_wanted, 0, memory_order_relaxed);
	atomic_store_explicit(&cells->rest, 0, memory_order_relaxed);
	atomic_store_explicit(&cells->left, 0, memory_order_relaxed);
}

/* Returns 0 if no number is free. */
static uint32_t
number_find_and_take(const gex_EP_Index_t *indices, uint32_t count)
{
	bool open = true;
	uint32_t number = 1;

	psi_spinlock_lock(&lock);
	for (uint32_t i = 0; i < count && open; i++)
		open = lender_opens(indices[i]);
	while (open && number <= PSI_LENT && !number_is_free_at_all(indices, count, number))
		number++;
	if (!open || number > PSI_LENT)
		number = 0;
	for (uint32_t i = 0; i < count && number; i++)
		own[indices[i]].users[number].barrier = TAKEN;
	psi_spinlock_unlock(&lock);
	return number;
}

static uint32_t
number_take(const gex_EP_Index_t *indices, uint32_t count)
{
	uint32_t number;

	if (!count || psi_way_is_masked(PSI_WAY_BARRIER))
		return 0;
	number = number_find_and_take(indices, count);
	for (uint32_t i = 0; i < count && number; i++) {
		barrier_area_clear(area_of_lender(own[indices[i]].lent, number));
		cells_clear(&own[indices[i]].lent->cells[number]);
	}
	return number;
}

/* -- a new team -------------------------------------------------------------------------------- */

static bool
members_share_memory(const struct psi_group *group)
{
	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		if (!psi_shares_memory(group->locations[rank].gex_rank))
			return false;
	return true;
}

static bool
members_all_lend(const struct psi_group *group)
{
	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		if (!group->lent[rank])
			return false;
	return true;
}

/* The member has lent something, so that there is memory of its owner's. */
static struct psi_lent *
lent_of_member(const struct psi_group *group, gex_Rank_t rank)
{
	struct psi_lent *lent = pcoll_lent_at(group->places[rank]);

	if (!lent)
		pcoll_lender_lacks(group->places[rank]);
	return lent;
}

static struct psi_cells **
cells_of_members(const struct psi_group *group)
{
	struct psi_cells **cells = calloc(group->size, sizeof *cells);

	if (!cells)
		psi_fatal("no memory for a team of %u", group->size);
	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		cells[rank] = &lent_of_member(group, rank)->cells[group->lent[rank]];
	return cells;
}

static void
lent_settle(struct psi_group *group)
{
	if (group->size < 2 || !members_share_memory(group))
		return;
	if (group->lent[0])
		group->barrier_area = area_of_lender(lent_of_member(group, 0), group->lent[0]);
	if (members_all_lend(group))
		group->cells = cells_of_members(group);
}

static void
lent_join(const struct psi_group *group, gex_Rank_t rank)
{
	const gex_EP_Index_t index = group->locations[rank].gex_ep_index;
	const uint32_t number = group->lent[rank];

	if (!number)
		return;
	psi_spinlock_lock(&lock);
	own[index].users[number].barrier = rank == 0 && group->barrier_area ? group->size : FREE;
	own[index].users[number].cells = group->cells ? group->size : FREE;
	psi_spinlock_unlock(&lock);
}

const struct psi_team_lender pcoll_lender = {
	.take = number_take, .settle = lent_settle, .join = lent_join,
};

/* -- the end ----------------------------------------------------------------------------------- */

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
