/* What a rank says of an error that ends it. */
#include "config.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gasnet_tools.h"
#include "runtime/report/backtrace.h"
#include "runtime/report/freeze.h"
#include "runtime/report/signal_names.h"
#include "runtime/report/signals.h"
#include "tests/unit/main.h"
#include "tests/unit/signals_rig.h"

START_TEST(lists_of_signals)
{
	static const char *const bad[] = {
		"SIGNOTHING", "0", "64", "-1", "SEGV,*", "sigsegvsigsegvsigsegv"
	};
	uint64_t bits = 7;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!psi_signals_parse(bad[i], &bits) && bits == 7, "%s", bad[i]);
	ck_assert(psi_signals_parse("", &bits) && bits == 0);
	ck_assert(psi_signals_parse("*", &bits) && bits == UINT64_MAX);
	ck_assert(psi_signals_parse("SIGSEGV, hup,10", &bits));
	ck_assert(bits == (UINT64_C(1) << SIGSEGV | UINT64_C(1) << SIGHUP | UINT64_C(1) << 10));
	ck_assert(!psi_signals_accepted("KILL") && !psi_signals_accepted("usr1,19") &&
		  !psi_signals_accepted("33") && psi_signals_accepted("SEGV,usr1,34"));
	ck_assert(!psi_signals_accepted("*") && psi_signals_or_all_accepted("*"));
	ck_assert_str_eq(psi_signal_name(SIGBUS), "SIGBUS");
	ck_assert_str_eq(psi_signal_name(40), "signal");
}
END_TEST

START_TEST(lists_of_ranks)
{
	ck_assert(psi_ranks_accepted("*") && psi_ranks_accepted("0") &&
	          psi_ranks_accepted("1,3-5"));
	ck_assert(!psi_ranks_accepted("") && !psi_ranks_accepted("a") &&
	          !psi_ranks_accepted("1,") && !psi_ranks_accepted("1-") &&
	          !psi_ranks_accepted("1 2"));
	ck_assert(!psi_ranks_accepted("5-2") && !psi_ranks_accepted("0,4-3") &&
		  !psi_ranks_accepted("99999999999999999999") && psi_ranks_accepted("3-3"));
	ck_assert(psi_ranks_include("*", 9) && psi_ranks_include("1,3-5", 4) &&
		  psi_ranks_include("1,3-5", 1));
	ck_assert(!psi_ranks_include("1,3-5", 2) && !psi_ranks_include("1,3-5", 6));
}
END_TEST

/* A page behind the end of its file: what a full memory looks like. */
static char *
map_hole(void)
{
	int fd = memfd_create("hole", 0);
	char *base;

	if (fd < 0 || ftruncate(fd, 0) != 0)
		_exit(98);
	base = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return base == MAP_FAILED ? NULL : base;
}

/* A line goes on with "function+0x1 (program+0x2)" behind `before'. */
static void
check_place(const char *text, const char *before, const char *function)
{
	const char *at = strstr(text, before);

	ck_assert_msg(at != NULL, "no \"%s\" in: %s", before, text);
#ifdef HAVE__DL_FIND_OBJECT
	at = strstr(at, ", in ");
	ck_assert_msg(at && strncmp(at + 5, function, strlen(function)) == 0, "not in %s: %s",
	              function, text);
	at += 5 + strlen(function);
	ck_assert_msg(strncmp(at, "+0x", 3) == 0 && strstr(at, "t_signals+0x"), "no object: %s",
	              text);
#else
	(void)function;
	ck_assert_ptr_nonnull(strstr(at, "in code at 0x"));
#endif
}

START_TEST(segv_names_rank_host_signal_address)
{
	struct pt_child child;

	pt_child_start(&child, rig_touch_null);
	pt_child_end(&child);
	rig_check_ended(&child, SIGSEGV);
	check_place(child.text,
	            "penstock: rank 3 (node7): ended by SIGSEGV (11) at address 0x10, in ",
	            "rig_touch_null");
	ck_assert_ptr_nonnull(strstr(child.text, "\nnoted: at address 0x10, in "));
	ck_assert_uint_eq(rig_lines_of(child.text), 2);
}
END_TEST

/* Kept from the compiler's sight. */
static volatile uintptr_t no_function;

static void
call_nothing(void)
{
	rig_open_all();
	((void (*)(void))no_function)();
	_exit(1);
}

static void
call_data(void)
{
	no_function = (uintptr_t)map_hole() + 4096;
	call_nothing();
}

