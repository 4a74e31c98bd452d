/*
 * Memory for the barriers of teams whose members share memory.  Each process has PSI_TEAM_BARRIERS.
 * The one whose rank is a new team's first lends one, and tells its number with the team's id; it
 * has it back when all members have left it.  Where it has none left, or a member is on another
 * host, the team's barriers go by messages.
 *
 * Pairs:  G6 (pcoll_barrier_area_leave) -> G7 (area_is_free)
 *         a member's last look, before the area is lent again
 */
#include "coll/pcoll_barrier_shared.h"

#include "runtime/segment/reach.h"

enum { FREE = 0, TAKEN = INT32_MAX };

static struct psi_spinlock lock;
static uint32_t users[PSI_TEAM_BARRIERS];  /* members of the team that has it, or FREE, or TAKEN */

static struct psi_barrier_area *
area_of_lender(gex_Rank_t owner, uint32_t number)
{
	return &psi_shared_of(owner)->team_barriers[number - 1];
}

static bool
area_is_free(uint32_t number)
{
	const uint32_t count = users[number - 1];

	return count != TAKEN && atomic_load_explicit(&area_of_lender(psi.boot.rank, number)->left,
	                                              memory_order_acquire) == count; /* G7 */
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

static void
area_set_users(uint32_t number, uint32_t count)
{
	psi_spinlock_lock(&lock);
	users[number - 1] = count;
	psi_spinlock_unlock(&lock);
}

static uint32_t
barrier_area_take(void)
{
	uint32_t number = 1;

	if (psi_way_is_masked(PSI_WAY_BARRIER))
		return 0;
	psi_spinlock_lock(&lock);
	while (number <= PSI_TEAM_BARRIERS && !area_is_free(number))
		number++;
	if (number <= PSI_TEAM_BARRIERS)
		users[number - 1] = TAKEN;
	psi_spinlock_unlock(&lock);
	if (number > PSI_TEAM_BARRIERS)
		return 0;
	barrier_area_clear(area_of_lender(psi.boot.rank, number));
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

static void
barrier_area_settle(struct psi_group *group, gex_Rank_t lender, uint32_t lent, uint32_t taken,
                    bool is_ours)
{
	const bool used = lent && group->size > 1 && members_share_memory(group);

	if (used)
		group->barrier_area = area_of_lender(lender, lent);
	if (taken)
		area_set_users(taken, used && is_ours ? group->size : FREE);
}

const struct psi_barrier_lender pcoll_barrier_lender = { .take = barrier_area_take,
	                                                 .settle = barrier_area_settle };

void
pcoll_barrier_area_leave(struct psi_barrier_area *area)
{
	atomic_fetch_add_explicit(&area->left, 1, memory_order_release); /* G6 */
}
