/* The counters of a job that has ended, as JSON and as a table. */
#include "runtime/report.h"

#include "penstock.h"
#include "tests/unit/main.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 3 };

static struct psi_host_shared *shared;
static char path[] = "/tmp/t_counters-XXXXXX";

static size_t
shared_bytes(void)
{
	return psi_shared_bytes(RANKS, GASNET_MAXEPS - 1);
}

static const void *
map_first(size_t len_bytes)
{
	return len_bytes <= shared_bytes() ? shared : NULL;
}

static void
unmap(const void *base, size_t len_bytes)
{
	(void)base, (void)len_bytes;
}

static const struct pboot_view view = {
	.size = RANKS, .host = "here", .map_first = map_first, .unmap = unmap, .say = psi_log,
};

/* Rank r has counted 100 r + i of counter i, in two blocks. */
static void
set_up(void)
{
	shared = aligned_alloc(64, (shared_bytes() + 63) / 64 * 64);
	memset(shared, 0, shared_bytes());
	shared->magic = PSI_SHARED_MAGIC;
	shared->abi = PSI_SHARED_ABI;
	shared->size = RANKS;
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct psi_rank_shared *its = psi_shared_rank(shared, RANKS, rank);
		struct psi_block *block = its->block;

		its->blocks = 2;
		for (unsigned i = 0; i < PSI_COUNTERS; i++) {
			block[0].count[i] = 100 * rank;
			block[1].count[i] = i;
		}
	}
	ck_assert_int_ge(mkstemp(path), 0);
	setenv("GASNET_STATSFILE", path, 1);
}

static json_t *
print_json(void)
{
	json_error_t error;
	json_t *root;

	setenv("PST_COUNTERS", "json", 1);
	psi_report_counters(&view);
	root = json_load_file(path, 0, &error);
	ck_assert_msg(root != NULL, "line %d: %s", error.line, error.text);
	ck_assert(json_is_array(root));
	return root;
}

START_TEST(each_record_stands_for_itself)
{
	json_t *root = print_json();

	ck_assert_uint_eq(json_array_size(root), RANKS * PSI_COUNTERS);
	for (unsigned at = 0; at < RANKS * PSI_COUNTERS; at++) {
		const unsigned rank = at / PSI_COUNTERS, i = at % PSI_COUNTERS;
		const char *name, *unit, *group;
		json_int_t said, value, due = 100 * rank + i;

		ck_assert_int_eq(json_unpack(json_array_get(root, at), "{s:I, s:s, s:s, s:s, s:I !}",
		                             "rank", &said, "group", &group, "name", &name, "unit",
		                             &unit, "value", &value), 0);
		if (pst_counter_at(i)->is_most)
			due = 100 * rank > i ? 100 * rank : i;
		ck_assert_int_eq(said, rank);
		ck_assert_str_eq(name, pst_counter_at(i)->name);
		ck_assert_str_eq(unit, pst_counter_at(i)->unit);
		ck_assert_str_eq(group, pst_counter_at(i)->group);
		ck_assert_int_eq(value, due);
	}
	json_decref(root);
}
END_TEST

START_TEST(mask_and_ranks_choose)
{
	json_t *root;

	setenv("GASNET_STATSMASK", "PG", 1);
	setenv("GASNET_STATSNODES", "0,2", 1);
	root = print_json();
	ck_assert_uint_eq(json_array_size(root), 2 * 7);
	json_decref(root);
	setenv("GASNET_STATSNODES", "7", 1);
	root = print_json();
	ck_assert_uint_eq(json_array_size(root), 0);
	json_decref(root);
}
END_TEST

/* How often the words stand in the file. */
static unsigned
count_in_file(const char *words)
{
	FILE *file = fopen(path, "r");
	char line[512];
	unsigned count = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file))
		count += strstr(line, words) != NULL;
	fclose(file);
	return count;
}

START_TEST(table_has_sum_least_and_most)
{
	setenv("GASNET_STATSMASK", "G", 1);
	psi_report_counters(&view);     /* the file alone asks for a table */
	ck_assert_uint_eq(count_in_file("counters of 3 ranks on here"), 1);
	ck_assert_uint_eq(count_in_file("gets                                  303 calls"), 1);
	ck_assert_uint_eq(count_in_file("puts"), 0);
}
END_TEST

START_TEST(nothing_is_printed_unasked)
{
	unsetenv("GASNET_STATSFILE");
	psi_report_counters(&view);
	ck_assert_uint_eq(count_in_file("s"), 0);
}
END_TEST

static void
tear_down(void)
{
	unlink(path);
	free(shared);
}

int
main(void)
{
	TCase *tests = tcase_create("end");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, each_record_stands_for_itself);
	tcase_add_test(tests, mask_and_ranks_choose);
	tcase_add_test(tests, table_has_sum_least_and_most);
	tcase_add_test(tests, nothing_is_printed_unasked);
	return unit_run("counters", tests);
}
