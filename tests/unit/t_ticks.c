/* Ticks to nanoseconds: exact for any rate, for as long as the result fits; and which rate is
 * taken. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "gasnet_tools.h"
#include "runtime/tools/ticks.h"
#include "runtime/util/clock.h"
#include "tests/unit/capture.h"
#include "tests/unit/main.h"

#define YEAR_NS (365.25 * 86400e9)

START_TEST(whole_rates_are_exact)
{
	struct psi_tick_rate clock = psi_tick_rate(1e9), slow = psi_tick_rate(1e6);

	ck_assert_uint_eq(psi_ticks_scale(&clock, 0), 0);
	ck_assert_uint_eq(psi_ticks_scale(&clock, 1), 1);
	ck_assert_uint_eq(psi_ticks_scale(&clock, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(psi_ticks_scale(&slow, 1), 1000);
	ck_assert_uint_eq(psi_ticks_scale(&slow, UINT64_MAX / 1000), UINT64_MAX / 1000 * 1000);
}
END_TEST

/* Against extended precision, from a tick to five hundred years. */
START_TEST(any_rate_is_exact_over_years)
{
	static const double rates[] = { 1e6, 24e6, 62.5e6, 1e9, 2.1e9, 2595124321.0, 4.7e9, 1e11 };
	size_t i;
	int step;

	for (i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		struct psi_tick_rate rate = psi_tick_rate(rates[i]);
		long double ns_per_tick = 1e9L / (long double)rates[i];

		for (step = 0; step < 64; step++) {
			long double ticks = ldexpl(1.618L, step), expected;
			uint64_t got;

			expected = floorl(ticks) * ns_per_tick;
			if (expected > 500 * YEAR_NS || ticks > 1e19L)
				break;
			got = psi_ticks_scale(&rate, (uint64_t)ticks);
			ck_assert_msg(fabsl((long double)got - expected) <= 1 + expected * 1e-15L,
			              "%.0Lf ticks at %.0f Hz are %llu ns, not %.0Lf", ticks,
			              rates[i], (unsigned long long)got, expected);
		}
	}
}
END_TEST

START_TEST(more_ticks_are_never_less_time)
{
	struct psi_tick_rate rate = psi_tick_rate(2595124321.0);
	uint64_t last = 0, ticks;

	for (ticks = 0; ticks < 100000; ticks++) {
		uint64_t now = psi_ticks_scale(&rate, ticks);

		ck_assert_uint_ge(now, last);
		ck_assert_uint_le(now - last, 1);
		last = now;
	}
}
END_TEST

static void
use_rate(void)
{
	psi_ticks_hz();
}

/* The rate that a process takes under that GASNET_TSC_RATE, 0 if it ends; and what else it says. */
static double
rate_under(const char *setting, struct pt_child *child)
{
	static const char told[] = "the processor's counter runs at ";
	const char *at;

	if (setting)
		setenv("GASNET_TSC_RATE", setting, 1);
	setenv("GASNET_TSC_VERBOSE", "1", 1);
	pt_child_start(child, use_rate);
	pt_child_end(child);
	at = strstr(child->text, told);
	return at ? strtod(at + strlen(told), NULL) : 0;
}

static double
rate_under_number(double hz, struct pt_child *child)
{
	char text[32];

	snprintf(text, sizeof text, "%.0f", hz);
	return rate_under(text, child);
}

#define NEAR(a, b) (fabs((a) / (b) - 1) < 0.0005)

START_TEST(a_given_rate_is_checked)
{
	static struct pt_child child;
	double measured, hz;

	gasnett_ticks_now();
	if (psi_ticks_from != PSI_TICKS_COUNTER)
		return;
	measured = rate_under(NULL, &child);
	ck_assert(measured > 1e6);
	hz = rate_under("walltime", &child);
	ck_assert_msg(NEAR(hz, measured) && !strstr(child.text, "where the clock"), "%s",
	              child.text);
	ck_assert(rate_under_number(floor(measured), &child) == floor(measured));
	ck_assert_msg(!strstr(child.text, "where the clock"), "%s", child.text);

	hz = floor(measured * 1.005);
	ck_assert_msg(rate_under_number(hz, &child) == hz, "%s", child.text);
	ck_assert_ptr_nonnull(strstr(child.text, "where the clock shows"));
	hz = rate_under_number(measured * 1.5, &child);
	ck_assert_msg(NEAR(hz, measured), "%s", child.text);
	ck_assert_ptr_nonnull(strstr(child.text, "the latter is used"));
	setenv("GASNET_TSC_RATE_HARD_TOLERANCE", "0.9", 1);
	ck_assert(rate_under_number(floor(measured * 1.5), &child) == floor(measured * 1.5));
	unsetenv("GASNET_TSC_RATE_HARD_TOLERANCE");

	/* what the kernel calls the frequency may be another one, or nothing */
	hz = rate_under("cpuinfo", &child);
	ck_assert_msg(fabs(hz / measured - 1) < 0.021, "%s", child.text);
}
END_TEST

START_TEST(what_is_no_rate_is_refused)
{
	static const char *const bad[] = { "fast", "0", "-2e9", "2GHz", "1e30" };
	static struct pt_child child;
	double measured;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		ck_assert(rate_under(bad[i], &child) == 0);
		ck_assert_msg(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 2, "%s",
		              bad[i]);
		ck_assert_msg(strstr(child.text, bad[i]) && strstr(child.text, "walltime, cpuinfo"),
			      "%s", child.text);
	}
	measured = rate_under("walltime", &child);
	setenv("GASNET_TSC_RATE_TOLERANCE", "1.5", 1);
	if (measured > 0) { /* by the counter */
		ck_assert(rate_under_number(measured, &child) == 0);
		ck_assert_ptr_nonnull(strstr(child.text, "GASNET_TSC_RATE_TOLERANCE=1.5"));
	}
}
END_TEST

/* Both clocks before and after a second; at level quick a tenth of one. */
START_TEST(ticks_agree_with_the_clock)
{
	const char *level = getenv("CHECK_LEVEL");
	const uint64_t ns = level && strcmp(level, "quick") == 0 ? 100000000 : 1000000000;
	uint64_t outer = psi_now_ns(), inner, ticked;
	gasnett_tick_t start = gasnett_ticks_now();

	inner = psi_now_ns();
	ck_assert_int_eq(gasnett_nsleep(ns), 0);
	inner = psi_now_ns() - inner;
	ticked = gasnett_ticks_to_ns(gasnett_ticks_now() - start);
	outer = psi_now_ns() - outer;
	ck_assert_uint_ge(ticked, inner - inner / 2000);
	ck_assert_uint_le(ticked, outer + outer / 2000);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ticks");

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, whole_rates_are_exact);
	tcase_add_test(tests, any_rate_is_exact_over_years);
	tcase_add_test(tests, more_ticks_are_never_less_time);
	tcase_add_test(tests, ticks_agree_with_the_clock);
	tcase_add_test(tests, a_given_rate_is_checked);
	tcase_add_test(tests, what_is_no_rate_is_refused);
	return unit_run("ticks", tests);
}
