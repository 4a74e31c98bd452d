/* Binomial trees. */
#include "coll/parts.h"

void
pcoll_tree_make(gex_Rank_t rank, gex_Rank_t size, gex_Rank_t root, struct pcoll_tree *out)
{
	const uint64_t place = ((uint64_t)rank + size - root) % size;
	const uint64_t own_run = place ? place & -place : (uint64_t)1 << PCOLL_TREE_CHILDREN;

	*out = (struct pcoll_tree){ .is_root = place == 0 };
	if (place)
		out->parent = (gex_Rank_t)((place - own_run + root) % size);
	for (uint64_t step = 1; step < own_run && place + step < size; step *= 2)
		out->child[out->children++] = (gex_Rank_t)((place + step + root) % size);
}
