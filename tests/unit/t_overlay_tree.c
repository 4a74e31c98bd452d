/* The tree of hosts, against a search that follows the definition. */
#include "bootstrap/overlay/pboot_overlay_tree.h"
#include "tests/unit/main.h"

enum { HOSTS_MOST = 300 };

/* parent_of[h], given out in the order of hosts: the first host that has room takes the next. */
static uint32_t parent_of[HOSTS_MOST];

static void
naive_tree(void)
{
	uint32_t parent = 0, taken = 0, host;

	parent_of[0] = PBOOT_TREE_NONE;
	for (host = 1; host < HOSTS_MOST; host++) {
		parent_of[host] = parent;
		if (++taken == PBOOT_TREE_FANOUT) {
			parent++;
			taken = 0;
		}
	}
}

/* Whether the way up from `below' comes by host. */
static bool
naive_is_below(uint32_t host, uint32_t below)
{
	for (; below != PBOOT_TREE_NONE; below = parent_of[below])
		if (below == host)
			return true;
	return false;
}

/* The c-th host whose parent is host; NONE if there are not so many. */
static uint32_t
naive_child(uint32_t host, uint32_t c, uint32_t count)
{
	uint32_t other;

	for (other = 1; other < count; other++)
		if (parent_of[other] == host && c-- == 0)
			return other;
	return PBOOT_TREE_NONE;
}

static void
check_host(uint32_t host, uint32_t count)
{
	uint32_t branch, children = 0;

	ck_assert_uint_eq(pboot_tree_parent(host), parent_of[host]);
	ck_assert_uint_eq(pboot_tree_neighbour(host, PBOOT_TREE_UP, count), parent_of[host]);
	for (branch = 1; branch < PBOOT_TREE_BRANCHES; branch++) {
		const uint32_t child = naive_child(host, branch - 1, count);

		ck_assert_uint_eq(pboot_tree_neighbour(host, branch, count), child);
		children += child != PBOOT_TREE_NONE;
	}
	ck_assert_uint_eq(pboot_tree_children(host, count), children);
}

START_TEST(neighbours_of_every_host_of_every_count)
{
	uint32_t count, host;

	naive_tree();
	for (count = 1; count <= HOSTS_MOST; count++)
		for (host = 0; host < count; host++)
			check_host(host, count);
}
END_TEST

/* The branch leads to the neighbour that is above or below, on the way to the other host. */
static void
check_way(uint32_t host, uint32_t to)
{
	const uint32_t branch = pboot_tree_branch(host, to);

	ck_assert_int_eq(pboot_tree_is_below(host, to), naive_is_below(host, to));
	if (to == host)
		ck_assert_uint_eq(branch, PBOOT_TREE_NONE);
	else if (!naive_is_below(host, to))
		ck_assert_uint_eq(branch, PBOOT_TREE_UP);
	else
		ck_assert(naive_is_below(naive_child(host, branch - 1, HOSTS_MOST), to));
}

START_TEST(the_way_between_every_two_hosts)
{
	uint32_t host, to;

	naive_tree();
	for (host = 0; host < HOSTS_MOST; host++)
		for (to = 0; to < HOSTS_MOST; to++)
			check_way(host, to);
}
END_TEST

/* Products near the largest index must not wrap. */
START_TEST(the_largest_indices)
{
	const uint32_t last = UINT32_MAX - 1;

	ck_assert_uint_eq(pboot_tree_children(last, UINT32_MAX), 0);
	ck_assert_uint_eq(pboot_tree_neighbour(last, 1, UINT32_MAX), PBOOT_TREE_NONE);
	ck_assert_uint_eq(pboot_tree_branch(last, 0), PBOOT_TREE_UP);
	ck_assert(pboot_tree_is_below(0, last));
	ck_assert(!pboot_tree_is_below(last, 0));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("tree");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, neighbours_of_every_host_of_every_count);
	tcase_add_test(tests, the_way_between_every_two_hosts);
	tcase_add_test(tests, the_largest_indices);
	return unit_run("overlay_tree", tests);
}
