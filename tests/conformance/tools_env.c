/* Numbers and environment variables of gasnet_tools.h; what is wrong is in tools_bad.c. */
#include "tests/lib/pt_either.h"

#include <sys/resource.h>

static const char *
formatted(int64_t value, int is_size)
{
	static char text[64];

	PT_CHECK(gasnett_format_number(value, text, sizeof(text), is_size) == text);
	return text;
}

static void
check_numbers(void)
{
	char small[5];

	PT_STR(formatted(65536, 1), "64 KB");
	PT_STR(formatted(65536, 0), "65536");
	PT_STR(formatted(0, 1), "0 B");
	PT_STR(formatted(1536, 1), "1536 B");
	PT_STR(formatted(INT64_C(3) << 40, 1), "3 TB");
	PT_STR(formatted(INT64_C(5) << 50, 1), "5120 TB");
	PT_STR(formatted(-2048, 1), "-2 KB");
	PT_STR(formatted(INT64_MIN, 0), "-9223372036854775808");
	gasnett_format_number(123456, small, sizeof(small), 0);
	PT_STR(small, "1234");

	PT_EQ(gasnett_parse_int("64", 1024), 65536);
	PT_EQ(gasnett_parse_int("64", 0), 64);
	PT_EQ(gasnett_parse_int("-64", 0), -64);
	PT_EQ(gasnett_parse_int("+0x40", 0), 64);
	PT_EQ(gasnett_parse_int("1.5KB", 1), 1536);
	PT_EQ(gasnett_parse_int("2 MB", 1), 2 << 20);
	PT_EQ(gasnett_parse_int("2g", 1), INT64_C(2) << 30);
	PT_EQ(gasnett_parse_int("7B", 1024), 7);
	PT_EQ(gasnett_parse_int("9223372036854775807", 0), INT64_MAX);
	PT_EQ(gasnett_parse_int("9223372036854775807", 1), INT64_MAX);
}

static void
check_variables(void)
{
	gasnett_unsetenv("PT_ANY");
	PT_CHECK(gasnett_getenv("PT_ANY") == NULL);
	PT_STR(gasnett_getenv_withdefault("PT_ANY", "none"), "none");
	PT_EQ(gasnett_getenv_int_withdefault("PT_ANY", -5, 0), -5);
	PT_EQ(gasnett_getenv_yesno_withdefault("PT_ANY", 1), 1);
	PT_EQ(gasnett_getenv_yesno_withdefault("PT_ANY", 0), 0);
	PT_CHECK(gasnett_getenv_dbl_withdefault("PT_ANY", 0.5) == 0.5);
	gasnett_setenv("PT_ANY", "3/8");
	PT_STR(gasnett_getenv("PT_ANY"), "3/8");
	PT_STR(gasnett_getenv_withdefault("PT_ANY", "none"), "3/8");
	PT_CHECK(gasnett_getenv_dbl_withdefault("PT_ANY", 0.5) == 0.375);
	gasnett_setenv("PT_ANY", "2.5e1");
	PT_CHECK(gasnett_getenv_dbl_withdefault("PT_ANY", 0.5) == 25);
	gasnett_setenv("PT_ANY", "12");
	PT_EQ(gasnett_getenv_int_withdefault("PT_ANY", 1, 0), 12);
	PT_EQ(gasnett_getenv_int_withdefault("PT_ANY", 1, 1024), 12288);
	gasnett_setenv("PT_ANY", "");
	PT_EQ(gasnett_getenv_int_withdefault("PT_ANY", 9, 0), 9);
	PT_STR(gasnett_getenv_withdefault("PT_ANY", "none"), "");
	gasnett_unsetenv("PT_ANY");
	PT_CHECK(gasnett_getenv("PT_ANY") == NULL);
}

static void
check_yes_and_no(void)
{
	static const char *const yes[] = { "1", "y", "Y", "yes", "YES", "Yes" };
	static const char *const no[] = { "0", "n", "N", "no", "NO", "No" };
	size_t i;

	for (i = 0; i < PT_COUNT(yes); i++) {
		gasnett_setenv("PT_ANY", yes[i]);
		PT_EQ(gasnett_getenv_yesno_withdefault("PT_ANY", 0), 1);
		gasnett_setenv("PT_ANY", no[i]);
		PT_EQ(gasnett_getenv_yesno_withdefault("PT_ANY", 1), 0);
	}
	gasnett_unsetenv("PT_ANY");
}

/* Nothing is to be printed in this job; tools_bad looks at what is. */
static void
check_display(void)
{
	gasnett_setenv("GASNET_VERBOSEENV", "0");
	PT_EQ(gasnett_verboseenv(), 0);
	gasnett_envint_display("PT_ANY", 1, 0, 0);
	gasnett_envstr_display("PT_ANY", NULL, 1);
	gasnett_envdbl_display("PT_ANY", 1.5, 1);
}

static void
check_limits(void)
{
	struct rlimit before, after;

	PT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	after = before;
	after.rlim_cur = after.rlim_cur > 64 ? 64 : after.rlim_cur;
	PT_EQ(setrlimit(RLIMIT_NOFILE, &after), 0);
	gasnett_setenv("GASNET_MAXIMIZE_PTFILES", "no");
	PT_EQ(gasnett_maximize_rlimit(RLIMIT_NOFILE, "PTFILES"), 0);
	PT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
	PT_LE(after.rlim_cur, 64);
	gasnett_setenv("GASNET_MAXIMIZE_PTFILES", "yes");
	PT_CHECK(gasnett_maximize_rlimit(RLIMIT_NOFILE, "PTFILES"));
	PT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
	PT_CHECK(after.rlim_cur == before.rlim_max);
	PT_CHECK(gasnett_maximize_rlimits());
	PT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	gasnett_unsetenv("GASNET_MAXIMIZE_PTFILES");
}

int
main(int argc, char **argv)
{
	PT_BEGIN(argc, argv);
	check_numbers();
	check_variables();
	check_yes_and_no();
	check_display();
	check_limits();
	PT_END();
}
