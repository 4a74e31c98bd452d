/*
 * How a process sleeps that smp and a network wake: on the network's descriptor and its own, one
 * thread at a time; where the network has no descriptor, it naps.
 */
#include "runtime/conduit/watch.h"
#include "tests/unit/main.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 3, MS = 1000000 };

/* What smp was asked.  A process whose announcement is refused was woken before it. */
static struct {
	unsigned announced, ended, wakes;
	int announce_result;
	uint64_t slept_ns;
} smp;

static int
announce(struct psi_port *port, uint32_t ticket)
{
	(void)port, (void)ticket;
	__atomic_add_fetch(&smp.announced, 1, __ATOMIC_RELEASE);
	return smp.announce_result;
}

static void
announcement_end(struct psi_port *port)
{
	(void)port;
	smp.ended++;
}

static void
sleep_on_word(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns)
{
	(void)port, (void)ticket;
	smp.slept_ns = timeout_ns;
}

static void
wake(struct psi_port *port)
{
	(void)port;
	__atomic_add_fetch(&smp.wakes, 1, __ATOMIC_RELAXED);
}

/* What the network has to sleep on: a pipe's end, or nothing yet. */
static int wait_result, wait_fds[2];
static uint64_t wait_most_ns;

static int
wait_on(struct psi_conduit *conduit, int *fd_out, uint64_t *most_ns_out)
{
	(void)conduit;
	*fd_out = wait_fds[0];
	*most_ns_out = wait_most_ns;
	return wait_result;
}

static int own_fd = -1;

static int
own_wake_fd(void)
{
	return own_fd = eventfd(0, EFD_NONBLOCK);
}

static void
own_fd_write(void)
{
	const uint64_t one = 1;

	ck_assert_int_eq(write(own_fd, &one, sizeof one), (int)sizeof one);
}

static int device_fd = -1;       /* no device */
static uint64_t device_most_ns;

static unsigned
device_fds(int *fds_out, uint64_t *most_ns_out)
{
	*most_ns_out = device_most_ns;
	fds_out[0] = device_fd;
	return device_fd >= 0;
}

static const struct psi_services services = {
	.wake_fd = own_wake_fd, .device_fds = device_fds,
};
static const struct psi_conduit_ops smp_ops = {
	.sleep = sleep_on_word, .fd_sleep_begin = announce, .fd_sleep_end = announcement_end,
	.wake = wake,
};
static const struct psi_conduit_ops network_ops = { .wait_on = wait_on };
static const uint8_t alone[PLACES] = { 1, 0, 0 }, beside_another[PLACES] = { 1, 1, 0 };
static uint64_t counts[PSI_COUNTERS];
static struct psi_watch watch;

static void
watch_open(const uint8_t *is_local, bool threaded)
{
	const struct psi_conduit_job job = {
		.places = PLACES, .local = is_local, .threaded = threaded, .counts = counts,
	};

	ck_assert_int_eq(pipe(wait_fds), 0);
	psi_watch_init(&watch, &services, &job, &smp_ops, &network_ops);
}

static void
sleep_for(uint64_t timeout_ns)
{
	psi_watch_sleep(&watch, NULL, NULL, 0, timeout_ns);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *
network_writes_later(void *unused)
{
	usleep(20000);
	ck_assert_int_eq(write(wait_fds[1], "x", 1), 1);
	return unused;
}

START_TEST(alone_a_process_sleeps_until_the_network_wakes_it)
{
	const uint64_t start_ns = now_ns();
	pthread_t thread;

	watch_open(alone, false);
	ck_assert_int_eq(own_fd, -1);
	wait_result = PSI_AGAIN;
	sleep_for(0);
	ck_assert_uint_eq(counts[PSI_COUNT_SLEEPS], 0);
	wait_result = PSI_OK;
	ck_assert_int_eq(pthread_create(&thread, NULL, network_writes_later, NULL), 0);
	sleep_for(0);           /* no bound, and not one nap after the other */
	ck_assert_uint_ge(now_ns() - start_ns, 20 * MS);
	ck_assert_uint_eq(counts[PSI_COUNT_SLEEPS], 1);
	sleep_for(0);           /* it is readable still */
	pthread_join(thread, NULL);
	ck_assert_uint_eq(smp.slept_ns, 0);
}
END_TEST

static void *
neighbour_wakes_later(void *unused)
{
	usleep(20000);
	own_fd_write();
	return unused;
}

START_TEST(a_neighbour_wakes_a_process_that_sleeps_on_the_network)
{
	const uint64_t start_ns = now_ns();
	uint64_t taken;
	pthread_t thread;

	watch_open(beside_another, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, neighbour_wakes_later, NULL), 0);
	sleep_for(1000 * MS);
	pthread_join(thread, NULL);
	ck_assert_uint_ge(now_ns() - start_ns, 20 * MS);
	ck_assert_uint_eq(counts[PSI_COUNT_SLEEPS], 1);
	ck_assert_int_lt(read(own_fd, &taken, sizeof taken), 0);
	sleep_for(10 * MS);     /* what woke the last sleep does not end this one */
	ck_assert_uint_ge(now_ns() - start_ns, 30 * MS);
	sleep_for(0);           /* ends by itself: its neighbour may have no descriptor */
	ck_assert_uint_eq(counts[PSI_COUNT_SLEEPS], 3);
	ck_assert_uint_eq(smp.announced, 3);
	ck_assert_uint_eq(smp.ended, 3);
}
END_TEST

