/* When threads that yield take their positions in the order of ranks, and that they come there. */
#include "runtime/wait/turns.h"
#include "runtime/wait/virtual_time.h"

#include "tests/unit/main.h"

#include "runtime/util/clock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CPU = 0, OTHER_CPU = 4, THREADS = 4, ROTATIONS = 100 };

static struct psi_thread threads[THREADS];
static uint32_t host_index[1], host_of[1];

static void
begin(void)
{
	const size_t bytes = psi_shared_ranks_offset(THREADS) +
	                     THREADS * sizeof(struct psi_rank_shared);

	psi.shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(psi.shared, MAP_FAILED);
	psi.shared->size = THREADS;
	psi.host_index = host_index;
	psi.boot.host_of = host_of;
	psi.boot.rank = 0;
	psi.ranks_per_cpu = THREADS;
	memset(threads, 0, sizeof threads);
	psi_block()->count[PSI_COUNT_SLEEPS] = 0;
	psi_turns_open();
}

/* A turn of the thread that is rank number i. */
static bool
turn(unsigned i)
{
	host_index[0] = i;
	return psi_turns_note(&threads[i], CPU);
}

static void
rotate(const unsigned order[THREADS], unsigned times)
{
	while (times-- > 0)
		for (unsigned i = 0; i < THREADS; i++)
			(void)turn(order[i]);
}

static const unsigned in_order[THREADS] = { 0, 1, 2, 3 }, out_of_order[THREADS] = { 0, 2, 1, 3 };

static uint32_t asked(void) { return psi.shared->cpus[CPU].turns.asked; }

START_TEST(all_take_a_first_position)
{
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert(turn(i));
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert(!turn(i));
}
END_TEST

START_TEST(in_order_nobody_is_asked)
{
	rotate(in_order, ROTATIONS);
	ck_assert_uint_eq(asked(), 0);
}
END_TEST

START_TEST(out_of_order_all_are_asked)
{
	rotate(out_of_order, ROTATIONS);
	ck_assert_uint_ge(asked(), 1);
	for (unsigned i = 0; i < THREADS; i++) {
		threads[i].position.epoch = 0;
		threads[i].position.asked = 0;
		ck_assert(turn(i));
	}
}
END_TEST

START_TEST(a_short_disorder_asks_for_nothing)
{
	for (unsigned i = 0; i < ROTATIONS; i++) {
		rotate(out_of_order, 2);
		rotate(in_order, 8);
	}
	ck_assert_uint_eq(asked(), 0);
}
END_TEST

/* The rest doubles while the order does not last, and is short again when it has lasted. */
START_TEST(requests_rest)
{
	struct psi_turns *turns = &psi.shared->cpus[CPU].turns;

	for (uint32_t rest = 1; rest <= 16; rest *= 2) {
		turns->asked_epoch -= rest == 1 ? 1000 : rest;
		rotate(out_of_order, ROTATIONS);
		ck_assert_uint_ge(turns->rest, rest);
	}
	turns->asked_epoch -= 16;
	rotate(out_of_order, ROTATIONS);
	ck_assert_uint_eq(turns->rest, 16);
	turns->asked_epoch -= 1000;
	rotate(out_of_order, 16);
	ck_assert_uint_eq(turns->rest, 1);
}
END_TEST

/* But not twice in an epoch. */
START_TEST(who_loses_its_position_takes_it)
{
	uint32_t epoch;

	rotate(in_order, 1);
	threads[1].position.cpu_and_1 = OTHER_CPU + 1;
	threads[1].position.epoch = 0;
	ck_assert(!turn(0));
	ck_assert(turn(1));
	ck_assert_uint_eq(threads[1].position.cpu_and_1, CPU + 1);
	psi_block()->count[PSI_COUNT_SLEEPS]++;
	threads[2].position.epoch = 0;
	ck_assert(turn(2));
	psi_block()->count[PSI_COUNT_SLEEPS]++;
	epoch = threads[2].position.epoch;
	ck_assert(!turn(2) || threads[2].position.epoch != epoch);
}
END_TEST

START_TEST(two_have_no_order_nor_have_nine)
{
	psi_turns_state = PSI_TURNS_ORDERED;
	ck_assert(!psi_turns_are_ordered(2));
	ck_assert(psi_turns_are_ordered(3));
	ck_assert(psi_turns_are_ordered(8));
	ck_assert(!psi_turns_are_ordered(9));
}
END_TEST

START_TEST(off_by_a_setting)
{
	ck_assert(!psi_turns_are_ordered(3));
	ck_assert(psi_turns_have_state(PSI_TURNS_TRIED, 3));
	setenv("PST_TURNS", "0", 1);
	psi_turns_open();
	ck_assert(!psi_turns_have_state(PSI_TURNS_TRIED, 3));
	unsetenv("PST_TURNS");
}
END_TEST

