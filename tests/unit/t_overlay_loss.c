/* Jobs of keepers some of which die, stop, do not fit, or are no keepers at all. */
#include "tests/unit/main.h"
#include "tests/unit/overlay_rig.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* What a host expects, set before the fork. */
static struct {
	uint32_t victim;
	enum pboot_overlay_loss loss;
	const char *texts[4];		/* parts of why; NULL: no more */
} expected;

static void
check_loss(const struct rig_host *host, const struct pboot_overlay_event *event)
{
	unsigned i;

	if (event->host != expected.victim || event->loss != expected.loss)
		rig_fail(host, "host %u is lost by %d, not host %u by %d: %s", event->host,
		    event->loss, expected.victim, expected.loss, event->why);
	for (i = 0; i < 4 && expected.texts[i]; i++)
		if (!strstr(event->why, expected.texts[i]))
			rig_fail(host, "'%s' is not in: %s", expected.texts[i], event->why);
	RIG_CHECK(host, pboot_tree_parent(event->host) == event->witness ||
	    pboot_tree_parent(event->witness) == event->host);
	RIG_CHECK(host, !pboot_overlay_reaches(host->net, event->host));
	RIG_CHECK(host, pboot_overlay_reaches(host->net, event->witness));
}

/* What is behind the lost host is out of reach, and all that is before it within. */
static void
check_reach(const struct rig_host *host)
{
	const uint32_t victim = expected.victim;
	uint32_t i;

	for (i = 0; i < host->count; i++)
		RIG_CHECK(host, i == victim || pboot_overlay_reaches(host->net, i) ==
		    (pboot_tree_branch(victim, i) == pboot_tree_branch(victim, host->self)));
}

/* Idles, hears of the loss, and of it once; then leaves with those it can reach. */
static void
run_survivor(struct rig_host *host)
{
	struct pboot_overlay_event event;

	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_OK);
	rig_expect(host, PBOOT_OVERLAY_PASSED);
	atomic_store(&host->shared->step[host->self], 1);
	event = rig_expect(host, PBOOT_OVERLAY_LOST);
	atomic_store(&host->shared->step[host->self], 2);
	check_loss(host, &event);
	check_reach(host);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_GONE);
	RIG_CHECK(host, pboot_overlay_send(host->net, expected.victim, 0, "", 0) ==
	    PBOOT_OVERLAY_GONE);
	rig_idle_until(host, 1);
	rig_leave(host);
}

static const struct {
	uint32_t count, victim;
} deaths[] = { { 2, 0 }, { 2, 1 }, { 9, 0 }, { 9, 5 }, { 20, 1 }, { 20, 19 }, { 20, 0 } };

/* Of a death that the kernel sees all hosts know within 2 s. */
START_TEST(every_host_hears_of_a_death)
{
	struct rig *rig = rig_open(deaths[_i].count, run_survivor);
	uint64_t died;

	expected.victim = deaths[_i].victim;
	expected.loss = PBOOT_OVERLAY_BY_KERNEL;
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	died = psi_now_ns();
	kill(rig->pid[expected.victim], SIGKILL);
	rig_await_step(rig, 2, expected.victim);
	ck_assert_uint_lt(psi_now_ns() - died, rig_ms(2000));
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, expected.victim);
	rig_close(rig);
}
END_TEST

START_TEST(every_host_hears_of_a_silence)
{
	struct rig *rig = rig_open(deaths[_i].count, run_survivor);

	expected.victim = deaths[_i].victim;
	expected.loss = PBOOT_OVERLAY_BY_SILENCE;
	expected.texts[0] = "has heard nothing";
	rig->limit_ns = rig_ms(500);
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	kill(rig->pid[expected.victim], SIGSTOP);
	rig_await_step(rig, 2, expected.victim);
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, expected.victim);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------------- false alarms --- */

static void
run_barrier_after(struct rig_host *host)
{
	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	atomic_store(&host->shared->step[host->self], 1);
	rig_idle_until(host, 1);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_OK);
	rig_expect(host, PBOOT_OVERLAY_PASSED);
	rig_leave(host);
}

