/*
 * The version: what the library says of itself is what the package is.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>

#include "penstock.h"
#include "tests/unit/main.h"

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
	TCase *tests = tcase_create("text");

	tcase_add_test(tests, version_is_the_package_version);
	tcase_add_test(tests, version_has_three_numbers);
	return unit_run("version", tests);
}
