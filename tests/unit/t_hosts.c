/*
 * What a rank knows of the hosts of its job, over many placements of ranks on hosts; and how
 * reports name the ranks of one host.
 */
#include "runtime/process/endpoint.h"
#include "runtime/report/report.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 40, HOSTS = 5 };

static uint64_t state = 1;

static uint32_t
draw(uint32_t bound)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % bound;
}

/* Hosts are numbered in the order of their lowest ranks, so rank 0 is on host 0. */
static uint32_t
place_ranks(uint32_t size, uint32_t *host_of)
{
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < size; rank++) {
		host_of[rank] = draw(count < HOSTS ? count + 1 : HOSTS);
		count += host_of[rank] == count;
	}
	return count;
}

static uint32_t
count_before(const uint32_t *host_of, uint32_t rank, uint32_t host)
{
	uint32_t count = 0;

	for (uint32_t other = 0; other < rank; other++)
		count += host_of[other] == host;
	return count;
}

static void
check_as_rank(uint32_t me, uint32_t size, uint32_t hosts, const uint32_t *host_of)
{
	psi.boot = (struct pboot_job){
		.rank = me, .size = size, .host_count = hosts, .host_index = host_of[me],
		.host_of = host_of,
	};
	psi_hosts_open();
	ck_assert_uint_eq(psi.host_places, count_before(host_of, size, host_of[me]));
	for (uint32_t rank = 0; rank < size; rank++) {
		ck_assert_uint_eq(psi.host_index[rank], count_before(host_of, rank, host_of[rank]));
		ck_assert(psi_on_this_host(rank) == (host_of[rank] == host_of[me]));
		if (psi_on_this_host(rank)) {
			ck_assert_uint_eq(psi.host_ranks[psi.host_index[rank]], rank);
			ck_assert_uint_eq(psi_file_of(rank), 1 + psi.host_index[rank]);
		}
	}
	free((void *)(uintptr_t)psi.host_index);
	free((void *)(uintptr_t)psi.host_ranks);
}

START_TEST(each_rank_knows_its_host)
{
	uint32_t host_of[RANKS];

	for (uint32_t size = 1; size <= RANKS; size++) {
		const uint32_t hosts = place_ranks(size, host_of);

		for (uint32_t me = 0; me < size; me++)
			check_as_rank(me, size, hosts, host_of);
	}
}
END_TEST

/* Ranks 0 and 2 are here, 1 and 3 elsewhere. */
START_TEST(endpoints_of_other_hosts_are_taken_for_there)
{
	static const uint32_t host_of[4] = { 0, 1, 0, 1 };

	psi.boot = (struct pboot_job){ .size = 4, .host_count = 2, .host_of = host_of };
	psi.places = 4;
	psi_hosts_open();
	psi.shared = calloc(1, psi_shared_bytes(psi.host_places, GASNET_MAXEPS - 1));
	ck_assert_ptr_nonnull(psi.shared);
	psi_shared_of(0)->endpoints = 1;
	psi_shared_of(2)->endpoints = 3;
	ck_assert_uint_eq(psi_place_of(2, 2), 2 * 4 + 2);
	ck_assert_uint_eq(psi_place_of(2, 3), PSI_NO_PEER);
	ck_assert_uint_eq(psi_place_of(0, 1), PSI_NO_PEER);
	ck_assert_uint_eq(psi_place_of(3, GASNET_MAXEPS - 1), (GASNET_MAXEPS - 1) * 4 + 3);
	ck_assert_uint_eq(psi_place_of(3, GASNET_MAXEPS), PSI_NO_PEER);
	ck_assert_uint_eq(psi_place_of(4, 0), PSI_NO_PEER);
	/* in the arena, further endpoints lie by index, then by host index */
	ck_assert(psi_further_at(1 * 4 + 0) + 1 == psi_further_at(1 * 4 + 2));
	ck_assert(psi_further_at(1 * 4 + 2) + 1 == psi_further_at(2 * 4 + 0));
	ck_assert((char *)(psi_further_at((GASNET_MAXEPS - 1) * 4 + 2) + 1) ==
	          (char *)psi.shared + psi_shared_bytes(psi.host_places, GASNET_MAXEPS - 1));
	free(psi.shared);
}
END_TEST

/* -- lists of ranks ---------------------------------------------------------------------------- */

static void
check_list(const uint32_t *ranks, uint32_t count, const char *due)
{
	struct psi_text text = { .len = 0 };

	psi_text_ranks(&text, ranks, count);
	ck_assert_str_eq(text.at, due);
}

START_TEST(lists_name_job_ranks)
{
	static const uint32_t all[] = { 1, 4, 5, 6, 7, 9, 10, 12 }, one[] = { 6 },
	                      some[] = { 1, 5, 6, 9, 12 };

	check_list(all, 8, "ranks 1, 4-7, 9, 10, 12");
	check_list(one, 1, "rank 6");
	check_list(some, 5, "ranks 1, 5, 6, 9, 12");
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("hosts");

	tcase_add_test(tests, each_rank_knows_its_host);
	tcase_add_test(tests, endpoints_of_other_hosts_are_taken_for_there);
	tcase_add_test(tests, lists_name_job_ranks);
	return unit_run("hosts", tests);
}
