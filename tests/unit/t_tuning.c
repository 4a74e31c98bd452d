/* Rules of collectives in text: those that are read, and what is said of those with a mistake. */
#include "coll/tuning.h"

#include "coll/select.h"
#include "tests/unit/main.h"

#include <stdio.h>
#include <string.h>

START_TEST(rules_are_read)
{
	struct pcoll_rule rule = { .builder = NULL };

	ck_assert_ptr_null(pcoll_rule_read(
		"  broadcast\t16K-512K 3-* 2-4 tcp binary piece=32K # why\n", &rule));
	ck_assert_int_eq(rule.operation, PCOLL_BROADCAST);
	ck_assert_uint_eq(rule.least_bytes, 16 << 10);
	ck_assert_uint_eq(rule.most_bytes, 512 << 10);
	ck_assert_uint_eq(rule.least_size, 3);
	ck_assert_uint_eq(rule.most_size, UINT32_MAX);
	ck_assert_uint_eq(rule.least_hosts, 2);
	ck_assert_uint_eq(rule.most_hosts, 4);
	ck_assert_str_eq(rule.mode, "tcp");
	ck_assert_str_eq(rule.builder->name, "binary");
	ck_assert_uint_eq(rule.piece_bytes, 32 << 10);
	ck_assert_ptr_null(pcoll_rule_read("bcast * * * * flat", &rule));
	ck_assert_int_eq(rule.operation, PCOLL_BROADCAST);
	ck_assert_ptr_null(pcoll_rule_read("allreduce * * * * doubling", &rule));
	ck_assert_int_eq(rule.operation, PCOLL_REDUCE_TO_ALL);
	ck_assert_ptr_null(pcoll_rule_read("reduce_to_one * * * * chain", &rule));
	ck_assert_int_eq(rule.operation, PCOLL_REDUCE_TO_ONE);
	ck_assert_ptr_null(pcoll_rule_read("reduce_scatter * 7 * * ring", &rule));
	ck_assert_uint_eq(rule.least_bytes, 0);
	ck_assert_uint_eq(rule.most_bytes, SIZE_MAX);
	ck_assert_uint_eq(rule.least_size, 7);
	ck_assert_uint_eq(rule.most_size, 7);
	ck_assert_uint_eq(rule.least_hosts, 0);
	ck_assert_uint_eq(rule.most_hosts, UINT32_MAX);
	ck_assert_str_eq(rule.mode, "");
	ck_assert_ptr_null(pcoll_rule_read("scatter 0-1G 2-9 1 smp knomial radix=16", &rule));
	ck_assert_uint_eq(rule.radix, 16);
	ck_assert_uint_eq(rule.most_bytes, 1 << 30);
	ck_assert_ptr_null(pcoll_rule_read(
		"scatter 17179869183G-18446744073709551615 1-4294967295 1-4294967295 smp flat",
		&rule));
	ck_assert_uint_eq(rule.least_bytes, (size_t)17179869183 << 30);
	ck_assert_uint_eq(rule.most_bytes, SIZE_MAX);
	ck_assert_uint_eq(rule.most_size, UINT32_MAX);
}
END_TEST

START_TEST(empty_lines_are_no_rules)
{
	static const char *const lines[] = { "", "\n", "   \t\n", "# broadcast * * * * flat",
		                             "  # x\n" };

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct pcoll_rule rule;

		memset(&rule, 1, sizeof rule);
		ck_assert_ptr_null(pcoll_rule_read(lines[i], &rule));
		ck_assert_ptr_null(rule.builder);
	}
}
END_TEST

START_TEST(mistakes_are_told)
{
	static const char *const lines[][2] = {
		{ "broadcasts * * * * flat", "operation" },
		{ "broadcast", "bytes" },
		{ "broadcast 4-2 * * * flat", "bytes" },
		{ "broadcast 4x * * * flat", "bytes" },
		{ "broadcast -4 * * * flat", "bytes" },
		{ "broadcast 99999999999G * * * flat", "bytes" },
		{ "broadcast 18446744073709551616 * * * flat", "bytes" },
		{ "broadcast 0-18014398509481984K * * * flat", "bytes" },
		{ "broadcast 0-17179869184G * * * flat", "bytes" },
		{ "broadcast *", "ranks" },
		{ "broadcast * 0 * * flat", "ranks from 1" },
		{ "broadcast * 0-2 * * flat", "ranks from 1" },
		{ "broadcast * 0-* * * flat", "ranks from 1" },
		{ "broadcast * 1-4294967296 * * flat", "ranks" },
		{ "broadcast * 4294967296-* * * flat", "ranks" },
		{ "broadcast * 4G * * flat", "ranks" },
		{ "broadcast * *", "hosts" },
		{ "broadcast * * flat", "hosts" },
		{ "broadcast * * 2-1 * flat", "hosts" },
		{ "broadcast * * 0 * flat", "hosts from 1" },
		{ "broadcast * * 0-4 * flat", "hosts from 1" },
		{ "broadcast * * 1-4294967296 * flat", "hosts" },
		{ "broadcast * * *", "mode" },
		{ "broadcast * * * 0123456789abcdef flat", "mode" },
		{ "broadcast * * * *", "algorithm" },
		{ "broadcast * * * * ring", "algorithm" },
		{ "broadcast * * * * knomial radix=1", "radix" },
		{ "broadcast * * * * knomial radix=17", "radix" },
		{ "broadcast * * * * knomial radix=4294967298", "radix" },
		{ "broadcast * * * * knomial radix=18446744073709551618", "radix" },
		{ "broadcast * * * * chain piece=18446744073709551616", "piece" },
		{ "broadcast * * * * chain piece=17179869184G", "piece" },
		{ "barrier * * * * cells", "algorithm" },
		{ "broadcast * * * * cells radix=2", "no parameters" },
		{ "broadcast * * * * flat radix=2", "no radix" },
		{ "broadcast * * * * flat piece=2", "no pieces" },
		{ "broadcast * * * * chain piece=x", "piece" },
		{ "broadcast * * * * chain piece=0", "from 1 on" },
		{ "broadcast * * * * chain piece=2 piece=2", "twice" },
		{ "broadcast * * * * chain pieces=2", "parameter" },
		{ "broadcast * * * * chain piece=2 more", "parameter" },
	};
	char many[400];

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct pcoll_rule rule;
		const char *wrong = pcoll_rule_read(lines[i][0], &rule);

		ck_assert_msg(wrong != NULL, "%s", lines[i][0]);
		ck_assert_msg(strstr(wrong, lines[i][1]) != NULL, "%s: %s", lines[i][0], wrong);
	}
	memset(many, 'x', sizeof many);
	many[sizeof many - 1] = '\0';
	ck_assert_str_eq(pcoll_rule_read(many, &(struct pcoll_rule){ .radix = 2 }),
	                 "the line is too long");
}
END_TEST

