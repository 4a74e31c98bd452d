/*
 * Trees are few.  Where a unit has none free, the team of that host which used its tree longest ago
 * is asked to leave, and the join is tried once more.
 *
 * The processes of a host share a list of the trees that they lead in, with the time of the last
 * use, counted in device steps of the host.  One that wants a tree marks the oldest; the leader to
 * whom that belongs asks the members of its team to leave.  Each then says which step is the first
 * that it has not begun, and begins none from there on until all have answered.  The largest number
 * is the first that software does; those before it still go by the device.  A member says when it
 * has ended them, and when all have, they leave.
 *
 * Pairs:  T1 (poff_tree_given_back) -> T2 (poff_tree_taken)   an entry of the list, with `asked'
 *                                                             cleared, to the rank that takes it
 *         T3 (poff_tree_given_back) -> T4 (team_awaits_room)  what the provider has given back in
 *                                                             memory of the host, before the join
 *                                                             is tried again
 * The rest is a hint: `asked' may come to a team that has just taken the entry, which then leaves
 * for nothing; and `used' and `steps' only choose.
 */
#include "offload/offload.h"

#include "runtime/process/process.h"

enum { STAYS = 100, REJOIN_STEPS = 512 };

/* -- the trees of the host --------------------------------------------------------------------- */

static struct psi_device_tree *
tree_at(unsigned slot)
{
	return &psi.shared->trees.tree[slot];
}

void
poff_tree_taken(struct poff_team *team)
{
	team->slot = PSI_DEVICE_TREES;
	for (unsigned slot = 0; slot < PSI_DEVICE_TREES; slot++) {
		uint32_t nobody = 0;

		if (!atomic_compare_exchange_strong_explicit(
			    &tree_at(slot)->owner, &nobody, psi.boot.rank + 1,
			    memory_order_acquire, /* T2: acquire, from T1 in poff_tree_given_back */
			    memory_order_relaxed))
			continue;
		team->slot = slot;
		poff_tree_used(team);
		return;
	}
}

void
poff_tree_used(struct poff_team *team)
{
	if (team->slot < PSI_DEVICE_TREES)
		atomic_store_explicit(&tree_at(team->slot)->used,
		                      atomic_fetch_add_explicit(&psi.shared->trees.steps, 1,
		                                                memory_order_relaxed) + 1,
		                      memory_order_relaxed);
}

void
poff_tree_given_back(struct poff_team *team)
{
	struct psi_device_tree *tree;

	if (team->slot >= PSI_DEVICE_TREES)
		return;
	tree = tree_at(team->slot);
	team->slot = PSI_DEVICE_TREES;
	atomic_store_explicit(&tree->asked, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&tree->uses, 1,
	                          memory_order_release); /* T3: release, to T4 in
	                                                  * team_awaits_room */
	(void)atomic_exchange_explicit(&tree->owner, 0,
	                               memory_order_release); /* T1: release, to T2 in
	                                                       * poff_tree_taken */
}

/* Asks the team that used its tree longest ago to leave.  False: all used theirs lately, or are
 * leaving. */
static bool
oldest_ask(unsigned *slot_out, uint64_t *uses_out)
{
	const uint64_t now = atomic_load_explicit(&psi.shared->trees.steps, memory_order_relaxed);
	uint64_t oldest = STAYS;
	unsigned found = PSI_DEVICE_TREES;
	uint32_t nobody = 0;

	for (unsigned slot = 0; slot < PSI_DEVICE_TREES; slot++) {
		const struct psi_device_tree *tree = tree_at(slot);
		const uint64_t used = atomic_load_explicit(&tree->used, memory_order_relaxed);

		if (!atomic_load_explicit(&tree->owner, memory_order_relaxed) ||
		    atomic_load_explicit(&tree->asked, memory_order_relaxed) || used > now ||
		    now - used <= oldest)
			continue;
		oldest = now - used;
		found = slot;
	}
	if (found == PSI_DEVICE_TREES)
		return false;
	*slot_out = found;
	*uses_out = atomic_load_explicit(&tree_at(found)->uses, memory_order_relaxed);
	return atomic_compare_exchange_strong_explicit(&tree_at(found)->asked, &nobody, 1,
	                                               memory_order_relaxed,
	                                               memory_order_relaxed);
}

