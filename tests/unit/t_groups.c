/* How the members of a team are divided into groups (coll/groups.h). */
#include <stdlib.h>
#include <string.h>

#include "coll/groups.h"
#include "runtime/segment/reach.h"
#include "runtime/util/topology.h"
#include "tests/unit/main.h"

enum { RANKS = 40 };

static uint32_t caches[RANKS], host_index[RANKS];

/* A job of so many ranks on one host, which has a CPU for each. */
static void
job_of(uint32_t size)
{
	psi.boot.size = size;
	psi.boot.rank = 0;
	psi.cache_of = caches;
	psi.host_index = host_index;
	psi.host_cpus = size;
	psi_group_members = 0;
	for (uint32_t i = 0; i < RANKS; i++) {
		host_index[i] = i;
		caches[i] = PSI_NO_CACHE;
	}
}

/* Compares the first ranks of all groups, which end with the size, and gives the memory back. */
static void
expect_groups(struct pcoll_groups groups, const uint32_t *first, uint32_t count)
{
	ck_assert_uint_eq(groups.count, count);
	for (uint32_t i = 0; i <= count; i++)
		ck_assert_uint_eq(groups.first[i], first[i]);
	free(groups.first);
}
#define EXPECT_GROUPS(groups, ...)                                                         \
	do {                                                                               \
		const uint32_t first[] = { __VA_ARGS__ };                                  \
		expect_groups(groups, first, sizeof first / sizeof *first - 1);            \
	} while (0)

START_TEST(most)
{
	ck_assert_uint_eq(pcoll_groups_most(16), 8);
	ck_assert_uint_eq(pcoll_groups_most(64), 8);
	ck_assert_uint_eq(pcoll_groups_most(65), 9);
	ck_assert_uint_eq(pcoll_groups_most(1024), 32);
}
END_TEST

START_TEST(by_number_where_nothing_is_known)
{
	job_of(20);
	EXPECT_GROUPS(pcoll_groups_of(NULL), 0, 8, 16, 20);
	job_of(15);
	EXPECT_GROUPS(pcoll_groups_of(NULL), 0, 15);
}
END_TEST

START_TEST(by_cache)
{
	job_of(20);
	for (uint32_t i = 0; i < 20; i++)
		caches[i] = i / 6 * 6;
	EXPECT_GROUPS(pcoll_groups_of(NULL), 0, 6, 12, 18, 20);
}
END_TEST

START_TEST(one_where_members_share_cpus)
{
	job_of(32);
	psi.host_cpus = 31;
	EXPECT_GROUPS(pcoll_groups_of(NULL), 0, 32);
	job_of(32);
	psi.cache_of = NULL;
	EXPECT_GROUPS(pcoll_groups_of(NULL), 0, 32);
}
END_TEST

START_TEST(as_a_test_wants)
{
	job_of(7);
	psi.cache_of = NULL;
	psi_group_members = 3;
	EXPECT_GROUPS(pcoll_groups_of(NULL), 0, 3, 6, 7);
	psi_group_members = 0;
}
END_TEST

/* Place i * size + r is the i-th further endpoint of process r. */
START_TEST(threads_of_a_process_first)
{
	uint32_t places[18];
	struct gex_TM_s team = { .size = 18, .rank = 17, .places = places };
	struct pcoll_groups groups;

	job_of(5);
	psi.host_cpus = 18;
	for (uint32_t i = 0; i < 18; i++)       /* 5, 5, 5, 1, 2 members */
		places[i] = i < 15 ? i / 5 + i % 5 * 5 : i == 15 ? 3 : 4 + (i - 16) * 5;
	groups = pcoll_groups_of(&team);
	ck_assert_uint_eq(groups.own, 4);
	ck_assert(!pcoll_groups_leads(&groups, 17));
	ck_assert(pcoll_groups_leads(&groups, 16));
	ck_assert_uint_eq(pcoll_groups_members(&groups), 2);
	EXPECT_GROUPS(groups, 0, 5, 10, 15, 16, 18);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("groups");

	tcase_add_test(tests, most);
	tcase_add_test(tests, by_number_where_nothing_is_known);
	tcase_add_test(tests, by_cache);
	tcase_add_test(tests, one_where_members_share_cpus);
	tcase_add_test(tests, as_a_test_wants);
	tcase_add_test(tests, threads_of_a_process_first);
	return unit_run("groups", tests);
}
