/* Settings: strict parsing, where values come from, what is refused, what a wrong name is near. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>

#include "runtime/settings/settings.h"
#include "runtime/settings/settings_known.h"
#include "runtime/util/settings_parse.h"
#include "tests/unit/capture.h"
#include "tests/unit/main.h"

START_TEST(booleans_in_any_case)
{
	static const char *const yes[] = { "1", "y", "Y", "yes", "YES", "Yes" };
	static const char *const no[] = { "0", "n", "N", "no", "NO", "nO" };
	static const char *const bad[] = { "", "2", "true", "on", " 1", "1 ", "yess", "ye", "01" };
	bool value;
	size_t i;

	for (i = 0; i < sizeof yes / sizeof *yes; i++) {
		value = false;
		ck_assert_msg(psi_parse_bool(yes[i], &value) && value, "%s", yes[i]);
	}
	for (i = 0; i < sizeof no / sizeof *no; i++) {
		value = true;
		ck_assert_msg(psi_parse_bool(no[i], &value) && !value, "%s", no[i]);
	}
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!psi_parse_bool(bad[i], &value), "%s", bad[i]);
}
END_TEST

START_TEST(whole_numbers)
{
	static const struct { const char *text; int64_t value; } good[] = {
		{ "0", 0 }, { "17", 17 }, { "-3", -3 }, { "0x1F", 31 }, { "007", 7 },
		{ "+9", 9 }, { "-0x10", -16 }, { "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
	};
	static const char *const bad[] = {
		"", "-", "+", "+-1", "0x", "1x", "1 ", " 1", "1.0", "9223372036854775808", "1e3",
		"-9223372036854775809",
		"99999999999999999999",
	};
	int64_t value = 5;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!psi_parse_int(bad[i], &value) && value == 5, "%s", bad[i]);
	for (i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(psi_parse_int(good[i].text, &value), "%s", good[i].text);
		ck_assert_int_eq(value, good[i].value);
	}
}
END_TEST

START_TEST(numbers_with_fractions)
{
	static const struct { const char *text; double value; } good[] = {
		{ "0", 0 }, { "3/8", 0.375 }, { "-1.5", -1.5 }, { "+2e-3", 0.002 }, { ".25", 0.25 },
		{ "1e300", 1e300 }, { "-1/-4", 0.25 },
	};
	static const char *const bad[] = {
		"",     ".",   "e3",  "1/0",   "1/",  "/2",    "1 ",
		"0x10", "inf", "nan", "1e999", "1,5", "1/2/3",
	};
	double value = 5;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!psi_parse_double(bad[i], &value) && value == 5, "%s", bad[i]);
	for (i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(psi_parse_double(good[i].text, &value), "%s", good[i].text);
		ck_assert_double_eq(value, good[i].value);
	}
}
END_TEST

START_TEST(sizes_with_suffixes)
{
	static const struct { const char *text; uint64_t unit, value; } good[] = {
		{ "64", 1, 64 }, { "64", 1024, 65536 }, { "64B", 1024, 64 }, { "64KB", 1, 65536 },
		{ "64 kb", 1, 65536 }, { "1.5GB", 1, 1610612736 }, { "2tb", 1, UINT64_C(1) << 41 },
		{ ".5M", 1, 524288 }, { "1.", 1, 1 }, { "0.0001KB", 1, 0 },
		{ "18446744073709551600", 1, UINT64_C(18446744073709551600) },
	};
	static const char *const bad[] = {
		"", ".", "KB", "64XB", "64KBs", "64  KB", "64  ", "64  B",
		"-1", "1..5", " 64", "64 ", "1e9", "64PB",
		"16777216TB", "99999999999999999999",
	};
	uint64_t value = 5;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!psi_parse_size(bad[i], 1, &value) && value == 5, "%s", bad[i]);
	for (i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(psi_parse_size(good[i].text, good[i].unit, &value), "%s",
		              good[i].text);
		ck_assert_msg(value == good[i].value, "%s: %llu", good[i].text,
			      (unsigned long long)value);
	}
}
END_TEST

START_TEST(times_are_exact)
{
	uint64_t ns = 5;

	ck_assert(!psi_parse_time("", 1, &ns) && !psi_parse_time("1s", 1, &ns) &&
		  !psi_parse_time("-1", 1, &ns) && !psi_parse_time("20000000000", 1000000000, &ns));
	ck_assert_uint_eq(ns, 5);
	ck_assert(psi_parse_time("0.005", 1000000000, &ns) && ns == 5000000);
	ck_assert(psi_parse_time("0.1", 1000000000, &ns) && ns == 100000000);
	ck_assert(psi_parse_time("10", 1000000, &ns) && ns == 10000000);
	ck_assert(psi_parse_time("1.000000001", 1000000000, &ns) && ns == 1000000001);
	ck_assert(psi_parse_time("0", 1000000, &ns) && ns == 0);
}
END_TEST

START_TEST(fractions)
{
	double value = 5;

	ck_assert(!psi_parse_fraction("", &value) && !psi_parse_fraction("1/0", &value) &&
		  !psi_parse_fraction("1/", &value) && !psi_parse_fraction("x", &value));
	ck_assert(value == 5);
	ck_assert(psi_parse_fraction("3/8", &value) && value == 0.375);
	ck_assert(psi_parse_fraction("0.85", &value) && value == 0.85);
}
END_TEST

START_TEST(sets_of_words)
{
	static const char *const words[] = { "red", "green", "blue", NULL };
	uint64_t bits = 9;

	ck_assert(!psi_parse_set("red,,blue", words, &bits) &&
	          !psi_parse_set("gre", words, &bits) && !psi_parse_set("red,", words, &bits));
	ck_assert_uint_eq(bits, 9);
	ck_assert(psi_parse_set("blue,Red", words, &bits) && bits == 5);
	ck_assert(psi_parse_set("", words, &bits) && bits == 0);
}
END_TEST

START_TEST(values_come_from_default_or_environment)
{
	const struct psi_setting *row = psi_setting_named("PST_SLEEP_MAX");
	enum psi_setting_origin origin;

	unsetenv(row->name);
	ck_assert_uint_eq(psi_setting_ns(row), 10000000);
	psi_setting_value(row, &origin);
	ck_assert_int_eq(origin, PSI_ORIGIN_DEFAULT);
	setenv(row->name, "", 1);
	ck_assert_uint_eq(psi_setting_ns(row), 10000000);
	ck_assert(!psi_setting_given(row));
	setenv(row->name, "0.5", 1);
	ck_assert_uint_eq(psi_setting_ns(row), 500000);
	ck_assert(psi_setting_given(row));
	ck_assert_str_eq(psi_setting_value(row, &origin), "0.5");
	ck_assert_int_eq(origin, PSI_ORIGIN_ENVIRONMENT);
}
END_TEST

START_TEST(kinds_are_read)
{
	setenv("PST_TEST_HANDOVER", "Socket", 1);
	ck_assert_uint_eq(psi_setting_choice(psi_setting_named("PST_TEST_HANDOVER")), 1);
	setenv("PST_TEST_DENY", "memfd,subreaper", 1);
	ck_assert_uint_eq(psi_setting_set(psi_setting_named("PST_TEST_DENY")), 9);
	setenv("GASNET_PSHM_NODES", "12", 1);
	ck_assert_int_eq(psi_setting_int(psi_setting_named("GASNET_PSHM_NODES")), 12);
	unsetenv("GASNET_PSHM_NODES");
	ck_assert_int_eq(psi_setting_int(psi_setting_named("GASNET_PSHM_NODES")), 0);
	unsetenv("GASNET_TMPDIR");
	ck_assert_ptr_null(psi_setting_text(psi_setting_named("GASNET_TMPDIR")));
	setenv("GASNET_TMPDIR", "/var/tmp", 1);
	ck_assert_str_eq(psi_setting_text(psi_setting_named("GASNET_TMPDIR")), "/var/tmp");
}
END_TEST

/* Rows that no table lists work as well; a table's row is found by name besides. */
static const struct psi_setting sizes[] = {
	{ .name = "PT_PLAIN", .kind = PSI_SETTING_SIZE, .default_text = "4KB", .help = "bytes" },
	{ .name = "PT_KB", .kind = PSI_SETTING_SIZE, .unit = "KB", .min = 2048, .max = 8192,
	  .help = "kilobytes" },
	{ .name = "PT_MB", .kind = PSI_SETTING_SIZE, .unit = "MB", .help = "megabytes" },
	{ .name = "PT_LEAST", .kind = PSI_SETTING_INT, .min = 3, .help = "at least" },
};

