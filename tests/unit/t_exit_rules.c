/* The rules by which a job ends: which cause wins, when SIGQUIT and SIGKILL are due. */
#include "bootstrap/keeper/pboot_exit_rules.h"
#include "bootstrap/share/pboot_settings.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define MS ((uint64_t)1000000)
#define SIZE 4

static struct pboot_rules rules;
static struct pboot_rank_rule ranks[SIZE];
static uint64_t now;

/* As waitpid gives them. */
static int
exited(int code)
{
	return code << 8;
}

static int
killed(int sig)
{
	return sig;
}

static void
begin(uint64_t timeout_ns)
{
	uint32_t rank;

	now = 1000 * MS;
	for (rank = 0; rank < SIZE; rank++)
		ranks[rank] = (struct pboot_rank_rule) { 0 };
	pboot_rules_init(&rules, SIZE, ranks, 500 * MS, timeout_ns, now);
}

static bool
event(enum pboot_event_kind kind, uint32_t rank, int value)
{
	return pboot_rules_event(&rules, kind, rank, value, now);
}

static void
all_join(void)
{
	uint32_t rank;

	for (rank = 0; rank < SIZE; rank++)
		event(PBOOT_EV_JOINED, rank, 0);
}

static void
setup(void)
{
	begin(0);
}

static void
expect_cause(enum pboot_cause_kind kind, uint32_t rank, int code)
{
	ck_assert_int_eq((int)rules.cause.kind, (int)kind);
	ck_assert_uint_eq(rules.cause.rank, rank);
	ck_assert_int_eq(rules.cause.code, code);
}

START_TEST(a_job_of_plain_programs_ends_with_its_last)
{
	uint32_t rank;

	for (rank = 0; rank < SIZE; rank++) {
		ck_assert_uint_eq(rules.alive, SIZE - rank);
		ck_assert(!event(PBOOT_EV_DIED, rank, exited(0)));
		ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
		now += 5000 * MS;
	}
	ck_assert_uint_eq(rules.alive, 0);
	expect_cause(PBOOT_CAUSE_NONE, 0, 0);
}
END_TEST

START_TEST(the_first_failure_wins)
{
	ck_assert(event(PBOOT_EV_DIED, 2, exited(3)));
	ck_assert(!event(PBOOT_EV_DIED, 1, killed(SIGSEGV)));
	expect_cause(PBOOT_CAUSE_PLAIN, 2, 3);
}
END_TEST

START_TEST(zero_loses_to_what_comes_later)
{
	all_join();
	event(PBOOT_EV_LEAVE, 0, 0);
	expect_cause(PBOOT_CAUSE_LEAVE, 0, 0);
	ck_assert(event(PBOOT_EV_LEAVE, 1, 6));
	ck_assert(!event(PBOOT_EV_DIED, 2, killed(SIGKILL)));
	expect_cause(PBOOT_CAUSE_LEAVE, 1, 6);
}
END_TEST

START_TEST(one_that_asks_gives_the_others_time_to_ask)
{
	all_join();
	event(PBOOT_EV_LEAVE, 0, 5);
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += pboot_rules_ask_ns(SIZE) - 1;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += 1;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_QUIT);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 0), 0);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 1), SIGQUIT);
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += 500 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_KILL);
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += 20 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_KILL);
}
END_TEST

START_TEST(a_rank_of_another_host_that_asks_gives_the_same_time)
{
	all_join();
	ck_assert(event(PBOOT_EV_ELSEWHERE_ASKED, 0, 5));
	expect_cause(PBOOT_CAUSE_ELSEWHERE, 0, 5);
	ck_assert(!event(PBOOT_EV_LEAVE, 1, 6));
	now += pboot_rules_ask_ns(SIZE) - 1;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += 1;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_QUIT);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 1), 0);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 2), SIGQUIT);
	expect_cause(PBOOT_CAUSE_ELSEWHERE, 0, 5);
}
END_TEST

