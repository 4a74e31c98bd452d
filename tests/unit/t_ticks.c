/* Ticks to nanoseconds: exact for any rate, for as long as the result fits. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/tools/ticks.h"

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
				      "%.0Lf ticks at %.0f Hz are %llu ns, not %.0Lf", ticks, rates[i],
				      (unsigned long long)got, expected);
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

int
main(void)
{
	Suite *suite = suite_create("ticks");
	TCase *group = tcase_create("ticks");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, group);
	tcase_add_test(group, whole_rates_are_exact);
	tcase_add_test(group, any_rate_is_exact_over_years);
	tcase_add_test(group, more_ticks_are_never_less_time);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