START_TEST(sizes_in_units_and_bounds)
{
	char text[200];

	ck_assert_uint_eq(psi_setting_size(&sizes[0]), 4096);
	ck_assert_uint_eq(psi_setting_size(&sizes[1]), 0);
	setenv("PT_KB", "4", 1);
	setenv("PT_MB", "2", 1);
	ck_assert_uint_eq(psi_setting_size(&sizes[1]), 4096);
	ck_assert_uint_eq(psi_setting_size(&sizes[2]), 2097152);
	setenv("PT_MB", "1B", 1);
	ck_assert_uint_eq(psi_setting_size(&sizes[2]), 1);
	ck_assert(psi_setting_accepted(&sizes[1], "2") && psi_setting_accepted(&sizes[1], "8KB"));
	ck_assert(!psi_setting_accepted(&sizes[1], "1") &&
	          !psi_setting_accepted(&sizes[1], "8193B"));
	ck_assert(psi_setting_accepted(&sizes[3], "3") && !psi_setting_accepted(&sizes[3], "2"));
	ck_assert_str_eq(psi_setting_accepts(&sizes[0], text, sizeof text),
			 "a size such as 64KB, 1.5GB or a number of B");
	ck_assert_str_eq(psi_setting_accepts(&sizes[1], text, sizeof text),
			 "a size such as 64KB, 1.5GB or a number of KB, from 2048 to 8192 B");
	ck_assert_str_eq(psi_setting_accepts(&sizes[3], text, sizeof text),
			 "a whole number of at least 3");
}
END_TEST