START_TEST(a_failure_elsewhere_and_a_lost_host_end_the_job_at_once)
{
	all_join();
	ck_assert(event(PBOOT_EV_ELSEWHERE_FAILED, 0, 137));
	expect_cause(PBOOT_CAUSE_ELSEWHERE, 0, 137);
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_QUIT);
	begin(0);
	all_join();
	ck_assert(event(PBOOT_EV_HOST, 0, 3));
	expect_cause(PBOOT_CAUSE_HOST, 0, 1);
	ck_assert_int_eq(rules.cause.detail, 3);
	ck_assert(!event(PBOOT_EV_ELSEWHERE_FAILED, 0, 2));
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_QUIT);
}
END_TEST

START_TEST(one_that_ends_well_gives_the_others_longer)
{
	all_join();
	event(PBOOT_EV_LEAVE, 0, 0);
	now += 700 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += 100 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_QUIT);
}
END_TEST

START_TEST(where_all_asked_nobody_gets_a_signal)
{
	uint32_t rank;

	all_join();
	for (rank = 0; rank < SIZE; rank++)
		event(PBOOT_EV_EXIT, rank, 0);
	now += pboot_rules_ask_ok_ns(SIZE, 500 * MS);
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += 500 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_KILL);
}
END_TEST

START_TEST(a_death_by_signal_sends_quit_at_once)
{
	event(PBOOT_EV_JOINED, 0, 0);
	event(PBOOT_EV_DIED, 1, killed(SIGSEGV));
	expect_cause(PBOOT_CAUSE_SIGNAL, 1, 139);
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_QUIT);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 0), SIGQUIT);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 1), 0);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 2), SIGTERM);
}
END_TEST

START_TEST(what_our_own_signals_cause_is_no_cause)
{
	all_join();
	event(PBOOT_EV_LEAVE, 0, 0);
	now += pboot_rules_ask_ok_ns(SIZE, 500 * MS);
	pboot_rules_due(&rules, now);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 1), SIGQUIT);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 2), SIGQUIT);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 3), SIGQUIT);
	ck_assert(!event(PBOOT_EV_LEAVE, 1, 131));
	ck_assert(!event(PBOOT_EV_DIED, 1, exited(131)));
	ck_assert(!event(PBOOT_EV_DIED, 2, killed(SIGQUIT)));
	now += 500 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_KILL);
	ck_assert(!event(PBOOT_EV_DIED, 3, killed(SIGKILL)));
	expect_cause(PBOOT_CAUSE_LEAVE, 0, 0);
	ck_assert_uint_eq(rules.alive, 1);
}
END_TEST

START_TEST(a_crash_while_ending_beats_zero)
{
	all_join();
	event(PBOOT_EV_EXIT, 0, 0);
	now += pboot_rules_ask_ok_ns(SIZE, 500 * MS);
	pboot_rules_due(&rules, now);
	pboot_rules_quit_signal(&rules, 1);
	ck_assert(event(PBOOT_EV_DIED, 1, killed(SIGABRT)));
	expect_cause(PBOOT_CAUSE_SIGNAL, 1, 134);
}
END_TEST

START_TEST(ending_without_a_word_fails)
{
	all_join();
	event(PBOOT_EV_DIED, 2, exited(0));
	expect_cause(PBOOT_CAUSE_UNSAID, 2, 1);
	begin(0);
	all_join();
	event(PBOOT_EV_DIED, 2, exited(8));
	expect_cause(PBOOT_CAUSE_UNSAID, 2, 8);
}
END_TEST

START_TEST(ending_without_init_fails_once_one_is_in_it)
{
	event(PBOOT_EV_DIED, 1, exited(0));
	expect_cause(PBOOT_CAUSE_NONE, 0, 0);
	ck_assert(event(PBOOT_EV_JOINED, 0, 0));
	expect_cause(PBOOT_CAUSE_NO_INIT, 1, 1);
	begin(0);
	event(PBOOT_EV_JOINED, 0, 0);
	event(PBOOT_EV_DIED, 1, exited(0));
	expect_cause(PBOOT_CAUSE_NO_INIT, 1, 1);
}
END_TEST

