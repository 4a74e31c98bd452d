/*
 * A CPU that this process left idle before it registered for membarrier is interrupted by it all
 * the same, once another process has settled that.  Interrupts are counted by /proc/interrupts.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/util/clock.h"
#include "smp-conduit/sysvnet/sysvnet_port.h"
#include "tests/unit/main.h"

enum { FENCES = 1000, NAP_NS = 3000000 };
#define LONGEST_NS UINT64_C(5000000000)

static atomic_bool stop;
static _Atomic uint64_t turns;  /* of the thread on the other CPU */

static void
pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
}

static void
nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

/* Function-call interrupts of a CPU so far; -1 where the kernel does not say. */
static long
interrupts(unsigned cpu)
{
	char line[4096], *at;
	FILE *file = fopen("/proc/interrupts", "r");
	long count = -1;

	while (file && fgets(line, sizeof line, file)) {
		at = strstr(line, "CAL:");
		if (!at)
			continue;
		for (at += strlen("CAL:"); cpu; cpu--)
			strtol(at, &at, 10);
		count = strtol(at, NULL, 10);
		break;
	}
	if (file)
		fclose(file);
	return count;
}

static void *
spin(void *cpu)
{
	pin(*(unsigned *)cpu);
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
	return NULL;
}

/* Fences until so many found the other thread at work, as far as that can be; how many did. */
static long
fence_while_it_spins(void)
{
	const uint64_t until = psi_now_ns() + LONGEST_NS;
	long met = 0;

	while (met < FENCES && psi_now_ns() < until) {
		uint64_t seen = atomic_load(&turns);

		sysvnet_fence_others();
		met += atomic_load(&turns) != seen;
	}
	return met;
}

static bool
two_cpus(unsigned cpu[2])
{
	unsigned found = 0;
	cpu_set_t set;

	sched_getaffinity(0, sizeof set, &set);
	for (unsigned i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[found++] = i;
	return found == 2;
}

START_TEST(no_cpu_is_passed_over)
{
	unsigned cpu[2];
	pthread_t thread;
	pid_t other;
	long before, met;

	if (!two_cpus(cpu) || interrupts(0) < 0)
		return;
	pin(cpu[1]);    /* leaves its map there */
	nap();
	pin(cpu[0]);
	nap();
	if (!sysvnet_fence_register(NULL))
		return;
	other = fork();
	if (other == 0) {
		sysvnet_fence_settle();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(other, NULL, 0), other);
	ck_assert_int_eq(pthread_create(&thread, NULL, spin, &cpu[1]), 0);
	before = interrupts(cpu[1]);
	met = fence_while_it_spins();
	ck_assert_int_ge(interrupts(cpu[1]) - before, met / 2);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(the_cpus_of_a_process_stay_its_own)
{
	cpu_set_t before, after;

	pin(0);
	sched_getaffinity(0, sizeof before, &before);
	sysvnet_fence_settle();
	sched_getaffinity(0, sizeof after, &after);
	ck_assert(CPU_EQUAL(&before, &after));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("membarrier");

	tcase_add_test(tests, no_cpu_is_passed_over);
	tcase_add_test(tests, the_cpus_of_a_process_stay_its_own);
	return unit_run("sysvnet_fence", tests);
}
