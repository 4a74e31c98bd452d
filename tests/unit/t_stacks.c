/* Stacks that a rank prints, and how it waits for a debugger. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gasnet_tools.h"
#include "runtime/report/backtrace.h"
#include "tests/unit/main.h"
#include "tests/unit/signals_rig.h"

extern volatile int gasnet_frozen;

START_TEST(backtrace_of_this_rank_only)
{
	static const struct { const char *on, *ranks; bool printed;
	} cases[] = {
		{ "1", "*", true },
		{ "1", "0,2-4", true },
		{ "1", "0-2", false },
		{ "0", "*", false },
	};
	struct pt_child child;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("GASNET_BACKTRACE", cases[i].on, 1);
		setenv("GASNET_BACKTRACE_NODES", cases[i].ranks, 1);
		pt_child_start(&child, rig_touch_null);
		pt_child_end(&child);
		rig_check_ended(&child, SIGSEGV);
		ck_assert_msg((rig_lines_of(child.text) > 4) == cases[i].printed, "%s", child.text);
	}
}
END_TEST

static void
raise_usr1_twice(void)
{
	rig_open_all();
	raise(SIGUSR1);
	raise(SIGUSR1);
	_exit(5);
}

START_TEST(stack_on_request)
{
	struct pt_child child;
	const char *first;

	setenv("GASNET_BACKTRACE_SIGNAL", "SIGUSR1", 1);
	pt_child_start(&child, raise_usr1_twice);
	pt_child_end(&child);
	ck_assert(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 5);
	first = strstr(child.text, "rank 3 (node7): stack at SIGUSR1\n");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(strstr(first + 1, "rank 3 (node7): stack at SIGUSR1\n"));
	ck_assert_uint_gt(rig_lines_of(child.text), 6);
}
END_TEST

static void
freeze_by_signal(void)
{
	rig_open_all();
	raise(SIGUSR2);
	_exit(6);
}

/* Thaws after a while what waits meanwhile, as a debugger would: unseen by TSan. */
__attribute__((no_sanitize("thread"))) static void *
thaw(void *arg)
{
	(void)arg;
	gasnett_nsleep(300000000);
	gasnet_frozen = 1;
	return NULL;
}

static void
freeze_and_thaw(void)
{
	pthread_t thread;
	gasnett_tick_t start = gasnett_ticks_now();

	pthread_create(&thread, NULL, thaw, NULL);
	rig_open_all();
	pthread_join(thread, NULL);
	_exit(gasnett_ticks_to_ns(gasnett_ticks_now() - start) >= 300000000 ? 6 : 1);
}

static void
freeze_on_error(void)
{
	pthread_t thread;

	rig_open_all();
	pthread_create(&thread, NULL, thaw, NULL);
	raise(SIGABRT);
}

START_TEST(freezing)
{
	struct pt_child child;

	setenv("GASNET_FREEZE_SIGNAL", "USR2", 1);
	pt_child_start(&child, freeze_by_signal);
	pt_child_expect(&child, "frozen for a debugger: gdb -p ");
	ck_assert_int_eq(waitpid(child.pid, &child.status, WNOHANG), 0);
	kill(child.pid, SIGKILL);
	pt_child_end(&child);
	setenv("GASNET_FREEZE", "1", 1);
	pt_child_start(&child, freeze_and_thaw);
	pt_child_end(&child);
	ck_assert(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 6);
	setenv("GASNET_FREEZE", "0", 1);
	setenv("GASNET_FREEZE_ON_ERROR", "1", 1);
	pt_child_start(&child, freeze_on_error);
	pt_child_end(&child);
	rig_check_ended(&child, SIGABRT);
	ck_assert_ptr_nonnull(strstr(child.text, "gasnet_frozen"));
}
END_TEST

static int
user_way(int fd)
{
	return write(fd, "user's stack\n", 13) != 13;
}

static void
user_trace(void)
{
	gasnett_backtrace_user.name = "MINE";
	gasnett_backtrace_user.fnp = user_way;
	gasnett_backtrace_user.threadsupport = getenv("PT_THREADS") != NULL;
	psi_backtrace_open(3);
	_exit(gasnett_print_backtrace(STDERR_FILENO) == 0 ? 4 : 1);
}

START_TEST(user_defined_way)
{
	struct pt_child child;

	setenv("GASNET_BACKTRACE_TYPE", "mine", 1);
	setenv("PT_THREADS", "1", 1);
	pt_child_start(&child, user_trace);
	pt_child_end(&child);
	ck_assert_int_eq(WEXITSTATUS(child.status), 4);
	ck_assert_str_eq(child.text, "user's stack\n");
	unsetenv("PT_THREADS");
	pt_child_start(&child, user_trace);
	pt_child_end(&child);
	ck_assert_int_eq(WEXITSTATUS(child.status), 1);
	setenv("GASNET_BACKTRACE_MT", "0", 1);
	pt_child_start(&child, user_trace);
	pt_child_end(&child);
	ck_assert_int_eq(WEXITSTATUS(child.status), 4);
	setenv("GASNET_BACKTRACE_TYPE", "theirs", 1);
	pt_child_start(&child, user_trace);
	pt_child_end(&child);
	ck_assert_int_eq(WEXITSTATUS(child.status), 2);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("stacks");

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, backtrace_of_this_rank_only);
	tcase_add_test(tests, stack_on_request);
	tcase_add_test(tests, freezing);
	tcase_add_test(tests, user_defined_way);
	return unit_run("stacks", tests);
}