START_TEST(a_call_of_what_is_no_function_is_told_with_its_caller)
{
	struct pt_child child;

	pt_child_start(&child, call_nothing);
	pt_child_end(&child);
	rig_check_ended(&child, SIGSEGV);
	check_place(child.text, "SIGSEGV (11) at address 0x0, where a call led, in ",
	            "call_nothing");
	pt_child_start(&child, call_data);
	pt_child_end(&child);
	ck_assert_ptr_nonnull(strstr(child.text, ", where a call led, in "));
}
END_TEST

/* The access itself faults, not a sanitizer's look at it. */
__attribute__((no_sanitize("thread", "address", "undefined"))) static void
touch_no_address(void)
{
	volatile uintptr_t nowhere = UINT64_C(0xdeadbeefdeadbee8);

	rig_open_all();
	*(volatile int *)nowhere = 1;
}

START_TEST(an_address_that_is_none_is_told_with_the_place)
{
	struct pt_child child;

	pt_child_start(&child, touch_no_address);
	pt_child_end(&child);
	rig_check_ended(&child, SIGSEGV);
#ifdef __x86_64__       /* elsewhere the processor tells the address */
	check_place(child.text, "SIGSEGV (11) at an address that no memory has, in ",
	            "touch_no_address");
#else
	check_place(child.text, ", in ", "touch_no_address");
#endif
}
END_TEST

/* The other end of the stack is near the pointer, but nothing is full. */
static void __attribute__((no_sanitize("address")))
pass_stack(void)
{
	volatile char *at = (volatile char *)__builtin_frame_address(0);

	rig_open_all();
	for (;;)
		(void)*at++;
}

START_TEST(the_other_end_of_the_stack_is_not_a_full_stack)
{
	struct pt_child child;

	pt_child_start(&child, pass_stack);
	pt_child_end(&child);
	rig_check_ended(&child, SIGSEGV);
	check_place(child.text, "SIGSEGV (11) at address 0x", "pass_stack");
	ck_assert_ptr_null(strstr(child.text, "full"));
}
END_TEST

/* As where memory is written over: what follows on an error is asked for by its signal alone. */
START_TEST(errors_may_be_named_for_a_trace)
{
	struct pt_child child;

	setenv("GASNET_BACKTRACE_SIGNAL", "BUS,SEGV", 1);
	pt_child_start(&child, rig_touch_null);
	pt_child_end(&child);
	unsetenv("GASNET_BACKTRACE_SIGNAL");
	rig_check_ended(&child, SIGSEGV);
#ifdef HAVE_BACKTRACE
	ck_assert_uint_gt(rig_lines_of(child.text), 3);
#endif
}
END_TEST

static void
call_abort(void)
{
	rig_open_all();
	abort();
}

START_TEST(abort_is_told)
{
	struct pt_child child;

	pt_child_start(&child, call_abort);
	pt_child_end(&child);
	rig_check_ended(&child, SIGABRT);
	ck_assert_ptr_nonnull(strstr(child.text, "ended by SIGABRT (6)\n"));
}
END_TEST

/* Its number stands in the pipe that the test reads, behind what it says itself. */
static void
have_children_die(void)
{
	static const int by[] = { SIGABRT, SIGTERM };
	size_t i;
	pid_t child;

	rig_open_all();
	for (i = 0; i < sizeof by / sizeof *by; i++) {
		child = fork();
		if (child == 0) {
			kill(getpid(), by[i]);
			_exit(97);
		}
		waitpid(child, NULL, 0);
		dprintf(STDERR_FILENO, "%d\n", (int)child);
	}
	_exit(0);
}

START_TEST(children_of_a_rank_are_not_the_rank)
{
	struct pt_child child;
	int aborted = 0, terminated = 0;
	char want[200];

	pt_child_start(&child, have_children_die);
	pt_child_end(&child);
	ck_assert_int_eq(sscanf(strchr(child.text, '\n') + 1, "%d %d", &aborted, &terminated), 2);
	snprintf(want, sizeof want,
	         "penstock: rank 3 (node7): its child %d ended by SIGABRT (6)\n%d\n%d\n", aborted,
	         aborted, terminated);
	ck_assert_str_eq(child.text, want);
}
END_TEST

static void
abort_after_words(void)
{
	rig_open_all();
	psi_signals_told();
	abort();
}

START_TEST(told_errors_are_not_told_again)
{
	struct pt_child child;

	pt_child_start(&child, abort_after_words);
	pt_child_end(&child);
	rig_check_ended(&child, SIGABRT);
	ck_assert_str_eq(child.text, "");
}
END_TEST

static void
touch_segment_hole(void)
{
	char *hole = map_hole();

	rig_segment = hole;
	rig_open_all();
	*(volatile char *)(hole + 5000) = 1;
}

