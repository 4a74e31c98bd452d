/* The report of what the ranks of several hosts do, from looks that are made up here; looks that
 * are faulty; and what comes of a host in parts when there is no memory for one. */
#include "bootstrap/keeper/pboot_peers.h"
#include "runtime/report/report.h"
#include "tests/unit/main.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the next reallocs, the one that finds no memory; 0: none. */
static unsigned fails;

void *__real_realloc(void *at, size_t size);
void *__wrap_realloc(void *at, size_t size);

void *
__wrap_realloc(void *at, size_t size)
{
	return fails && --fails == 0 ? NULL : __real_realloc(at, size);
}

/* -- looks ------------------------------------------------------------------------------------- */

static unsigned char bytes[3][4096];
static struct pboot_pack packs[3];

static void
put(struct pboot_pack *pack, const void *from, size_t len_bytes)
{
	ck_assert_uint_le(pack->len_bytes + len_bytes, sizeof bytes[0]);
	memcpy(pack->bytes + pack->len_bytes, from, len_bytes);
	pack->len_bytes += len_bytes;
}

/* A look of host `at', which has these many ranks of a job of job_size. */
static struct pboot_pack *
look(unsigned at, const char *host, uint32_t job_size, uint32_t ranks, uint32_t entries)
{
	const struct psi_look_head head = { .magic = PSI_LOOK_MAGIC, .job_size = job_size,
		.rank_count = ranks, .entry_count = entries, .queues_seen = 1 };

	packs[at] = (struct pboot_pack){ .bytes = bytes[at], .complete = true, .host = host };
	put(&packs[at], &head, sizeof head);
	return &packs[at];
}

static void
rank(struct pboot_pack *pack, uint32_t number, uint64_t barriers)
{
	const struct psi_look_rank rank = { .rank = number, .pid = 1000 + (int)number,
		.barriers = { barriers, 0 } };

	put(pack, &rank, sizeof rank);
}

static void
entry(struct pboot_pack *pack, uint32_t number, uint64_t barrier, const char *text)
{
	const struct psi_look_entry entry = { .rank = number, .phase = barrier,
		.barrier = barrier ? PSI_BARRIER_UNNAMED : PSI_NO_BARRIER, .timed = barrier != 0,
		.age_ns = 2000000000, .text_bytes = (uint32_t)strlen(text) + 1 };

	put(pack, &entry, sizeof entry);
	put(pack, text, entry.text_bytes);
}

static void
queue(struct pboot_pack *pack, uint32_t number, const char *text)
{
	const struct psi_look_line line = { number, (uint32_t)strlen(text) + 1 };

	put(pack, &line, sizeof line);
	put(pack, text, line.text_bytes);
}

/* -- what is printed --------------------------------------------------------------------------- */

static char said[4096];

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	const size_t len = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + len, sizeof said - len, format, args);
	va_end(args);
	strncat(said, "\n", sizeof said - strlen(said) - 1);
}

static void
print(uint32_t count)
{
	const struct pboot_view view = { .why = "why", .packs = packs, .pack_count = count,
		.say = say };

	said[0] = '\0';
	psi_report_print(&view);
}

/* Ranks 0 and 3 are on one host, 1 and 2 on the other. */
static void
two_hosts(void)
{
	struct pboot_pack *first = look(0, "a", 4, 2, 2), *second = look(1, "b", 4, 2, 2);

	rank(first, 0, 5);
	rank(first, 3, 5);
	entry(first, 0, 5, "in a barrier");
	entry(first, 3, 5, "in a barrier");
	queue(first, 3, "requests to rank 3");
	rank(second, 1, 4);
	rank(second, 2, 5);
	entry(second, 1, 0, "not polling");
	entry(second, 2, 5, "in a barrier");
	queue(second, 1, "requests to rank 1");
}

START_TEST(ranks_of_all_hosts_stand_in_order)
{
	two_hosts();
	print(2);
	ck_assert_str_eq(said, "what the 4 ranks on 2 hosts do (why):\n"
	                       "  ranks 0, 2, 3: in a barrier, waiting for rank 1, for 2.0 s\n"
	                       "  rank 1 (pid 1001 on b): not polling\n"
	                       "  requests to rank 1\n"
	                       "  requests to rank 3\n");
}
END_TEST

START_TEST(a_host_that_is_missing_is_named)
{
	two_hosts();
	packs[1] = (struct pboot_pack){ .host = "b", .missing = "it is lost" };
	print(2);
	ck_assert_str_eq(said, "what the 2 ranks on a do (why):\n"
	                       "  ranks 0, 3: in a barrier, waiting for ranks of other hosts, for "
	                       "2.0 s\n"
	                       "  requests to rank 3\n"
	                       "  what the ranks on b do is not known: it is lost\n");
	two_hosts();
	packs[2] = (struct pboot_pack){ .host = "c", .missing = "it is lost" };
	for (unsigned at = 0; at < 2; at++)
		((struct psi_look_head *)(void *)bytes[at])->job_size = 6;
	print(3);
	ck_assert_ptr_nonnull(strstr(said, "waiting for rank 1 of these hosts, for"));
	ck_assert_ptr_nonnull(strstr(said, "what the ranks on c do is not known: it is lost"));
}
END_TEST

