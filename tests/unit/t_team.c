/* Members of teams, looked up and sorted, against naive answers. */
#include "runtime/job/team_offer.h"
#include "tests/unit/main.h"

#include <string.h>
#include <sys/mman.h>

enum { MOST = 300, ENDPOINTS = 10 };

static struct gex_EP_s ep;
static uint64_t state = 20251121;

static uint32_t
draw(uint32_t bound)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % bound;
}

/* A job of processes with several endpoints each. */
static void
set_up(void)
{
	static const uint32_t host_of[2 * MOST];
	const uint32_t size = 2 * MOST;

	psi.ep = &ep;
	psi.boot = (struct pboot_job){ .size = size, .host_count = 1, .host_of = host_of };
	psi.places = size;
	psi_hosts_open();
	psi.open = true;
	psi.shared = mmap(NULL, psi_shared_bytes(size, ENDPOINTS), PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(psi.shared, MAP_FAILED);
	for (uint32_t rank = 0; rank < size; rank++)
		psi_shared_rank(psi.shared, size, rank)->endpoints = ENDPOINTS;
}

static struct psi_group *made[MOST + 2];
static unsigned made_count;

static struct psi_group *
make_group(gex_Rank_t size)
{
	return made[made_count++] = psi_group_new(size);
}

static void
tear_down(void)
{
	while (made_count)
		psi_group_free(made[--made_count]);
}

/* `size' of the job's processes, in no order. */
static struct psi_group *
random_group(gex_Rank_t size)
{
	struct psi_group *group = make_group(size);
	gex_Rank_t pool[2 * MOST];

	for (gex_Rank_t i = 0; i < 2 * MOST; i++) {
		const gex_Rank_t other = draw(i + 1);

		pool[i] = pool[other];
		pool[other] = i;
	}
	for (gex_Rank_t rank = 0; rank < size; rank++)
		group->locations[rank].gex_rank = pool[rank];
	psi_group_finish(group, "test");
	return group;
}

START_TEST(processes_are_found_by_rank_and_ranks_by_process)
{
	for (gex_Rank_t size = 1; size <= MOST; size++) {
		struct psi_group *group = random_group(size);
		struct gex_TM_s tm = { .size = size, .group = group, .places = group->places };
		gex_Rank_t expected[2 * MOST + 1];

		memset(expected, 0xff, sizeof expected);
		for (gex_Rank_t rank = 0; rank < size; rank++) {
			expected[group->locations[rank].gex_rank] = rank;
			ck_assert_uint_eq(psi_team_location(&tm, rank).gex_rank,
			                  group->locations[rank].gex_rank);
			ck_assert_uint_eq(psi_target_of(&tm, rank, "test").place,
			                  group->locations[rank].gex_rank);
		}
		for (gex_Rank_t process = 0; process <= 2 * MOST; process++)
			ck_assert_uint_eq(psi_team_rank_of(&tm, process), expected[process]);
	}
}
END_TEST

START_TEST(a_process_with_several_members_has_its_lowest_rank)
{
	struct psi_group *group = make_group(6);
	struct gex_TM_s tm = { .size = 6, .group = group };
	static const gex_EP_Location_t at[] = { { 7, 3 }, { 4, 1 }, { 7, 0 },
		                                { 4, 0 }, { 2, 9 }, { 7, 1 } };

	memcpy(group->locations, at, sizeof at);
	psi_group_finish(group, "test");
	ck_assert_uint_eq(psi_team_rank_of(&tm, 7), 0);
	ck_assert_uint_eq(psi_team_rank_of(&tm, 4), 1);
	ck_assert_uint_eq(psi_team_rank_of(&tm, 2), 4);
	ck_assert_uint_eq(psi_team_rank_of(&tm, 3), GEX_RANK_INVALID);
	ck_assert_uint_eq(psi_team_rank_of(&tm, 8), GEX_RANK_INVALID);
	ck_assert_uint_eq(psi_team_location(&tm, 5).gex_ep_index, 1);
}
END_TEST

START_TEST(keys_sort_and_ties_go_by_rank)
{
	for (size_t size = 1; size <= MOST; size++) {
		struct psi_chosen chosen[MOST];

		for (gex_Rank_t rank = 0; rank < size; rank++)
			chosen[rank] = (struct psi_chosen){ (int32_t)draw(5) - 2, rank };
		chosen[0].key = INT32_MAX;
		chosen[size / 2].key = INT32_MIN;
		psi_chosen_sort(chosen, size);
		for (size_t i = 1; i < size; i++)
			ck_assert(chosen[i - 1].key < chosen[i].key ||
			          (chosen[i - 1].key == chosen[i].key &&
			           chosen[i - 1].rank < chosen[i].rank));
	}
}
END_TEST

START_TEST(a_digest_tells_of_order_and_number)
{
	struct psi_group *a = random_group(5), *b = random_group(5);
	gex_EP_Location_t first;

	memcpy(b->locations, a->locations, 5 * sizeof *a->locations);
	ck_assert(psi_group_digest(a) == psi_group_digest(b));
	first = b->locations[0];
	b->locations[0] = b->locations[4];
	b->locations[4] = first;
	ck_assert(psi_group_digest(a) != psi_group_digest(b));
	memcpy(b->locations, a->locations, 5 * sizeof *a->locations);
	b->size = 4;
	ck_assert(psi_group_digest(a) != psi_group_digest(b));
	b->size = 5;
	b->locations[2].gex_ep_index++;
	ck_assert(psi_group_digest(a) != psi_group_digest(b));
}
END_TEST

START_TEST(teams_are_found_by_id_and_endpoint)
{
	enum { TEAMS = 200 };
	static struct gex_TM_s teams[TEAMS];
	static struct gex_EP_s other;

	for (unsigned i = 0; i < TEAMS; i++) {
		teams[i].id = (uint64_t)(i % 7) << 32 | i / 2;
		teams[i].ep = i % 2 ? &other : &ep;
		ck_assert(!psi_team_is_known(&teams[i]));
		psi_team_add(&teams[i]);
	}
	for (unsigned i = 0; i < TEAMS; i++) {
		gex_TM_t found = psi_team_find(teams[i].id, teams[i].ep);

		ck_assert(found->id == teams[i].id && found->ep == teams[i].ep);
		ck_assert(psi_team_is_known(&teams[i]));
	}
	ck_assert_ptr_null(psi_team_find(1234567, &ep));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("team");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, processes_are_found_by_rank_and_ranks_by_process);
	tcase_add_test(tests, a_process_with_several_members_has_its_lowest_rank);
	tcase_add_test(tests, keys_sort_and_ties_go_by_rank);
	tcase_add_test(tests, a_digest_tells_of_order_and_number);
	tcase_add_test(tests, teams_are_found_by_id_and_endpoint);
	return unit_run("team", tests);
}
