/* The counters of a job that has ended, as JSON and as a table; what the inlines count in one
 * word. */
#include "runtime/report/report.h"

#include "penstock.h"
#include "tests/unit/main.h"

#include <check.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
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

static struct pboot_rank_view ranks[RANKS] = { { .rank = 0 }, { .rank = 1 }, { .rank = 2 } };

static const struct pboot_view view = {
	.size = RANKS, .host = "here", .ranks = ranks, .map_first = map_first, .unmap = unmap,
	.say = psi_log, .print = pboot_print,
};

/* Rank r has counted 100 r + i of counter i, in two blocks. */
static void
set_up(void)
{
	shared = aligned_alloc(64, (shared_bytes() + 63) / 64 * 64);
	memset(shared, 0, shared_bytes());
	shared->magic = PSI_SHARED_MAGIC;
	shared->abi = PSI_SHARED_ABI;
	shared->size = shared->job_size = RANKS;
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

		ck_assert_int_eq(json_unpack(json_array_get(root, at), "{s:I, s:s, s:s, s:s, s:I "
		                                                       "!}",
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
count_in(const char *name, const char *words)
{
	FILE *file = fopen(name, "r");
	char line[512];
	unsigned count = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file))
		count += strstr(line, words) != NULL;
	fclose(file);
	return count;
}

static unsigned
count_in_file(const char *words)
{
	return count_in(path, words);
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

static const struct pboot_rank_view others[RANKS] = { { .rank = 4 }, { .rank = 5 }, { .rank = 7 } };

/* Hosts may write to one file system, each at its own time. */
START_TEST(a_host_alone_tells_of_its_own_ranks)
{
	struct pboot_view of_host = view;
	char own[sizeof path + 2];

	of_host.ranks = others;
	setenv("GASNET_STATSMASK", "G", 1);
	setenv("GASNET_STATSNODES", "0-5", 1);
	psi_report_counters(&of_host);
	ck_assert_uint_eq(count_in_file("s"), 0);
	snprintf(own, sizeof own, "%s.4", path);
	ck_assert_uint_eq(count_in(own, "counters of 2 ranks on here"), 1);
	ck_assert_uint_eq(count_in(own, "gets                                  102 calls"), 1);
	unlink(own);
}
END_TEST

START_TEST(the_first_host_tells_of_all_ranks)
{
	struct pboot_view of_host = view, of_first = view;
	struct pboot_pack packs[3] = { { .bytes = NULL } };

	of_host.ranks = others;
	setenv("GASNET_STATSMASK", "G", 1);
	packs[1] = packs[2] = psi_report_counters_pack(&of_host);
	ck_assert_ptr_nonnull(packs[1].bytes);
	packs[1].complete = true;       /* the last host was lost before its pack had come */
	of_first.packs = packs;
	of_first.pack_count = 3;
	psi_report_counters(&of_first);
	ck_assert_uint_eq(count_in_file("counters of 6 ranks on 2 hosts"), 1);
	ck_assert_uint_eq(count_in_file("gets                                  606 calls"), 1);
	of_host.is_packed = true;
	unlink(path);
	psi_report_counters(&of_host);
	ck_assert_int_ne(access(path, F_OK), 0);
	free(packs[1].bytes);
}
END_TEST

static char said[256];

static void __attribute__((format(printf, 1, 2)))
hear(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof said, format, args);
	va_end(args);
}

START_TEST(counters_that_found_no_memory_are_named)
{
	struct pboot_view of_first = view;
	struct pboot_pack packs[2] = { { .bytes = NULL },
		{ .host = "there", .missing = "no memory" } };

	setenv("GASNET_STATSMASK", "G", 1);
	of_first.packs = packs;
	of_first.pack_count = 2;
	of_first.say = hear;
	psi_report_counters(&of_first);
	ck_assert_str_eq(said,
	                 "the counters of the ranks on there are left out: no memory");
	ck_assert_uint_eq(count_in_file("counters of 3 ranks on here"), 1);
}
END_TEST

START_TEST(nothing_is_printed_unasked)
{
	unsetenv("GASNET_STATSFILE");
	psi_report_counters(&view);
	ck_assert_uint_eq(count_in_file("s"), 0);
}
END_TEST

/* -- what the inlines have moved ------------------------------------------------------------- */

/* As the inlines and the library do. */
static void
move(struct psi_moved *moved, uint64_t nbytes)
{
	if (!psi_rma_count_more(moved->inlined, PSI_RMA_COUNT_GETS,
	                        (nbytes << PSI_RMA_MOVED_SHIFT) + 1))
		psi_moved_note(moved, PSI_RMA_COUNT_GETS);
}

/* At each moment, over many times what fits the lower half, and what fits the upper one. */
START_TEST(calls_and_bytes_are_told_apart)
{
	static const uint64_t sizes[] = {
		0, 1, 8, 65535, 65536, (uint64_t)1 << 32, (uint64_t)1 << 38
	};
	struct psi_moved moved = { .inlined = { 7, 0 } };
	uint64_t calls = 0, bytes = 0;

	for (unsigned round = 0; round < 7; round++) {
		for (unsigned i = 0; i < 200000; i++) {
			const uint64_t nbytes = sizes[(i / 64 + round) % 7] * (1 + i % 2) - i % 2;
			struct psi_moved_sum sum;

			move(&moved, nbytes);
			calls++;
			bytes += nbytes;
			sum = psi_moved_read(&moved, PSI_RMA_COUNT_GETS);
			/* an assertion takes a microsecond */
			if (sum.calls != calls || sum.bytes != bytes)
				ck_abort_msg(
					"after %llu calls %llu, bytes %llu of %llu",
					(unsigned long long)calls, (unsigned long long)sum.calls,
					(unsigned long long)sum.bytes, (unsigned long long)bytes);
		}
	}
	ck_assert_uint_gt(bytes, (uint64_t)1 << 48);
	ck_assert_uint_eq(psi_moved_read(&moved, PSI_RMA_COUNT_PUTS).calls, 7);
}
END_TEST

static struct psi_moved watched;
static _Atomic bool move_on;

static void *
move_words(void *unused)
{
	while (atomic_load(&move_on))
		for (unsigned i = 0; i < 1000; i++)
			move(&watched, 8);
	return unused;
}

/* Whoever reads meanwhile sees a moment, and time goes on. */
START_TEST(others_read_a_moment)
{
	uint64_t last = 0, most = 3 * 65536, looks = 0;
	pthread_t thread;

	atomic_store(&move_on, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, move_words, NULL), 0);
	while (last < most || looks++ < 100000) {
		const struct psi_moved_sum sum = psi_moved_read(&watched, PSI_RMA_COUNT_GETS);

		if (sum.bytes != 8 * sum.calls || sum.calls < last)
			ck_abort_msg("%llu calls after %llu, %llu bytes",
			             (unsigned long long)sum.calls, (unsigned long long)last,
			             (unsigned long long)sum.bytes);
		last = sum.calls;
	}
	atomic_store(&move_on, false);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(moved_ones_are_in_the_report)
{
	struct psi_block *block = psi_shared_rank(shared, RANKS, 1)->block;
	json_t *root;

	for (unsigned i = 0; i < 1000; i++)
		move(&block[1].moved, 5);
	root = print_json();
	for (unsigned i = 0; i < PSI_COUNTERS; i++) {
		const json_t *row = json_array_get(root, PSI_COUNTERS + i);
		const json_int_t value = json_integer_value(json_object_get(row, "value"));

		if (i == PSI_COUNT_GETS)
			ck_assert_int_eq(value, 1000 + 100 + i);
		if (i == PSI_COUNT_GET_BYTES)
			ck_assert_int_eq(value, 5000 + 100 + i);
		if (i == PSI_COUNT_PUTS || i == PSI_COUNT_PUT_BYTES)
			ck_assert_int_eq(value, 100 + i);
	}
	json_decref(root);
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
	tcase_add_test(tests, a_host_alone_tells_of_its_own_ranks);
	tcase_add_test(tests, the_first_host_tells_of_all_ranks);
	tcase_add_test(tests, counters_that_found_no_memory_are_named);
	tcase_add_test(tests, nothing_is_printed_unasked);
	tcase_add_test(tests, calls_and_bytes_are_told_apart);
	tcase_add_test(tests, others_read_a_moment);
	tcase_add_test(tests, moved_ones_are_in_the_report);
	return unit_run("counters", tests);
}