START_TEST(who_was_woken_before_the_sleep_does_not_sleep)
{
	watch_open(beside_another, false);
	smp.announce_result = PSI_AGAIN;
	sleep_for(0);
	ck_assert_uint_eq(smp.announced, 1);
	ck_assert_uint_eq(smp.ended, 0);
	ck_assert_uint_eq(counts[PSI_COUNT_SLEEPS], 0);
}
END_TEST

static void *
watcher_main(void *unused)
{
	sleep_for(0);
	return unused;
}

/* The watcher that wakes wakes the others. */
START_TEST(one_thread_sleeps_on_the_network_and_the_others_on_smps_word)
{
	pthread_t watcher;

	watch_open(alone, true);
	ck_assert_int_eq(pthread_create(&watcher, NULL, watcher_main, NULL), 0);
	while (__atomic_load_n(&smp.announced, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
	sleep_for(77);
	ck_assert_uint_eq(smp.slept_ns, 77);
	ck_assert_uint_eq(__atomic_load_n(&smp.wakes, __ATOMIC_RELAXED), 0);
	own_fd_write();
	pthread_join(watcher, NULL);
	ck_assert_uint_eq(smp.wakes, 1);
	sleep_for(1000);        /* now this one watches */
	ck_assert_uint_eq(smp.announced, 2);
}
END_TEST

static void *
device_has_work_later(void *write_end)
{
	usleep(20000);
	ck_assert_int_eq(write(*(int *)write_end, "x", 1), 1);
	return NULL;
}

/* Its work stays until polls do it, so a sleep ends at once while there is some. */
START_TEST(a_device_wakes_a_process_or_bounds_its_sleep)
{
	const uint64_t start_ns = now_ns();
	pthread_t thread;
	int fds[2];

	watch_open(alone, false);
	ck_assert_int_eq(pipe(fds), 0);
	device_fd = fds[0];
	ck_assert_int_eq(pthread_create(&thread, NULL, device_has_work_later, &fds[1]), 0);
	sleep_for(0);
	pthread_join(thread, NULL);
	ck_assert_uint_ge(now_ns() - start_ns, 20 * MS);
	sleep_for(0);
	device_fd = -1;
	device_most_ns = 2 * MS;
	sleep_for(0);
	ck_assert_uint_eq(counts[PSI_COUNT_SLEEPS], 3);
	device_most_ns = 0;
}
END_TEST

START_TEST(where_the_network_cannot_wake_there_are_naps)
{
	uint64_t start_ns;

	watch_open(alone, false);
	wait_result = PSI_UNSUPPORTED;
	sleep_for(0);
	ck_assert_uint_eq(smp.slept_ns, MS);
	wait_result = PSI_OK;
	wait_most_ns = 2 * MS;
	start_ns = now_ns();
	sleep_for(0);
	ck_assert_uint_ge(now_ns() - start_ns, 1900000);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("watch");

	tcase_add_test(tests, alone_a_process_sleeps_until_the_network_wakes_it);
	tcase_add_test(tests, a_neighbour_wakes_a_process_that_sleeps_on_the_network);
	tcase_add_test(tests, who_was_woken_before_the_sleep_does_not_sleep);
	tcase_add_test(tests, one_thread_sleeps_on_the_network_and_the_others_on_smps_word);
	tcase_add_test(tests, a_device_wakes_a_process_or_bounds_its_sleep);
	tcase_add_test(tests, where_the_network_cannot_wake_there_are_naps);
	return unit_run("sleeping beside a network", tests);
}