START_TEST(a_short_stop_is_no_loss)
{
	struct rig *rig = rig_open(10, run_barrier_after);
	unsigned i;

	rig->limit_ns = rig_ms(1500);
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	for (i = 0; i < 3; i++) {
		kill(rig->pid[1], SIGSTOP);
		usleep((useconds_t)(rig_ms(500) / 1000));
		kill(rig->pid[1], SIGCONT);
		usleep((useconds_t)(rig_ms(200) / 1000));
	}
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

/* As by Ctrl-Z, for longer than the limit.  No host ran, so none was silent. */
START_TEST(a_stop_of_all_is_no_loss)
{
	struct rig *rig = rig_open(10, run_barrier_after);
	uint32_t i;

	rig->limit_ns = rig_ms(600);
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	for (i = 0; i < rig->count; i++)
		kill(rig->pid[i], SIGSTOP);
	usleep((useconds_t)(rig_ms(1500) / 1000));
	for (i = 0; i < rig->count; i++)
		kill(rig->pid[i], SIGCONT);
	usleep((useconds_t)(rig_ms(300) / 1000));
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------------- no tree --- */

static void
run_unconnected(struct rig_host *host)
{
	struct pboot_overlay_event event;

	if (host->self == expected.victim) {
		rig_expect(host, PBOOT_OVERLAY_LOST);
		return;
	}
	event = rig_expect(host, PBOOT_OVERLAY_LOST);
	check_loss(host, &event);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_GONE);
	rig_leave(host);
}

START_TEST(a_host_of_another_version_is_named)
{
	struct rig *rig = rig_open(10, run_unconnected);

	rig->other_version = expected.victim = 9;
	expected.loss = PBOOT_OVERLAY_BY_VERSION;
	expected.texts[0] = "node1 has Penstock 1.2.3 (protocol 1)";
	expected.texts[1] = "node9 has 9.9.9 (protocol 1)";
	rig_run(rig);
}
END_TEST

START_TEST(a_host_that_does_not_come_is_named)
{
	struct rig *rig = rig_open(10, run_unconnected);

	rig->absent = expected.victim = 9;
	rig->connect_ns = rig_ms(1000);
	expected.loss = PBOOT_OVERLAY_BY_DEADLINE;
	expected.texts[0] = "node9 has not connected to node1";
	rig_run(rig);
}
END_TEST

START_TEST(a_parent_that_does_not_come_is_named)
{
	struct rig *rig = rig_open(2, run_unconnected);

	rig->absent = expected.victim = 0;
	rig->connect_ns = rig_ms(1000);
	expected.loss = PBOOT_OVERLAY_BY_DEADLINE;
	expected.texts[0] = "node1 could not connect to node0: Connection refused";
	rig_run(rig);
}
END_TEST

START_TEST(a_host_with_another_secret_is_kept_out)
{
	struct rig *rig = rig_open(3, run_unconnected);

	rig->other_secret = expected.victim = 2;
	rig->connect_ns = rig_ms(1000);
	expected.loss = PBOOT_OVERLAY_BY_DEADLINE;
	expected.texts[0] = "node2 has not connected to node0";
	rig_run(rig);
}
END_TEST

/* ------------------------------------------------------------------- strangers --- */

enum { STRANGERS = 200 };

static int
stranger_connect(const char *text)
{
	struct pboot_address address;
	int fd;

	ck_assert(pboot_address_parse(text, &address));
	fd = socket(address.name.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address.name, address.len_bytes), 0);
	return fd;
}

/* Silence, one byte, random bytes, a HELLO without its end. */
static void
stranger_speak(int fd, unsigned number)
{
	static const uint8_t hello[] = { 'P', 'S', 'T', 0xca, 1, 0, 0, 1, 0 };
	uint8_t noise[300];
	unsigned i;

	for (i = 0; i < sizeof noise; i++)
		noise[i] = (uint8_t)random();
	switch (number % 4) {
	case 1:
		send(fd, "P", 1, MSG_NOSIGNAL);
		break;
	case 2:
		send(fd, noise, sizeof noise, MSG_NOSIGNAL);
		break;
	case 3:
		send(fd, hello, sizeof hello, MSG_NOSIGNAL);
		break;
	default:
		break;
	}
}