START_TEST(an_announced_end_is_not_counted_twice)
{
	all_join();
	ck_assert(event(PBOOT_EV_EXIT, 1, 3));
	ck_assert(!event(PBOOT_EV_DIED, 1, exited(3)));
	expect_cause(PBOOT_CAUSE_EXIT, 1, 3);
	ck_assert(!event(PBOOT_EV_VANISHED, 1, 0));
}
END_TEST

START_TEST(a_parting_rank_lets_the_others_go_on)
{
	all_join();
	event(PBOOT_EV_EXIT_ALONE, 0, 0);
	event(PBOOT_EV_DIED, 0, exited(0));
	now += 100000 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	ck_assert_int_eq((int)rules.phase, PBOOT_RUNNING);
	event(PBOOT_EV_EXIT_ALONE, 1, 7);
	ck_assert_int_eq((int)rules.phase, PBOOT_RUNNING);
	ck_assert_int_eq(rules.cause.code, 7);
}
END_TEST

START_TEST(an_adopted_rank_ends_well_only_if_it_asked)
{
	all_join();
	event(PBOOT_EV_LEAVE, 0, 0);
	ck_assert(!event(PBOOT_EV_ENDED, 0, 0));
	ck_assert_int_eq(rules.phase, PBOOT_ASKING);
	ck_assert(event(PBOOT_EV_ENDED, 1, 0));
	ck_assert_int_eq(rules.phase, PBOOT_ENDING);
	ck_assert_int_eq(rules.cause.kind, PBOOT_CAUSE_ENDED);
	ck_assert_uint_eq(rules.cause.rank, 1);
	ck_assert_int_eq(rules.cause.code, 1);
	ck_assert(!event(PBOOT_EV_ENDED, 1, 0));
	ck_assert_uint_eq(rules.alive, SIZE - 2);
	ck_assert_int_eq(pboot_rules_quit_signal(&rules, 2), SIGQUIT);
	ck_assert(!event(PBOOT_EV_ENDED, 2, 0));
}
END_TEST

START_TEST(the_time_limit_ends_the_job_and_moves_with_stops)
{
	begin(1000 * MS);
	pboot_rules_stopped(&rules, 300 * MS);
	now += 1299 * MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_NOTHING);
	now += MS;
	ck_assert_int_eq(pboot_rules_due(&rules, now), PBOOT_DO_QUIT);
	expect_cause(PBOOT_CAUSE_TIMEOUT, 0, 124);
}
END_TEST

START_TEST(codes_are_the_low_byte)
{
	all_join();
	event(PBOOT_EV_LEAVE, 0, 256 + 9);
	ck_assert_int_eq(rules.cause.code, 9);
}
END_TEST

START_TEST(failures_of_the_start_have_their_status)
{
	event(PBOOT_EV_NO_EXEC, 3, ENOENT);
	expect_cause(PBOOT_CAUSE_NO_EXEC, 3, 2);
	begin(0);
	event(PBOOT_EV_NO_START, 3, EAGAIN);
	expect_cause(PBOOT_CAUSE_NO_START, 3, 1);
	begin(0);
	event(PBOOT_EV_LAUNCHER, 0, 0);
	ck_assert_int_ne(rules.cause.code, 0);
	begin(0);
	event(PBOOT_EV_GUARD, 0, killed(9));
	ck_assert_int_eq(rules.cause.code, 137);
	begin(0);
	event(PBOOT_EV_TWICE, 1, 0);
	expect_cause(PBOOT_CAUSE_TWICE, 1, 1);
}
END_TEST

