/* How far a peer is, from what single looks cost. */
#include <check.h>

#include "runtime/util/distance.h"
#include "tests/unit/main.h"

enum { NEAR_NS = 300, LONG_NS = 1800 };

START_TEST(far_takes_two_looks_in_a_row)
{
	enum psi_distance_known known = psi_distance_after(PSI_NEAR, LONG_NS);

	ck_assert_int_ne(known, PSI_FAR);
	ck_assert_int_eq(psi_distance_after(known, LONG_NS), PSI_FAR);
	ck_assert_int_eq(psi_distance_after(known, NEAR_NS), PSI_NEAR);
	ck_assert_int_eq(psi_distance_after(PSI_FAR, LONG_NS), PSI_FAR);
}
END_TEST

START_TEST(one_short_look_means_near)
{
	for (enum psi_distance_known known = PSI_NEAR; known <= PSI_FAR; known++) {
		ck_assert_int_eq(psi_distance_after(known, PSI_DISTANCE_FAR_NS - 1), PSI_NEAR);
	}
}
END_TEST

START_TEST(a_doubt_is_looked_into_at_once)
{
	unsigned near = 0, far = 0, brief = 0;

	for (uint32_t copies = 0; copies < 64; copies++) {
		ck_assert(psi_distance_due(PSI_PERHAPS_FAR, copies,
		                               PSI_DISTANCE_BYTES));
		near += psi_distance_due(PSI_NEAR, copies, PSI_DISTANCE_BRIEF_BYTES);
		far += psi_distance_due(PSI_FAR, copies, PSI_DISTANCE_BRIEF_BYTES);
		brief += psi_distance_due(PSI_FAR, copies,
		                              PSI_DISTANCE_BRIEF_BYTES - 1);
	}
	ck_assert(psi_distance_due(PSI_NEAR, 0, PSI_DISTANCE_BYTES));
	ck_assert_uint_eq(brief, 64 / PSI_DISTANCE_EVERY_BRIEF);
	ck_assert_uint_eq(near, 64 / PSI_DISTANCE_EVERY);
	ck_assert_uint_eq(far, near);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("psi_distance");

	tcase_add_test(tests, far_takes_two_looks_in_a_row);
	tcase_add_test(tests, one_short_look_means_near);
	tcase_add_test(tests, a_doubt_is_looked_into_at_once);
	return unit_run("psi_distance", tests);
}
