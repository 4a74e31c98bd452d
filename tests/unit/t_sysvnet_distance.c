/* How far a peer is, from what single looks cost. */
#include <check.h>

#include "smp-conduit/sysvnet/sysvnet_distance.h"
#include "tests/unit/main.h"

enum { NEAR_NS = 300, LONG_NS = 1800 };

START_TEST(far_takes_two_looks_in_a_row)
{
	enum sysvnet_distance known = sysvnet_distance_after(SYSVNET_NEAR, LONG_NS);

	ck_assert_int_ne(known, SYSVNET_FAR);
	ck_assert_int_eq(sysvnet_distance_after(known, LONG_NS), SYSVNET_FAR);
	ck_assert_int_eq(sysvnet_distance_after(known, NEAR_NS), SYSVNET_NEAR);
	ck_assert_int_eq(sysvnet_distance_after(SYSVNET_FAR, LONG_NS), SYSVNET_FAR);
}
END_TEST

START_TEST(one_short_look_means_near)
{
	for (enum sysvnet_distance known = SYSVNET_NEAR; known <= SYSVNET_FAR; known++) {
		ck_assert_int_eq(sysvnet_distance_after(known, SYSVNET_FAR_NS - 1), SYSVNET_NEAR);
	}
}
END_TEST

START_TEST(a_doubt_is_looked_into_at_once)
{
	unsigned near = 0, far = 0, brief = 0;

	for (uint32_t copies = 0; copies < 64; copies++) {
		ck_assert(sysvnet_distance_due(SYSVNET_PERHAPS_FAR, copies,
		                               SYSVNET_DISTANCE_BYTES));
		near += sysvnet_distance_due(SYSVNET_NEAR, copies, SYSVNET_DISTANCE_BRIEF_BYTES);
		far += sysvnet_distance_due(SYSVNET_FAR, copies, SYSVNET_DISTANCE_BRIEF_BYTES);
		brief += sysvnet_distance_due(SYSVNET_FAR, copies,
		                              SYSVNET_DISTANCE_BRIEF_BYTES - 1);
	}
	ck_assert(sysvnet_distance_due(SYSVNET_NEAR, 0, SYSVNET_DISTANCE_BYTES));
	ck_assert_uint_eq(brief, 64 / SYSVNET_DISTANCE_EVERY_BRIEF);
	ck_assert_uint_eq(near, 64 / SYSVNET_DISTANCE_EVERY);
	ck_assert_uint_eq(far, near);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("sysvnet_distance");

	tcase_add_test(tests, far_takes_two_looks_in_a_row);
	tcase_add_test(tests, one_short_look_means_near);
	tcase_add_test(tests, a_doubt_is_looked_into_at_once);
	return unit_run("sysvnet_distance", tests);
}
