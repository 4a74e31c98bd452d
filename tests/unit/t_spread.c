/* Which waiters that yield move to another CPU, and where to. */
#include "runtime/wait/spread.h"

#include "tests/unit/main.h"

#include "runtime/util/clock.h"
#include "runtime/util/topology.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOW = 10, SHARE = 2, THREADS = 4 };

static struct psi_thread threads[THREADS];
static cpu_set_t allowed;
enum { NONE = CPU_SETSIZE };
static uint32_t cpu_a = NONE, cpu_b = NONE;

/* False: there are no two CPUs to move between. */
static bool
cpus_find(void)
{
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return false;
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		cpu_b = cpu_a;
		cpu_a = cpu;
	}
	if (cpu_b == NONE)
		return false;
	CPU_ZERO(&allowed);
	CPU_SET(cpu_a, &allowed);
	CPU_SET(cpu_b, &allowed);
	return true;
}

static void
begin(void)
{
	psi.shared = mmap(NULL, sizeof *psi.shared, PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(psi.shared, MAP_FAILED);
	memset(threads, 0, sizeof threads);
	psi_block()->count[PSI_COUNT_CPU_MOVES] = 0;
	psi.ranks_per_cpu = SHARE;
	psi.sharers_cpus = 2;
	psi_spread_open();
	(void)psi_thread_self();
	ck_assert_int_eq(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

/* So many threads, from that one on, yield on a CPU. */
static void
yield_there(unsigned first, unsigned count, uint32_t cpu, uint64_t epoch)
{
	for (unsigned i = first; i < first + count; i++)
		ck_assert(!psi_spread_look(&threads[i], cpu, epoch));
}

static void
expect_allowed(const cpu_set_t *expected)
{
	cpu_set_t now;

	ck_assert_int_eq(sched_getaffinity(0, sizeof now, &now), 0);
	ck_assert(CPU_EQUAL(&now, expected));
}

static uint64_t moves(void) { return psi_block()->count[PSI_COUNT_CPU_MOVES]; }

START_TEST(one_too_many_moves)
{
	yield_there(0, 3, cpu_a, NOW);
	ck_assert(psi_spread_look(&threads[0], cpu_a, NOW + 1));
	ck_assert_uint_eq(threads[0].counted_cpu, cpu_b);
	ck_assert_uint_eq(moves(), 1);
	expect_allowed(&allowed);
	yield_there(1, 2, cpu_a, NOW + 1);
	yield_there(0, 1, cpu_b, NOW + 2);
	yield_there(1, 2, cpu_a, NOW + 2);
}
END_TEST

START_TEST(a_share_stays)
{
	for (uint64_t epoch = NOW; epoch < NOW + 3; epoch++)
		yield_there(0, SHARE, cpu_a, epoch);
}
END_TEST

START_TEST(old_counts_move_nobody)
{
	yield_there(0, 3, cpu_a, NOW);
	yield_there(0, 3, cpu_a, NOW + 3);
	ck_assert(psi_spread_look(&threads[0], cpu_a, NOW + 4));
}
END_TEST

START_TEST(moved_by_the_kernel_counts_once)
{
	yield_there(0, 3, cpu_a, NOW);
	yield_there(0, 3, cpu_a, NOW);
	yield_there(2, 1, cpu_b, NOW);
	yield_there(0, 2, cpu_a, NOW + 1);
	yield_there(2, 1, cpu_b, NOW + 1);
}
END_TEST

START_TEST(others_are_as_full)
{
	psi.ranks_per_cpu = 1;
	yield_there(0, 2, cpu_a, NOW);
	yield_there(2, 1, cpu_b, NOW);
	yield_there(0, 2, cpu_a, NOW + 1);
	ck_assert_uint_eq(moves(), 0);
}
END_TEST

START_TEST(bound_ones_stay)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu_a, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
	yield_there(0, 3, cpu_a, NOW);
	yield_there(0, 3, cpu_a, NOW + 1);
	expect_allowed(&one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}
END_TEST

/* The kernel takes it back at once, again and again. */
START_TEST(one_that_is_moved_back_rests)
{
	enum { EPOCHS = 100, LEAST_MOVES = 5, MOST_MOVES = 9 };

	for (unsigned i = 1; i <= 2; i++) {
		threads[i].moved_epoch = NOW;
		threads[i].rest_epochs = EPOCHS;
	}
	for (uint64_t epoch = NOW; epoch < NOW + EPOCHS; epoch++) {
		(void)psi_spread_look(&threads[3], cpu_a, epoch);
		(void)psi_spread_look(&threads[3], cpu_a, epoch);
		yield_there(1, 2, cpu_a, epoch);
	}
	ck_assert_uint_ge(moves(), LEAST_MOVES);
	ck_assert_uint_le(moves(), MOST_MOVES);
	expect_allowed(&allowed);
}
END_TEST

START_TEST(late_counts_overwrite_nothing)
{
	yield_there(0, 3, cpu_a, NOW + 2);
	yield_there(3, 1, cpu_a, NOW);
	ck_assert(psi_spread_look(&threads[0], cpu_a, NOW + 3));
}
END_TEST

START_TEST(off_by_a_setting)
{
	setenv("PST_SPREAD", "0", 1);
	psi_spread_open();
	for (unsigned i = 0; i < 3 * PSI_YIELDS_PER_SPREAD; i++)
		psi_spread_before_yield((int)cpu_a);
	ck_assert_uint_eq(psi_thread_self()->counted_epoch, 0);
	setenv("PST_SPREAD", "1", 1);
	psi_spread_open();
	for (unsigned i = 0; i < PSI_YIELDS_PER_SPREAD; i++)
		psi_spread_before_yield((int)cpu_a);
	ck_assert_uint_ne(psi_thread_self()->counted_epoch, 0);
}
END_TEST

static bool
cpus_share_cache(void)
{
	struct psi_cpus cpus = { .bits = { 0 } };

	cpus.bits[cpu_a / 64] |= (uint64_t)1 << cpu_a % 64;
	cpus.bits[cpu_b / 64] |= (uint64_t)1 << cpu_b % 64;
	return psi_topology_cache("", &cpus) != PSI_NO_CACHE;
}

/* CPU b is the lower one. */
START_TEST(dealt_out_by_number)
{
	for (uint32_t number = 0; number < THREADS && cpus_share_cache(); number++) {
		const uint32_t other = number % 2 ? cpu_b : cpu_a;
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(other, &one);
		ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
		ck_assert_int_eq(sched_setaffinity(0, sizeof allowed, &allowed), 0);
		threads[number].moved_epoch = 0;
		ck_assert(psi_spread_deal(&threads[number], number) ||
		          sched_getcpu() != (int)other);
		ck_assert(!psi_spread_deal(&threads[number], number));
		expect_allowed(&allowed);
	}
}
END_TEST

START_TEST(who_is_dealt_out_is_not_spread)
{
	threads[0].is_dealt = true;
	yield_there(0, 3, cpu_a, NOW);
	yield_there(0, 1, cpu_a, NOW + 1);
	ck_assert_uint_eq(moves(), 0);
	ck_assert(psi_spread_look(&threads[1], cpu_a, NOW + 1));
}
END_TEST

START_TEST(who_may_not_go_is_not_dealt_out)
{
	cpu_set_t one;

	psi.sharers_cpus = 1;           /* a quota */
	ck_assert(!psi_spread_deal(&threads[0], 0) && !psi_spread_deal(&threads[0], 1));

	CPU_ZERO(&one);
	CPU_SET(cpu_a, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
	ck_assert(!psi_spread_deal(&threads[0], 0));
	expect_allowed(&one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}
END_TEST

enum { STAYED, MOVED, FAILED };

/* A process starts on one CPU, as all of its kind, and yields for a while.  Has it moved? */
static int
crowd_yields(void)
{
	const uint64_t end = psi_now_ns() + 100000000;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu_a, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0 ||
	    sched_setaffinity(0, sizeof allowed, &allowed) != 0)
		return FAILED;
	while (psi_now_ns() < end) {
		psi_spread_before_yield(sched_getcpu());
		sched_yield();
	}
	return moves() ? MOVED : STAYED;
}

/* The kernel may spread them sooner, so they try again. */
START_TEST(a_crowd_spreads)
{
	const uint64_t end = psi_now_ns() + 20000000000;
	int moved = 0;

	while (!moved && psi_now_ns() < end) {
		for (unsigned i = 0; i < THREADS; i++)
			if (fork() == 0)
				_exit(crowd_yields());
		for (int status; wait(&status) > 0; ) {
			ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != FAILED);
			moved += WEXITSTATUS(status) == MOVED;
		}
	}
	ck_assert_int_gt(moved, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("spread");

	if (!cpus_find()) {
		puts("t_spread: skipped: there are no two CPUs to move between");
		return 77;
	}
	tcase_add_checked_fixture(tests, begin, NULL);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, one_too_many_moves);
	tcase_add_test(tests, a_share_stays);
	tcase_add_test(tests, old_counts_move_nobody);
	tcase_add_test(tests, moved_by_the_kernel_counts_once);
	tcase_add_test(tests, others_are_as_full);
	tcase_add_test(tests, bound_ones_stay);
	tcase_add_test(tests, one_that_is_moved_back_rests);
	tcase_add_test(tests, dealt_out_by_number);
	tcase_add_test(tests, who_is_dealt_out_is_not_spread);
	tcase_add_test(tests, who_may_not_go_is_not_dealt_out);
	tcase_add_test(tests, late_counts_overwrite_nothing);
	tcase_add_test(tests, off_by_a_setting);
	tcase_add_test(tests, a_crowd_spreads);
	return unit_run("spread", tests);
}