/* -- the kernel's order ------------------------------------------------------------------------ */

struct seen {
	uint64_t turns, descents;
	bool off;
};

/* A process yields for a while, and counts in the second half of that. */
static void
process_yields(unsigned rank, int cpu, struct seen *seen)
{
	const uint64_t half = psi_now_ns() + 150000000, end = half + 150000000;
	struct psi_turns *turns = &psi.shared->cpus[cpu].turns;
	cpu_set_t one;
	uint64_t now;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
	host_index[0] = rank;
	(void)psi_thread_self();
	psi.ranks_per_cpu = THREADS;    /* which counts threads that there are not */
	while ((now = psi_now_ns()) < end) {
		seen->turns += now > half;
		seen->descents += now > half && turns->last > rank * GASNET_MAXEPS;
		psi_turns_yield(cpu);
	}
	seen->off = psi_turns_state == PSI_TURNS_OFF;
}

static struct seen
processes_yield(void)
{
	struct seen *seen = mmap(NULL, THREADS * sizeof *seen, PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0), all = { 0 };
	const int cpu = sched_getcpu();

	/* They begin in the wrong order, whether the first or the last one runs first. */
	for (unsigned i = 0; i < THREADS; i++)
		if (fork() == 0) {
			process_yields(out_of_order[i], cpu, &seen[i]);
			_exit(0);
		}
	for (int status; wait(&status) > 0; )
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	for (unsigned i = 0; i < THREADS; i++) {
		all.turns += seen[i].turns;
		all.descents += seen[i].descents;
		all.off = all.off || seen[i].off;
	}
	munmap(seen, THREADS * sizeof *seen);
	return all;
}

/* Since Linux 6.18, where the thread may use it. */
static bool
kernel_has_positions(void)
{
	struct psi_virtual_time time;
	struct utsname system;
	unsigned major = 0, minor = 0;

	return uname(&system) == 0 && sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 18)) &&
	       psi_virtual_time_read(&time) == PSI_VIRTUAL_KNOWN &&
	       psi_virtual_time_yield(&time, 0);
}

/* One turn in four is a descent then; two, as they begin.  By chance an order is right
 * one time in six, so it has to be in more than half of the rounds; other programs may disturb. */
START_TEST(processes_come_into_order)
{
	enum { LEAST_ROUNDS = 8, MOST_ROUNDS = 60 };
	unsigned rounds, right = 0;

	for (rounds = 0; rounds < LEAST_ROUNDS || 2 * right <= rounds; rounds++) {
		struct seen seen;

		ck_assert_msg(rounds < MOST_ROUNDS, "in order in %u of %u rounds", right, rounds);
		memset(psi.shared->cpus, 0, sizeof psi.shared->cpus);
		seen = processes_yield();
		if (seen.off) {
			ck_assert(!kernel_has_positions());
			puts("t_turns: this kernel does not let threads take positions");
			return;
		}
		right += seen.descents * 10 < seen.turns * 3;
	}
	printf("t_turns: in order in %u of %u rounds\n", right, rounds);
}
END_TEST

/* Once with the kernel's slice, and once with one that the thread has set. */
START_TEST(slices_are_as_before)
{
	struct sched_attributes {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t slice_ns, deadline_ns, period_ns;
	} before, after;
	struct psi_virtual_time time;

	for (unsigned own = 0; own < 2 && kernel_has_positions(); own++) {
		ck_assert_int_eq(syscall(SYS_sched_getattr, 0, &before, sizeof before, 0), 0);
		before.slice_ns += own * 100000;
		before.size = sizeof before;
		if (own)
			ck_assert_int_eq(syscall(SYS_sched_setattr, 0, &before, 0), 0);
		ck_assert_int_eq(psi_virtual_time_read(&time), PSI_VIRTUAL_KNOWN);
		ck_assert(psi_virtual_time_yield(&time, time.slice / 2));
		ck_assert_int_eq(syscall(SYS_sched_getattr, 0, &after, sizeof after, 0), 0);
		ck_assert_uint_eq(after.slice_ns, before.slice_ns);
		ck_assert_int_eq(after.nice, before.nice);
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("turns");

	tcase_add_checked_fixture(tests, begin, NULL);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, all_take_a_first_position);
	tcase_add_test(tests, in_order_nobody_is_asked);
	tcase_add_test(tests, out_of_order_all_are_asked);
	tcase_add_test(tests, a_short_disorder_asks_for_nothing);
	tcase_add_test(tests, requests_rest);
	tcase_add_test(tests, who_loses_its_position_takes_it);
	tcase_add_test(tests, two_have_no_order_nor_have_nine);
	tcase_add_test(tests, off_by_a_setting);
	tcase_add_test(tests, slices_are_as_before);
	tcase_add_test(tests, processes_come_into_order);
	return unit_run("turns", tests);
}
