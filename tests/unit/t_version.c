/*
 * The version: what the library says of itself is what the package is.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "penstock.h"

START_TEST(version_is_the_package_version)
{
	ck_assert_str_eq(pst_version(), PACKAGE_VERSION);
}
END_TEST

START_TEST(version_has_three_numbers)
{
	unsigned major, minor, patch;

	ck_assert_int_eq(sscanf(pst_version(), "%u.%u.%u", &major, &minor, &patch), 3);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("version");
	TCase *tcase = tcase_create("text");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, version_is_the_package_version);
	tcase_add_test(tcase, version_has_three_numbers);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