START_TEST(forced_ones_are_read)
{
	struct pcoll_rule rule;

	ck_assert_ptr_null(pcoll_rule_read_forced(PCOLL_BROADCAST, "knomial:4:64K", &rule));
	ck_assert_uint_eq(rule.radix, 4);
	ck_assert_uint_eq(rule.piece_bytes, 64 << 10);
	ck_assert_ptr_null(pcoll_rule_read_forced(PCOLL_BROADCAST, "chain:4K", &rule));
	ck_assert_uint_eq(rule.piece_bytes, 4 << 10);
	ck_assert_ptr_null(pcoll_rule_read_forced(PCOLL_EXCHANGE, "bruck", &rule));
	ck_assert_uint_eq(rule.most_size, UINT32_MAX);
	ck_assert(!rule.by_cells);
	ck_assert_ptr_null(pcoll_rule_read_forced(PCOLL_EXCHANGE, "cells", &rule));
	ck_assert(rule.by_cells);
	ck_assert_ptr_nonnull(pcoll_rule_read_forced(PCOLL_BARRIER, "cells", &rule));
	ck_assert_ptr_nonnull(pcoll_rule_read_forced(PCOLL_EXCHANGE, "bruck:2", &rule));
	ck_assert_ptr_nonnull(pcoll_rule_read_forced(PCOLL_EXCHANGE, "ring", &rule));
	ck_assert_ptr_nonnull(pcoll_rule_read_forced(PCOLL_BROADCAST, "knomial:4:64K:1", &rule));
	ck_assert_ptr_nonnull(pcoll_rule_read_forced(PCOLL_BROADCAST, "knomial:x", &rule));
	ck_assert_ptr_nonnull(pcoll_rule_read_forced(PCOLL_BROADCAST, "", &rule));
}
END_TEST

/* An algorithm takes the parameters that the list shows behind its name, and no more. */
static void
forced_one_is_accepted(enum pcoll_operation operation, const char *listed)
{
	struct pcoll_rule rule;
	char text[64];

	snprintf(text, sizeof text, "%.*s%s%s", (int)strcspn(listed, "["), listed,
	         strstr(listed, "RADIX") ? ":3" : "", strstr(listed, "BYTES") ? ":4K" : "");
	ck_assert_msg(!pcoll_rule_read_forced(operation, text, &rule), "%s", text);
	strcat(text, ":5");
	ck_assert_msg(pcoll_rule_read_forced(operation, text, &rule) != NULL, "%s", text);
}

/* What is listed of each operation is what is accepted. */
START_TEST(forced_ones_are_listed)
{
	char text[PCOLL_FORCED_BYTES];

	ck_assert_str_eq(pcoll_rule_forced_accepts(PCOLL_PERMUTE, text), "one of direct, cells");
	ck_assert_str_eq(pcoll_rule_forced_accepts(PCOLL_SCAN, text),
	                 "one of doubling, levels, chain[:BYTES], cells");
	for (unsigned i = 0; i < PCOLL_OPERATIONS; i++) {
		const enum pcoll_operation operation = (enum pcoll_operation)i;
		char *rest = text + strlen("one of "), *word;

		pcoll_rule_forced_accepts(operation, text);
		ck_assert_uint_lt(strlen(text), sizeof text - 1);
		while ((word = strsep(&rest, ",")) != NULL)
			forced_one_is_accepted(operation, word + strspn(word, " "));
	}
}
END_TEST

/* However small the pieces that a rule asks for. */
START_TEST(pieces_are_not_too_many)
{
	struct pcoll_shape shape = { .operation = PCOLL_SCAN, .size = 4, .hosts = 4, .mode = "tcp",
		                     .elem_bytes = 24, .len_bytes = (size_t)24 << 40 };

	pcoll_tuning_open();
	pcoll_select(&shape);
	ck_assert_uint_gt(shape.piece_bytes, 0);
	ck_assert_uint_eq(shape.piece_bytes % 24, 0);
	ck_assert_uint_le(shape.len_bytes / shape.piece_bytes, 1 << 20);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("tuning");

	tcase_add_test(tests, rules_are_read);
	tcase_add_test(tests, empty_lines_are_no_rules);
	tcase_add_test(tests, mistakes_are_told);
	tcase_add_test(tests, forced_ones_are_read);
	tcase_add_test(tests, forced_ones_are_listed);
	tcase_add_test(tests, pieces_are_not_too_many);
	return unit_run("tuning", tests);
}
