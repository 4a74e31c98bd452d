/* gasnet_tools.h: time, sleeping, and the texts and numbers of the platform. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "gasnet_tools.h"
#include "tests/unit/main.h"

#if GASNETT_PAGESIZE != 1 << GASNETT_PAGESHIFT || GASNETT_MAX_THREADS < 1
#error "constants that must work in the preprocessor do not"
#endif
#if !PLATFORM_COMPILER_VERSION_GE(1, 0, 0) || PLATFORM_COMPILER_VERSION_GT(999, 0, 0)
#error "the compiler's version does not compare"
#endif

static uint64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

START_TEST(ticks_are_the_clock)
{
	uint64_t clock_start = clock_ns();
	gasnett_tick_t start = gasnett_ticks_now(), end;
	uint64_t inner, outer;

	ck_assert_int_eq(gasnett_nsleep(50000000), 0);
	end = gasnett_ticks_now();
	outer = clock_ns() - clock_start;
	inner = gasnett_ticks_to_ns(end - start);
	/* the rate of the processor's counter is known to 0.05 % */
	ck_assert_uint_ge(inner, 50000000 - 25000);
	ck_assert_uint_le(inner, outer + outer / 2000);
	ck_assert_uint_eq(gasnett_ticks_to_us(end - start), inner / 1000);
	ck_assert(start > GASNETT_TICK_MIN && end < GASNETT_TICK_MAX);
}
END_TEST

START_TEST(ticks_never_go_back)
{
	gasnett_tick_t last = gasnett_ticks_now();
	int i;

	for (i = 0; i < 100000; i++) {
		gasnett_tick_t now = gasnett_ticks_now();

		ck_assert_uint_ge(now, last);
		last = now;
	}
}
END_TEST

START_TEST(cost_and_step_of_the_clock)
{
	double step = gasnett_tick_granularityus(), cost = gasnett_tick_overheadus();

	ck_assert_msg(step > 0 && step < 1000, "%g", step);
	ck_assert_msg(cost > 0 && cost < 1000, "%g", cost);
}
END_TEST

START_TEST(wall_clock)
{
	struct timeval before, after;
	uint64_t now;

	gettimeofday(&before, NULL);
	now = gasnett_gettimeofday_us();
	gettimeofday(&after, NULL);
	ck_assert_uint_ge(now, (uint64_t)before.tv_sec * 1000000 + (uint64_t)before.tv_usec);
	ck_assert_uint_le(now, (uint64_t)after.tv_sec * 1000000 + (uint64_t)after.tv_usec);
}
END_TEST

static void
on_alarm(int number)
{
	(void)number;
}

START_TEST(sleep_says_that_it_was_interrupted)
{
	/* again and again, since the first may come before the sleep begins */
	const struct itimerval soon = { { .tv_usec = 50000 }, { .tv_usec = 50000 } };
	const struct itimerval never = { 0 };
	const struct sigaction action = { .sa_handler = on_alarm };
	gasnett_tick_t start = gasnett_ticks_now();

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	errno = 0;
	ck_assert_int_ne(gasnett_nsleep(UINT64_C(20000000000)), 0);
	ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	ck_assert_uint_lt(gasnett_ticks_to_us(gasnett_ticks_now() - start), 15000000);
}
END_TEST

START_TEST(sleep_of_nothing)
{
	errno = 5;
	ck_assert_int_eq(gasnett_nsleep(0), 0);
	ck_assert_int_eq(errno, 5);
	gasnett_sched_yield();
}
END_TEST

START_TEST(texts)
{
	static const char platform[] = _STRINGIFY(PLATFORM_COMPILER_FAMILYNAME);

	ck_assert_ptr_nonnull(strstr(GASNETT_CONFIG_STRING, "RELEASE=2025.8.0,SPEC=1.20,"));
	ck_assert_ptr_nonnull(strstr(GASNETT_CONFIG_STRING, _STRINGIFY(GASNETT_THREAD_MODEL)));
	ck_assert_ptr_nonnull(strchr(GASNETT_SYSTEM_TUPLE, '-'));
	ck_assert(strcmp(platform, "GNU") == 0 || strcmp(platform, "CLANG") == 0);
	ck_assert_ptr_nonnull(strchr(PLATFORM_COMPILER_VERSION_STR, '.'));
	ck_assert_ptr_nonnull(strstr(PLATFORM_COMPILER_IDSTR, platform));
	ck_assert_str_eq("%" PRIuSZ, "%zu");
}
END_TEST

START_TEST(platform)
{
	const unsigned one = 1;
	unsigned char first;

	memcpy(&first, &one, 1);
#if defined(PLATFORM_ARCH_LITTLE_ENDIAN) == defined(PLATFORM_ARCH_BIG_ENDIAN)
	ck_abort_msg("exactly one byte order");
#elif PLATFORM_ARCH_LITTLE_ENDIAN
	ck_assert_uint_eq(first, 1);
#else
	ck_assert_uint_eq(first, 0);
#endif
#if defined(PLATFORM_ARCH_64)
	ck_assert_uint_eq(sizeof(void *), 8);
#else
	ck_assert_uint_eq(sizeof(void *), 4);
#endif
	ck_assert_uint_eq(SIZEOF_INT, sizeof(int));
	ck_assert_int_eq(PLATFORM_OS_LINUX + HAVE_PTHREAD_H, 2);
}
END_TEST

START_TEST(source_lines)
{
	const char *file = "here";
	unsigned line = 7;

	GASNETT_TRACE_SETSOURCELINE(file, line);
	GASNETT_TRACE_FREEZESOURCELINE();
	GASNETT_TRACE_GETSOURCELINE(&file, &line);
	GASNETT_TRACE_UNFREEZESOURCELINE();
	ck_assert_str_eq(file, "");
	ck_assert_uint_eq(line, 0);
	GASNETT_TRACE_SET_TRACELOCAL(1);
	ck_assert_int_eq(GASNETT_TRACE_GET_TRACELOCAL(), 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("tools");

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, ticks_are_the_clock);
	tcase_add_test(tests, ticks_never_go_back);
	tcase_add_test(tests, cost_and_step_of_the_clock);
	tcase_add_test(tests, wall_clock);
	tcase_add_test(tests, sleep_says_that_it_was_interrupted);
	tcase_add_test(tests, sleep_of_nothing);
	tcase_add_test(tests, texts);
	tcase_add_test(tests, platform);
	tcase_add_test(tests, source_lines);
	return unit_run("tools", tests);
}