/* -- who wants a tree -------------------------------------------------------------------------- */

void
poff_rejoin_later(struct poff_team *team)
{
	team->rejoin_at = (poff_team_begun(team) / REJOIN_STEPS + 1) * REJOIN_STEPS;
}

/* All have said whether there is room. */
static void
team_tries_again(struct poff_team *team)
{
	if (!poff_gather_test(&team->gather))
		return;
	if (poff_team_all_agree(team)) {
		poff_join_again(team);
		return;
	}
	poff_team_give_up(team, "no tree is free");
	poff_rejoin_later(team);
}

static void
room_tell(struct poff_team *team, bool there_is)
{
	const uint8_t told = there_is;

	team->go_on = team_tries_again;
	poff_gather_start(&team->gather, &told, sizeof told, team->gathered);
}

/* The one that was asked has not left yet. */
static void
team_awaits_room(struct poff_team *team)
{
	const uint64_t uses = atomic_load_explicit(
		&tree_at(team->wants_slot)->uses,
		memory_order_acquire); /* T4: acquire, from T3 in poff_tree_given_back */

	if (uses != team->wants_uses)
		room_tell(team, true);
}

void
poff_room_make(struct poff_team *team, bool was_full)
{
	if (!was_full)
		room_tell(team, true);
	else if (oldest_ask(&team->wants_slot, &team->wants_uses))
		team->go_on = team_awaits_room;
	else
		room_tell(team, false);
}

/* -- who is asked ------------------------------------------------------------------------------ */

/* All have ended their last step on the tree. */
static void
team_lets_go(struct poff_team *team)
{
	if (!poff_gather_test(&team->evict))
		return;
	poff_count(team, POFF_COUNT_EVICTIONS);
	team->rejoin_at = team->until + REJOIN_STEPS;
	team->active_from = team->until = UINT64_MAX;
	team->drained = false;
	team->why = "its tree was left for another team";
	team->evictions++;
	poff_tree_leave(team);
}

static void
team_drains(struct poff_team *team)
{
	const uint8_t done = 1;

	if (team->turn < team->until)
		return;
	team->drained = true;
	team->go_on = team_lets_go;
	poff_gather_start(&team->evict, &done, sizeof done, team->numbers);
}

/* All have said which step they have not begun. */
static void
team_knows_last(struct poff_team *team)
{
	const uint64_t *numbers = team->numbers;
	uint64_t until = 0;

	if (!poff_gather_test(&team->evict))
		return;
	for (uint32_t i = 0; i < team->channel.members; i++)
		until = numbers[i] > until ? numbers[i] : until;
	team->until = until;
	team->hold_from = UINT64_MAX;
	team->go_on = team_drains;
	poff_team_stir(team);
}

static void
eviction_start(struct poff_team *team)
{
	const uint64_t number = poff_steps_begun(team);

	poff_teams_changed();
	poff_send_all(&team->channel, POFF_LEAVE, team->evictions, NULL, 0);
	team->hold_from = number;
	team->go_on = team_knows_last;
	poff_gather_start(&team->evict, &number, sizeof number, team->numbers);
}

/* Asked by a process of this host, or by another member. */
static bool
team_is_asked(struct poff_team *team)
{
	if (poff_drop(&team->channel, POFF_LEAVE, team->evictions))
		return true;
	return team->slot < PSI_DEVICE_TREES &&
	       atomic_load_explicit(&tree_at(team->slot)->asked, memory_order_relaxed);
}

void
poff_eviction_look(struct poff_team *team)
{
	if (team->active_from != UINT64_MAX && !team->failed && !team->go_on && team->tree &&
	    team_is_asked(team))
		eviction_start(team);
}