/* A keeper's own handshake, of somebody who claims to be this host. */
static enum pboot_shake_verdict
impostor_shake(int fd, const struct pboot_shake_who *who, uint32_t peer)
{
	static const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES];
	uint8_t bytes[PBOOT_SHAKE_ANSWER_BYTES];
	struct pboot_shake shake;
	const uint8_t *due;
	size_t len;
	ssize_t got;

	pboot_shake_init(&shake, PBOOT_SHAKE_CALLER, who, peer, nonce);
	for (;;) {
		due = pboot_shake_due(&shake, &len);
		if (due) {
			ck_assert_int_eq(send(fd, due, len, MSG_NOSIGNAL), (ssize_t)len);
			pboot_shake_sent(&shake, len);
			continue;
		}
		len = pboot_shake_lacks(&shake);
		got = len > 0 ? recv(fd, bytes, len, 0) : 0;
		if (got <= 0)
			return shake.verdict;
		pboot_shake_feed(&shake, bytes, (size_t)got);
	}
}

static void
impostors_come(const struct rig *rig)
{
	const uint8_t secret[] = "fifteen letters", other[] = "fifteen Letters";
	struct pboot_shake_who who = { .self = 9, .host_count = 10, .protocol = 1,
		.version = "1.2.3", .secret = secret };
	const char *address = rig->shared->address[1];
	int fd;

	fd = stranger_connect(address);	/* linked already */
	ck_assert_int_eq(impostor_shake(fd, &who, 1), PBOOT_SHAKE_TWICE);
	close(fd);
	who.self = 2;			/* no child of host 1 */
	fd = stranger_connect(address);
	ck_assert_int_eq(impostor_shake(fd, &who, 1), PBOOT_SHAKE_HOST);
	close(fd);
	who.self = 9;
	who.secret = other;
	fd = stranger_connect(address);
	ck_assert_int_eq(impostor_shake(fd, &who, 1), PBOOT_SHAKE_STRANGER);
	close(fd);
}

/* Host 1 counts.  Those that were accepted last may still have their time. */
static void
check_counts(const struct rig_host *host)
{
	const struct pboot_overlay_counts *counts = pboot_overlay_counted(host->net);

	RIG_CHECK(host, counts->accepted >= STRANGERS);
	RIG_CHECK(host, counts->linked == 2);
	RIG_CHECK(host, counts->nonsense >= STRANGERS / 8);
	RIG_CHECK(host, counts->crowded + counts->silent + counts->left >= STRANGERS / 2);
	/* the other impostors give up when they see the answer */
	RIG_CHECK(host, counts->twice == 1);
	RIG_CHECK(host, counts->host == 0 && counts->version == 0 && counts->stranger == 0);
}

static void
run_among_strangers(struct rig_host *host)
{
	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	atomic_store(&host->shared->step[host->self], 1);
	rig_idle_until(host, 1);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_OK);
	rig_expect(host, PBOOT_OVERLAY_PASSED);
	if (host->self == 1)
		check_counts(host);
	rig_leave(host);
}

/* They come while the job connects, and stay; host 1 has a parent and a child. */
START_TEST(strangers_disturb_nobody)
{
	struct rig *rig = rig_open(10, run_among_strangers);
	int fds[STRANGERS];
	unsigned i;

	rig_start(rig);
	while (atomic_load(&rig->shared->listening) < rig->count)
		usleep(1000);
	for (i = 0; i < STRANGERS; i++) {
		fds[i] = stranger_connect(rig->shared->address[1]);
		stranger_speak(fds[i], i);
	}
	rig_await_step(rig, 1, rig->count);
	impostors_come(rig);
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	for (i = 0; i < STRANGERS; i++)
		close(fds[i]);
	rig_close(rig);
}
END_TEST

/* Whoever does not end its handshake in time is closed: also one that says a byte now and then. */
static void
run_among_silent(struct rig_host *host)
{
	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	rig_idle_until(host, 1);
	RIG_CHECK(host, host->self != 0 || pboot_overlay_counted(host->net)->silent == 2);
	rig_leave(host);
}