START_TEST(a_barrier_that_all_have_entered_waits_for_nobody)
{
	struct pboot_pack *only = look(0, "a", 1, 1, 1);

	rank(only, 0, 5);
	entry(only, 0, 5, "in a barrier");
	print(1);
	ck_assert_str_eq(said, "what the 1 rank on a do (why):\n"
	                       "  rank 0 (pid 1000): in a barrier, which all ranks have entered, "
	                       "for 2.0 s\n"
	                       "  no message is on its way: all queues are empty\n");
}
END_TEST

START_TEST(a_terminal_gets_no_control_characters)
{
	struct pboot_pack *only = look(0, "a", 1, 1, 1);

	rank(only, 0, 0);
	entry(only, 0, 0, "a\033[2Jb\nc");
	print(1);
	ck_assert_ptr_nonnull(strstr(said, ": a?[2Jb?c\n"));
}
END_TEST

/* -- faulty looks ------------------------------------------------------------------------------ */

/* At each length that is not a whole number of lines of queues the look is refused whole. */
START_TEST(a_look_that_is_cut_counts_as_missing)
{
	size_t whole, refused = 0;

	two_hosts();
	whole = packs[1].len_bytes;
	for (size_t len = 0; len < whole; len++) {
		two_hosts();
		packs[1].len_bytes = len;
		print(2);
		ck_assert_ptr_nonnull(strstr(said, "rank"));
		if (!strstr(said, "on b do is not known: its keeper has sent something faulty"))
			continue;
		refused++;
		ck_assert_ptr_nonnull(strstr(said, "what the 2 ranks on a do (why):"));
	}
	ck_assert_uint_eq(refused, whole - 1);
}
END_TEST

START_TEST(a_look_with_wrong_bytes_does_no_harm)
{
	for (size_t at = 0; at < 300; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			two_hosts();
			if (at >= packs[1].len_bytes)
				return;
			bytes[1][at] ^= (unsigned char)(1u << bit);
			print(2);
			ck_assert_ptr_nonnull(strstr(said, "ranks on "));
		}
}
END_TEST

/* -- parts ------------------------------------------------------------------------------------- */

START_TEST(parts_become_a_whole)
{
	struct pboot_pack pack = { .bytes = NULL };

	pboot_pack_add(&pack, (const uint8_t *)"", 0);	/* nothing at all */
	ck_assert(!pack.complete);
	pboot_pack_add(&pack, (const uint8_t *)"ab", 2);
	pboot_pack_add(&pack, (const uint8_t *)"cd", 2);
	ck_assert(!pack.complete);
	pboot_pack_add(&pack, (const uint8_t *)"", 0);
	ck_assert(pack.complete);
	pboot_pack_add(&pack, (const uint8_t *)"ef", 2);	/* too late */
	ck_assert_uint_eq(pack.len_bytes, 4);
	ck_assert_int_eq(memcmp(pack.bytes, "abcd", 4), 0);
	free(pack.bytes);
}
END_TEST

/* No part behind the one that is lost is taken for it. */
START_TEST(a_part_without_memory_loses_the_whole)
{
	struct pboot_pack pack = { .bytes = NULL };

	for (unsigned failing = 1; failing <= 2; failing++) {
		pack = (struct pboot_pack){ .bytes = NULL };
		fails = failing;
		pboot_pack_add(&pack, (const uint8_t *)"ab", 2);
		pboot_pack_add(&pack, (const uint8_t *)"cd", 2);
		pboot_pack_add(&pack, (const uint8_t *)"ef", 2);
		pboot_pack_add(&pack, (const uint8_t *)"", 0);
		ck_assert_uint_eq(fails, 0);
		ck_assert(!pack.complete);
		ck_assert_ptr_null(pack.bytes);
		ck_assert_str_eq(pack.missing, "no memory for what it has sent");
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("report");

	tcase_add_test(tests, ranks_of_all_hosts_stand_in_order);
	tcase_add_test(tests, a_host_that_is_missing_is_named);
	tcase_add_test(tests, a_barrier_that_all_have_entered_waits_for_nobody);
	tcase_add_test(tests, a_terminal_gets_no_control_characters);
	tcase_add_test(tests, a_look_that_is_cut_counts_as_missing);
	tcase_add_test(tests, a_look_with_wrong_bytes_does_no_harm);
	tcase_add_test(tests, parts_become_a_whole);
	tcase_add_test(tests, a_part_without_memory_loses_the_whole);
	return unit_run("report", tests);
}
