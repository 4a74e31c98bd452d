/* How far a peer is, from what single looks cost. */
#include <check.h>

#include "smp-conduit/sysvnet/sysvnet_distance.h"
#include "tests/unit/main.h"

enum { NEAR_NS = 300, LONG_NS = 1800 };

START_TEST(far_takes_two_looks_in_a_row)
{
	enum psmp_distance known = psmp_distance_after(PSMP_NEAR, LONG_NS);

	ck_assert_int_ne(known, PSMP_FAR);
	ck_assert_int_eq(psmp_distance_after(known, LONG_NS), PSMP_FAR);
	ck_assert_int_eq(psmp_distance_after(known, NEAR_NS), PSMP_NEAR);
	ck_assert_int_eq(psmp_distance_after(PSMP_FAR, LONG_NS), PSMP_FAR);
}
END_TEST

START_TEST(one_short_look_means_near)
{
	for (enum psmp_distance known = PSMP_NEAR; known <= PSMP_FAR; known++) {
		ck_assert_int_eq(psmp_distance_after(known, PSMP_FAR_NS - 1), PSMP_NEAR);
	}
}
END_TEST

START_TEST(a_doubt_is_looked_into_at_once)
{
	unsigned near = 0, far = 0, brief = 0;

	for (uint32_t copies = 0; copies < 64; copies++) {
		ck_assert(psmp_distance_due(PSMP_PERHAPS_FAR, copies, PSMP_DISTANCE_BYTES));
		near += psmp_distance_due(PSMP_NEAR, copies, PSMP_DISTANCE_BRIEF_BYTES);
		far += psmp_distance_due(PSMP_FAR, copies, PSMP_DISTANCE_BRIEF_BYTES);
		brief += psmp_distance_due(PSMP_FAR, copies, PSMP_DISTANCE_BRIEF_BYTES - 1);
	}
	ck_assert(psmp_distance_due(PSMP_NEAR, 0, PSMP_DISTANCE_BYTES));
	ck_assert_uint_eq(brief, 64 / PSMP_DISTANCE_EVERY_BRIEF);
	ck_assert_uint_eq(near, 64 / PSMP_DISTANCE_EVERY);
	ck_assert_uint_eq(far, near);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("psmp_distance");

	tcase_add_test(tests, far_takes_two_looks_in_a_row);
	tcase_add_test(tests, one_short_look_means_near);
	tcase_add_test(tests, a_doubt_is_looked_into_at_once);
	return unit_run("psmp_distance", tests);
}