START_TEST(a_silent_stranger_is_dropped)
{
	struct rig *rig = rig_open(2, run_among_silent);
	int silent, slow, spoken = 0;
	uint64_t begun;
	char byte;

	rig->handshake_ns = rig_ms(400);
	rig_start(rig);
	while (atomic_load(&rig->shared->listening) < rig->count)
		usleep(1000);
	begun = psi_now_ns();
	silent = stranger_connect(rig->shared->address[0]);
	slow = stranger_connect(rig->shared->address[0]);
	while (recv(slow, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
		ck_assert_uint_lt(psi_now_ns() - begun, rig_ms(20000));
		if (spoken < 3)
			ck_assert_int_eq(send(slow, &"PST"[spoken++], 1, MSG_NOSIGNAL), 1);
		usleep((useconds_t)(rig_ms(100) / 1000));
	}
	ck_assert_uint_gt(psi_now_ns() - begun, rig_ms(300));
	ck_assert_int_eq(recv(silent, &byte, 1, 0), 0);
	close(silent);
	close(slow);
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

/* Connects without a pause until the test ends it. */
static pid_t
flooder_start(const char *address)
{
	const pid_t pid = fork();
	int fds[64] = { 0 };
	unsigned i;

	if (pid != 0)
		return pid;
	for (i = 0;; i = (i + 1) % 64) {
		if (fds[i] > 0)
			close(fds[i]);
		fds[i] = stranger_connect(address);
		stranger_speak(fds[i], i);
	}
}

/* The children of host 1 connect amid the flood. */
static void
run_in_flood(struct rig_host *host)
{
	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	rig_leave(host);
}

START_TEST(a_flood_of_strangers_keeps_nobody_out)
{
	struct rig *rig = rig_open(18, run_in_flood);
	pid_t flooder;

	rig_start(rig);
	while (!*(volatile char *)rig->shared->address[1])
		usleep(100);
	flooder = flooder_start(rig->shared->address[1]);
	ck_assert_int_gt(flooder, 0);
	rig_finish(rig, rig->count);
	kill(flooder, SIGKILL);
	waitpid(flooder, NULL, 0);
	rig_close(rig);
}
END_TEST

/* Hosts that come after the job has failed hear why, and do not wait for the deadline. */
static void
run_latecomer(struct rig_host *host)
{
	struct pboot_overlay_event event;

	if (host->self == 2) {
		atomic_store(&host->shared->step[2], 1);
		while (atomic_load(&host->shared->go) == 0)
			usleep(1000);
	}
	if (host->self == expected.victim) {
		rig_expect(host, PBOOT_OVERLAY_LOST);
		return;
	}
	event = rig_expect(host, PBOOT_OVERLAY_LOST);
	atomic_store(&host->shared->step[host->self], 2);
	check_loss(host, &event);
	rig_leave(host);
}

START_TEST(a_host_that_comes_late_hears_of_the_loss)
{
	struct rig *rig = rig_open(4, run_latecomer);

	rig->other_version = expected.victim = 3;
	rig->connect_ns = rig_ms(1000000);
	expected.loss = PBOOT_OVERLAY_BY_VERSION;
	rig_start(rig);
	rig_await_step(rig, 1, 3);
	usleep(50000);
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("loss");
	const int count = sizeof deaths / sizeof *deaths;

	tcase_set_timeout(tests, 60.0 * (double)rig_ms(1) / 1e6);
	tcase_add_loop_test(tests, every_host_hears_of_a_death, 0, count);
	tcase_add_loop_test(tests, every_host_hears_of_a_silence, 0, count);
	tcase_add_test(tests, a_short_stop_is_no_loss);
	tcase_add_test(tests, a_stop_of_all_is_no_loss);
	tcase_add_test(tests, a_host_of_another_version_is_named);
	tcase_add_test(tests, a_host_that_does_not_come_is_named);
	tcase_add_test(tests, a_parent_that_does_not_come_is_named);
	tcase_add_test(tests, a_host_with_another_secret_is_kept_out);
	tcase_add_test(tests, strangers_disturb_nobody);
	tcase_add_test(tests, a_silent_stranger_is_dropped);
	tcase_add_test(tests, a_flood_of_strangers_keeps_nobody_out);
	tcase_add_test(tests, a_host_that_comes_late_hears_of_the_loss);
	return unit_run("overlay_loss", tests);
}