START_TEST(lengths_fit_in_two_seconds)
{
	const char *none[4] = { NULL, NULL, NULL, NULL };
	uint32_t size;
	int bad;

	for (size = 1; size <= 4096; size++) {
		uint64_t grace = pboot_settings_grace_of(size, none, &bad);
		uint64_t wanted = 500 * MS + size * 5 * MS;

		ck_assert_int_eq(bad, -1);
		ck_assert_uint_le(grace > wanted ? grace - wanted : 0, 1);
		ck_assert_uint_le(grace, 1500 * MS);
		ck_assert_uint_le(pboot_rules_ask_ns(size), 250 * MS);
		ck_assert_uint_lt(grace + pboot_rules_ask_ns(size), 1800 * MS);
		ck_assert_uint_ge(pboot_rules_ask_ok_ns(size, grace), pboot_rules_ask_ns(size));
		ck_assert_uint_lt(grace + pboot_rules_ask_ok_ns(size, grace), 1800 * MS);
	}
}
END_TEST

START_TEST(the_user_chooses_the_grace)
{
	const char *total[4] = { "3", "1", NULL, NULL };
	const char *parts[4] = { NULL, "10", "1", "0.5" };
	const char *wrong[4] = { "soon", NULL, NULL, NULL };
	const char *negative[4] = { NULL, NULL, NULL, "-1" };
	const char *least[4] = { NULL, NULL, "5", NULL };
	const char *crossed[4] = { NULL, "1", "5", NULL };
	int bad;

	ck_assert_uint_eq(pboot_settings_grace_of(2, least, &bad), 5000 * MS);
	ck_assert_int_eq(bad, -1);
	(void)pboot_settings_grace_of(2, crossed, &bad);
	ck_assert_int_eq(bad, 4);
	ck_assert_uint_eq(pboot_settings_grace_of(2, total, &bad), 3000 * MS);
	ck_assert_uint_eq(pboot_settings_grace_of(2, parts, &bad), 2000 * MS);
	ck_assert_uint_eq(pboot_settings_grace_of(100, parts, &bad), 10000 * MS);
	ck_assert_int_eq(bad, -1);
	ck_assert_uint_eq(pboot_settings_grace_of(4, wrong, &bad) / MS, 520);
	ck_assert_int_eq(bad, 0);
	ck_assert_uint_eq(pboot_settings_grace_of(4, negative, &bad) / MS, 520);
	ck_assert_int_eq(bad, 3);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("rules");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_job_of_plain_programs_ends_with_its_last);
	tcase_add_test(tests, the_first_failure_wins);
	tcase_add_test(tests, zero_loses_to_what_comes_later);
	tcase_add_test(tests, one_that_asks_gives_the_others_time_to_ask);
	tcase_add_test(tests, a_rank_of_another_host_that_asks_gives_the_same_time);
	tcase_add_test(tests, a_failure_elsewhere_and_a_lost_host_end_the_job_at_once);
	tcase_add_test(tests, one_that_ends_well_gives_the_others_longer);
	tcase_add_test(tests, where_all_asked_nobody_gets_a_signal);
	tcase_add_test(tests, a_death_by_signal_sends_quit_at_once);
	tcase_add_test(tests, what_our_own_signals_cause_is_no_cause);
	tcase_add_test(tests, a_crash_while_ending_beats_zero);
	tcase_add_test(tests, ending_without_a_word_fails);
	tcase_add_test(tests, ending_without_init_fails_once_one_is_in_it);
	tcase_add_test(tests, an_announced_end_is_not_counted_twice);
	tcase_add_test(tests, a_parting_rank_lets_the_others_go_on);
	tcase_add_test(tests, an_adopted_rank_ends_well_only_if_it_asked);
	tcase_add_test(tests, the_time_limit_ends_the_job_and_moves_with_stops);
	tcase_add_test(tests, codes_are_the_low_byte);
	tcase_add_test(tests, failures_of_the_start_have_their_status);
	tcase_add_test(tests, lengths_fit_in_two_seconds);
	tcase_add_test(tests, the_user_chooses_the_grace);
	return unit_run("exit rules", tests);
}
