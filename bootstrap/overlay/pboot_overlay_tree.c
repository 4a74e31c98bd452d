#include "bootstrap/overlay/pboot_overlay_tree.h"

uint32_t
pboot_tree_parent(uint32_t host)
{
	return host == 0 ? PBOOT_TREE_NONE : (host - 1) / PBOOT_TREE_FANOUT;
}

/* The result has 64 bits, since it may be larger than the number of any host. */
static uint64_t
tree_first_child(uint32_t host)
{
	return (uint64_t)host * PBOOT_TREE_FANOUT + 1;
}

uint32_t
pboot_tree_children(uint32_t host, uint32_t host_count)
{
	const uint64_t first = tree_first_child(host);

	if (first >= host_count)
		return 0;
	if (host_count - first > PBOOT_TREE_FANOUT)
		return PBOOT_TREE_FANOUT;
	return (uint32_t)(host_count - first);
}

uint32_t
pboot_tree_neighbour(uint32_t host, uint32_t branch, uint32_t host_count)
{
	if (branch == PBOOT_TREE_UP)
		return pboot_tree_parent(host);
	if (branch - 1 >= pboot_tree_children(host, host_count))
		return PBOOT_TREE_NONE;
	return (uint32_t)(tree_first_child(host) + branch - 1);
}

/* A parent's index is below those of its children, so the way up from `below' meets `host' or
 * passes it. */
bool
pboot_tree_is_below(uint32_t host, uint32_t below)
{
	while (below > host)
		below = pboot_tree_parent(below);
	return below == host;
}

uint32_t
pboot_tree_branch(uint32_t host, uint32_t to)
{
	uint32_t parent;

	if (to == host)
		return PBOOT_TREE_NONE;
	while (to > host) {
		parent = pboot_tree_parent(to);
		if (parent == host)
			return (uint32_t)(to - tree_first_child(host)) + 1;
		to = parent;
	}
	return PBOOT_TREE_UP;
}
