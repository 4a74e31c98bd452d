/* Joining and leaving a tree, and who is whose neighbour. */
#include "offload/cau/cau.h"

#include <stdlib.h>

/* -- neighbours -------------------------------------------------------------------------------- */

/* Members as a heap: the children of i are fanout * i + 1 and the next. */
static uint32_t
parent_of(const pst_off_tree_t *tree, uint32_t member)
{
	return (member - 1) / tree->fanout;
}

static void
neighbours_find(pst_off_tree_t *tree)
{
	const uint64_t first = (uint64_t)tree->me * tree->fanout + 1;

	if (tree->me)
		tree->neighbour[tree->neighbours++] = parent_of(tree, tree->me);
	for (uint64_t child = first; child < first + tree->fanout && child < tree->members; child++)
		tree->neighbour[tree->neighbours++] = (uint32_t)child;
}

/* The child that `to' is below of, or the parent: neighbour 0 of all but member 0. */
uint32_t
poff_cau_towards(const pst_off_tree_t *tree, uint32_t to)
{
	while (to > tree->me && parent_of(tree, to) != tree->me)
		to = parent_of(tree, to);
	for (uint32_t i = 0; i < tree->neighbours; i++)
		if (tree->neighbour[i] == to)
			return i;
	return 0;
}

/* -- joining ----------------------------------------------------------------------------------- */

static void
tree_free(pst_off_tree_t *tree)
{
	pst_off_tree_t **at = &tree->dev->first_tree;

	while (*at != tree)
		at = &(*at)->next;
	*at = tree->next;
	if (tree->takes_number)
		poff_cau_unit_give(tree->number);
	free(tree->have_trees);
	free(tree);
}

static pst_off_tree_t *
tree_make(pst_off_dev_t *dev, const pst_off_group_t *group)
{
	pst_off_tree_t *tree = calloc(1, sizeof *tree);
	uint8_t *have_trees = calloc(group->members, 1);

	if (!tree || !have_trees) {
		free(tree);
		free(have_trees);
		return NULL;
	}
	tree->dev = dev;
	tree->key = group->key;
	tree->members = group->members;
	tree->me = group->me;
	tree->fanout = group->fanout ? group->fanout : dev->fanout;
	if (tree->fanout > CAU_FANOUT)
		tree->fanout = CAU_FANOUT;
	tree->oob = group->oob;
	tree->oob_test = group->oob_test;
	tree->have_trees = have_trees;
	tree->next = dev->first_tree;
	dev->first_tree = tree;
	neighbours_find(tree);
	return tree;
}

/* Does the unit of this member have a tree free?  Where all members are attached to one unit, the
 * first takes the tree for all. */
static bool
tree_take(pst_off_tree_t *tree)
{
	pst_off_dev_t *dev = tree->dev;
	int number;

	if (poff_cau_fault_happens(&dev->faults, CAU_REFUSE_JOIN, tree->me))
		return false;
	if (dev->one_host && tree->me != 0)
		return true;
	number = poff_cau_unit_take(dev->trees);
	tree->takes_number = number >= 0;
	tree->number = number >= 0 ? (unsigned)number : 0;
	return tree->takes_number;
}

/* A member without a tree says so to the others, who then give theirs back. */
int
poff_cau_join_start(pst_off_dev_t *dev, const pst_off_group_t *group, pst_off_tree_t **tree_out,
               const char **why_out)
{
	pst_off_tree_t *tree = tree_make(dev, group);

	if (!tree) {
		*why_out = "no memory for a tree";
		return PST_OFF_NO;
	}
	tree->has_tree = tree_take(tree);
	if (group->oob_start(group->oob, &tree->has_tree, 1, tree->have_trees) != PST_OFF_OK) {
		tree_free(tree);
		*why_out = "the members cannot talk";
		return PST_OFF_NO;
	}
	*tree_out = tree;
	return PST_OFF_OK;
}

int
poff_cau_join_test(pst_off_tree_t *tree, const char **why_out)
{
	const int result = tree->oob_test(tree->oob);
	bool all_have = true, mine = tree->has_tree;

	if (result == PST_OFF_AGAIN)
		return PST_OFF_AGAIN;
	for (uint32_t i = 0; i < tree->members; i++)
		all_have = all_have && tree->have_trees[i];
	if (result == PST_OFF_OK && all_have) {
		tree->joined = true;
		tree->dev->count.trees++;
		return PST_OFF_OK;
	}
	tree->dev->count.refused++;
	tree_free(tree);
	if (result == PST_OFF_OK && !mine)
		return PST_OFF_FULL;
	*why_out = result == PST_OFF_OK ? "a member's unit has no tree free"
	                                : "the members cannot talk";
	return PST_OFF_NO;
}

/* -- leaving ----------------------------------------------------------------------------------- */

/* The trees of a unit are local, so there is nothing to say. */
int
poff_cau_leave_start(pst_off_tree_t *tree, int peers_lost)
{
	(void)peers_lost;
	tree->joined = false;
	return PST_OFF_OK;
}

int
poff_cau_leave_test(pst_off_tree_t *tree)
{
	if (!poff_cau_tree_flush(tree))
		return PST_OFF_AGAIN;
	tree_free(tree);
	return PST_OFF_OK;
}
