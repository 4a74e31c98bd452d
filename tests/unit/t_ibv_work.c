#include "tests/unit/ibv_rig.h"
#include "tests/unit/main.h"

START_TEST(meets)
{
	rig_start(2);
	rig_meet(0, 1);
	ck_assert_int_eq(rig_send(0, 1, PSI_REQUESTS, 2, NULL, 0, 77), PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rig_ranks[1].heard[PSI_REQUESTS], 1);
	ck_assert_int_eq(rig_ranks[1].args[1], 78);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("work");

	tcase_add_test(tests, meets);
	return unit_run("ibv work", tests);
}
