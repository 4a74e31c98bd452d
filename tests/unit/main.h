/* The main of a Check program with one group of tests. */
#ifndef UNIT_MAIN_H
#define UNIT_MAIN_H

#include <check.h>

/* Runs the tests; what main returns. */
static inline int
unit_run(const char *name, TCase *tests)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
