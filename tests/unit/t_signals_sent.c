/* Signals that others send to a rank, and those that a client handles itself. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/report/signals.h"
#include "tests/unit/main.h"
#include "tests/unit/signals_rig.h"

static void
wait_for_signal(void)
{
	rig_open_all();
	if (write(STDERR_FILENO, "ready\n", 6) == 6)
		pause();
}

/* Starts a child, and ends it by that signal once it waits. */
static void
end_by(struct pt_child *child, int sig)
{
	pt_child_start(child, wait_for_signal);
	pt_child_expect(child, "ready\n");
	kill(child->pid, sig);
	pt_child_end(child);
}

START_TEST(terminate_from_the_parent_is_quiet)
{
	struct pt_child child;

	end_by(&child, SIGTERM);
	rig_check_ended(&child, SIGTERM);
	ck_assert_str_eq(child.text, "ready\n");
}
END_TEST

static pid_t target;

static void
kill_target(void)
{
	kill(target, SIGHUP);
}

static const char *
text_of_hangup(bool with_keeper)
{
	static struct pt_child child;
	struct pt_child other;

	rig_has_keeper = with_keeper;
	pt_child_start(&child, wait_for_signal);
	pt_child_expect(&child, "ready\n");
	target = child.pid;
	pt_child_start(&other, kill_target);
	pt_child_end(&other);
	pt_child_end(&child);
	rig_check_ended(&child, SIGHUP);
	return child.text;
}

/* All ranks of a group may have got it: the keeper says it once. */
START_TEST(terminate_from_elsewhere_is_for_the_keeper_to_tell)
{
	const char *text = text_of_hangup(true);

	ck_assert_ptr_nonnull(strstr(text, "to be said: sent by process "));
	ck_assert_ptr_null(strstr(text, "ended by"));
}
END_TEST

START_TEST(terminate_from_elsewhere_is_told)
{
	ck_assert_ptr_nonnull(strstr(text_of_hangup(false),
	                             "ended by SIGHUP (1) sent by process "));
}
END_TEST

START_TEST(quit_leaves_quietly)
{
	struct pt_child child;

	end_by(&child, SIGQUIT);
	ck_assert(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 42);
	ck_assert_str_eq(child.text, "ready\n");
}
END_TEST

static void
own_handler(int number)
{
	(void)number;
	_exit(7);
}

static void
handler_before(void)
{
	signal(SIGSEGV, own_handler);
	rig_touch_null();
}

static void
handler_after(void)
{
	rig_open_all();
	signal(SIGSEGV, own_handler);
	raise(SIGSEGV);
}

static void
ignored_before(void)
{
	signal(SIGHUP, SIG_IGN);
	rig_open_all();
	raise(SIGHUP);
	_exit(7);
}

START_TEST(handlers_of_the_client_stay)
{
	static void (*const bodies[])(void) = { handler_before, handler_after, ignored_before };
	struct pt_child child;

	pt_child_start(&child, bodies[_i]);
	pt_child_end(&child);
	ck_assert(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 7);
	ck_assert_str_eq(child.text, "");
}
END_TEST

static void
give_back_then_raise(void)
{
	rig_open_all();
	psi_signals_close();
	raise(SIGSEGV);
}

START_TEST(spared_signals_are_left_alone)
{
	static const char *const spare[] = { "*", "SIGSEGV", "bus,segv" };
	struct pt_child child;
	size_t i;

	for (i = 0; i < sizeof spare / sizeof *spare; i++) {
		setenv("GASNET_NO_CATCH_SIGNAL", spare[i], 1);
		pt_child_start(&child, rig_touch_null);
		pt_child_end(&child);
		rig_check_ended(&child, SIGSEGV);
		ck_assert_str_eq(child.text, "");
	}
	unsetenv("GASNET_NO_CATCH_SIGNAL");
	pt_child_start(&child, give_back_then_raise);
	pt_child_end(&child);
	rig_check_ended(&child, SIGSEGV);
	ck_assert_str_eq(child.text, "");
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("signals_sent");

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, terminate_from_the_parent_is_quiet);
	tcase_add_test(tests, terminate_from_elsewhere_is_told);
	tcase_add_test(tests, terminate_from_elsewhere_is_for_the_keeper_to_tell);
	tcase_add_test(tests, quit_leaves_quietly);
	tcase_add_loop_test(tests, handlers_of_the_client_stay, 0, 3);
	tcase_add_test(tests, spared_signals_are_left_alone);
	return unit_run("signals_sent", tests);
}
