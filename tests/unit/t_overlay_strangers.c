/* Connections to a keeper's port that do not come from the job: they are refused and counted, and
 * keep nobody out. */
#include "tests/unit/main.h"
#include "tests/unit/overlay_rig.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The handshake of a process that claims to be this host. */
static enum pboot_shake_verdict
impostor_shake(int fd, const struct pboot_shake_identity *identity, uint32_t peer)
{
	static const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES];
	uint8_t bytes[PBOOT_SHAKE_ANSWER_BYTES];
	struct pboot_shake shake;
	const uint8_t *due;
	size_t len;
	ssize_t got;

	pboot_shake_init(&shake, PBOOT_SHAKE_CALLER, identity, peer, nonce);
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
	struct pboot_shake_identity identity = { .self = 9, .host_count = 10, .protocol = 1,
		.version = "1.2.3", .secret = secret };
	const char *address = rig->shared->address[1];
	int fd;

	fd = stranger_connect(address);	/* linked already */
	ck_assert_int_eq(impostor_shake(fd, &identity, 1), PBOOT_SHAKE_TWICE);
	close(fd);
	identity.self = 2;			/* no child of host 1 */
	fd = stranger_connect(address);
	ck_assert_int_eq(impostor_shake(fd, &identity, 1), PBOOT_SHAKE_HOST);
	close(fd);
	identity.self = 9;
	identity.secret = other;
	fd = stranger_connect(address);
	ck_assert_int_eq(impostor_shake(fd, &identity, 1), PBOOT_SHAKE_STRANGER);
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

int
main(void)
{
	TCase *tests = tcase_create("strangers");

	tcase_set_timeout(tests, 60.0 * (double)rig_ms(1) / 1e6);
	tcase_add_test(tests, strangers_disturb_nobody);
	tcase_add_test(tests, a_silent_stranger_is_dropped);
	tcase_add_test(tests, a_flood_of_strangers_keeps_nobody_out);
	return unit_run("overlay_strangers", tests);
}