static void
touch_other_hole(void)
{
	char *hole = map_hole();

	rig_open_all();
	*(volatile char *)(hole + 5000) = 1;
}

START_TEST(bus_error_on_segment_is_named)
{
	struct pt_child child;

	pt_child_start(&child, touch_segment_hole);
	pt_child_end(&child);
	rig_check_ended(&child, SIGBUS);
	ck_assert_ptr_nonnull(strstr(child.text, ": no memory for a page of the segment\n"));
	pt_child_start(&child, touch_other_hole);
	pt_child_end(&child);
	rig_check_ended(&child, SIGBUS);
	ck_assert_ptr_null(strstr(child.text, "no memory"));
}
END_TEST

static int
overflow_stack(int depth)
{
	volatile char frame[4096];

	frame[depth % 4096] = 1;
	return (depth < INT_MAX ? overflow_stack(depth + 1) : 0) + frame[0];
}

static void
overflow(void)
{
	rig_open_all();
	overflow_stack(0);
}

START_TEST(stack_overflow_is_told)
{
	struct pt_child child;

	pt_child_start(&child, overflow);
	pt_child_end(&child);
	rig_check_ended(&child, SIGSEGV);
	ck_assert_ptr_nonnull(strstr(child.text, ": the stack is full; raise ulimit -s\n"));
}
END_TEST

static void *
overflow_in_thread(void *arg)
{
	psi_signals_stack_open();
	overflow_stack(0);
	return arg;
}

static void
overflow_thread(void)
{
	pthread_t thread;

	rig_open_all();
	pthread_create(&thread, NULL, overflow_in_thread, NULL);
	pthread_join(thread, NULL);
}

START_TEST(the_overflow_of_a_thread_is_told)
{
	struct pt_child child;

	pt_child_start(&child, overflow_thread);
	pt_child_end(&child);
	rig_check_ended(&child, SIGSEGV);
	ck_assert_ptr_nonnull(
		strstr(child.text, ": the thread's stack is full; raise ulimit -s, or"));
}
END_TEST

/* One of the thread's own stays. */
START_TEST(a_stack_for_signals_is_given_once_and_taken_back)
{
	static char own[65536];
	const stack_t given = { .ss_sp = own, .ss_size = sizeof own },
		      none = { .ss_flags = SS_DISABLE };
	stack_t before, now;
	void *stack;

	ck_assert_int_eq(sigaltstack(&none, &before), 0);
	stack = psi_signals_stack_open();
	ck_assert_ptr_nonnull(stack);
	ck_assert_ptr_null(psi_signals_stack_open());
	psi_signals_stack_close(stack);
	ck_assert(sigaltstack(&given, &now) == 0 && (now.ss_flags & SS_DISABLE));
	ck_assert_ptr_null(psi_signals_stack_open());
	psi_signals_stack_close(NULL);
	ck_assert(sigaltstack(&before, &now) == 0 && now.ss_sp == own);
}
END_TEST

static void *
fail_in_thread(void *arg)
{
	(void)arg;
	raise(SIGFPE);
	return NULL;
}

static void
fail_in_threads(void)
{
	pthread_t threads[8];
	int i;

	rig_open_all();
	for (i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, fail_in_thread, NULL);
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

START_TEST(one_line_of_many_failing_threads)
{
	struct pt_child child;

	pt_child_start(&child, fail_in_threads);
	pt_child_end(&child);
	rig_check_ended(&child, SIGFPE);
	ck_assert_uint_eq(rig_lines_of(child.text), 2);  /* and the note */
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("signals");

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, lists_of_signals);
	tcase_add_test(tests, lists_of_ranks);
	tcase_add_test(tests, segv_names_rank_host_signal_address);
	tcase_add_test(tests, a_call_of_what_is_no_function_is_told_with_its_caller);
	tcase_add_test(tests, an_address_that_is_none_is_told_with_the_place);
	tcase_add_test(tests, the_other_end_of_the_stack_is_not_a_full_stack);
	tcase_add_test(tests, errors_may_be_named_for_a_trace);
	tcase_add_test(tests, the_overflow_of_a_thread_is_told);
	tcase_add_test(tests, a_stack_for_signals_is_given_once_and_taken_back);
	tcase_add_test(tests, abort_is_told);
	tcase_add_test(tests, children_of_a_rank_are_not_the_rank);
	tcase_add_test(tests, told_errors_are_not_told_again);
	tcase_add_test(tests, bus_error_on_segment_is_named);
	tcase_add_test(tests, stack_overflow_is_told);
	tcase_add_test(tests, one_line_of_many_failing_threads);
	return unit_run("signals", tests);
}
