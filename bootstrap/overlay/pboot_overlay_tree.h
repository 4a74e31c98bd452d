/*
 * The tree that the keepers of a job's hosts form: host 0 is the root, and each host has up to
 * PBOOT_TREE_FANOUT children.  Pure arithmetic on the hosts' numbers;
 * tests/unit/t_overlay_tree.c compares it with a naive search.
 *
 * A *branch* is one of a host's links: 0 leads to its parent, 1 + i to its i-th child.
 */
#ifndef PBOOT_OVERLAY_TREE_H
#define PBOOT_OVERLAY_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PBOOT_TREE_FANOUT = 8,
	PBOOT_TREE_UP = 0,				/* the branch to the parent */
	PBOOT_TREE_BRANCHES = 1 + PBOOT_TREE_FANOUT,
};

#define PBOOT_TREE_NONE UINT32_MAX

/* The parent of a host; NONE for the root. */
uint32_t pboot_tree_parent(uint32_t host);

/* How many children a host has in a tree of that many hosts. */
uint32_t pboot_tree_children(uint32_t host, uint32_t host_count);

/* The neighbour at the other end of a branch; NONE if there is none. */
uint32_t pboot_tree_neighbour(uint32_t host, uint32_t branch, uint32_t host_count);

/* Is `below' the host itself or one of its descendants? */
bool pboot_tree_is_below(uint32_t host, uint32_t below);

/* The branch of `host' that leads to another host; NONE if both are the same. */
uint32_t pboot_tree_branch(uint32_t host, uint32_t to);

#endif