/* Every row is whole, named once, and its default is a value it accepts. */
START_TEST(rows_are_consistent)
{
	size_t t, i;

	for (t = 0; psi_settings_lists[t]; t++) {
		ck_assert_ptr_nonnull(psi_settings_lists[t]->title);
		for (i = 0; i < psi_settings_lists[t]->count; i++) {
			const struct psi_setting *row = &psi_settings_lists[t]->rows[i];
			bool listed =
				row->kind == PSI_SETTING_CHOICE || row->kind == PSI_SETTING_SET;

			ck_assert_ptr_eq(psi_setting_find(row->name), row);
			ck_assert_msg(row->help && *row->help, "%s", row->name);
			ck_assert_msg(!listed || row->choices, "%s", row->name);
			ck_assert_msg(row->kind != PSI_SETTING_TIME || row->unit, "%s", row->name);
			ck_assert_msg(!row->check || row->accepts, "%s", row->name);
			ck_assert_msg(
				!row->default_text || psi_setting_accepted(row, row->default_text),
				"%s", row->name);
		}
	}
}
END_TEST

/* Conduits read both kinds of rows by one function. */
START_TEST(counts_are_whole_numbers_or_sizes)
{
	static const struct { const char *text; uint64_t value; } good[] = {
		{ "0", 0 }, { "0x68", 104 }, { "255", 255 }, { "+7", 7 }, { "64KB", 65536 },
		{ "1.5M", 3 << 19 }, { "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "", "-1", "x", "0x", "5x", "18446744073709551616" };
	uint64_t value;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(psi_parse_count(good[i].text, &value), "%s", good[i].text);
		ck_assert_uint_eq(value, good[i].value);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!psi_parse_count(bad[i], &value), "%s", bad[i]);
}
END_TEST

static void
refuse_value(const char *name, const char *value)
{
	setenv(name, value, 1);
	psi_settings_check();
}

START_TEST(bad_values_end_with_2)
{
	static const char *const bad[][2] = {
		{ "GASNET_PSHM_NODES", "four" },  { "GASNET_PSHM_NODES", "0" },
		{ "GASNET_PSHM_NODES", "65536" }, { "PST_SHM", "tape" },
		{ "PST_TEST_DENY", "memfd,x" },   { "GASNET_QUIET", "maybe" },
		{ "GASNET_EXITTIMEOUT", "1.5s" }, { "PST_SLEEP_MAX", "-1" },
		{ "PST_IBV_SERVICE_LEVEL", "16" }, { "PST_IBV_SERVICE_LEVEL", "-1" },
		{ "PST_IBV_TRAFFIC_CLASS", "256" }, { "PST_IBV_TRAFFIC_CLASS", "af21" },
	};

	refuse_value(bad[_i][0], bad[_i][1]);
}
END_TEST

START_TEST(good_environment_passes)
{
	refuse_value("GASNET_PSHM_NODES", "0x10");
	refuse_value("GASNET_QUIET", "Y");
	refuse_value("PST_SLEEP_MAX", "0");
	refuse_value("PST_IBV_SERVICE_LEVEL", "15");
	refuse_value("PST_IBV_TRAFFIC_CLASS", "0xff");
}
END_TEST

START_TEST(misspelt_names_find_the_real_one)
{
	static const char *const near[][2] = {
		{ "PST_HUGEPAEGS", "PST_HUGEPAGES" },
		{ "PST_HUGEPAGESS", "PST_HUGEPAGES" },
		{ "PST_QUIET", "GASNET_QUIET" },
		{ "GASNET_VERBOSE_ENV", "GASNET_VERBOSEENV" },
		{ "GASNET_PSHMNODES", "GASNET_PSHM_NODES" },
		{ "GASNET_SLEEP_MAX", "PST_SLEEP_MAX" },
		{ "GASNET_EXITTIMEOUT_MN", "GASNET_EXITTIMEOUT_MIN" },
		{ "GASNET_SSH_SERVER", "GASNET_SSH_SERVERS" },
		{ "PST_IBV_GID_INDXE", "PST_IBV_GID_INDEX" },
		{ "GASNET_RBUF_COUNTS", "GASNET_RBUF_COUNT" },
		{ "GASNET_QP_TIMOUT", "GASNET_QP_TIMEOUT" },
		{ "GASNET_IBV_PORST", "GASNET_IBV_PORTS" },
		{ "GASNET_CONNECT_STATICS", "GASNET_CONNECT_STATIC" },
	};
	static const char *const known[] = {
		"PST_SHM", "GASNET_BARRIER", "GASNET_OFI_DEVICE_0", "GASNET_MAXIMIZE_STACK",
		"GASNET_SSH_SERVERS", "GASNET_IBV_SPAWNER", "HOME", "PSTX", "PST_JOB_RANK",
		"GASNET_IBV_PORTS", "GASNET_IBV_PORTS_TYPE_0", "GASNET_HCA_ID", "GASNET_NUM_QPS",
		"GASNET_QP_TIMEOUT", "GASNET_CONNECTFILE_IN", "GASNET_USE_XRC", "GASNET_USE_ODP",
		"GASNET_IBV_LIST_PORTS_NODES", "GASNET_IBV_PORTS_VERBOSE", "GASNET_CONNECT_SNDS",
		"GASNET_CONNECT_RETRANS_MIN", "GASNET_RCV_THREAD", "GASNET_RCV_THREAD_POLL_MODE",
	};
	static const char *const far[] = { "GASNET_SOMETHING_ELSE", "PST_WHATEVER", "GASNET_X" };
	bool is_known;
	size_t i;

	for (i = 0; i < sizeof near / sizeof *near; i++) {
		const char *found = psi_settings_nearest(near[i][0], &is_known);

		ck_assert_msg(!is_known && found && strcmp(found, near[i][1]) == 0, "%s -> %s",
			      near[i][0], found ? found : "none");
	}
	for (i = 0; i < sizeof known / sizeof *known; i++) {
		ck_assert_ptr_null(psi_settings_nearest(known[i], &is_known));
		ck_assert_msg(is_known, "%s", known[i]);
	}
	for (i = 0; i < sizeof far / sizeof *far; i++) {
		ck_assert_ptr_null(psi_settings_nearest(far[i], &is_known));
		ck_assert_msg(!is_known, "%s", far[i]);
	}
}
END_TEST

/* The document says of them that they have no effect. */
START_TEST(names_without_effect_are_no_settings)
{
	const char *name;

	for (size_t i = 0; (name = psi_settings_foreign_name(i)) != NULL; i++)
		ck_assert_msg(!psi_setting_find(name), "%s", name);
}
END_TEST

static void
read_some_settings(void)
{
	psi_settings_check();
	psi_settings_warn_unknown();
	psi_settings_warn_unknown();
	psi_setting_ns(psi_setting_named("PST_SLEEP_MAX"));
	psi_setting_ns(psi_setting_named("PST_SLEEP_MAX"));
	psi_setting_bool(psi_setting_named("GASNET_QUIET"));
}

static void
read_silently(void)
{
	psi_settings_speak(false);
	read_some_settings();
}

static const char *
said_by(void (*body)(void))
{
	static struct pt_child child;

	pt_child_start(&child, body);
	pt_child_end(&child);
	ck_assert(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0);
	return child.text;
}

START_TEST(verbose_reports_each_setting_once)
{
	setenv("GASNET_VERBOSEENV", "yes", 1);
	setenv("GASNET_EXITTIMEOUT", "3", 1);
	ck_assert_str_eq(said_by(read_some_settings),
			 "penstock: setting GASNET_EXITTIMEOUT = 3 (environment)\n"
			 "penstock: setting GASNET_VERBOSEENV = yes (environment)\n"
			 "penstock: setting GASNET_QUIET = 0 (default)\n"
			 "penstock: setting PST_SLEEP_MAX = 10 (default)\n");
	ck_assert_str_eq(said_by(read_silently), "");
}
END_TEST

START_TEST(misspelt_names_are_warned_about_once)
{
	setenv("GASNET_MAX_SEGSIZ", "1MB", 1);
	setenv("PST_WHATEVER", "1", 1);
	setenv("GASNET_OF_A_CLIENT", "1", 1);
	setenv("GASNET_OFI_DEVICE", "x", 1);
	ck_assert_str_eq(said_by(read_some_settings),
			 "penstock: warning: GASNET_MAX_SEGSIZ is no setting; the nearest is "
			 "GASNET_MAX_SEGSIZE\n"
			 "penstock: warning: PST_WHATEVER is no setting; penstock-info lists "
			 "them\n");
	ck_assert_str_eq(said_by(read_silently), "");
	setenv("GASNET_QUIET", "1", 1);
	ck_assert_str_eq(said_by(read_some_settings), "");
}
END_TEST

static void
refuse_silently(void)
{
	psi_settings_speak(false);
	refuse_value("PST_SLEEP_MAX", "soon");
}

/* Rank 0, which speaks for all, ends the job within that time if it has the same value. */
START_TEST(silent_ranks_wait_before_they_speak)
{
	struct pt_child child;
	time_t start = time(NULL);

	pt_child_start(&child, refuse_silently);
	pt_child_end(&child);
	ck_assert(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 2);
	ck_assert_ptr_nonnull(strstr(child.text, "PST_SLEEP_MAX=soon: expected"));
	ck_assert_int_ge(time(NULL) - start, 1);
}
END_TEST

/* Settings of whoever runs the tests are not these tests' business. */
static void
clear_environment(void)
{
	clearenv();
}

int
main(void)
{
	TCase *tests = tcase_create("settings");

	tcase_add_checked_fixture(tests, clear_environment, NULL);
	tcase_add_test(tests, booleans_in_any_case);
	tcase_add_test(tests, whole_numbers);
	tcase_add_test(tests, numbers_with_fractions);
	tcase_add_test(tests, sizes_with_suffixes);
	tcase_add_test(tests, times_are_exact);
	tcase_add_test(tests, fractions);
	tcase_add_test(tests, sets_of_words);
	tcase_add_test(tests, values_come_from_default_or_environment);
	tcase_add_test(tests, kinds_are_read);
	tcase_add_test(tests, sizes_in_units_and_bounds);
	tcase_add_test(tests, rows_are_consistent);
	tcase_add_test(tests, counts_are_whole_numbers_or_sizes);
	tcase_add_loop_exit_test(tests, bad_values_end_with_2, 2, 0, 12);
	tcase_add_test(tests, good_environment_passes);
	tcase_add_test(tests, misspelt_names_find_the_real_one);
	tcase_add_test(tests, names_without_effect_are_no_settings);
	tcase_add_test(tests, verbose_reports_each_setting_once);
	tcase_add_test(tests, misspelt_names_are_warned_about_once);
	tcase_add_test(tests, silent_ranks_wait_before_they_speak);
	return unit_run("settings", tests);
}
